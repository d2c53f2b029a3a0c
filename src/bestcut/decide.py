"""From probabilities to the decision with the best expected score."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray, check_bounds, check_probabilities
from bestcut.metrics import Metric, get
from bestcut.solvers import SOLVERS, Solution, select_solver


@dataclass(frozen=True)
class ExpectedScoreCurve:
    """The expected score of every cut.

    Attributes
    ----------
    n_positive : ndarray of shape (n + 1,)
        0, 1, ..., n: how many of the most probable instances are predicted positive.
    expected_score : ndarray of shape (n + 1,)
        Expected metric of each cut.
    threshold : ndarray of shape (n + 1,)
        Smallest probability predicted positive; inf for the empty prediction.
    error : float
        Bound on the numerical error of every entry of `expected_score`.
    """

    n_positive: NDArray[np.int64]
    expected_score: FloatArray
    threshold: FloatArray
    error: float


@dataclass(frozen=True, repr=False, eq=False)
class Decision:
    """The labels with the best expected score, and what they promise.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,)
        The predictions, in the order of the input. Read-only.
    n_positive : int
        How many are positive.
    threshold : float
        Smallest probability predicted positive; inf when none is.
    expected_score : float
        Expected metric of `labels`.
    error : float
        Bound on the numerical error of `expected_score`.
    metric : Metric
        What was maximised (a loss: minimised).
    solver : str
        Which solver found it.
    curve : ExpectedScoreCurve
        Expected score of every cut, computed on first use.
    """

    labels: NDArray[np.bool_]
    n_positive: int
    threshold: float
    expected_score: float
    error: float
    metric: Metric
    solver: str
    _eta: FloatArray = field(repr=False)

    @cached_property
    def curve(self) -> ExpectedScoreCurve:
        """The expected score of every cut, computed on first use."""
        curve = SOLVERS[self.solver].curve(self._eta, self.metric)
        curve.expected_score.flags.writeable = False
        return ExpectedScoreCurve(
            n_positive=np.arange(self._eta.size + 1),
            expected_score=curve.expected_score,
            threshold=np.concatenate([[np.inf], self._eta]),
            error=curve.error,
        )

    def _facts(self) -> dict[str, str]:
        word = "expected score" if self.metric.greater_is_better else "expected loss"
        return {
            "metric": self.metric.name,
            "positive": f"{self.n_positive} of {self.labels.size}",
            "threshold": f"{self.threshold:.6g}",
            word: f"{self.expected_score:.6g}",
            "numerical error": f"{self.error:.1e}",
            "solver": self.solver,
        }

    def __repr__(self) -> str:
        facts = self._facts()
        metric, positive = facts.pop("metric"), facts.pop("positive")
        error, solver = facts.pop("numerical error"), facts.pop("solver")
        rest = ", ".join(f"{name} {value}" for name, value in facts.items())
        return (
            f"Decision({metric}: {positive} positive, {rest} "
            f"[error {error}, solver {solver}])"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in self._facts().items()
        )
        return f"<table><caption>bestcut decision</caption>{rows}</table>"


def decide(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    min_positives: int = 0,
    max_positives: int | None = None,
    solver: str = "auto",
) -> Decision:
    """Choose the labels that maximise the expected metric for this batch.

    The best label of one instance depends on the others: this is a decision for the
    whole of `y_proba`, not a threshold to carry to other data.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        Calibrated probability of each instance to be positive. Labels are taken to be
        independent given these.
    metric : str or Metric, default="f1"
        What to maximise: one of `bestcut.metrics.names`, or a metric of your own. A
        loss is minimised.
    min_positives, max_positives : int, optional
        Bounds on how many instances may be predicted positive.
    solver : str, default="auto"
        ``"auto"`` is ``"sweep"``, which takes any metric that qualifies and time
        proportional to n after a sort. ``"quadratic"`` and ``"cubic"`` are the paper's
        algorithms, ``"exhaustive"`` looks at all label vectors.

    Returns
    -------
    Decision
        With ``labels``, ``n_positive``, ``threshold``, ``expected_score``, ``error``
        and ``curve``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    SolverMismatchError
        If the metric does not satisfy the ranking principle, or lacks what the chosen
        solver needs.

    Notes
    -----
    Cuts whose expected scores differ by less than ``error`` are as good as each other,
    and any of them may be taken. Where the cut falls inside a tie of probabilities, the
    earliest in input order are positive. An empty input gives an empty decision.

    Examples
    --------
    >>> import bestcut
    >>> decision = bestcut.decide([0.7, 0.1, 0.4, 0.35], metric="f1")
    >>> decision.labels.tolist()
    [True, False, True, True]
    >>> round(decision.expected_score, 4)
    0.5913
    """
    chosen_metric = get(metric)
    p = check_probabilities(y_proba)
    low, high = check_bounds(min_positives, max_positives, p.size)
    chosen_solver = select_solver(solver, chosen_metric, p.size)
    eta = np.ascontiguousarray(np.sort(p)[::-1])
    solution = chosen_solver.solve(eta, chosen_metric, low, high)
    labels = _labels(p, eta, solution)
    labels.flags.writeable = False
    eta.flags.writeable = False
    return Decision(
        labels=labels,
        n_positive=solution.n_positive,
        threshold=_threshold(eta, solution),
        expected_score=solution.expected_score,
        error=solution.error,
        metric=chosen_metric,
        solver=chosen_solver.name,
        _eta=eta,
    )


def _threshold(eta: FloatArray, solution: Solution) -> float:
    """Return the smallest probability that is predicted positive."""
    if solution.n_positive == 0:
        return float("inf")
    members = solution.members
    last = solution.n_positive - 1 if members is None else members[-1]
    return float(eta[last])


def _labels(p: FloatArray, eta: FloatArray, solution: Solution) -> NDArray[np.bool_]:
    """Return the labels in input order; within a tie the earliest are positive."""
    labels = np.zeros(p.size, dtype=np.bool_)
    if solution.members is not None:
        labels[np.argsort(-p, kind="stable")[solution.members]] = True
    elif solution.n_positive > 0:
        threshold = eta[solution.n_positive - 1]
        np.greater(p, threshold, out=labels)
        missing = solution.n_positive - int(np.count_nonzero(labels))
        labels[np.flatnonzero(p == threshold)[:missing]] = True
    return labels
