"""What a decision is to make large: the mean score, or something more cautious.

For every goal here some top-k prediction is optimal, if it is for the mean. Take two
instances, the less probable one predicted positive and the other not, and exchange
them. If their labels agree nothing changes; if not, it is more probable that the
exchange adds a true positive than that it takes one away. So for a metric f that never
falls when TP rises, P(f >= c) does not fall, whatever c: among predictions of k
positives, the score of the top-k is *stochastically* the largest.

- ``ProbAtLeast(c)`` is that probability.
- ``Quantile(q)`` is at least c exactly if P(f >= c) > 1 - q, so the largest quantile
  that any prediction has, a top-k prediction has too.
- ``Mean()`` is the integral of P(f >= c): the paper's Main Result 1.

The same argument keeps constraints on expected values simple: the top-k prediction is
the best for the objective and for all constraining metrics at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from bestcut._validation import check_finite_real, check_share
from bestcut.metrics import Metric
from bestcut.scores import UtilityLaw

__all__ = ["Goal", "Mean", "ProbAtLeast", "Quantile"]


class Goal(ABC):
    """A number that is drawn from the law of a score, to be made large."""

    @abstractmethod
    def describe(self, metric: Metric) -> str:
        """Return what the number is, in words."""


class LawGoal(Goal):
    """A goal that looks at the whole law of the score."""

    @abstractmethod
    def value(self, law: UtilityLaw, metric: Metric) -> float:
        """Return the number, larger is better."""

    @abstractmethod
    def is_above(self, law: UtilityLaw, metric: Metric, value: float) -> bool:
        """Return whether the number exceeds `value`, by more than its error."""

    @abstractmethod
    def shown(self, value: float, metric: Metric) -> float:
        """Return the number as people read it: a quantile of a loss is a loss."""


@dataclass(frozen=True)
class Mean(Goal):
    """Maximise the expected score: the default.

    Examples
    --------
    >>> import bestcut
    >>> bestcut.decide([0.7, 0.4], goal=bestcut.goals.Mean()).goal
    Mean()
    """

    def describe(self, metric: Metric) -> str:
        """Return what the number is, in words."""
        return "expected score" if metric.greater_is_better else "expected loss"


@dataclass(frozen=True)
class ProbAtLeast(LawGoal):
    """Maximise the probability that the metric reaches a score.

    For a loss: the probability that it is at most that.

    Parameters
    ----------
    score : float
        What is to be reached.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.9, 0.6, 0.4, 0.3, 0.1]
    >>> decision = bestcut.decide(p, "f1", goal=bestcut.goals.ProbAtLeast(0.7))
    >>> round(decision.goal_value, 4)
    0.526
    """

    score: float

    def __post_init__(self) -> None:
        check_finite_real(self.score, name="score")

    def describe(self, metric: Metric) -> str:
        """Return what the number is, in words."""
        least = "at least" if metric.greater_is_better else "at most"
        return f"probability of {least} {self.score:g}"

    def value(self, law: UtilityLaw, metric: Metric) -> float:
        """Return the probability."""
        utility = float(self.score if metric.greater_is_better else -self.score)
        return min(law.at_least(utility - law.tolerance), 1.0)

    def is_above(self, law: UtilityLaw, metric: Metric, value: float) -> bool:
        """Return whether the probability exceeds `value`, by more than its error."""
        return self.value(law, metric) > value * (1.0 + law.probability_error)

    def shown(self, value: float, metric: Metric) -> float:
        """Return the probability."""
        return value


@dataclass(frozen=True)
class Quantile(LawGoal):
    """Maximise the score that is exceeded with probability about 1 - q.

    A small q is cautious: ``Quantile(0.05)`` makes the score as large as possible that
    19 of 20 test sets reach. A quantile of a loss counts from the worse end too, and
    is minimised.

    Parameters
    ----------
    q : float
        Strictly between 0 and 1.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.9, 0.6, 0.4, 0.3, 0.1]
    >>> decision = bestcut.decide(p, "f1", goal=bestcut.goals.Quantile(0.1))
    >>> round(decision.goal_value, 4)
    0.4
    """

    q: float

    def __post_init__(self) -> None:
        check_share(self.q, name="q")

    def describe(self, metric: Metric) -> str:
        """Return what the number is, in words."""
        share = self.q if metric.greater_is_better else 1 - self.q
        return f"{100 * float(share):g}% quantile"

    def value(self, law: UtilityLaw, metric: Metric) -> float:
        """Return the quantile of the utility."""
        return law.quantile(float(self.q))

    def is_above(self, law: UtilityLaw, metric: Metric, value: float) -> bool:
        """Return whether the quantile exceeds `value`, by more than its error."""
        beyond = law.above(value + law.tolerance)
        return beyond > 1.0 - float(self.q) + law.probability_error

    def shown(self, value: float, metric: Metric) -> float:
        """Return the quantile of the score."""
        return value if metric.greater_is_better else -value


def check_goal(goal: Any) -> Goal:
    """Return a goal, refusing anything else."""
    if isinstance(goal, type) and issubclass(goal, Goal):
        msg = f"`goal` must be a goal, not its class; pass {goal.__name__}(...)."
        raise TypeError(msg)
    if not isinstance(goal, Mean | LawGoal):
        msg = (
            f"`goal` must be one of `bestcut.goals`; got {goal!r}. For example "
            "bestcut.goals.Quantile(0.1)."
        )
        raise TypeError(msg)
    return goal
