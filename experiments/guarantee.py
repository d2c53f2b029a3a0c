"""How often a guarantee is broken, and how much it certifies.

    python -m experiments.guarantee [--made 2000]
    python -m experiments.guarantee --scores FOLDER --seeds 0 10 [--mapie PYTHON]

Without scores: made data on which a model is of no use, misleads, or ties. With scores:
the test rows of `experiments.held_out`, split at random into rows with labels and new
ones (their out-of-fold scores come from other models, and are not used). With --mapie,
a Python that has MAPIE, its control of a population's precision at the same level is
set beside, for the same batches. Prints Markdown.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

import bestcut
from experiments.held_out import MODELS, file_of

PROBABILITY = 0.95
PREVALENCE = 0.6  # of made data; the floors are near it, where promises are at risk
MADE_FLOORS = ({"precision": 0.6}, {"recall": 0.6}, {"f1": 0.6})
FLOORS = (
    {"precision": 0.9},
    {"precision": 0.7},
    {"f1": 0.5},
    {"precision": 0.7, "recall": 0.3},
)
LABELS, SIZES = (20, 100, 1000), (20, 300, 3000)
HELPER = Path(__file__).with_name("guarantee_mapie.py")


class Outcome(NamedTuple):
    """What happened to one batch."""

    certified: bool
    flagged: int
    broken: bool


# --- made data -----------------------------------------------------------------------


def _with_chance(rng: np.random.Generator, p: np.ndarray) -> np.ndarray:
    return rng.random(p.size) < p


def _random(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.random(n) < PREVALENCE, rng.random(n)


def _reversed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    s = rng.random(n)
    return _with_chance(rng, (1 - s) ** (1 / PREVALENCE - 1)), s


def _tied(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    s = rng.integers(0, 4, n) / 4
    return _with_chance(rng, 0.4 + s / 2), s


def _hidden(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    s, other = rng.random(n), rng.random(n) < 0.4
    return _with_chance(rng, np.where(other, 1 - s, s) ** 0.6), s


def _separable(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    s = rng.random(n)
    return s > 1 - PREVALENCE, s


def _constant(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.random(n) < PREVALENCE, np.full(n, 0.5)


MADE: dict[str, Callable] = {
    "random": _random,
    "reversed": _reversed,
    "four tied scores": _tied,
    "hidden feature": _hidden,
    "separable": _separable,
    "constant": _constant,
}


# --- one batch -----------------------------------------------------------------------


def is_broken(labels: np.ndarray, truth: np.ndarray, at_least: dict) -> bool:
    """Return whether the realised metrics of a batch miss what was promised."""
    counts = (int((labels & truth).sum()), int(labels.sum()), int(truth.sum()))
    values = (bestcut.metrics.get(x)(*counts, truth.size) for x in at_least)
    floors = at_least.values()
    return any(value < floor for value, floor in zip(values, floors, strict=True))


def outcome(y: np.ndarray, s: np.ndarray, n_labels: int, at_least: dict) -> Outcome:
    """Promise for the rows after the first `n_labels`, and look."""
    m = n_labels
    promised = bestcut.guarantee(y[:m], s[:m], s[m:], at_least, probability=PROBABILITY)
    broken = promised.certified and is_broken(promised.labels, y[m:], at_least)
    return Outcome(promised.certified, promised.n_positive, broken)


def made_cell(name: str, m: int, n: int, at_least: dict, batches: int) -> list[Outcome]:
    """Return the outcomes of made batches."""
    rng = np.random.default_rng([1, list(MADE).index(name), m, n])
    drawn = (MADE[name](rng, m + n) for _ in range(batches))
    return [outcome(y, s, m, at_least) for y, s in drawn]


def splits(
    path: Path, m: int, n: int, batches: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return labels and scores of test rows, in random orders."""
    with np.load(path) as kept:
        y, s = kept["y_new"].astype(bool), kept["new_scores"]
    rng = np.random.default_rng([2, m, n, int(path.stem.rpartition("-")[2])])
    for _ in range(batches if y.size >= m + n else 0):
        chosen = rng.permutation(y.size)[: m + n]
        yield y[chosen], s[chosen]


def kept_cell(
    path: Path, m: int, n: int, at_least: dict, batches: int
) -> list[Outcome]:
    """Return the outcomes of batches from one file of scores."""
    return [outcome(y, s, m, at_least) for y, s in splits(path, m, n, batches)]


# --- MAPIE ---------------------------------------------------------------------------


def mapie_outcomes(
    python: str, paths: list[Path], m: int, n: int, floor: float, batches: int
) -> list[Outcome]:
    """Return what MAPIE's control of the precision does to the same batches."""
    drawn = [pair for path in paths for pair in splits(path, m, n, batches)]
    if not drawn:
        return []
    y, s = (np.array(x) for x in zip(*drawn, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder, "given.npz"), Path(folder, "answer.npy")
        np.savez(given, y=y[:, :m], s=s[:, :m], floor=floor, level=PROBABILITY)
        subprocess.run([python, str(HELPER), str(given), str(answer)], check=True)
        thresholds = np.load(answer)
    found = []
    for truth, scores, threshold in zip(y[:, m:], s[:, m:], thresholds, strict=True):
        labels = scores >= threshold
        certified = bool(np.isfinite(threshold)) and bool(labels.any())
        broken = certified and is_broken(labels, truth, {"precision": floor})
        found.append(Outcome(certified, int(labels.sum()), broken))
    return found


# --- the page ------------------------------------------------------------------------


def share(values: Iterable[bool]) -> str:
    """Return a percentage with its standard error."""
    x = np.asarray(list(values), dtype=float)
    error = np.sqrt(x.mean() * (1 - x.mean()) / x.size)
    return f"{100 * x.mean():.1f} ± {100 * error:.1f}"


def cells_of(found: list[Outcome]) -> list[str]:
    """Return the columns of a table for some outcomes."""
    if not found:
        return ["", "too few rows", "", ""]
    flagged = np.array([x.flagged for x in found], dtype=float)
    error = flagged.std() / np.sqrt(flagged.size)
    return [
        str(len(found)),
        share(x.certified for x in found),
        f"{flagged.mean():.1f} ± {error:.1f}",
        share(x.broken for x in found),
    ]


HEAD = ["labels", "new rows", "asked", "batches", "certified %", "flagged", "broken %"]


def table(first: str, rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [[first, *HEAD], ["---"] * (len(HEAD) + 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_words(at_least: dict) -> str:
    """Return conditions as a table shows them."""
    return ", ".join(f"{name} {floor:g}" for name, floor in at_least.items())


def made_page(batches: int, jobs: int) -> str:
    """Return the table of made data."""
    tasks = list(product(MADE, LABELS, SIZES, MADE_FLOORS))
    found = Parallel(jobs)(delayed(made_cell)(*task, batches) for task in tasks)
    rows = [
        [name, str(m), str(n), in_words(at_least), *cells_of(outcomes)]
        for (name, m, n, at_least), outcomes in zip(tasks, found, strict=True)
    ]
    return table("data", rows)


def kept_page(asked: argparse.Namespace) -> str:
    """Return the tables of kept scores, and of MAPIE beside them."""
    rows, seeds = [], range(*asked.seeds)
    mapie = asked.mapie
    if mapie and subprocess.run([mapie, "-c", "import mapie"]).returncode:
        print(f"MAPIE is left out: {mapie} cannot import it.\n")
        mapie = None
    for name, m, n in product(asked.names, asked.labels, asked.sizes):
        paths = [file_of(asked.scores, name, x, i) for x in asked.models for i in seeds]
        paths = [path for path in paths if path.exists()]
        for at_least in FLOORS:
            found = Parallel(asked.jobs)(
                delayed(kept_cell)(path, m, n, at_least, asked.batches)
                for path in paths
            )
            together = [x for outcomes in found for x in outcomes]
            start = [str(m), str(n), in_words(at_least)]
            rows.append([name, *start, *cells_of(together)])
            if mapie and set(at_least) == {"precision"}:
                given = (m, n, at_least["precision"], asked.batches)
                theirs = mapie_outcomes(mapie, paths, *given)
                rows.append([f"{name}, MAPIE", *start, *cells_of(theirs)])
    note = "" if mapie else "\n\nMAPIE is not shown; pass --mapie PYTHON."
    return table("data", rows) + note


def main() -> None:
    """Read the command line and print a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--made", type=int, default=2000, help="batches of made data")
    parser.add_argument("--scores", type=Path, help="folder of experiments.held_out")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10))
    parser.add_argument(
        "--names", nargs="*", default=["spambase", "letters", "webpage"]
    )
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--batches", type=int, default=50, help="batches of each file")
    parser.add_argument("--labels", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--sizes", type=int, nargs="*", default=[20, 300])
    parser.add_argument("--mapie", help="a Python that has MAPIE")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    print(f"Asked with probability {PROBABILITY}; with standard errors.\n")
    print(kept_page(asked) if asked.scores else made_page(asked.made, asked.jobs))


if __name__ == "__main__":
    main()
