"""The largest set of new rows that labels of other rows can certify."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._guesses import hinted
from bestcut._results import Result
from bestcut._tables import check_order, like
from bestcut._thresholds import threshold_of
from bestcut._types import BoolArray, CountArray, FloatArray
from bestcut._validation import (
    check_finite_scores,
    check_floor,
    check_labels,
    check_share,
)
from bestcut.calibration._bands import Bands, Pool, bands
from bestcut.metrics import Metric, get, never_hurts

# One instance from cell to cell, of TP, FP, FN and TN.
_FP_TO_TP, _TP_TO_FP = (1, -1, 0, 0), (-1, 1, 0, 0)
_FN_TO_TN, _TN_TO_FN = (0, 0, -1, 1), (0, 0, 1, -1)

_MOST_LABELS = 10_000_000  # that are thought of when labels are too few
_WIDTH = 79


@dataclass(frozen=True, repr=False, eq=False)
class Guarantee(Result):
    """The largest set of new rows that satisfies conditions with some probability.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,), or Series
        Which of the new rows are in the set, in the order of the input; none if nothing
        can be certified. A Series of pandas or polars gives one, with its index and its
        name. You may write to them; the promise stays about the set as it was found.
    n : int
        How many new rows there are.
    n_positive : int
        How many of them are in the set.
    threshold : float
        Rows whose score is at least this are in the set; inf if it is empty. It lies
        halfway between the smallest score in the set and the next smaller one of the
        new rows, and is the smallest itself if all are in the set.
    certified : bool
        Whether the conditions are promised for `labels`.
    at_least : dict of str to float
        The conditions: metrics and their least values.
    lower : dict of str to float
        The certified value of each metric, which is at least the asked value; empty if
        nothing is certified.
    probability : float
        The probability of the promise, over the random choice of rows with labels.
    n_labelled : int
        How many labels the promise rests on.
    labels_needed : int or None
        If nothing is certified: about how many labels would have been enough, with the
        same shares of positives along the ranking. None if 10 million would not be
        enough, or if the set is certified. Computed on first use.
    verdict : str
        The outcome in words.

    See Also
    --------
    bestcut.guarantee : Finds it.
    bestcut.goals.Certain : The same promise if the probabilities are right.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(1300)
    >>> y = rng.random(1300) < scores**0.5
    >>> found = bestcut.guarantee(
    ...     y[:1000], scores[:1000], scores[1000:], {"recall": 0.5}
    ... )
    >>> found.certified, found.lower["recall"] >= 0.5
    (True, True)
    """

    labels: Any
    n: int
    n_positive: int
    threshold: float
    certified: bool
    at_least: dict[str, float]
    lower: dict[str, float]
    probability: float
    n_labelled: int
    _decided: BoolArray = field(repr=False)
    _pool: Pool = field(repr=False)
    _conditions: _Conditions = field(repr=False)

    @cached_property
    def labels_needed(self) -> int | None:
        """About how many labels would have been enough, computed on first use."""
        if self.certified or not self.n:
            return None
        return _labels_needed(self._pool, 1.0 - self.probability, self._conditions)

    def realised(self, y_true: Any) -> dict[str, float]:
        """Return what the set scored, once the labels of the new rows are known.

        .. versionadded:: 0.3

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The true labels of the new rows, 0 and 1 or booleans.

        Returns
        -------
        dict of str to float
            The score of each metric in `at_least`, which was promised to be at least
            ``lower`` with the given probability.

        Raises
        ------
        ValueError
            If there is not one label of 0 or 1 for each new row.

        Examples
        --------
        >>> import bestcut
        >>> y, scores = [0, 1] * 100, [0.2, 0.8] * 100
        >>> found = bestcut.guarantee(y, scores, [0.1, 0.8, 0.9], {"precision": 0.5})
        >>> found.realised([0, 1, 1])
        {'precision': 1.0}
        """
        n = len(self.labels)
        truth = check_labels(y_true, n, name="y_true", of="new_scores")
        return {
            metric.name: metric.realised(truth, self.labels)
            for metric in self._conditions.floors
        }

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        asked = " and ".join(f"{name} >= {v:g}" for name, v in self.at_least.items())
        if self.certified:
            which = f"score >= {self.threshold:.6g}" if self.n_positive else "none"
            return (
                f"{asked} in this batch, with probability {self.probability:g}, for "
                f"{self.n_positive} of {self.n} rows ({which}); "
                f"from {self.n_labelled} labels."
            )
        refusal = (
            f"{asked} in a batch of {self.n} cannot be certified with "
            f"{self.n_labelled} labels at probability {self.probability:g}."
        )
        if not self.n:
            return f"{refusal} There are no new rows."
        if self.labels_needed is None:
            return (
                f"{refusal} Even {_MOST_LABELS} labels would not be enough, with the "
                "same shares of positives along the ranking. Ask for less, or find a "
                "better model."
            )
        return (
            f"{refusal} About {self.labels_needed} labels would be enough, with the "
            "same shares of positives along the ranking; with few labels this is a "
            "guess."
        )

    def _plain(self) -> dict[str, Any]:
        computed = {"labels_needed": self.labels_needed, "verdict": self.verdict}
        return super()._plain() | {"labels": self._decided} | computed

    def _facts(self) -> list[tuple[str, str]]:
        held = [
            (f"{name} >= {asked:g}", f"at least {self.lower[name]:.6g}")
            for name, asked in self.at_least.items()
            if self.certified
        ]
        return [
            ("verdict", self.verdict),
            ("positive", f"{self.n_positive} of {self.n}"),
            ("threshold", f"{self.threshold:.6g}"),
            *held,
            ("probability", f"{self.probability:g}"),
            ("labels", str(self.n_labelled)),
        ]

    def __repr__(self) -> str:
        return "\n".join(textwrap.wrap(f"Guarantee: {self.verdict}", _WIDTH))


@hinted
def guarantee(
    y_true: Any,
    scores: Any,
    new_scores: Any,
    at_least: Mapping[str | Metric, float],
    *,
    probability: float = 0.95,
) -> Guarantee:
    """Find the largest set of new rows whose realised metric is promised.

    The promise is for this batch, not on average or for a population: if many batches
    are drawn and decided on in this way, the returned set breaks a condition in at most
    a share ``1 - probability`` of them. It rests on one assumption: the rows with
    labels and the new rows are **exchangeable**, as if all had been drawn in the same
    way and chance had decided which rows get labels. The scores may mean anything, and
    the model may be wrong in any way; with a worse model, less can be certified.

    Parameters
    ----------
    y_true : array-like of shape (m,)
        Labels, 0 and 1 or booleans, of rows that the model was not fitted on.
    scores : array-like of shape (m,)
        Scores of these rows; larger means more positive. They must come from the same
        fitted model as `new_scores`: out-of-fold scores come from other models, and are
        not exchangeable with the new scores.
    new_scores : array-like of shape (n,)
        Scores of the rows to decide on.
    at_least : mapping of str or Metric to float
        Metrics and the least values that the batch must have, all together: for example
        ``{"precision": 0.9}`` or ``{"precision": 0.8, "recall": 0.5}``. Metrics must
        never fall when one more row of the set is positive, or one more of the other
        rows is negative.
    probability : float, default=0.95
        The probability with which all conditions must hold.

    Returns
    -------
    Guarantee
        With ``labels``, ``threshold``, ``n_positive``, ``certified``, ``lower`` and
        ``labels_needed``.

    Raises
    ------
    SolverMismatchError
        If a metric is not known to be monotone as described.
    ValueError
        If there are no labels, labels are not 0 and 1, a score is NaN or infinite, a
        metric is a loss, or `probability` is not strictly between 0 and 1.
    TypeError
        If `at_least` is not a mapping of metrics to numbers.

    See Also
    --------
    bestcut.goals.Certain : A condition that trusts the probabilities.
    bestcut.calibrate : Probabilities from the same labels.

    Notes
    -----
    A set holds all rows with a score of at least a threshold, so equal scores are never
    separated. The pooled scores of both kinds of rows determine some sets, each up to
    1.4 times as large as the one before. In these sets, hypergeometric prediction
    limits at a share of the risk bound the number of positives among the new rows; the
    bounds for all other sets follow. Nothing is simulated, and the result does not
    depend on the order of the rows. Lemmas 14 and 15 in docs/how-it-works/lemmas.md
    have the proof.

    With few labels nothing can be certified: precision 0.9 with probability 0.95 needs
    dozens of labels in the set, nearly all of them positive. Where a metric needs FN,
    half of the risk goes to TP and half to FN. If a metric counts 0/0 as 0, as recall
    does without positives, such a batch breaks the promise too.

    The share of broken promises is a share of all batches, including those in which
    nothing is certified. With useless scores, few batches are certified, only by luck,
    and many of these fail.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(2300)
    >>> y = rng.random(2300) < scores**0.5  # no probabilities, but better than nothing
    >>> promised = bestcut.guarantee(
    ...     y[:2000], scores[:2000], scores[2000:], {"precision": 0.8}
    ... )
    >>> promised
    Guarantee: precision >= 0.8 in this batch, with probability 0.95, for 105 of
    300 rows (score >= 0.599782); from 2000 labels.
    >>> bool(y[2000:][promised.labels].mean() >= 0.8)
    True
    >>> bestcut.guarantee(y[:30], scores[:30], scores[2000:], {"precision": 0.8})
    Guarantee: precision >= 0.8 in a batch of 300 cannot be certified with 30
    labels at probability 0.95. About 367 labels would be enough, with the same shares
    of positives along the ranking; with few labels this is a guess.
    """
    check_order(y_true=y_true, scores=scores)
    labelled = check_finite_scores(scores, name="scores")
    fresh = check_finite_scores(new_scores, name="new_scores")
    truth = check_labels(
        y_true, labelled.size, name="y_true", of="scores", beside=labelled
    )
    if truth.size == 0:
        raise errors.no_labels()
    risk = 1.0 - check_share(
        probability, name="probability", cure="Pass 0.95 for 19 batches of 20."
    )
    conditions = _Conditions(at_least, fresh.size)
    pool = Pool.of(truth, labelled, fresh)
    bounds = conditions.bands(pool, risk)
    enough = conditions.hold_in(pool, bounds)
    size = int(pool.fresh[enough].max(initial=0))
    # The first set with these new rows: the others add only rows that have labels.
    j = int(np.searchsorted(pool.fresh, size))
    labels = fresh >= (pool.scores[j - 1] if size else np.inf)
    least = float(fresh[labels].min(initial=np.inf))
    return Guarantee(
        labels=like(new_scores, labels.copy()),
        n=fresh.size,
        n_positive=size,
        threshold=threshold_of(fresh, size, least).value + 0.0,  # no negative zero
        certified=bool(enough.any()),
        at_least=conditions.asked(),
        lower=conditions.lower(pool, bounds, size) if enough.any() else {},
        probability=float(probability),
        n_labelled=truth.size,
        _decided=labels,
        _pool=pool,
        _conditions=conditions,
    )


class _Conditions:
    """Metrics with their least values, and which bounds they need."""

    def __init__(self, at_least: Any, n: int) -> None:
        if not isinstance(at_least, Mapping) or not at_least:
            raise errors.not_conditions(at_least)
        self.floors: dict[Metric, float] = {}
        for name, floor in at_least.items():
            metric = get(name)
            called = f"at_least[{metric.name!r}]"
            check_floor(floor, name=called, bound=metric.bound)
            if not metric.greater_is_better:
                raise errors.guaranteed_loss(metric.name)
            if not never_hurts(metric, (_FP_TO_TP, _FN_TO_TN), n):
                raise errors.not_monotone(metric.name, n)
            self.floors[metric] = max(float(floor), self.floors.get(metric, -np.inf))
        self.n = n
        # A metric that the opposite does not hurt either does not see the move.
        self.tp, self.fn = (
            not all(never_hurts(metric, (move,), n) for metric in self.floors)
            for move in (_TP_TO_FP, _TN_TO_FN)
        )

    def __call__(
        self, tp: CountArray, n_pred: CountArray, fn: CountArray, n: int
    ) -> BoolArray:
        """Return where all conditions hold."""
        hold = np.ones(tp.shape, dtype=np.bool_)
        for metric, floor in self.floors.items():
            hold &= _values(metric, tp, n_pred, fn, n) >= floor
        return hold

    def bands(self, pool: Pool, risk: float) -> Bands:
        """Return the bounds that these metrics need."""
        if self.n == 0 or not (self.tp or self.fn):  # nothing about labels is asked
            return Bands(np.zeros_like(pool.fresh), self.n - pool.fresh)
        return bands(pool, risk, self, tp=self.tp, fn=self.fn)

    def hold_in(self, pool: Pool, bounds: Bands) -> BoolArray:
        """Return for which sets of the pool all conditions are certified."""
        return self(bounds.least_tp, pool.fresh, bounds.most_fn, self.n)

    def lower(self, pool: Pool, bounds: Bands, size: int) -> dict[str, float]:
        """Return the certified value of each metric for a set of `size` new rows."""
        among = np.flatnonzero(pool.fresh == size)
        i = among[self.hold_in(pool, bounds)[among]][:1]
        counts = (x[i] for x in (bounds.least_tp, pool.fresh, bounds.most_fn))
        tp, n_pred, fn = counts
        return {
            metric.name: float(_values(metric, tp, n_pred, fn, self.n)[0])
            for metric in self.floors
        }

    def asked(self) -> dict[str, float]:
        """Return the conditions by name."""
        return {metric.name: floor for metric, floor in self.floors.items()}


def _values(
    metric: Metric, tp: CountArray, n_pred: CountArray, fn: CountArray, n: int
) -> FloatArray:
    """Return the metric at bounds, which are whole numbers."""
    cells = (tp, n_pred - tp, fn, n - n_pred - fn)
    value = metric.score_cells(*(cell.astype(np.float64) for cell in cells))
    return np.broadcast_to(np.asarray(value, dtype=np.float64), tp.shape)


def _labels_needed(pool: Pool, risk: float, conditions: _Conditions) -> int | None:
    """Return about how many labels with the same shares would be enough."""

    def enough(m: int) -> bool:
        more = pool.scaled(m)
        return bool(conditions.hold_in(more, conditions.bands(more, risk)).any())

    low = int(pool.labelled[-1])
    high = 2 * low
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_LABELS:
            return None
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
