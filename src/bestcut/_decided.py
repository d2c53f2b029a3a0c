"""What is said of one decision, whether its rows are in memory or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestcut._results import Result, bounds_in_words, cut_in_words, number
from bestcut.goals import Certain, Condition, Goal, Mean, ProbAtLeast, Quantile
from bestcut.metrics import AnyMetric, get
from bestcut.scores import Predicted
from bestcut.search import gap_in_words

_MEAN = Mean()
_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Mean, ProbAtLeast, Quantile, Certain)
}


class Decided(Result, Predicted):
    """One decision with its certificate; `bestcut.Decision` describes what it has."""

    n: int
    n_positive: int
    threshold: float | None
    n_tied: tuple[int, int]
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    metric: AnyMetric
    solver: str
    goal: Goal
    goal_value: float
    bounds: tuple[int, int]

    def _asked(self) -> tuple[Condition, ...]:
        """Return the conditions, with what is reached of them."""
        raise NotImplementedError

    def _aims(self) -> list[tuple[str, str]]:
        """Return what was asked besides a good expected score, and what is reached."""
        aims = [(one.describe(), one.shown()) for one in self._asked()]
        if self.goal != _MEAN:
            goal = self.goal.describe(self.metric)
            aims.insert(0, (goal, f"{self.goal_value:.6g}"))
        return aims

    def _more_facts(self) -> list[tuple[str, str]]:
        """Return what only this kind of decision has to tell."""
        return []

    def _facts(self) -> list[tuple[str, str]]:
        low, high = self.distribution().interval(0.9)
        expected = (
            f"{number(self.expected_score, 6)}, "
            f"90% between {number(low, 4)} and {number(high, 4)}"
        )
        bounds = bounds_in_words(*self.bounds, self.n)
        return [
            (_MEAN.describe(self.metric), expected),
            ("metric", self.metric.name),
            ("positive", f"{self.n_positive} of {self.n}{bounds and f' ({bounds})'}"),
            cut_in_words(self.threshold, self.n_tied, self.metric),
            *self._aims(),
            ("numerical error", f"{self.error:.1e}"),
            ("gap", gap_in_words(self.gap, self.gap_scope).removeprefix("gap ")),
            ("solver", self.solver),
            *self._more_facts(),
        ]

    def __repr__(self) -> str:
        bounds = bounds_in_words(*self.bounds, self.n)
        cut = " ".join(cut_in_words(self.threshold, self.n_tied, self.metric))
        aims = "".join(f", {name} {value}" for name, value in self._aims())
        more = "".join(f", {name} {value}" for name, value in self._more_facts())
        score = f"{_MEAN.describe(self.metric)} {self.expected_score:.6g}"
        gap = gap_in_words(self.gap, self.gap_scope)
        return (
            f"{type(self).__name__}({self.metric.name}: {self.n_positive} of {self.n} "
            f"positive{bounds and f' ({bounds})'}, {cut}, {score}{aims} "
            f"[error {self.error:.1e}, {gap}, solver {self.solver}]{more})"
        )


def goal_from(data: Mapping[str, Any]) -> Any:
    """Return the goal, or what was asked for with a probability, from plain Python."""
    given = dict(data)
    return _KINDS[given.pop("kind")](**given)


def condition_from(data: Mapping[str, Any]) -> Condition:
    """Return a condition from plain Python."""
    wanted = data["wanted"]
    asked = goal_from(wanted) if isinstance(wanted, Mapping) else wanted
    return Condition(get(data["metric"]), asked, data["reached"])
