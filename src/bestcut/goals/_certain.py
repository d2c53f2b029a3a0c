"""Conditions on other metrics than the one that is maximised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut._validation import check_finite_real, check_share
from bestcut.metrics import Metric
from bestcut.scores import Prediction, ScoreDistribution


@dataclass(frozen=True)
class Certain:
    """A condition that the score of this batch must meet with some probability.

    Use it as a value of `at_least` in `bestcut.decide`: the score of the batch must be
    at least `score` with at least this probability. A number in its place is the least
    *expected* score. In `at_most` it is a loss that must be at most `score`.

    Parameters
    ----------
    score : float
        The least score, or the largest loss.
    probability : float, default=0.95
        The probability with which it must be reached, strictly between 0 and 1.

    Raises
    ------
    TypeError
        If `score` or `probability` is not a real number.
    ValueError
        If `score` is not finite, or `probability` is not strictly between 0 and 1.

    See Also
    --------
    bestcut.decide : Takes it, in `at_least` and `at_most`.
    bestcut.guarantee : A promise that rests on labels, not on probabilities.
    bestcut.goals.Condition : What a decision reaches of it.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.95] * 60 + [0.7] * 40 + [0.1] * 200
    >>> sure = bestcut.goals.Certain(0.9, probability=0.95)
    >>> decision = bestcut.decide(p, "f1", at_least={"precision": sure})
    >>> decision.n_positive
    61
    >>> round(decision.distribution("precision").prob_at_least(0.9), 3)
    0.956
    """

    score: float
    probability: float = 0.95

    def __post_init__(self) -> None:
        check_finite_real(self.score, name="score")
        check_share(self.probability, name="probability")


@dataclass(frozen=True, repr=False)
class Condition:
    """What was asked of another metric, and what a decision reaches of it.

    Attributes
    ----------
    metric : Metric
        The other metric.
    wanted : float or Certain
        Its least expected value, or its least value and with which probability; for a
        loss the largest.
    reached : float or ndarray
        The expected value, or the probability; of `bestcut.Decisions`, an array with
        one for each problem.
    asked : float
        The least value of `reached`; the largest for the expected value of a loss.
    direction : str
        How `reached` must compare with `asked`: ``"at least"``, or ``"at most"``.
    falls_short : bool
        Whether `reached` is not what was asked, be it by rounding only.

    See Also
    --------
    bestcut.Decision : Has them, as ``conditions``.
    bestcut.goals.Certain : A condition that is asked for with a probability.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.9, 0.8, 0.6, 0.3, 0.2, 0.1]
    >>> bestcut.decide(p, "recall", at_least={"precision": 0.7}).conditions
    (expected precision 0.766667 (at least 0.7),)
    """

    metric: Metric
    wanted: float | Certain
    reached: Any

    @property
    def asked(self) -> float:
        """The least value of `reached`, or the largest."""
        if isinstance(self.wanted, Certain):
            return float(self.wanted.probability)
        return self.wanted

    @property
    def direction(self) -> str:
        """How `reached` must compare with `asked`."""
        probable = isinstance(self.wanted, Certain)
        return "at least" if probable or self.metric.greater_is_better else "at most"

    @property
    def falls_short(self) -> bool:
        """Whether `reached` is not what was asked, be it by rounding only."""
        if self.direction == "at most":
            return bool(np.any(self.reached > self.asked))
        return bool(np.any(self.reached < self.asked))

    def describe(self) -> str:
        """Return what `reached` is, in words.

        Returns
        -------
        str
            Such as "expected precision".
        """
        if isinstance(self.wanted, Certain):
            sign = ">=" if self.metric.greater_is_better else "<="
            return f"P({self.metric.name} {sign} {self.wanted.score:g})"
        return f"expected {self.metric.name}"

    def shown(self) -> str:
        """Return what was reached, and what was asked.

        Returns
        -------
        str
            Such as "0.766667 (at least 0.7)".
        """
        every = " in each problem" if np.ndim(self.reached) else ""
        worst = np.min if self.direction == "at least" else np.max
        reached = worst(self.reached) if np.size(self.reached) else float("nan")
        return f"{reached:.6g} ({self.direction} {self.asked:g}){every}"

    def __repr__(self) -> str:
        return f"{self.describe()} {self.shown()}"


def condition_of(
    prediction: Prediction, metric: Metric, wanted: float | Certain
) -> Condition:
    """Return a condition with what a prediction reaches of it."""
    score = ScoreDistribution(prediction, metric)
    if isinstance(wanted, Certain):
        return Condition(metric, wanted, score.prob_at_least(wanted.score))
    return Condition(metric, wanted, score.mean)
