"""What the tests of files share: tables, how they are written, what is expected."""

import gzip

import numpy as np
import pytest

pl = pytest.importorskip("polars", minversion="1.38")
pytest.importorskip("rich")

import bestcut  # noqa: E402
from bestcut.files.sources import FORMATS  # noqa: E402
from helpers import assert_threshold  # noqa: E402

# One ending for every format there is, and the same packed: a new one is tested, too.
PLAIN = {name: each.suffixes[0].removeprefix(".") for name, each in FORMATS.items()}
ENDINGS = list(PLAIN.values())
PACKED = [f"{ending}.gz" for ending in ENDINGS]
# One format of each way to copy is fast to test: bytes of text, and frames of polars.
EACH_WAY = [
    ending
    if ending in ("csv", "parquet")
    else pytest.param(ending, marks=pytest.mark.slow)
    for ending in ENDINGS
]
# Those that hold columns of numbers, also without rows. NDJSON names its columns in
# every row, and has no nan.
FRAMES = [PLAIN[x] for x in FORMATS if FORMATS[x].is_typed and x != "ndjson"]


def table(p):
    rows = np.arange(len(p))
    return pl.DataFrame(
        {
            "id": rows,
            "p": np.asarray(p, dtype=float),
            "text": [f'"{i}",\n' for i in rows],
        }
    )


def not_known(ending):
    msg = f"the tests do not know how polars reads and writes {ending!r}: say it here"
    return NotImplementedError(msg)


def write(frame, path):
    """Write a frame in the format that the name of the file says."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    match plain.suffix:
        case ".csv":
            frame.write_csv(plain)
        case ".tsv":
            frame.write_csv(plain, separator="\t")
        case ".parquet":
            frame.write_parquet(plain)
        case ".arrow":
            frame.write_ipc(plain)
        case ".ndjson":
            frame.write_ndjson(plain)
        case other:
            raise not_known(other)
    if plain != path:
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    return path


def read(path):
    """Read a frame in the format that the name of the file says."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data, path = gzip.decompress(data), path.with_suffix("")
    match path.suffix:
        case ".csv":
            return pl.read_csv(data)
        case ".tsv":
            return pl.read_csv(data, separator="\t")
        case ".parquet":
            return pl.read_parquet(data)
        case ".arrow":
            return pl.read_ipc(data)
        case ".ndjson":
            return pl.read_ndjson(data)
        case other:
            raise not_known(other)


def assert_as_good_as_decide(found, labels, p, metric, **bounds):
    """Compare values: cuts may tie."""
    best = bestcut.decide(p, metric, **bounds)
    assert found.n == len(p)
    assert found.n_positive == np.count_nonzero(labels)
    error = found.error + best.error
    assert found.expected_score == pytest.approx(best.expected_score, rel=0, abs=error)
    own = bestcut.expected_score(p, labels, metric)
    # The bound of a score is not part of that function's answer; ten times decide's.
    assert own == pytest.approx(found.expected_score, rel=0, abs=found.error + 1e-12)
    assert_threshold(p, found)
