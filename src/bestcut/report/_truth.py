"""What labels say about the cuts of a report, once they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.calibration import CalibrationCheck, check_calibration
from bestcut.metrics import Metric
from bestcut.report._numbers import Numbers
from bestcut.scores import Surprise, score_distribution
from bestcut.uncertain import UncertainProbabilities, draws_of

# The most labels that are compared with draws of probabilities in less than minutes.
MOST_CHECKED = 100_000


@dataclass(frozen=True, eq=False)
class Truth:
    """What the labels say.

    Attributes
    ----------
    cells : ndarray of int, shape (4, cuts)
        The tp, fp, fn and tn of the cuts shown.
    scores, beside : tuple of ndarray
        The realised scores at these cuts, of every metric of the report.
    surprise : Surprise
        How unusual the realised score of the decision is.
    check : CalibrationCheck or None
        Whether the labels fit the probabilities; None if there are more than 100 000
        labels and the probabilities are draws.
    """

    cells: CountArray
    scores: tuple[FloatArray, ...]
    beside: tuple[FloatArray, ...]
    surprise: Surprise
    check: CalibrationCheck | None


def truth_of(p: Any, labels: BoolArray, numbers: Numbers) -> Truth:
    """Return what labels say about probabilities, or draws of them."""
    drawn = isinstance(p, UncertainProbabilities)
    order = draws_of(p).order() if drawn else np.argsort(-p, kind="stable")
    cuts, first = numbers.cuts, numbers.scores[0]
    cells = _cells(labels[order], cuts.n_positive)
    metrics, beside = (
        [one.metric for one in some] for some in (numbers.scores, numbers.beside)
    )
    scores = _realised(metrics, cells)
    flagged = _top(order, int(cuts.n_positive[first.best]))
    score = score_distribution(p, flagged, first.metric)
    many = drawn and labels.size > MOST_CHECKED
    return Truth(
        cells,
        scores,
        _realised(beside, cells),
        score.surprise(float(scores[0][first.best])),
        None if many else check_calibration(labels, p),
    )


def _cells(ranked: BoolArray, sizes: CountArray) -> CountArray:
    """Return the confusion matrix of each cut, given labels in order of probability."""
    tp = np.concatenate([[0], np.cumsum(ranked)])[sizes].astype(np.int64)
    fn = int(np.count_nonzero(ranked)) - tp
    return np.array([tp, sizes - tp, fn, ranked.size - sizes - fn])


def _realised(metrics: Sequence[Metric], cells: CountArray) -> tuple[FloatArray, ...]:
    counts = cells.astype(np.float64)
    return tuple(
        np.array(np.broadcast_to(metric.score_cells(*counts), counts[0].shape))
        for metric in metrics
    )


def _top(order: IndexArray, k: int) -> BoolArray:
    labels = np.zeros(order.size, dtype=np.bool_)
    labels[order[:k]] = True
    return labels
