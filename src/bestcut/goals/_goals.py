"""The goals: numbers of the distribution of a score that are maximised."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestcut import _errors as errors
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_finite_real, check_share
from bestcut.goals._certain import Certain
from bestcut.metrics import AnyMetric
from bestcut.scores import UtilityDistribution


class Goal(ABC):
    """A number of the distribution of a score, which is maximised.

    Pass one as ``goal`` to `bestcut.decide`. The goals are `Mean`, `ProbAtLeast` and
    `Quantile`.

    See Also
    --------
    bestcut.decide : Takes a goal.
    bestcut.goals.Certain : A condition on another metric.

    Examples
    --------
    >>> import bestcut
    >>> goals = bestcut.goals.Mean(), bestcut.goals.Quantile(0.1)
    >>> all(isinstance(goal, bestcut.goals.Goal) for goal in goals)
    True
    """

    @abstractmethod
    def describe(self, metric: AnyMetric) -> str:
        """Return in words what the number is.

        Parameters
        ----------
        metric : Metric or RowUtility
            The metric whose distribution it is.

        Returns
        -------
        str
            Such as "expected score".
        """


class Question(NamedTuple):
    """Is it more probable than `probability` that a score reaches a utility?

    Attributes
    ----------
    utility : float
        The utility to reach.
    strictly : bool
        Whether the utility must be exceeded.
    probability : float
        The number that the probability must exceed.
    """

    utility: float
    strictly: bool
    probability: float

    def is_reached(self, value: FloatArray) -> BoolArray:
        """Return which values reach the utility."""
        reached = value > self.utility if self.strictly else value >= self.utility
        return np.asarray(reached)


class DistributionGoal(Goal):
    """A goal that looks at the whole distribution of the score."""

    @abstractmethod
    def value(self, utility: UtilityDistribution, metric: AnyMetric) -> float:
        """Return the number, larger is better."""

    @abstractmethod
    def question(
        self, value: float, metric: AnyMetric, tolerance: float, error: float
    ) -> Question:
        """Return what to ask of a distribution whose number may exceed `value`.

        It does, by more than rounding, exactly if the answer is yes. `tolerance` and
        `error` are by how much its utilities and its probabilities round.
        """

    @abstractmethod
    def gap(self, value: float, tolerance: float, probability_error: float) -> float:
        """Return by how much the number may exceed `value` if the answer is no.

        That is besides the errors of the probabilities themselves.
        """

    @abstractmethod
    def shown(self, value: float, metric: AnyMetric) -> float:
        """Return the number as people read it: a quantile of a loss is a loss."""


@dataclass(frozen=True)
class Mean(Goal):
    """Maximise the expected score: the default.

    See Also
    --------
    bestcut.goals.Quantile : A cautious goal.
    bestcut.goals.ProbAtLeast : The probability of a target.

    Examples
    --------
    >>> import bestcut
    >>> bestcut.decide([0.7, 0.4], goal=bestcut.goals.Mean()).goal
    Mean()
    """

    def describe(self, metric: AnyMetric) -> str:
        """Return in words what the number is."""
        return "expected score" if metric.greater_is_better else "expected loss"


@dataclass(frozen=True)
class ProbAtLeast(DistributionGoal):
    """Maximise the probability that the metric reaches a score.

    For a loss, it is the probability that the loss is at most that score.

    Parameters
    ----------
    score : float
        The score to reach.

    Raises
    ------
    TypeError
        If `score` is not a real number.
    ValueError
        If `score` is NaN or infinite.

    See Also
    --------
    bestcut.goals.Quantile : The score that is reached with a given probability.
    bestcut.goals.Certain : The same as a condition on another metric.
    bestcut.ScoreDistribution : Has the same probability for any predictions.

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

    def describe(self, metric: AnyMetric) -> str:
        """Return in words what the number is."""
        least = "at least" if metric.greater_is_better else "at most"
        return f"probability of {least} {float(self.score):.15g}"

    def value(self, utility: UtilityDistribution, metric: AnyMetric) -> float:
        """Return the probability."""
        wanted = metric.sign * float(self.score)
        return min(utility.reaching(wanted), 1.0)

    def question(
        self, value: float, metric: AnyMetric, tolerance: float, error: float
    ) -> Question:
        """Return what to ask of a distribution whose probability may exceed `value`."""
        wanted = metric.sign * float(self.score)
        return Question(wanted - tolerance, False, value * (1.0 + error))

    def gap(self, value: float, tolerance: float, probability_error: float) -> float:
        """Return by how much the probability may exceed `value`: a relative error."""
        return value * probability_error

    def shown(self, value: float, metric: AnyMetric) -> float:
        """Return the probability."""
        return value


@dataclass(frozen=True)
class Quantile(DistributionGoal):
    """Maximise the score that is exceeded with probability about 1 - q.

    A small q is cautious: ``Quantile(0.05)`` maximises the score that 19 of 20 test
    sets reach. The quantile of a loss also counts from the worse end, and is minimised.

    Parameters
    ----------
    q : float
        Strictly between 0 and 1.

    Raises
    ------
    TypeError
        If `q` is not a real number.
    ValueError
        If `q` is not strictly between 0 and 1.

    See Also
    --------
    bestcut.goals.ProbAtLeast : The probability of reaching a given score.
    bestcut.goals.Mean : The expected score.

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

    def describe(self, metric: AnyMetric) -> str:
        """Return in words what the number is."""
        share = self.q if metric.greater_is_better else 1 - self.q
        return f"{100 * float(share):g}% quantile"

    def value(self, utility: UtilityDistribution, metric: AnyMetric) -> float:
        """Return the quantile of the utility."""
        return utility.quantile(float(self.q))

    def question(
        self, value: float, metric: AnyMetric, tolerance: float, error: float
    ) -> Question:
        """Return what to ask of a distribution whose quantile may exceed `value`."""
        allowed = 1.0 - float(self.q) + error
        return Question(value + tolerance, True, allowed)

    def gap(self, value: float, tolerance: float, probability_error: float) -> float:
        """Return by how much the quantile may exceed `value`.

        Twice the tolerance: utilities so close are equal, and each has rounded by as
        much. The quantile is one of level ``q - probability_error`` at least, as all
        are, and the error of the distribution's probabilities lowers that once more.
        """
        return 2.0 * tolerance

    def shown(self, value: float, metric: AnyMetric) -> float:
        """Return the quantile of the score."""
        return value if metric.greater_is_better else -value


def check_goal(goal: Any) -> Goal:
    """Return a goal, refusing anything else."""
    if isinstance(goal, type) and issubclass(goal, Goal):
        raise errors.not_its_class(goal)
    if isinstance(goal, Certain):
        raise errors.condition_as_goal(goal)
    if not isinstance(goal, Mean | DistributionGoal):
        raise errors.not_a_goal(goal)
    return goal
