"""From probabilities to the decision with the best expected score."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Generic, Literal, TypeAlias, overload

import numpy as np

from bestcut import _errors as errors, _extras as extras
from bestcut._caches import Lean
from bestcut._decided import Decided
from bestcut._errors import InfeasibleError
from bestcut._guesses import hinted
from bestcut._results import bounds_in_words, number
from bestcut._tables import check_order, frame_of, library_of, like
from bestcut._thresholds import NOWHERE, Threshold, halfway, threshold_of
from bestcut._types import (
    AnyColumn,
    BoolArray,
    CountArray,
    FloatArray,
    Labels_co,
    Threshold_co,
)
from bestcut._validation import (
    check_bounds,
    check_floor,
    check_labels,
    check_probabilities,
)
from bestcut.counts import believed, is_on_trust
from bestcut.goals import (
    Certain,
    Condition,
    DistributionGoal,
    Goal,
    GoalSearch,
    Mean,
    ProbAtLeast,
    check_goal,
    condition_of,
)
from bestcut.metrics import (
    AnyMetric,
    LinearUtility,
    Metric,
    RowUtility,
    get,
    indices_of,
    require_ranking,
)
from bestcut.mixtures import (
    MixtureCuts,
    MixtureGoalSearch,
    best_cut_of_draws,
    cuts_that_reach,
    mean_curve,
)
from bestcut.reference import ALGORITHMS, select_solver
from bestcut.scores import (
    AnyPrediction,
    MixedPrediction,
    Prediction,
    ScoreDistribution,
    expected_total,
    rounding_of_means,
    row_prediction,
)
from bestcut.search import Allowed, exchange_allowance, gap_scope, gap_to
from bestcut.solvers import Gains, Solution, auto_solver
from bestcut.uncertain import (
    DrawnSide,
    Draws,
    ListedDraws,
    RankedDraws,
    UncertainProbabilities,
)

_MEAN = Mean()
_MOST_CONDITIONS = 100  # each takes some hundredths of a second, or more
_NO_WAY = "Draws of probabilities are decided by cuts of their ranking."

# What constraining metrics must reach: in expectation, or with a probability.
Wanted: TypeAlias = float | Certain
Floors: TypeAlias = dict[Metric, list[Wanted]]
Conditions: TypeAlias = Mapping[str | Metric, Wanted | Sequence[Wanted]]

# Solvers whose labels are a cut of the probabilities, and all solvers.
SolverOfCuts: TypeAlias = Literal["auto", "quadratic", "cubic"]
SolverName: TypeAlias = SolverOfCuts | Literal["exhaustive"]


@dataclass(frozen=True, repr=False, eq=False)
class ExpectedScoreCurve:
    """The expected score of every cut.

    Attributes
    ----------
    n_positive : ndarray of shape (n + 1,)
        0, 1, ..., n: how many of the most probable instances are predicted positive;
        for a `bestcut.RowUtility`, of those with the largest expected gains.
    expected_score : ndarray of shape (n + 1,)
        Expected metric of each cut.
    threshold : ndarray of shape (n + 1,) or None
        The threshold that makes each cut: halfway between the smallest probability
        predicted positive and the next one; inf for the empty prediction. Where a cut
        splits a tie, the tied probability. None for a `bestcut.RowUtility`.
    error : float
        Bound on the numerical error of every entry of ``expected_score``.

    See Also
    --------
    bestcut.Decision : Its ``curve`` is one.
    bestcut.displays.ExpectedScoreDisplay : Draws the curve.

    Examples
    --------
    >>> import bestcut
    >>> curve = bestcut.decide([0.75, 0.5], "accuracy").curve
    >>> curve.n_positive.tolist(), curve.expected_score.tolist()
    ([0, 1, 2], [0.375, 0.625, 0.625])
    """

    n_positive: CountArray
    expected_score: FloatArray
    threshold: FloatArray | None
    error: float
    _decision: Decision = field(repr=False, compare=False)

    def __repr__(self) -> str:
        scores, metric = self.expected_score, self._decision.metric
        return (
            f"ExpectedScoreCurve({metric.name}: {scores.size} cuts, expected scores "
            f"from {scores.min():.6g} to {scores.max():.6g} [error {self.error:.1e}])"
        )

    def to_frame(self) -> Any:
        """Return the curve as a DataFrame, with a row for each cut.

        Returns
        -------
        DataFrame
            With the columns ``n_positive``, ``threshold`` (not for a
            `bestcut.RowUtility`; missing for the empty prediction) and
            ``expected_score``. Of pandas or polars, as the
            probabilities were; if they were neither, of the one that is installed, and
            of pandas if both are.

        Raises
        ------
        ImportError
            If neither pandas nor polars is installed.

        Examples
        --------
        >>> import bestcut, polars
        >>> p = polars.Series("p", [0.7, 0.4])
        >>> frame = bestcut.decide(p, "f1").curve.to_frame()
        >>> frame["threshold"].round(2).to_list()
        [None, 0.55, 0.4]
        """
        columns = {
            "n_positive": self.n_positive,
            "threshold": self.threshold,
            "expected_score": self.expected_score,
        }
        there = {name: x for name, x in columns.items() if x is not None}
        return frame_of(there, self._decision._library)

    def plot(
        self,
        *,
        ax: Any = None,
        band: float | None = None,
        threshold: float | None = 0.5,
    ) -> Any:
        """Draw the expected score of every cut. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        band : float, optional
            Show between what the score will be with this probability, 0.9 say.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        bestcut.displays.ExpectedScoreDisplay
            What was drawn, with its axes as ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import bestcut
        >>> bestcut.decide([0.9, 0.6, 0.3, 0.1]).curve.plot().ax_.get_xlabel()
        'Predicted positives'
        """
        decision = copy(self._decision)
        decision.__dict__["curve"] = self  # which need not be computed again
        return extras.load("displays").ExpectedScoreDisplay.from_decision(
            decision, ax=ax, band=band, threshold=threshold
        )


class Ranking(Lean):
    """Probabilities, which are sorted when their descending order is needed."""

    def __init__(self, p: FloatArray) -> None:
        self._p = p

    def keep(self) -> None:
        """Copy the given array, because its owner may change it."""
        self._p = self._p.copy()

    @cached_property
    def eta(self) -> FloatArray:
        """The probabilities in descending order."""
        eta = np.ascontiguousarray(np.sort(self._p)[::-1])
        eta.flags.writeable = False
        return eta

    @property
    def thresholds(self) -> FloatArray | None:
        """The threshold of each cut; inf of the first."""
        return _thresholds(self.eta)

    def curve(self, metric: Any, solver: str) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        found_by = ALGORITHMS.get(solver) or auto_solver(self.eta.size)
        curve = found_by.curve(self.eta, metric)
        return curve.expected_score, curve.error

    def prediction(self, cut: int) -> AnyPrediction:
        """Return the prediction of a cut."""
        return Prediction.of_cut(self.eta, cut)

    def at(self, threshold: float) -> AnyPrediction:
        """Return the prediction of a threshold."""
        return self.prediction(int(np.count_nonzero(self.eta >= threshold)))


class DrawnRanking(Lean):
    """A ranking for draws of the probabilities, in the order of their means."""

    def __init__(self, p: UncertainProbabilities) -> None:
        self._p = p

    @cached_property
    def eta(self) -> FloatArray:
        """The mean probabilities from the first in the ranking down."""
        return self._p._ranked.mean()

    @property
    def thresholds(self) -> FloatArray | None:
        """The threshold of each cut; inf of the first."""
        return _thresholds(self.eta)

    def curve(self, metric: Any, solver: str) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        value, error = mean_curve(self._p._cuts, metric)
        return value, float(error.max())

    def prediction(self, cut: int) -> AnyPrediction:
        """Return the prediction of a cut."""
        draws = self._p._ranked
        above, below = draws.taken(slice(0, cut)), draws.taken(slice(cut, draws.n))
        return MixedPrediction(DrawnSide(above), DrawnSide(below))

    def at(self, threshold: float) -> AnyPrediction:
        """Return the prediction of a threshold of the mean probabilities."""
        return self.prediction(int(np.count_nonzero(self.eta >= threshold)))


def _thresholds(eta: FloatArray) -> FloatArray:
    """Return the threshold of every cut of sorted probabilities."""
    below = np.append(eta[1:], -np.inf)[: eta.size]
    return np.concatenate([[np.inf], halfway(below, eta)])


class GainRanking:
    """Rows in the order of their expected gains, not of their probabilities."""

    thresholds: FloatArray | None = None

    def __init__(self, p: FloatArray | UncertainProbabilities, gains: Gains) -> None:
        self._p, self._gains = p, gains

    @property
    def eta(self) -> FloatArray:
        """Refuse, because the rows are not in the order of their probabilities."""
        raise errors.no_cut_to_show()

    def curve(self, metric: Any, solver: str) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        return self._gains.curve()

    def prediction(self, cut: int) -> AnyPrediction:
        """Return the prediction of a cut."""
        return row_prediction(self._p, self._gains.top(cut))

    def at(self, threshold: float) -> AnyPrediction:
        """Return the prediction of a threshold of the probabilities."""
        p = self._p
        mean = p.mean if isinstance(p, UncertainProbabilities) else p
        return row_prediction(p, mean >= threshold)


@dataclass(frozen=True, repr=False, eq=False)
class Decision(Decided, Generic[Labels_co, Threshold_co]):
    """The labels with the best expected score, and what they promise.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,), or Series
        The predictions, in the order of the input. A Series of pandas or polars gives a
        Series, with its index and its name, as ``y_proba >= 0.5`` would; anything else
        an array. You may write to it; whatever else the decision says stays about the
        labels as they were decided.
    n : int
        How many instances there are.
    n_positive : int
        How many are positive.
    threshold : float or None
        Instances whose probability is at least this are positive; inf if none is. It
        lies halfway between the smallest probability predicted positive and the next
        smaller one, and is the smallest itself if all are positive. None if the labels
        are not a cut of the probabilities: for a `bestcut.RowUtility`, and maybe for
        ``solver="exhaustive"``.
    n_tied : (int, int)
        If the cut splits a tie, the threshold is the tied probability: of the instances
        that have it, how many are positive, and how many there are. No threshold
        repeats these labels. Otherwise (0, 0).
    expected_score : float
        Expected metric of `labels`.
    error : float
        Bound on the numerical error of ``expected_score``.
    gap : float
        A proved bound: no allowed prediction has an expected score (with another goal:
        a goal value) above this decision's plus `error` plus `gap`, for this n. For a
        loss, none has one below this decision's minus both. Where every cut was looked
        at, the gap is at most rounding.
    gap_scope : str
        ``"predictions"``: the gap holds for all allowed predictions. ``"cuts"``: the
        gap holds only for the cuts of the ranking, because it could not be proved that
        the metric never falls when TP rises, for this n.
    metric : Metric or RowUtility
        What was maximised (a loss: minimised).
    solver : str
        How it was found: ``"search"`` or ``"curve"`` (of all cuts), the algorithm that
        was asked for, or ``"gains"`` for a RowUtility.
    goal : Goal
        What was maximised; the expected score unless another goal was given.
    goal_value : float
        Its value: the expected score, a probability or a quantile.
    conditions : tuple of Condition
        What `at_least` and `at_most` asked of other metrics, and what is reached.
    bounds : (int, int)
        The least and the largest number of positives that was allowed.
    curve : ExpectedScoreCurve
        Expected score of every cut, computed on first use.

    See Also
    --------
    bestcut.decide : Returns one.
    bestcut.ScoreDistribution : What ``distribution()`` returns.
    bestcut.Decisions : The same for many problems.

    Examples
    --------
    >>> import bestcut
    >>> decision = bestcut.decide([0.9, 0.6, 0.3, 0.1], "f1")
    >>> decision  # doctest: +ELLIPSIS
    Decision(f1: 2 of 4 positive, threshold 0.45, expected score 0.75072 [error ...])
    >>> decision.labels.tolist()
    [True, True, False, False]
    >>> decision.confusion().mean.tp
    1.5
    """

    labels: Labels_co
    n: int
    n_positive: int
    threshold: Threshold_co
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
    _decided: BoolArray = field(repr=False)
    _floors: Floors = field(repr=False)
    _library: str | None = field(repr=False)
    _ranking: Ranking | DrawnRanking | GainRanking = field(repr=False)
    _prediction: AnyPrediction = field(repr=False)

    @property
    def _eta(self) -> FloatArray:
        return self._ranking.eta

    @property
    def _draws(self) -> Draws | None:
        """The draws of the probabilities in the order of the ranking, or None."""
        ranking = self._ranking
        return ranking._p._ranked if isinstance(ranking, DrawnRanking) else None

    @cached_property
    def curve(self) -> ExpectedScoreCurve:
        """The expected score of every cut, computed on first use."""
        expected_score, error = self._ranking.curve(self.metric, self.solver)
        expected_score.flags.writeable = False
        return ExpectedScoreCurve(
            n_positive=np.arange(self.n + 1),
            expected_score=expected_score,
            threshold=self._ranking.thresholds,
            error=error,
            _decision=copy(self),  # not itself: neither should keep the other alive
        )

    @cached_property
    def depends_on_zero_division(self) -> bool:
        """Whether other labels would be best if 0/0 counted as 1 instead of 0.

        Or as 0, if the metric counts it as 1. This happens where there may well be no
        positive at all: alone, a row that is not flagged has an F1 of 0 or of 0/0, so
        with ``zero_division=0`` it is flagged whatever its probability. It takes a
        second decision, made on first use.

        .. versionadded:: 0.3
        """
        metric: Any = self.metric  # which has this parameter if 0/0 can occur
        empty = getattr(metric, "zero_division", None)
        if empty not in (0.0, 1.0):
            return False
        other = replace(metric, zero_division=1.0 - empty)
        low, high = self.bounds
        best = decide(
            self._ranking._p,
            other,
            goal=self.goal,
            min_positives=low,
            max_positives=high,
            **as_arguments(self._floors),
        )
        if self.goal != _MEAN:
            return best.n_positive != self.n_positive
        own = self._prediction.moments(other)
        gain = other.sign * (best.expected_score - own.mean)
        return bool(gain > best.error + own.error)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What was asked of other metrics, and what is reached of it."""
        return tuple(
            condition_of(self._prediction, metric, wanted)
            for metric, floors in self._floors.items()
            for wanted in floors
        )

    def realised(self, y_true: Any, metric: str | AnyMetric | None = None) -> float:
        """Return what the labels as decided scored, once the true ones are known.

        .. versionadded:: 0.3

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The true labels, 0 and 1 or booleans, in the order of the probabilities.
        metric : str, Metric or RowUtility, optional
            Another metric than the one the labels were chosen for.

        Returns
        -------
        float
            The score, of which `expected_score` was the expected value.

        Raises
        ------
        ValueError
            If there is not one label of 0 or 1 for each entry, or the metric is not
            known.

        Examples
        --------
        >>> import bestcut
        >>> decision = bestcut.decide([0.9, 0.6, 0.3, 0.1], "f1")
        >>> decision.realised([1, 0, 0, 0])
        0.6666666666666666
        >>> decision.realised([1, 0, 0, 0], "precision")
        0.5
        """
        chosen = self.metric if metric is None else metric
        known = chosen if isinstance(chosen, RowUtility) else get(chosen)
        check_order(labels=self.labels, y_true=y_true)
        truth = check_labels(y_true, self.n, name="y_true")
        return known.realised(truth, self._decided)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the ranked probabilities and the cut. Needs matplotlib.

        ``decision.curve.plot()`` draws the expected score of every cut.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        bestcut.displays.DecisionDisplay
            What was drawn, with its axes as ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import bestcut
        >>> bestcut.decide([0.9, 0.6, 0.3, 0.1]).plot().ax_.get_title()
        'Best cut for F1'
        """
        return extras.load("displays").DecisionDisplay.from_decision(self, ax=ax)

    def report(
        self,
        *,
        others: Sequence[str | Metric] | None = None,
        title: str | None = None,
        source: str = "",
        worth: LinearUtility | None = None,
        y_true: Any = None,
        calibration: Any = None,
    ) -> Any:
        """Return a report about this decision, for people who do not read code.

        .. versionadded:: 0.3

        Parameters
        ----------
        others : sequence of str or Metric, optional
            Other metrics that a reader may switch to; by default, common ones.
        title : str, optional
            The heading; by default it names the metric.
        source : str, default=""
            Where the probabilities came from, such as the name of a file.
        worth : LinearUtility, optional
            What the outcomes are worth, to be shown beside every cut.
        y_true : array-like of shape (n,), optional
            Labels, if they are known, in the order of the probabilities.
        calibration : Calibration, optional
            The calibration that made the probabilities; its maps are drawn.

        Returns
        -------
        bestcut.report.Report
            With ``html()`` and ``write(path)``.

        Raises
        ------
        ImportError
            If vl-convert-python is not installed: ``pip install 'bestcut[report]'``.
        ValueError
            If the decision has another goal than the expected score, a
            `bestcut.RowUtility`, or a least number of positives: the report could show
            another one.

        See Also
        --------
        bestcut.report.make_report : The same from probabilities.

        Examples
        --------
        >>> import bestcut
        >>> bestcut.decide([0.62, 0.48, 0.31, 0.31, 0.22, 0.09]).report()
        Report(4 of 6 flagged, expected F1 0.54, 90% between 0.00 and 0.86)
        """
        if isinstance(self.metric, RowUtility):
            what = "amounts per row have another ranking"
            raise errors.no_page_of(what, "Decide for a LinearUtility.")
        if self.goal != _MEAN:
            what = f"this decision is for another goal, {self.goal!r}"
            raise errors.no_page_of(what, "Decide without `goal`.")
        if self.bounds[0] > 0:
            what = "`min_positives` is not part of it"
            raise errors.no_page_of(what, "Decide without `min_positives`.")
        report = extras.load("report")
        return report.make_report(
            self._ranking._p,
            self.metric,
            others=report.OTHERS if others is None else others,
            title=title,
            source=source,
            max_positives=self.bounds[1] if self.bounds[1] < self.n else None,
            worth=worth,
            y_true=y_true,
            calibration=calibration,
            **as_arguments(self._floors),
        )

    def _asked(self) -> tuple[Condition, ...]:
        return self.conditions

    def _plain(self) -> dict[str, Any]:
        decided = {"labels": self._decided, "conditions": self.conditions}
        return super()._plain() | decided

    def _facts(self) -> list[tuple[str, str]]:
        facts = super()._facts()
        facts.insert(1, ("with threshold 0.5", self._at_half_in_words()))
        return facts

    def _at_half_in_words(self) -> str:
        """Say what the threshold that everybody knows would give."""
        other = self._ranking.at(0.5)
        score = ScoreDistribution(other, self.metric).mean
        more = score - self.expected_score
        if abs(more) <= self.error:
            than = "the same"
        else:
            than = f"{number(abs(more), 4)} {'more' if more > 0 else 'less'}"
        words = f"{number(score, 6)}, {than}, {other.n_pred} positive"
        low, high = self.bounds
        if not low <= other.n_pred <= high:
            words += f"; {bounds_in_words(low, high, self.n)} asked"
        for one in self.conditions:
            there = condition_of(other, one.metric, one.wanted)
            if there.falls_short:
                words += f"; breaks a condition: {there!r}"
        return words


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
    chosen_metric = get(metric)
    if isinstance(y_proba, UncertainProbabilities):
        require_ranking(chosen_metric, way_out=_NO_WAY)
        if solver != "auto":
            raise errors.solver_of_draws(solver)
        bounds = check_bounds(min_positives, max_positives, len(y_proba))
        floors = check_floors(at_least, at_most)
        decision = _decide_drawn(
            y_proba, chosen_metric, check_goal(goal), floors, bounds
        )
        _tell_if_unproved(decision.gap, chosen_metric)
        return decision
    p = check_probabilities(y_proba)
    low, high = check_bounds(min_positives, max_positives, p.size)
    chosen_goal, floors = check_goal(goal), check_floors(at_least, at_most)
    chosen_solver = select_solver(solver, chosen_metric, p.size)
    if not chosen_solver.needs_prp and (floors or chosen_goal != _MEAN):
        raise errors.mean_only(solver)
    ranking = Ranking(p)
    allowed = Allowed(low, high)
    if floors:
        allowed = Allowed.those(_feasible(ranking.eta, floors, low, high))
    # Conditions take a sort anyway.
    is_sorted = chosen_solver.needs_order or bool(floors)
    scores = ranking.eta if is_sorted else p
    solution = chosen_solver.solve(scores, chosen_metric, allowed)
    goal_value = solution.expected_score
    if isinstance(chosen_goal, DistributionGoal):
        search = GoalSearch(
            chosen_goal, ranking.eta, chosen_metric, allowed.mask(0, p.size)
        )
        k, goal_value, gap = search.run(solution.n_positive)
        moments = Prediction.of_cut(ranking.eta, k).moments(chosen_metric)
        solution = Solution.at(ranking.eta, k, moments.mean, moments.error, gap)
        solution = replace(solution, solver="search")
    labels = _labels(p, solution)
    ranking.keep()
    scope, allowance = "predictions", 0.0
    if chosen_solver.needs_prp:
        k, scope = solution.n_positive, gap_scope(p.size, chosen_metric, *floors)
        allowance = float(exchange_allowance(scope, p.size, k, chosen_metric))
    gap = solution.gap + allowance
    _tell_if_unproved(gap, chosen_metric)
    threshold, n_tied = None, (0, 0)
    if solution.is_cut:
        threshold, n_tied = threshold_of(p, solution.n_positive, solution.threshold)
    return Decision(
        labels=like(y_proba, labels.copy()),
        n=p.size,
        n_positive=solution.n_positive,
        threshold=threshold,
        n_tied=n_tied,
        expected_score=solution.expected_score,
        error=solution.error,
        gap=gap,
        gap_scope=scope,
        metric=chosen_metric,
        solver=solution.solver if solver == "auto" else solver,
        goal=chosen_goal,
        goal_value=goal_value,
        bounds=(low, high),
        _decided=labels,
        _floors=floors,
        _library=library_of(y_proba),
        _ranking=ranking,
        _prediction=solution.prediction,
    )


def _tell_if_unproved(gap: float, metric: Metric) -> None:
    """Say that a decision rests on a promise; nothing else may leave it unproved."""
    if np.isfinite(gap):
        return
    if not is_on_trust(metric):
        raise errors.nothing_proved(metric.name, gap)
    warnings.warn(
        "nothing is proved about this decision: it rests on the promise smooth=True of "
        f"metric {metric.name!r}, and `gap` is infinite. Write the metric with "
        "functions that can be followed (docs/how-to/add-a-metric.md), or leave out "
        "smooth=True, which takes longer.",
        stacklevel=4,
    )


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
    low, high = check_bounds(0, max_positives, len(y_proba))
    floors = check_floors(at_least, at_most)
    if not floors:
        return Allowed(low, high).mask(0, len(y_proba))
    if isinstance(y_proba, UncertainProbabilities):
        return _feasible(y_proba._cuts, floors, low, high)
    eta = Ranking(check_probabilities(y_proba)).eta
    return _feasible(eta, floors, low, high)


def _decide_drawn(
    p: UncertainProbabilities,
    metric: Metric,
    goal: Goal,
    floors: Floors,
    bounds: tuple[int, int],
) -> Decision:
    """Decide for draws of the probabilities.

    The best prediction for one draw is its own top-k. If all draws rank alike, all
    these are one prediction, and the best cut is the best of all predictions. If they
    do not, the mean over draws of the score of each draw's own top-k bounds every
    prediction of k (Lemma 17).
    """
    ranked, n = p._cuts, len(p)
    # A promise saves no time in draws that differ.
    variance = float(ranked.total[1].max()) if n else 0.0
    metric, given = believed(metric, n * ranked.n_draws, variance), metric
    ranking = DrawnRanking(p)
    own = None
    if not p.one_ranking and isinstance(ranked.draws, ListedDraws):
        own = RankedDraws(ranked.draws.each_sorted())
    try:
        allowed = _feasible(ranked, floors, *bounds)
    except InfeasibleError as refusal:
        if own is not None and _can_be_feasible(own, floors, bounds):
            raise errors.infeasible_cut(str(refusal)) from None
        raise
    cuts = MixtureCuts(ranked, metric)
    found = best_cut_of_draws(cuts, allowed)
    k, gap = found.k, gap_to(found.upper, found.utility, found.error)
    goal_value = metric.sign * found.utility
    if isinstance(goal, DistributionGoal):
        k, goal_value, gap = MixtureGoalSearch(goal, cuts, allowed).run(k)
    value, error = cuts.value(k)
    scope = gap_scope(n, metric, *floors)
    if own is not None:
        most = _feasible(own, floors, *bounds)
        gap = _gap_of_rankings(own, metric, goal, most, (value, error, goal_value))
    labels = p._draws.top(k)
    allowance = float(exchange_allowance(scope, n, k, metric))
    if is_on_trust(metric) and goal == _MEAN:
        gap = np.inf
    prediction = cuts.prediction(k)
    threshold, n_tied = _threshold_of_means(ranked.draws, k)
    ranked.tidy()
    return Decision(
        labels=labels.copy(),
        n=n,
        n_positive=k,
        threshold=threshold,
        n_tied=n_tied,
        expected_score=value,
        error=error,
        gap=gap + allowance,
        gap_scope=scope,
        metric=given,
        solver="search",
        goal=goal,
        goal_value=goal_value if goal != _MEAN else value,
        bounds=bounds,
        _decided=labels,
        _floors=floors,
        _library=None,
        _ranking=ranking,
        _prediction=prediction,
    )


def _threshold_of_means(ranked: Draws, k: int) -> Threshold:
    """Return where a cut is among the means of draws, from the most probable down."""
    if not k:
        return NOWHERE
    around = ranked.taken(slice(k - 1, k + 1)).mean()
    least = float(around[0])
    if k == ranked.n or least != around[1]:
        below = around[1] if k < ranked.n else -np.inf
        return Threshold(float(halfway(below, least)))
    return threshold_of(ranked.mean(), k, least)


def _gap_of_rankings(
    own: RankedDraws,
    metric: Metric,
    goal: Goal,
    allowed: BoolArray,
    chosen: tuple[float, float, float],
) -> float:
    """Bound what any prediction could gain, where draws rank differently."""
    value, error, goal_value = chosen
    cuts = MixtureCuts(own, metric)
    best = best_cut_of_draws(cuts, allowed)
    if not isinstance(goal, DistributionGoal):
        return gap_to(best.upper, metric.sign * value, error)
    _, most, gap = MixtureGoalSearch(goal, cuts, allowed).run(best.k)
    return max(goal.shown(most, metric) - goal.shown(goal_value, metric), 0.0) + gap


def _can_be_feasible(own: RankedDraws, floors: Floors, bounds: tuple[int, int]) -> bool:
    """Return whether a prediction that is not a cut could satisfy the constraints."""
    try:
        _feasible(own, floors, *bounds)
    except InfeasibleError:
        return False
    return True


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


def _feasible(
    ranking: FloatArray | RankedDraws, floors: Floors, low: int, high: int
) -> BoolArray:
    """Return which cuts satisfy all constraints, refusing if none does.

    `ranking` is known probabilities in descending order, or draws of them.
    """

    @cache
    def drawn() -> RankedDraws:
        """Return the draws; what is known is one draw."""
        if isinstance(ranking, np.ndarray):
            return RankedDraws(ListedDraws(ranking[:, None]))
        return ranking

    n = ranking.size if isinstance(ranking, np.ndarray) else ranking.n
    within = Allowed(low, high).mask(0, n)
    allowed = within.copy()
    reach, each = [], True
    for metric, wanted in floors.items():
        for floor in wanted:
            if isinstance(floor, Certain):
                reached, most, best = _certainly(drawn(), metric, floor, within)
            else:
                reached, most, best = _expectedly(ranking, metric, floor, within)
            allowed &= reached
            each = each and bool(np.any(reached & within))
            reach.append((metric, most, floor, best))
    if not allowed.any():
        raise errors.infeasible(low, high, reach, each)
    return allowed


def _expectedly(
    ranking: FloatArray | RankedDraws,
    metric: Metric,
    floor: float,
    within: BoolArray,
) -> tuple[BoolArray, float, int]:
    """Return which cuts reach an expected value, the best value, and its cut."""
    if isinstance(ranking, np.ndarray):
        curve = auto_solver(ranking.size).curve(ranking, metric)
        value, error = curve.expected_score, curve.error
    else:
        value, errors_ = mean_curve(ranking, metric)
        error = float(errors_.max())
    utility = metric.sign * value
    best = int(np.argmax(np.where(within, utility, -np.inf)))
    # A value that may be enough, given its error, is enough.
    return utility >= metric.sign * floor - error, float(value[best]), best


def _certainly(
    draws: RankedDraws, metric: Metric, floor: Certain, within: BoolArray
) -> tuple[BoolArray, float, int]:
    """Return which cuts reach a score surely enough, or the most that can be reached.

    The most is the largest probability of reaching the score, and its cut.
    """
    cuts = MixtureCuts(draws, metric)
    score, probability = float(floor.score), float(floor.probability)
    reached = cuts_that_reach(cuts, score, probability, within)
    if reached.any():
        return reached, probability, int(np.argmax(reached))
    search = MixtureGoalSearch(ProbAtLeast(score), cuts, within)
    best, most, _ = search.run(int(np.argmax(within)))
    return reached, most, best


def _labels(p: FloatArray, solution: Solution) -> BoolArray:
    """Return the labels in input order; within a tie the earliest are positive."""
    if solution.members is not None:
        labels = np.zeros(p.size, dtype=np.bool_)
        labels[np.argsort(-p, kind="stable")[solution.members]] = True
        return labels
    threshold = solution.threshold
    labels = p >= threshold
    if int(np.count_nonzero(labels)) > solution.n_positive:
        np.greater(p, threshold, out=labels)
        missing = solution.n_positive - int(np.count_nonzero(labels))
        labels[np.flatnonzero(p == threshold)[:missing]] = True
    return labels


def ranking_of(decision: Decision) -> Ranking | DrawnRanking | GainRanking:
    """Return the ranking that a decision cuts."""
    return decision._ranking


def ranked_draws_behind(decision: Decision) -> Draws | None:
    """Return the draws of its probabilities in the order of the ranking, or None."""
    return decision._draws


def probabilities_behind(decision: Decision) -> FloatArray | UncertainProbabilities:
    """Return the probabilities that a decision was made for."""
    return decision._ranking._p
