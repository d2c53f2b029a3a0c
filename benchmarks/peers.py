"""The tools people use instead, each as a function from probabilities to labels.

A peer that is not installed is left out and said so. None of them needs labels.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np


@dataclass(frozen=True)
class Peer:
    """One way to choose labels without knowing any.

    `choose` returns the labels and the score it states for them, or None where it
    states none. `largest_n` is where a run still takes a few seconds.
    """

    name: str
    package: str
    metrics: frozenset[str]
    choose: Callable[[np.ndarray, str], tuple[np.ndarray, float | None]]
    largest_n: int


def _rankseg(solver: str, pruning: float):
    def choose(p: np.ndarray, metric: str) -> tuple[np.ndarray, float | None]:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        rankseg = importlib.import_module("rankseg")
        name = {"f1": "dice", "jaccard": "iou"}[metric]
        model = rankseg.RankSEG(
            metric=name, solver=solver, output_mode="multilabel", pruning_prob=pruning
        )
        mask = model.predict(torch.tensor(p, dtype=torch.float64).view(1, 1, -1))
        return mask.numpy().ravel().astype(bool), None

    return choose


def _xcolumns(p: np.ndarray, metric: str) -> tuple[np.ndarray, float | None]:
    bc = importlib.import_module("xcolumns.block_coordinate")
    metrics = importlib.import_module("xcolumns.metrics")
    function = {
        "f1": metrics.binary_f1_score_on_conf_matrix,
        "jaccard": metrics.binary_jaccard_score_on_conf_matrix,
    }[metric]
    labels, meta = bc.predict_using_bc_with_0approx(
        p[:, None], function, k=0, return_meta=True
    )
    return np.asarray(labels).ravel() > 0.5, float(meta["utilities"][-1])


def _optimal_cutoffs(p: np.ndarray, metric: str) -> tuple[np.ndarray, float | None]:
    package = importlib.import_module("optimal_cutoffs")
    if hasattr(package, "optimize_thresholds"):  # 3.0, for Python 3.12 and newer
        result = package.optimize_thresholds(None, p, metric=metric, mode="expected")
        labels = np.asarray(result.predict(p)).ravel() > 0.5
    else:
        result = package.get_optimal_threshold(None, p, metric=metric, mode="expected")
        labels = p > float(np.ravel(result.thresholds)[0])
    return labels, float(np.ravel(result.scores)[0])


CUTOFFS = "optimal-classification-cutoffs"
F1, BOTH = frozenset({"f1"}), frozenset({"f1", "jaccard"})

PEERS = [
    Peer("rankseg RMA", "rankseg", BOTH, _rankseg("RMA", 0.0), 10**7),
    Peer("rankseg RMA, pruned", "rankseg", BOTH, _rankseg("RMA", 0.5), 10**6),
    Peer("rankseg BA", "rankseg", F1, _rankseg("BA", 0.0), 10**5),
    Peer("rankseg TRNA", "rankseg", F1, _rankseg("TRNA", 0.0), 10**3),
    Peer("xcolumns", "xcolumns", BOTH, _xcolumns, 10**4),
    Peer("optimal-cutoffs", CUTOFFS, F1, _optimal_cutoffs, 10**6),
]


def installed() -> tuple[list[Peer], dict[str, str]]:
    """Return the peers that are installed, and the version of every package."""
    versions: dict[str, str] = {}
    for peer in PEERS:
        try:
            versions[peer.package] = version(peer.package)
        except PackageNotFoundError:
            versions[peer.package] = "not installed"
    usable = [peer for peer in PEERS if versions[peer.package] != "not installed"]
    return usable, versions
