"""Does a metric satisfy the probability ranking principle (PRP)?

The paper's Main Result 1: a metric that never falls when TP rises, at equal numbers of
predicted and actual positives, is maximised in expectation by some top-k prediction.
Where algebra proves this, it holds for every n. Other metrics are checked on the whole
lattice of confusion matrices of up to `n_max` instances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement, product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from bestcut import _errors as errors
from bestcut._errors import n_max_too_small
from bestcut.metrics._algebra_proof import SlopeInTP, slope_by_coefficients
from bestcut.metrics._base import FractionalLinearMetric, Metric, remembered
from bestcut.metrics._catalog import get
from bestcut.metrics._moves import (
    LESS_TP,
    MORE_AGREEMENT,
    MORE_TP,
    ROUNDING,
    Lattice,
)
from bestcut.metrics._prover import never_hurts

_N_MAX = 24  # the lattice that is looked at unless another one is asked for


class Cells(NamedTuple):
    """One confusion matrix, in counts."""

    tp: int
    fp: int
    fn: int
    tn: int

    def __str__(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self._asdict().items())


class RankingViolation(NamedTuple):
    """Probabilities for which no top-k prediction is optimal.

    Attributes
    ----------
    y_proba : tuple of float
        The probabilities.
    labels : tuple of bool
        Predictions that beat every top-k prediction.
    score, best_top_k : float
        Expected score of `labels`, and of the best top-k prediction.

    See Also
    --------
    bestcut.check_metric : Finds one, if the metric does not qualify.
    bestcut.metrics.Counterexample : Holds it.

    Examples
    --------
    >>> import bestcut
    >>> wrong = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    >>> case = bestcut.check_metric(wrong).counterexample.violation
    >>> case.score > case.best_top_k
    True
    """

    y_proba: tuple[float, ...]
    labels: tuple[bool, ...]
    score: float
    best_top_k: float


@dataclass(frozen=True)
class Counterexample:
    """Two confusion matrices that differ by one true positive, for the worse.

    Attributes
    ----------
    fewer_tp, more_tp : Cells
        Same number of predicted and of actual positives.
    score_fewer, score_more : float
        Their scores; the one with more true positives is worse.
    violation : RankingViolation or None
        A case in which PRP itself fails, if one was found.

    See Also
    --------
    bestcut.check_metric : Finds one, if the metric does not qualify.
    bestcut.metrics.MetricCheck : Holds it.

    Examples
    --------
    >>> import bestcut
    >>> wrong = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    >>> found = bestcut.check_metric(wrong).counterexample
    >>> found.fewer_tp, found.score_fewer
    (Cells(tp=0, fp=1, fn=1, tn=0), 1.0)
    >>> found.more_tp, found.score_more
    (Cells(tp=1, fp=0, fn=0, tn=1), -1.0)
    """

    fewer_tp: Cells
    more_tp: Cells
    score_fewer: float
    score_more: float
    violation: RankingViolation | None = None

    def __str__(self) -> str:
        text = (
            f"({self.fewer_tp}) scores {self.score_fewer:.6g}, but with one more true "
            f"positive ({self.more_tp}) it scores {self.score_more:.6g}"
        )
        if self.violation:
            case = self.violation
            marks = "".join("1" if x else "0" for x in case.labels)
            text += (
                f"; for probabilities {list(case.y_proba)} the labels {marks} have "
                f"expected score {case.score:.6g}, the best top-k "
                f"{case.best_top_k:.6g}"
            )
        return text


@dataclass(frozen=True, repr=False)
class MetricCheck:
    """What `bestcut.check_metric` found.

    Attributes
    ----------
    metric : Metric
        The metric.
    tp_monotonic : bool
        Strictly better with more TP, `n_pred` and `n_pos` fixed: the paper's TP
        monotonicity.
    tp_nondecreasing : bool
        Never worse with more TP; this is enough for PRP (the paper's Main Result 1).
    tp_independent : bool
        The same for every TP, which is enough too (the paper's remark on SEC).
    rates_monotonic : bool
        Strictly better when TPR and TNR both rise: TPR/TNR monotonicity.
    agreement_monotonic : bool
        Never worse when one instance moves from a wrong cell (FP, FN) to a right one
        (TP, TN), for every confusion matrix with n <= `n_max`. Where it is proved for
        the n at hand, the distribution of such a score is found by bisection, and the
        best cut for its quantiles by bounds.
    prp : bool or None
        Whether an optimal top-k prediction always exists; None if TP can hurt but no
        probabilities were found for which every top-k prediction is beaten.
    reason : str
        Why, in a sentence.
    counterexample : Counterexample or None
        Where more TP is worse, if it ever is.
    n_checked : int or None
        Whether more TP can hurt is known up to this n; None if for every n. What
        `reason` restricts to small n was seen only there.

    See Also
    --------
    bestcut.check_metric : Makes one.
    bestcut.SolverMismatchError : Raised where a metric that fails is maximised by
        ranking.

    Examples
    --------
    >>> import bestcut
    >>> bestcut.check_metric("f1")
    MetricCheck(f1: the ranking principle holds. Strictly increasing in TP, for every
    n.)
    """

    metric: Metric
    tp_monotonic: bool
    tp_nondecreasing: bool
    tp_independent: bool
    rates_monotonic: bool
    agreement_monotonic: bool
    prp: bool | None
    reason: str
    counterexample: Counterexample | None
    n_checked: int | None

    def __repr__(self) -> str:
        verdict = {True: "holds", False: "fails", None: "is not known to hold"}
        return (
            f"MetricCheck({self.metric.name}: the ranking principle "
            f"{verdict[self.prp]}. {self.reason})"
        )


def check_metric(metric: str | Metric, *, n_max: int = _N_MAX) -> MetricCheck:
    """Check whether a metric may be maximised by ranking and cutting.

    Parameters
    ----------
    metric : str or Metric
        The name of a metric, or a metric.
    n_max : int, default=24
        Every confusion matrix of 1 to `n_max` instances is checked. If algebra proves
        that more TP never hurts, that holds for every n; ``reason`` and ``n_checked``
        say for which n the verdict holds.

    Returns
    -------
    MetricCheck
        With ``tp_monotonic``, ``rates_monotonic``, ``prp``, ``reason`` and
        ``counterexample``.

    Raises
    ------
    ValueError
        If the name of the metric is not known, or `n_max` is not a whole number of at
        least 2.
    TypeError
        If `metric` is neither a name nor a metric.

    See Also
    --------
    bestcut.metrics.from_counts : A metric of your own.
    bestcut.decide : Refuses a metric that does not qualify.
    bestcut.metrics.MetricCheck : What was found.

    Notes
    -----
    The paper's probability ranking principle (PRP) says that some cut of the ranking by
    probability is optimal. By its Main Result 1, this holds for every metric that never
    falls when TP rises while the numbers of predicted and of actual positives stay the
    same [1]_.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> import bestcut
    >>> bestcut.check_metric("gmean").prp
    True
    >>> wrong = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    >>> check = bestcut.check_metric(wrong)
    >>> check.prp, check.counterexample.fewer_tp
    (False, Cells(tp=0, fp=1, fn=1, tn=0))
    """
    if isinstance(n_max, bool) or not isinstance(n_max, Integral) or n_max < 2:
        raise n_max_too_small(n_max)
    check: MetricCheck = remembered(_check, get(metric), int(n_max))
    return check


@lru_cache(maxsize=256)
def _check(metric: Metric, n_max: int) -> MetricCheck:
    ranking: _Ranking = remembered(_ranking, metric, n_max)
    tp = ranking.tp
    return MetricCheck(
        metric=metric,
        tp_monotonic=tp.increasing,
        tp_nondecreasing=tp.nondecreasing,
        tp_independent=tp.independent,
        rates_monotonic=_rates_monotonic(metric, n_max),
        agreement_monotonic=all(
            Lattice(metric, n).never_falls(MORE_AGREEMENT) for n in range(1, n_max + 1)
        ),
        prp=ranking.prp,
        reason=ranking.reason,
        counterexample=tp.counterexample,
        n_checked=None if tp.for_any_n else n_max,
    )


class _TPVerdict(NamedTuple):
    """What more TP does.

    `for_any_n` says that whether it hurts is known for every n, and `wholly` that all
    of this is.
    """

    increasing: bool
    nondecreasing: bool
    independent: bool
    counterexample: Counterexample | None
    for_any_n: bool = False
    wholly: bool = False

    def in_words(self, n_max: int) -> str:
        """Say for which n more TP does what; it does not hurt."""
        what = "Never decreasing in"
        if self.increasing:
            what = "Strictly increasing in"
        elif self.independent:
            what = "Independent of"
        if self.wholly:
            return f"{what} TP, for every n."
        if self.for_any_n:
            weak = "Never decreasing in TP, for every n"
            return f"{weak}; {what.lower()} it if n <= {n_max}."
        return f"{what} TP, for every confusion matrix with n <= {n_max}."


class _Ranking(NamedTuple):
    """Whether ranking and cutting is optimal, and why."""

    tp: _TPVerdict
    prp: bool | None
    reason: str


@lru_cache(maxsize=256)
def _ranking(metric: Metric, n_max: int) -> _Ranking:
    tp = _by_coefficients(metric) or _by_algebra(metric, _check_lattice(metric, n_max))
    if tp.counterexample is None:
        return _Ranking(tp, True, tp.in_words(n_max))
    violation = _find_violation(metric)
    counterexample = replace(tp.counterexample, violation=violation)
    prp = None if violation is None else False
    reason = f"More true positives can be worse: {counterexample}."
    return _Ranking(tp._replace(counterexample=counterexample), prp, reason)


def _by_coefficients(metric: Metric) -> _TPVerdict | None:
    """Decide a fraction for every n, if its coefficients do."""
    if not isinstance(metric, FractionalLinearMetric):
        return None
    slope = slope_by_coefficients(metric)
    if slope is None:
        return None
    fall = None if slope.nondecreasing else _fall_at(metric, slope)
    return _TPVerdict(*slope[2:], fall, for_any_n=True, wholly=True)


def _fall_at(metric: Metric, slope: SlopeInTP) -> Counterexample:
    """Return a fall next to the worst corner."""
    (v, p), (constant, by_v, by_p) = slope.worst, slope.coefficients
    n = 2
    while True:  # the inside points next to a bad corner turn bad as n grows
        n_pred, n_pos = (n - 1 if x else 1 for x in (v, p))
        if constant * n + by_v * n_pred + by_p * n_pos < 0:
            tp = max(0, n_pred + n_pos - n)
            tn = n - n_pred - n_pos + tp
            return _counterexample(metric, tp, n_pred - tp, n_pos - tp, tn)
        n *= 2


def _by_algebra(metric: Metric, lattice: _TPVerdict) -> _TPVerdict:
    """Say of what was seen on the lattice for what algebra proves it for every n."""
    if not never_hurts(metric, MORE_TP):
        return lattice
    weak = not lattice.increasing and not lattice.independent
    wholly = weak or (lattice.independent and never_hurts(metric, LESS_TP))
    return lattice._replace(
        nondecreasing=True, counterexample=None, for_any_n=True, wholly=wholly
    )


def _check_lattice(metric: Metric, n_max: int) -> _TPVerdict:
    """Compare each confusion matrix with the one that has one more TP."""
    increasing = nondecreasing = independent = True
    counterexample = None
    for n in range(2, n_max + 1):  # a single instance makes no such step
        lattice = Lattice(metric, n)
        able, gain = lattice.gains(*MORE_TP)
        increasing &= bool(np.all(gain > lattice.noise))
        independent &= bool(np.all(np.abs(gain) <= lattice.noise))
        if nondecreasing and np.any(gain < -lattice.noise):
            nondecreasing = False
            cells = lattice.cells[:, able[np.argmin(gain)]]
            counterexample = _counterexample(metric, *map(int, cells))
    return _TPVerdict(increasing, nondecreasing, independent, counterexample)


def _counterexample(
    metric: Metric, tp: int, fp: int, fn: int, tn: int
) -> Counterexample:
    pair = Cells(tp, fp, fn, tn), Cells(tp + 1, fp - 1, fn - 1, tn + 1)
    fewer, more = (float(metric.psi(*cells)) for cells in pair)
    return Counterexample(*pair, score_fewer=fewer, score_more=more)


def _rates_monotonic(metric: Metric, n_max: int) -> bool:
    """TPR/TNR monotonicity on the lattice: both up strictly, score up strictly."""
    for n in range(2, n_max + 1):
        for n_pos in range(1, n):
            tp = np.arange(n_pos + 1.0)[:, None]
            tn = np.arange(n - n_pos + 1.0)[None, :]
            n_pred = tp + (n - n_pos - tn)
            tp = np.broadcast_to(tp, n_pred.shape)
            value = metric.utility(tp, n_pred, float(n_pos), float(n))
            # The best among all that are strictly lower in both rates.
            below = np.maximum.accumulate(np.maximum.accumulate(value, 0), 1)[:-1, :-1]
            noise = ROUNDING * np.max(np.abs(value))
            if not np.all(value[1:, 1:] > below + noise):
                return False
    return True


def _find_violation(metric: Metric) -> RankingViolation | None:
    """Look for probabilities with a prediction better than every top-k one."""
    grid = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.0)
    for n in range(2, 6):
        vectors = np.array(list(product((0.0, 1.0), repeat=n)))
        size = vectors.sum(axis=1)
        table: Any = metric.utility(
            vectors @ vectors.T, size[:, None], size[None, :], float(n)
        )
        probabilities = np.array(list(combinations_with_replacement(grid, n)))
        law = np.prod(
            np.where(vectors[:, None, :] == 1, probabilities, 1 - probabilities), axis=2
        )
        expected = table @ law  # label vector x probabilities
        # Sorted downwards, the top-k predictions are those without a rise.
        top_k = np.all(np.diff(vectors, axis=1) <= 0, axis=1)
        best, best_top_k = expected.max(axis=0), expected[top_k].max(axis=0)
        excess = best - best_top_k
        i = int(np.argmax(excess))
        if excess[i] > ROUNDING * 2**n * np.max(np.abs(table)):
            return RankingViolation(
                y_proba=tuple(map(float, probabilities[i])),
                labels=tuple(map(bool, vectors[int(np.argmax(expected[:, i]))])),
                score=metric.sign * float(best[i]),
                best_top_k=metric.sign * float(best_top_k[i]),
            )
    return None


def require_ranking(metric: Metric, *, way_out: str, role: str = "metric") -> None:
    """Refuse a metric that is not known to satisfy the ranking principle.

    Parameters
    ----------
    metric : Metric
        What to maximise.
    way_out : str
        What to do instead, in a sentence.
    role : str, default="metric"
        What the message calls the metric.
    """
    if never_hurts(metric, MORE_TP):
        return
    ranking: _Ranking = remembered(_ranking, metric, _N_MAX)
    if not ranking.prp:
        raise errors.without_principle(metric.name, ranking.reason, way_out, role)
