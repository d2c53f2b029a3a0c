"""From probabilities to the decision with the best expected score."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, overload

import numpy as np

from bestcut import _errors as errors
from bestcut._errors import InfeasibleError
from bestcut._guesses import hinted
from bestcut._tables import check_order, library_of, like
from bestcut._types import AnyColumn, BoolArray
from bestcut._validation import check_bounds, check_probabilities
from bestcut.decision._conditions import (
    Conditions,
    Floors,
    are_met,
    as_arguments,
    check_floors,
    feasible,
    seem_to_bind,
)
from bestcut.decision._decision import Decision
from bestcut.decision._gains import Gains
from bestcut.decision._rankings import Chosen, DrawnRanking, GainRanking, Ranking
from bestcut.goals import DistributionGoal, Goal, Mean, check_goal
from bestcut.metrics import (
    AnyMetric,
    Metric,
    RowUtility,
    get,
    indices_of,
    require_ranking,
)
from bestcut.reference import Solver, select_solver
from bestcut.scores import expected_total, rounding_of_means, row_prediction
from bestcut.search import (
    Allowed,
    exchange_allowance,
    gap_scope,
    gap_to,
    tell_if_unproved,
)
from bestcut.uncertain import UncertainProbabilities

_MEAN = Mean()
_NO_WAY = "Draws of probabilities are decided by cuts of their ranking."

# Solvers whose labels are a cut of the probabilities, and all solvers.
SolverOfCuts: TypeAlias = Literal["auto", "quadratic", "cubic"]
SolverName: TypeAlias = SolverOfCuts | Literal["exhaustive"]


@overload
def decide(
    y_proba: AnyColumn,
    metric: str | Metric = ...,
    *,
    goal: Goal = ...,
    at_least: Conditions | None = ...,
    at_most: Conditions | None = ...,
    min_positives: int = ...,
    max_positives: int | None = ...,
    solver: SolverOfCuts = ...,
) -> Decision[AnyColumn, float]: ...
@overload
def decide(
    y_proba: AnyColumn,
    metric: RowUtility,
    *,
    min_positives: int = ...,
    max_positives: int | None = ...,
) -> Decision[AnyColumn, None]: ...
@overload
def decide(
    y_proba: Any,
    metric: str | Metric = ...,
    *,
    goal: Goal = ...,
    at_least: Conditions | None = ...,
    at_most: Conditions | None = ...,
    min_positives: int = ...,
    max_positives: int | None = ...,
    solver: SolverOfCuts = ...,
) -> Decision[BoolArray, float]: ...
@overload
def decide(
    y_proba: Any,
    metric: RowUtility,
    *,
    min_positives: int = ...,
    max_positives: int | None = ...,
) -> Decision[BoolArray, None]: ...
@overload
def decide(
    y_proba: Any,
    metric: str | AnyMetric = ...,
    *,
    goal: Goal = ...,
    at_least: Conditions | None = ...,
    at_most: Conditions | None = ...,
    min_positives: int = ...,
    max_positives: int | None = ...,
    solver: SolverName = ...,
) -> Decision: ...
@hinted
def decide(
    y_proba: Any,
    metric: str | AnyMetric = "f1",
    *,
    goal: Goal = _MEAN,
    at_least: Conditions | None = None,
    at_most: Conditions | None = None,
    min_positives: int = 0,
    max_positives: int | None = None,
    solver: SolverName = "auto",
) -> Decision:
    """Choose the labels that maximise the expected metric for this batch.

    The best label of one instance depends on the others: this is a decision for the
    whole of `y_proba`, not a threshold to carry to other data.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probability of each instance to be positive. Labels are taken to be
        independent given these probabilities. Or draws of the probabilities, for
        example from `bestcut.calibrate`: then expected scores are means over draws.
    metric : str, Metric or RowUtility, default="f1"
        What to maximise: one of `bestcut.metrics.names`, or a metric of your own. A
        loss is minimised. With a `bestcut.RowUtility`, which has amounts for each row,
        the rows with the largest expected gains are taken, as long as the gains are
        above 0; `goal`, `at_least`, `at_most` and `solver` must then be left out.
    goal : Goal, default=Mean()
        What to maximise: ``bestcut.goals.Mean()``, the expected score;
        ``ProbAtLeast(c)``, the probability of a score of c or more; ``Quantile(q)``,
        the score's q-quantile, which is cautious for small q.
    at_least : mapping of str or Metric to float or Certain, optional
        The least expected value of other metrics, for example ``{"precision": 0.9}``.
        Or the value that they must reach in this batch with some probability:
        ``{"precision": bestcut.goals.Certain(0.9, probability=0.95)}``. Or a list of
        such conditions. These metrics must satisfy the ranking principle too. There may
        be at most 100 conditions in all.
    at_most : mapping of str or Metric to float or Certain, optional
        The same for losses: the largest expected value, for example
        ``{"false_positive_rate": 0.05}``, or the value that they must not exceed in
        this batch with some probability.

        .. versionadded:: 0.3
    min_positives, max_positives : int, optional
        Bounds on how many instances may be predicted positive.
    solver : str, default="auto"
        ``"auto"`` takes any metric that qualifies, and after a sort needs time
        proportional to n; for half a million instances or more it sorts only the
        probabilities near the cut. ``"quadratic"`` and ``"cubic"`` are the paper's
        algorithms, and ``"exhaustive"`` looks at all label vectors.

    Returns
    -------
    Decision
        With ``labels``, ``n_positive``, ``threshold``, ``expected_score``, ``error``,
        ``gap``, ``curve``, ``distribution()`` and ``confusion()``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    SolverMismatchError
        If the metric or one in `at_least` or `at_most` does not satisfy the ranking
        principle,
        or if the metric lacks what the chosen solver needs.
    InfeasibleError
        If no prediction satisfies `at_least` and `at_most`; the message says what can
        be reached.
    ValueError
        If a name is not known, a condition asks for more than its metric can be, or
        `min_positives` and `max_positives` contradict each other.
    TypeError
        If an argument is of another kind, for example a class where a metric is needed.

    See Also
    --------
    bestcut.decide_each : Many problems at once.
    bestcut.calibrate : Probabilities from scores and labels.
    bestcut.expected_score : The expected score of any predictions.

    Notes
    -----
    Cuts whose expected scores differ by less than ``error`` are equally good, and any
    of them may be taken. If the cut falls inside a tie of probabilities, the earliest
    of the tied instances in input order are positive. An empty input gives an empty
    decision.

    For every metric that never falls when TP rises while the numbers of predicted and
    of actual positives stay the same, some cut of the ranking by probability is
    optimal: this is the paper's Main Result 1 [1]_. docs/how-it-works/lemmas.md has the
    bounds by which cuts are left out.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> import bestcut
    >>> decision = bestcut.decide([0.7, 0.1, 0.4, 0.35], metric="f1")
    >>> decision.labels.tolist()
    [True, False, True, True]
    >>> round(decision.expected_score, 4)
    0.5913
    """
    if isinstance(metric, RowUtility):
        _check_of_rows(check_goal(goal), at_least, at_most, solver)
        return _decide_rows(y_proba, metric, min_positives, max_positives)
    chosen_metric, algorithm = get(metric), None
    ranking: Ranking | DrawnRanking
    if isinstance(y_proba, UncertainProbabilities):
        require_ranking(chosen_metric, way_out=_NO_WAY)
        if solver != "auto":
            raise errors.solver_of_draws(solver)
        ranking = DrawnRanking(y_proba)
    else:
        ranking = Ranking(check_probabilities(y_proba))
    bounds = check_bounds(min_positives, max_positives, ranking.n)
    chosen_goal, floors = check_goal(goal), check_floors(at_least, at_most)
    if isinstance(ranking, Ranking):
        algorithm = select_solver(solver, chosen_metric, ranking.n)
    if algorithm and not algorithm.needs_prp and (floors or chosen_goal != _MEAN):
        raise errors.mean_only(solver)
    chosen = _choose(ranking, chosen_metric, chosen_goal, floors, bounds, algorithm)
    best, k = chosen.best, chosen.best.k
    labels = ranking.labels(best)
    scope, allowance = "predictions", 0.0
    if algorithm is None or algorithm.needs_prp:
        scope = gap_scope(ranking.n, chosen_metric, *floors)
        allowance = float(exchange_allowance(scope, ranking.n, k, chosen_metric))
    gap = chosen.gap + allowance
    tell_if_unproved(gap, chosen_metric, stacklevel=3)
    threshold, n_tied = ranking.threshold(k) if best.is_cut else (None, (0, 0))
    prediction = ranking.prediction(k)
    if not best.is_cut:
        prediction = row_prediction(ranking.means, labels)
    ranking.keep()
    score = chosen_metric.sign * best.utility
    return Decision(
        labels=like(y_proba, labels.copy()),
        n=ranking.n,
        n_positive=k,
        threshold=threshold,
        n_tied=n_tied,
        expected_score=score,
        error=best.error,
        gap=gap,
        gap_scope=scope,
        metric=chosen_metric,
        solver=best.solver if solver == "auto" else solver,
        goal=chosen_goal,
        goal_value=score if chosen_goal == _MEAN else chosen.goal_value,
        bounds=bounds,
        _decided=labels,
        _floors=floors,
        _library=library_of(y_proba),
        _ranking=ranking,
        _prediction=prediction,
    )


def _choose(
    ranking: Ranking | DrawnRanking,
    metric: Metric,
    goal: Goal,
    floors: Floors,
    bounds: tuple[int, int],
    solver: Solver | None,
) -> Chosen:
    """Return what is best for a goal within the budget and under the conditions.

    What is best without the conditions, and satisfies them, is best with them; a guess
    says whether that is worth a try (Lemma 11, conditions).
    """
    free = of_each = Allowed(*bounds)
    each = ranking.each if isinstance(ranking, DrawnRanking) else None
    chosen = None
    if not floors or not seem_to_bind(ranking.means, metric, floors, bounds):
        chosen = ranking.chosen(metric, goal, free, solver)
    if chosen is None or not are_met(ranking, chosen.best.k, floors):
        try:
            allowed = feasible(ranking, floors, bounds)
        except InfeasibleError as refusal:
            if each is not None and _can_be_feasible(each, floors, bounds):
                raise errors.infeasible_cut(str(refusal)) from None
            raise
        chosen = ranking.chosen(metric, goal, allowed, solver)
        of_each = free if each is None else feasible(each, floors, bounds)
    if each is None:
        return chosen
    return chosen._replace(gap=_gap_of_rankings(each, metric, goal, of_each, chosen))


def _gap_of_rankings(
    each: DrawnRanking, metric: Metric, goal: Goal, allowed: Allowed, chosen: Chosen
) -> float:
    """Bound what any prediction could gain, where draws rank differently.

    The best prediction for one draw is its own top-k. If all draws rank alike, all
    these are one prediction, and the best cut is the best of all predictions. If they
    do not, the mean over draws of the score of each draw's own top-k bounds every
    prediction of k (Lemma 17).
    """
    most, best = each.chosen(metric, goal, allowed, None), chosen.best
    if not isinstance(goal, DistributionGoal):
        trusted = np.isinf(chosen.gap)
        return np.inf if trusted else gap_to(most.best.upper, best.utility, best.error)
    more = goal.shown(most.goal_value, metric) - goal.shown(chosen.goal_value, metric)
    return max(more, 0.0) + most.gap


def _can_be_feasible(
    each: DrawnRanking, floors: Floors, bounds: tuple[int, int]
) -> bool:
    """Return whether a prediction that is not a cut could satisfy the conditions."""
    try:
        feasible(each, floors, bounds)
    except InfeasibleError:
        return False
    return True


def _check_of_rows(goal: Goal, at_least: Any, at_most: Any, solver: str) -> None:
    """Refuse options that are not proved, or make no sense, where rows have amounts."""
    if goal != _MEAN:
        raise errors.only_mean_of_rows(argument="goal")
    if floors := check_floors(at_least, at_most):
        raise errors.only_mean_of_rows(argument=next(iter(as_arguments(floors))))
    if solver != "auto":
        raise errors.solver_of_rows(solver)


def _decide_rows(
    y_proba: Any, utility: RowUtility, min_positives: int, max_positives: int | None
) -> Decision:
    """Decide where every row has its own amounts."""
    drawn = isinstance(y_proba, UncertainProbabilities)
    check_order(y_proba=y_proba, **indices_of(utility))
    p = y_proba.mean if drawn else check_probabilities(y_proba).copy()
    low, high = check_bounds(min_positives, max_positives, p.size)
    worths = utility.worths(p.shape)
    gains = Gains(p, worths)
    labels = gains.best(low, high)
    total, _ = expected_total(p, *worths.of(labels))
    error = gains.error
    if drawn:
        error += rounding_of_means(y_proba, sum(map(np.abs, worths), np.zeros(p.size)))
    given = y_proba if drawn else p
    return Decision(
        labels=like(y_proba, labels.copy()),
        n=p.size,
        n_positive=int(np.count_nonzero(labels)),
        threshold=None,
        n_tied=(0, 0),
        expected_score=total,
        error=error,
        gap=0.0,
        gap_scope="predictions",
        metric=utility,
        solver="gains",
        goal=_MEAN,
        goal_value=total,
        bounds=(low, high),
        _decided=labels,
        _floors={},
        _library=library_of(y_proba),
        _ranking=GainRanking(given, gains),
        _prediction=row_prediction(given, labels),
    )


def allowed_cuts(
    y_proba: Any,
    at_least: Conditions | None,
    at_most: Conditions | None,
    max_positives: int | None,
) -> BoolArray:
    """Return which cuts satisfy the conditions of `decide`, refusing if none does."""
    bounds = check_bounds(0, max_positives, len(y_proba))
    floors, allowed = check_floors(at_least, at_most), Allowed(*bounds)
    if floors and isinstance(y_proba, UncertainProbabilities):
        allowed = feasible(DrawnRanking(y_proba), floors, bounds)
    elif floors:
        allowed = feasible(Ranking(check_probabilities(y_proba)), floors, bounds)
    return allowed.mask(0, len(y_proba))
