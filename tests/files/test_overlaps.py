"""Files whose parts say that they are one and the same are refused at once."""

import signal
import struct
from contextlib import contextmanager

import pytest

pytest.importorskip("polars", minversion="1.38")

import numpy as np
import polars as pl

import bestcut
from bestcut.files._thrift import Thrift


@contextmanager
def seconds(most):
    """Raise an error if the block takes longer, which Python code lets happen."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(most)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def assert_refused(path, data, match):
    path.write_bytes(data)
    with seconds(5), pytest.raises(bestcut.FileError, match=match):
        bestcut.decide_file(path, path.with_name(f"out{path.suffix}"), y_proba="p")
    assert [path] == list(path.parent.iterdir())


def flat(*slots):
    """Return the beginning of a flatbuffer, up to its first table."""
    lengths = 4 + 2 * len(slots), 4 + max(slots)
    return struct.pack(f"<I{2 + len(slots)}H", 8 + 2 * len(slots), *lengths, *slots)


def arrow(footer, before=b""):
    return b"ARROW1\0\0" + before + footer + struct.pack("<I", len(footer)) + b"ARROW1"


@pytest.mark.parametrize("levels", [20, 31])
def test_columns_of_arrow_that_hold_the_same_columns(tmp_path, levels):
    footer = flat(0, 4, 0, 0, 0, 4) + struct.pack("<iI", 16, 4)
    for _ in range(levels):  # a table, and a list that has the next table twice
        footer += struct.pack("<iIIII", len(footer) - 4, 4, 2, 8, 4)
    footer += struct.pack("<iII", len(footer) - 4, 4, 0)
    assert_refused(tmp_path / "in.arrow", arrow(footer), "columns, and 16,384 are")


@pytest.mark.parametrize("last", [[], [(8, -(2**31) + 1, -(2**62))]])
def test_batches_of_arrow_in_the_same_place(tmp_path, last):
    buffers = struct.pack("<I", 20_000) + bytes(16 * 20_000)
    message = flat(0, 0, 4) + struct.pack("<iI", 10, 4)
    message += struct.pack("<iI", len(message) - 4, 4) + buffers
    message = b"\xff" * 4 + struct.pack("<I", len(message)) + message
    blocks = [(8, len(message), 0)] * 10_000 + last
    footer = flat(0, 4, 0, 8) + struct.pack("<iII", 12, 8, 16)
    footer += struct.pack("<iII", len(footer) - 4, 4, 0)  # no columns
    footer += struct.pack("<I", len(blocks))
    footer += b"".join(struct.pack("<qi4xq", *block) for block in blocks)
    assert_refused(tmp_path / "in.arrow", arrow(footer, message), "damaged")


def test_columns_of_parquet_in_the_same_place(tmp_path):
    path = tmp_path / "in.parquet"
    scores = pl.DataFrame({"p": np.linspace(0, 1, 1000)})
    scores.write_parquet(path, data_page_size=8)  # many pages
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    reader = Thrift(footer)
    for number, kind in reader.fields():
        at = reader.at
        reader.skip(kind)
        if number == 4:
            break
    group = footer[at + 1 : reader.at]  # after the list's head, which says one
    count = b"\xfc\xd0\x0f"  # 2,000 structures
    footer = footer[:at] + count + group * 2_000 + footer[reader.at :]
    tail = struct.pack("<I", len(footer)) + b"PAR1"
    assert_refused(path, data[: -8 - length] + footer + tail, "damaged")
