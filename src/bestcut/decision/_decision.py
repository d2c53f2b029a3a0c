"""A decision: the labels with the best expected score, and what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np

from bestcut import _errors as errors, _extras as extras
from bestcut._decided import Decided
from bestcut._results import bounds_in_words, number
from bestcut._tables import check_order, frame_of
from bestcut._types import (
    BoolArray,
    CountArray,
    FloatArray,
    Labels_co,
    Threshold_co,
)
from bestcut._validation import check_labels
from bestcut.decision._conditions import Floors, as_arguments
from bestcut.decision._rankings import AnyRanking, DrawnRanking
from bestcut.goals import Condition, Goal, Mean, condition_of
from bestcut.metrics import AnyMetric, LinearUtility, Metric, RowUtility, get
from bestcut.scores import Prediction, ScoreDistribution
from bestcut.uncertain import Draws, UncertainProbabilities

_MEAN = Mean()


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
    _ranking: AnyRanking = field(repr=False)
    _prediction: Prediction = field(repr=False)

    @property
    def _eta(self) -> FloatArray:
        return self._ranking.eta

    @property
    def _draws(self) -> Draws | None:
        """The draws of the probabilities in the order of the ranking, or None."""
        ranking = self._ranking
        return ranking.draws().draws if isinstance(ranking, DrawnRanking) else None

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
        from bestcut.decision._decide import decide  # which makes decisions

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


def ranking_of(decision: Decision) -> AnyRanking:
    """Return the ranking that a decision cuts."""
    return decision._ranking


def ranked_draws_behind(decision: Decision) -> Draws | None:
    """Return the draws of its probabilities in the order of the ranking, or None."""
    return decision._draws


def probabilities_behind(decision: Decision) -> FloatArray | UncertainProbabilities:
    """Return the probabilities that a decision was made for."""
    return decision._ranking._p
