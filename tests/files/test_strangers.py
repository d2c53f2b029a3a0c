"""Files from strangers: refused with a FileError, in little time and little memory."""

import gzip
import io
import os
import random
import struct
import time

import numpy as np
import pytest

from bestcut import FileError, decide_file
from groups import slow

pytest.importorskip("polars", minversion="1.38")

import polars as pl

from bestcut.files._arrow import FlatTable
from bestcut.files._limits import SMALL

TABLE = pl.DataFrame(
    {
        "p": np.random.default_rng(0).random(40),
        "text": ["a", 'of a "certain" length, é', None, ""] * 10,
        "id": range(40),
    }
)


def written(write, **options):
    out = io.BytesIO()
    write(out, **options)
    return out.getvalue()


CSV = TABLE.write_csv().encode()
HONEST = {
    "csv": CSV,
    "tsv": TABLE.write_csv(separator="\t").encode(),
    "ndjson": TABLE.write_ndjson().encode(),
    "csv.gz": gzip.compress(CSV),
    "parquet": written(TABLE.write_parquet),
    "plain.parquet": written(TABLE.write_parquet, compression="uncompressed"),
    "arrow": written(TABLE.write_ipc),
    "zstd.arrow": written(TABLE.write_ipc, compression="zstd"),
}


def mutated(data, rng):
    """Return bytes with some damage, of which the ends get more than their share."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        at = rng.randrange(len(data) + 1)
        if rng.random() < 0.4:
            at = rng.choice([rng.randrange(60), -rng.randrange(1, 400)]) % len(data)
        size = rng.choice([1, 1, 4, 8, 60])
        kind = rng.randrange(6)
        if kind < 3:
            worst = [0, 1, 0x7F, 0x80, 0xFF, *b'"\\\n\r,[{}', rng.randrange(256)]
            data[at : at + 1] = bytes([rng.choice(worst)])
        elif kind == 3:
            del data[at : at + size]
        elif kind == 4:
            data[at:at] = data[at : at + size] * rng.choice([1, 30])
        else:
            data[at : at + 8] = struct.pack("<q", rng.choice([-1, 2**31, 2**40, 2**62]))
        data = data or bytearray(b"p")
    return bytes(data)


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("count", [25, slow(3000)])
def test_damaged_files_are_read_or_refused(tmp_path, name, count, capfd):
    rng = random.Random(f"{name} {count}")
    source, output = tmp_path / f"x.{name}", tmp_path / f"y.{name}"
    refused = 0
    for _ in range(count):
        source.write_bytes(mutated(HONEST[name], rng))
        try:
            found = decide_file(source, output, y_proba="p")
        except FileError:
            refused += 1
        else:
            assert found.n > 0
            output.unlink()
        assert os.listdir(tmp_path) == [source.name]
    assert refused > count / 4
    capfd.readouterr()  # where polars says that it panicked


def refusal(path, **options):
    """Return the message that refuses a file, before ten seconds."""
    began = time.perf_counter()
    with pytest.raises(FileError) as caught:
        decide_file(path, path.with_name("out.csv"), y_proba="p", **options)
    assert time.perf_counter() - began < 10
    return str(caught.value)


# --- NDJSON ---------------------------------------------------------------------------


def test_values_in_values_without_end_are_refused(tmp_path):
    path = tmp_path / "x.ndjson"
    for depth in (200, 2_000_000):
        deep = "[" * depth + "]" * depth
        lines = f'{{"p":0.5}}\n\n{{"p":0.5,"y":{deep}}}\n{{"p":0.5}}\n'
        path.write_text(lines, encoding="utf-8")
        assert "row 2 has values that are nested more than 64 deep" in refusal(path)


def test_brackets_in_texts_are_no_values(tmp_path):
    path = tmp_path / "x.ndjson"
    text = r"\"[{" * 500 + "\\\\"
    flat = "[" + "[1]," * 300 + "[1]]"
    deep = "[" * 60 + "]" * 60
    line = f'{{"p":0.5,"a":"{text}","b":{flat},"c":{deep}}}\n'
    path.write_text(line * 3, encoding="utf-8")
    assert decide_file(path, tmp_path / "y.ndjson", y_proba="p").n == 3


@pytest.mark.parametrize("end", ["", "\\"])
def test_a_text_without_an_end_takes_no_quadratic_time(tmp_path, end):
    path = tmp_path / "x.ndjson"
    path.write_text('{"p":0.5,"a":"' + '\\"[' * 500_000 + end + "}\n", encoding="utf-8")
    assert "cannot be read as ndjson" in refusal(path)


# --- Arrow and Parquet ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["arrow", "zstd.arrow"])
def test_an_arrow_file_that_forgets_its_rows_is_refused(tmp_path, name):
    data = bytearray(HONEST[name])
    # The list of record batches in the footer becomes empty.
    length = struct.unpack("<i", data[-10:-6])[0]
    start = len(data) - 10 - length
    footer = FlatTable.root(bytes(data[start:-10]))
    at, count = footer.vector(3, 24)
    assert count == 1
    data[start + at - 4 : start + at] = bytes(4)
    path = tmp_path / f"x.{name}"
    path.write_bytes(data)
    assert "it is damaged" in refusal(path)


def test_a_stream_of_arrow_is_called_what_it_is(tmp_path):
    path = tmp_path / "x.arrow"
    TABLE.write_ipc_stream(path)
    assert "x.arrow: is an Arrow stream, which has no end that" in refusal(path)
    assert refusal(path).endswith("Write it as a file, with polars' `write_ipc`.")


def test_a_panic_of_polars_is_an_error_of_the_file(tmp_path, monkeypatch):
    panic = "called `Result::unwrap()` on an `Err`"

    def panics(*arguments, **options):
        raise pl.exceptions.PanicException(panic)

    path = tmp_path / "x.arrow"
    path.write_bytes(HONEST["arrow"])
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", panics)
    assert "cannot be read as ipc (called `Result::unwrap()`" in refusal(path)


# --- what unpacks to far more ---------------------------------------------------------

ROWS = SMALL // 8 + 2**16


def zeros(name):
    frame = pl.DataFrame({"p": np.zeros(ROWS)})
    if name == "parquet":
        return written(frame.write_parquet, row_group_size=ROWS)
    if name == "arrow":
        return written(frame.write_ipc, compression="zstd")
    return gzip.compress(b"p\n" + b"0\n" * (SMALL // 2), mtime=0)


@pytest.mark.parametrize("name", ["parquet", "arrow", "csv.gz"])
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, name):
    path = tmp_path / f"x.{name}"
    path.write_bytes(zeros(name))
    message = refusal(path)
    assert "200 times as many are allowed" in message
    assert message.endswith("If you trust the file, raise 'unpacked' in `limits`.")
    if name == "arrow":
        found = decide_file(
            *(path, tmp_path / f"y.{name}"), y_proba="p", limits={"unpacked": 10**6}
        )
        assert found.n == ROWS


def test_many_columns_and_long_rows_are_refused(tmp_path):
    for name, data in {
        "csv": b"p" + b",x" * 20_000 + b"\n",
        "parquet": written(
            pl.DataFrame({"p": [0.5]} | {f"{i}": [1] for i in range(30)}).write_parquet
        ),
        "arrow": written(
            pl.DataFrame({"p": [0.5]} | {f"{i}": [1] for i in range(30)}).write_ipc
        ),
    }.items():
        path = tmp_path / f"x.{name}"
        path.write_bytes(data)
        most = {} if name == "csv" else {"columns": 20}
        assert "columns, and " in refusal(path, limits=most)
    path = tmp_path / "x.ndjson"
    path.write_text('{"p":0.5,"a":1,"b":1}\n', encoding="utf-8")
    assert "has 3 columns, and 2 are allowed" in refusal(path, limits={"columns": 2})
    path = tmp_path / "long.csv"
    path.write_bytes(b"p,a\n.5," + b"x" * 2**24 + b"\n")
    assert "a record of more than 8,388,608 bytes" in refusal(path)
    raised = {"row": 2**25}
    out = tmp_path / "y.csv"
    assert decide_file(path, out, y_proba="p", limits=raised).n == 1


def test_limits_are_checked(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(CSV)
    for limits, message in [
        ({"rows": 1}, "`limits` may hold 'columns', 'row', 'unpacked', 'footer'"),
        ({"row": 0}, r"`limits\['row'\]` must be at least 1"),
        ({"row": 1.5}, r"`limits\['row'\]` must be a whole number"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            decide_file(path, tmp_path / "y.csv", y_proba="p", limits=limits)


def test_keys_without_end_are_refused(tmp_path):
    path = tmp_path / "x.ndjson"
    lines = [f'{{"p":0.5,"k{i}":1}}' for i in range(20_000)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "has 20,001 columns, and 16,384 are allowed" in refusal(path)
    lines = ['{"p":0.5,"a":":"}'] * 60_000
    lines += [f'{{"p":0.5,"a":{{"\\u006b{i}":1}}}}' for i in range(2000)] * 3
    random.Random(0).shuffle(lines)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "has 2,002 different keys in 66,000 rows" in refusal(path)


def test_rows_may_have_keys_of_their_own(tmp_path):
    path = tmp_path / "x.ndjson"
    lines = [f'{{"p":0.5,"k{i}":1}}' for i in range(300)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert decide_file(path, tmp_path / "y.ndjson", y_proba="p").n == 300


def test_a_text_that_many_rows_share_is_counted_in_each(tmp_path):
    text = pl.repeat("z" * 2**16, 20_000, eager=True)
    path = tmp_path / "x.parquet"
    pl.DataFrame({"p": pl.repeat(0.5, 20_000, eager=True), "s": text}).write_parquet(
        path
    )
    assert path.stat().st_size < 10_000
    assert "200 times as many are allowed" in refusal(path)
