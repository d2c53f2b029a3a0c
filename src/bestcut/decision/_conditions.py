"""What other metrics must reach: conditions as they are asked for, and as met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from bestcut import _errors as errors
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_floor
from bestcut.goals import Certain, Goal, ProbAtLeast
from bestcut.metrics import Metric, get, require_ranking
from bestcut.mixtures import MixtureCuts, MixtureGoalSearch, cuts_that_reach
from bestcut.scores import Prediction
from bestcut.search import OUTSIDE, Allowed, Cells, least_utility
from bestcut.uncertain import RankedDraws

_MOST_CONDITIONS = 100  # each takes some hundredths of a second, or more
_QUICK = 1000  # instances with which a look takes no longer than bounds
_SAMPLED = 1024  # instances by which the best cut is guessed

# What constraining metrics must reach: in expectation, or with a probability.
Wanted: TypeAlias = float | Certain
Floors: TypeAlias = dict[Metric, list[Wanted]]
Conditions: TypeAlias = Mapping[str | Metric, Wanted | Sequence[Wanted]]


class Cuts(Protocol):
    """The cuts of a ranking, as far as conditions look at them."""

    n: int

    def whole_curve(self, metric: Metric) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the errors."""

    def value(self, at: Any, metric: Metric) -> tuple[float, float]:
        """Return the expected score of the prediction of a cut, and its error."""

    def prediction(self, cut: int) -> Prediction:
        """Return the prediction of a cut."""

    def draws(self) -> RankedDraws:
        """Return the draws of the probabilities; what is known is one draw."""


def check_floors(at_least: Any, at_most: Any) -> Floors:
    """Return the constraining metrics with what they must reach.

    Scores must reach at least so much, and losses at most.
    """
    floors: Floors = {}
    for argument, asked in (("at_least", at_least), ("at_most", at_most)):
        if asked is None:
            continue
        if not isinstance(asked, Mapping):
            raise errors.not_constraints(argument, asked)
        for name, wanted in asked.items():
            metric = get(name)
            if metric.greater_is_better != (argument == "at_least"):
                raise errors.constrained_otherwise(argument, metric.name, wanted)
            conditions = wanted if isinstance(wanted, list | tuple) else [wanted]
            for floor in conditions:
                if isinstance(floor, Goal):
                    raise errors.goal_as_condition(argument, metric.name, floor)
                least = floor.score if isinstance(floor, Certain) else floor
                called = f"{argument}[{metric.name!r}]"
                check_floor(least, name=called, bound=metric.bound)
            require_ranking(
                metric,
                way_out="Leave it out: a prediction that is not a cut of the ranking "
                "may be needed to satisfy it.",
                role=f"`{argument}` metric",
            )
            floors.setdefault(metric, []).extend(
                floor if isinstance(floor, Certain) else float(floor)
                for floor in conditions
            )
    if (count := sum(map(len, floors.values()))) > _MOST_CONDITIONS:
        raise errors.too_many_conditions(count, _MOST_CONDITIONS)
    return floors


def as_arguments(floors: Mapping[Metric, list[Wanted]]) -> dict[str, Any]:
    """Return checked constraints as the arguments that `decide` takes."""
    arguments: dict[str, Any] = {}
    for metric, wanted in floors.items():
        argument = "at_least" if metric.greater_is_better else "at_most"
        arguments.setdefault(argument, {})[metric] = wanted
    return arguments


def are_met(cuts: Cuts, cut: int, floors: Floors) -> bool:
    """Return whether a cut satisfies all conditions, as `feasible` says it."""
    if not floors:
        return True
    prediction = cuts.prediction(cut)
    return all(
        _is_met(cuts, prediction, metric, wanted)
        for metric, each in floors.items()
        for wanted in each
    )


def _is_met(cuts: Cuts, prediction: Prediction, metric: Metric, wanted: Wanted) -> bool:
    """Return whether a cut satisfies a condition: by bounds, or else by a look."""
    utility = _utility_asked(metric, wanted)
    if cuts.n > _QUICK and is_surely_met(prediction, metric, wanted):
        return True
    if isinstance(wanted, Certain):
        law = prediction.utility(metric)
        return law.reaching(utility) >= wanted.probability - law.probability_error
    value, error = cuts.value(prediction, metric)
    return metric.sign * value >= utility - error


def is_surely_met(prediction: Prediction, metric: Metric, wanted: Wanted) -> bool:
    """Return whether bounds on the counts say that a prediction meets a condition."""
    utility = _utility_asked(metric, wanted)
    cells = Cells.at_cut(prediction.chosen, prediction.others)
    mean, least = least_utility(metric, prediction.n, cells)
    if isinstance(wanted, Certain):
        enough = 1.0 - wanted.probability >= OUTSIDE
        return bool(np.any(least[enough].min(axis=(1, 2)) >= utility))
    return bool(mean.mean() >= utility)


def seem_to_bind(
    p: FloatArray, metric: Metric, floors: Floors, bounds: tuple[int, int]
) -> bool:
    """Guess whether conditions change the best cut, from expected counts of a sample.

    It decides what is tried first, and no more.
    """
    some = np.sort(p[:: max(p.size // _SAMPLED, 1)])[::-1]
    share = p.size / max(some.size, 1)
    k = np.arange(some.size + 1.0)
    tp = np.concatenate([[0.0], np.cumsum(some)])
    cells = [share * x for x in (tp, k - tp, tp[-1] - tp, (k[-1] - k) - (tp[-1] - tp))]
    utility = metric.sign * metric.score_cells(*cells)
    within = (bounds[0] <= share * k) & (share * k <= bounds[1])
    at = int(np.argmax(np.where(within, utility, -np.inf)))
    here = [float(x[at]) for x in cells]
    return any(
        one.sign * float(one.score_cells(*here)) < _utility_asked(one, wanted)
        for one, each in floors.items()
        for wanted in each
    )


def _utility_asked(metric: Metric, wanted: Wanted) -> float:
    """Return the utility that must be reached, or expected."""
    least = wanted.score if isinstance(wanted, Certain) else wanted
    return metric.sign * float(least)


def feasible(cuts: Cuts, floors: Floors, bounds: tuple[int, int]) -> Allowed:
    """Return which cuts satisfy all conditions, refusing if none does."""
    within = Allowed(*bounds).mask(0, cuts.n)
    allowed = within.copy()
    reach, each = [], True
    for metric, wanted in floors.items():
        for floor in wanted:
            if isinstance(floor, Certain):
                reached, most, best = _certainly(cuts, metric, floor, within)
            else:
                reached, most, best = _expectedly(cuts, metric, floor, within)
            allowed &= reached
            each = each and bool(np.any(reached & within))
            reach.append((metric, most, floor, best))
    if not allowed.any():
        raise errors.infeasible(*bounds, reach, each)
    return Allowed.those(allowed)


def _expectedly(
    cuts: Cuts, metric: Metric, floor: float, within: BoolArray
) -> tuple[BoolArray, float, int]:
    """Return which cuts reach an expected value, the best value, and its cut."""
    value, error = cuts.whole_curve(metric)
    utility = metric.sign * value
    best = int(np.argmax(np.where(within, utility, -np.inf)))
    # A value that may be enough, given its error, is enough.
    return utility >= metric.sign * floor - error, float(value[best]), best


def _certainly(
    cuts: Cuts, metric: Metric, floor: Certain, within: BoolArray
) -> tuple[BoolArray, float, int]:
    """Return which cuts reach a score surely enough, or the most that can be reached.

    The most is the largest probability of reaching the score, and its cut.
    """
    drawn = MixtureCuts(cuts.draws(), metric)
    score, probability = float(floor.score), float(floor.probability)
    reached = cuts_that_reach(drawn, score, probability, within)
    if reached.any():
        return reached, probability, int(np.argmax(reached))
    search = MixtureGoalSearch(ProbAtLeast(score), drawn, within)
    best, most, _ = search.run(int(np.argmax(within)))
    return reached, most, best
