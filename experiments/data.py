"""The seven data sets: read from a folder, held against checksums.

The folder is the one named by ``--data`` or by ``BESTCUT_DATA``, or ``shared/data``
beside the checkout. Three of the sets can be fetched from OpenML; see `fetch`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


class DataError(Exception):
    """The data are absent or are not what they should be."""


@dataclass(frozen=True)
class Source:
    """A file, and what is known about it.

    `sha256` is that of the file; `content` that of its arrays X and y, which a file
    written by another version of NumPy shares.
    """

    sha256: str
    content: str
    where: str
    openml: int | None = None


SOURCES = {
    "reuters": Source(
        "cc7ae406b6085e7df68221e564a35ad760b43b2a490f8934d635f549d990ee45",
        "",
        "Reuters21578.mat (ModApte split, one topic per document) as prepared by Deng "
        "Cai; not on OpenML in this form",
    ),
    "letters": Source(
        "1d788ca5974032f73afdc9e37618c0e8578d2701a88218089f1899930c570c23",
        "2cb171821ebb07967c0a1f94225cfc1f35dcdcd73e9fd94d3a744cb9d716dc39",
        "UCI Letter Recognition, in file order",
        openml=6,
    ),
    "scene": Source(
        "c015fbd963ac7676ce0fb7816c3610a3ce76132d7d3edc34b7873e47268fdf94",
        "",
        "MULAN's scene-train and scene-test; OpenML has it without that split",
    ),
    "webpage": Source(
        "e277f4a8c7bf08d92805608e99b1aee7add4845b6b2a0abf56ef5488b424b261",
        "",
        "LIBSVM's w8a, the first copy of every distinct row kept; not on OpenML in "
        "this form",
    ),
    "image": Source(
        "667fe1153cbb66b09abda211b7f2352471b9a20e982917e9f8d8a3c950cf261c",
        "",
        "the IDA benchmark repository's image, made from UCI Image Segmentation; "
        "OpenML 36 has the seven classes it was made from",
    ),
    "breast_cancer": Source(
        "2eef8e652ccf20091d2c5811fcead0b15bd7b437a92814976acf4ac16c979e2e",
        "ab156a5b195f78b372204f654ea6daee3d6939b801777fa9e5543e09b5e90ba6",
        "UCI Breast Cancer Wisconsin (Original), without the 16 rows that lack a value",
        openml=15,
    ),
    "spambase": Source(
        "e22c688d745cdc67cc422df74e487d62097f4e3836eeb2fd878c529374085baa",
        "6a68b6255c944a31f7b8142ea539a3141a85f49d5cd7cc160d558b1b4f8df26b",
        "UCI Spambase, in file order",
        openml=44,
    ),
}


def find_folder(named: str | None = None) -> Path:
    """Return the folder of the data: the one named, or the one beside the checkout."""
    return Path(named or os.environ.get("BESTCUT_DATA") or BESIDE).expanduser()


def verify(folder: Path) -> None:
    """Raise `DataError` unless every file is there and is the right one."""
    absent = [name for name in SOURCES if not (folder / f"{name}.npz").is_file()]
    if absent:
        raise DataError(_how_to_get(folder, absent))
    wrong = [name for name in SOURCES if not _is_right(folder, name)]
    if wrong:
        msg = (
            f"The checksum of {', '.join(f'{name}.npz' for name in wrong)} in {folder} "
            "is wrong: the file is damaged or another version. Copy it again; the "
            "expected sha256 are in experiments/data.py."
        )
        raise DataError(msg)


def _is_right(folder: Path, name: str) -> bool:
    path, source = folder / f"{name}.npz", SOURCES[name]
    if hashlib.sha256(path.read_bytes()).hexdigest() == source.sha256:
        return True
    if not source.content:
        return False
    try:
        with np.load(path) as arrays:
            return content_digest(arrays["X"], arrays["y"]) == source.content
    except Exception:  # whatever a damaged archive makes NumPy or zlib raise
        return False


def content_digest(X: np.ndarray, y: np.ndarray) -> str:
    """Return the sha256 of the values, however they are stored."""
    digest = hashlib.sha256(np.ascontiguousarray(X, dtype="<f4").tobytes())
    digest.update(np.ascontiguousarray(y, dtype="<i8").tobytes())
    return digest.hexdigest()


def _how_to_get(folder: Path, absent: list[str]) -> str:
    lines = [
        f"The data are not in {folder}: {', '.join(f'{n}.npz' for n in absent)} "
        "cannot be found.",
        "Name the folder that has them with --data FOLDER (make paper DATA=FOLDER) or "
        "the environment variable BESTCUT_DATA. Where they come from:",
    ]
    for name in absent:
        source = SOURCES[name]
        lines.append(f"  {name}: {source.where}")
        if source.openml is not None:
            lines.append(
                f"    OpenML {source.openml}; `python -m experiments --fetch FOLDER` "
                "writes it"
            )
    return "\n".join(lines)


@lru_cache(maxsize=4)
def load(name: str, folder: Path):
    """Return X, y and the split in the file, or None.

    ``scene_single`` is what the paper used: the images with exactly one label.
    """
    stem = "scene" if name == "scene_single" else name
    with np.load(folder / f"{stem}.npz") as arrays:
        z = {key: arrays[key] for key in arrays.files}
    if "indptr" in z:
        parts = (z["data"].astype(np.float64), z["indices"], z["indptr"])
        X = csr_matrix(parts, shape=tuple(int(s) for s in z["shape"]))
    else:
        X = z["X"].astype(np.float64)
    y = z["y"].astype(np.int64)
    split = None
    if "train_idx" in z:
        split = z["train_idx"].astype(np.int64), z["test_idx"].astype(np.int64)
    if name == "scene_single":
        keep = y.sum(axis=1) == 1
        new = np.cumsum(keep) - 1
        X, y = X[keep], y[keep].argmax(axis=1)
        split = tuple(new[index[keep[index]]] for index in split)
    return X, y, split


def fetch(folder: Path) -> list[str]:
    """Write the sets that OpenML has into a folder; return their names.

    Every set is held against the digest of its values before it is written, so rows in
    another order or a changed version are noticed.
    """
    from sklearn.datasets import fetch_openml

    done = []
    for name, source in SOURCES.items():
        if source.openml is None:
            continue
        table = fetch_openml(data_id=source.openml, as_frame=True, parser="auto")
        X, y = _clean(name, table.data, table.target)
        if content_digest(X, y) != source.content:
            msg = (
                f"OpenML {source.openml} does not hold the values of {name} that these "
                "experiments were made with; nothing was written for it."
            )
            raise DataError(msg)
        arrays = {"X": X, "y": y}
        if name == "letters":
            order = np.arange(len(y), dtype=np.int32)
            arrays |= {"train_idx": order[:16000], "test_idx": order[16000:]}
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        done.append(name)
    return done


def _clean(name: str, features, target) -> tuple[np.ndarray, np.ndarray]:
    """Turn OpenML's table into the arrays of the files."""
    complete = ~features.isna().any(axis=1)
    X = features[complete].to_numpy(dtype=np.float32)
    labels = target[complete].astype(str)
    if name == "letters":
        y = labels.map(lambda letter: ord(letter.upper()) - ord("A"))
    elif name == "breast_cancer":
        y = labels == "malignant"
    else:
        y = labels == "1"
    return X, y.to_numpy().astype(np.int8)
