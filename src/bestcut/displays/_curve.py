"""The expected score of every cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bestcut.decision import Decision, decide, ranked_draws_behind, ranking_of
from bestcut.displays._axes import (
    DARK,
    GREY,
    INK,
    LINES,
    PALE,
    axes,
    count_instances,
    thinned,
    tidy,
)
from bestcut.displays._estimators import decision_of
from bestcut.metrics import Metric, get
from bestcut.scores import ScoreDistribution

_BAND_POINTS = 41
_MANY = 3  # curves; the legend of more is below them
_HIGH = (6.4, 5.6)  # inches, with a legend below the curves


class ExpectedScoreDisplay:
    """The expected score against the number of predicted positives.

    Parameters
    ----------
    decisions : dict of str to Decision
        What to show, by the name in the legend.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : list of Line2D
        The curves.
    points_ : list of Line2D
        The best cuts.
    bands_ : list of PolyCollection
        The bands in which the scores will be, if asked for.
    doubts_ : list of PolyCollection
        The bands in which the expected scores may be, if probabilities are draws.

    Raises
    ------
    InvalidProbabilityError
        In ``from_predictions``, if a probability is NaN or outside [0, 1].
    ValueError
        If a metric is not known, `band` is not strictly between 0 and 1, or a
        classifier is not fitted or does not have two classes.

    See Also
    --------
    bestcut.ExpectedScoreCurve : The numbers that are drawn.
    bestcut.displays.DecisionDisplay : The ranked probabilities and the cut.
    bestcut.displays.ScoreDistributionDisplay : The distribution of the score of one
        cut.

    Examples
    --------
    >>> import bestcut
    >>> from bestcut.displays import ExpectedScoreDisplay
    >>> p = [0.9, 0.6, 0.4, 0.3, 0.1]
    >>> display = ExpectedScoreDisplay.from_predictions(p, ["f1", "mcc"])
    >>> len(display.lines_)
    2
    """

    def __init__(self, decisions: Mapping[str, Decision]) -> None:
        self.decisions = decisions

    @classmethod
    def from_predictions(
        cls,
        y_proba: Any,
        metric: str | Metric | list[str | Metric] = "f1",
        *,
        ax: Any = None,
        band: float | None = None,
        threshold: float | None = 0.5,
    ) -> ExpectedScoreDisplay:
        """Draw the curves of one or several metrics, or of several models.

        Parameters
        ----------
        y_proba : array-like of shape (n,), UncertainProbabilities, or dict of them
            Probabilities, or draws of them. A dict holds the probabilities of several
            models, by their names.
        metric : str or Metric, or a list of them, default="f1"
            The metric or metrics whose expected score is drawn.
        ax : matplotlib axes, optional
            Where to draw.
        band : float, optional
            Show the band in which the score will be with this probability, for
            example 0.9. With draws of probabilities, a darker band inside it holds the
            expected score of this share of the draws.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
            What was drawn.
        """
        models = y_proba if isinstance(y_proba, dict) else {"": y_proba}
        metrics = metric if isinstance(metric, list | tuple) else [metric]
        decisions = {}
        for model, p in models.items():
            for chosen in map(get, metrics):
                parts = [model, chosen.label if len(metrics) > 1 or not model else ""]
                decisions[", ".join(filter(None, parts))] = decide(p, chosen)
        return cls(decisions).plot(ax=ax, band=band, threshold=threshold)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        metric: str | Metric | None = None,
        *,
        pos_label: Any = None,
        ax: Any = None,
        band: float | None = None,
        threshold: float | None = 0.5,
    ) -> ExpectedScoreDisplay:
        """Draw the curve of a classifier's probabilities.

        Parameters
        ----------
        estimator : classifier
            A fitted one, with ``predict_proba``. A
            `bestcut.estimators.ExpectedMetricClassifier` brings its own decision, with
            the doubt about its calibration.
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.
        metric : str or Metric, optional
            What to maximise; if None, what the classifier decides for, and F1 for those
            that decide for nothing.
        pos_label : int, float, bool or str, optional
            The positive class; if None, the classifier's own, or the second.
        ax : matplotlib axes, optional
            Where to draw.
        band : float, optional
            Show between what the score will be with this probability.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
            What was drawn.
        """
        decision = decision_of(estimator, X, metric, pos_label)
        return cls.from_decision(decision, ax=ax, band=band, threshold=threshold)

    @classmethod
    def from_decision(
        cls,
        decision: Decision,
        *,
        ax: Any = None,
        band: float | None = None,
        threshold: float | None = 0.5,
    ) -> ExpectedScoreDisplay:
        """Draw the curve of a decision.

        Parameters
        ----------
        decision : Decision
            What `bestcut.decide` returned.
        ax : matplotlib axes, optional
            Where to draw.
        band : float, optional
            Show the band in which the score will be with this probability.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
            What was drawn.
        """
        one = cls({decision.metric.label: decision})
        return one.plot(ax=ax, band=band, threshold=threshold)

    def plot(
        self,
        *,
        ax: Any = None,
        band: float | None = None,
        threshold: float | None = 0.5,
    ) -> ExpectedScoreDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        band : float, optional
            Show the band in which the score will be with this probability.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
            Itself.
        """
        many = len(self.decisions) > _MANY
        self.ax_ = axes(ax, _HIGH if many else None)
        self.figure_ = self.ax_.figure
        self.lines_: list[Any] = []
        self.points_: list[Any] = []
        self.bands_: list[Any] = []
        self.doubts_: list[Any] = []
        for i, (name, decision) in enumerate(self.decisions.items()):
            if band is not None:
                self._draw_band(decision, band)
            ink = (INK, GREY)[i // len(LINES) % 2]
            self._draw(name, decision, LINES[i % len(LINES)], ink)
        for decision in self.decisions.values():
            if threshold is not None:
                self._draw_threshold(decision, threshold)
        losses = [not d.metric.greater_is_better for d in self.decisions.values()]
        what = "Expected loss" if losses and all(losses) else "Expected score"
        self.ax_.set(xlabel="Predicted positives", ylabel=what)
        count_instances(self.ax_.xaxis)
        tidy(self.ax_)
        _legend_once(self.ax_, below=many)
        return self

    def _draw(self, name: str, decision: Decision, line: Any, ink: str) -> None:
        curve, k = decision.curve, decision.n_positive
        shown = thinned(curve.n_positive.size, k)
        label = f"{name}: best at {k}, {decision.expected_score:.3g}"
        self.lines_ += self.ax_.plot(
            shown, curve.expected_score[shown], ls=line, color=ink, label=label
        )
        self.points_ += self.ax_.plot(
            k, curve.expected_score[k], "o", color=ink, ms=6, clip_on=False
        )

    def _draw_band(self, decision: Decision, level: float) -> None:
        n, k = decision.n, decision.n_positive
        some = np.linspace(0, n, min(n + 1, _BAND_POINTS)).astype(np.intp)
        cuts = np.unique(np.append(some, k))
        ends = [_intervals(decision, cut, level) for cut in cuts.tolist()]
        low, high, doubt_low, doubt_high = np.array(ends).T
        alpha = 1.0 if len(self.decisions) == 1 else 0.6
        label = f"{100 * level:g}% of test sets"
        self.bands_.append(self._fill(cuts, low, high, PALE, alpha, label))
        if ranked_draws_behind(decision) is not None:
            label = "of that, doubt about the probabilities"
            band = self._fill(cuts, doubt_low, doubt_high, DARK, alpha, label)
            self.doubts_.append(band)

    def _fill(
        self, x: Any, low: Any, high: Any, color: str, alpha: float, label: str
    ) -> Any:
        return self.ax_.fill_between(
            x, low, high, color=color, alpha=alpha, linewidth=0, zorder=0, label=label
        )

    def _draw_threshold(self, decision: Decision, threshold: float) -> None:
        curve = decision.curve
        if curve.threshold is None:  # no cut of probabilities is on this curve
            return
        there = int(np.count_nonzero(ranking_of(decision).eta >= threshold))
        # Larger than the point of the best cut, which may be at the same place.
        self.ax_.plot(
            there,
            curve.expected_score[there],
            "s",
            mfc="none",
            mec=GREY,
            mew=1.5,
            ms=10,
            clip_on=False,
            label=f"at {threshold:g}",
        )


def _legend_once(ax: Any, *, below: bool) -> None:
    """Make a legend without repeated entries, inside the axes or below them."""
    handles, labels = ax.get_legend_handles_labels()
    first = {label: handle for handle, label in zip(handles, labels, strict=True)}
    where: dict[str, Any] = {}
    if below:
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 2}
        where["handlelength"] = 3.6  # so that dashes can be told apart
    ax.legend(first.values(), first.keys(), frameon=False, **where)


def _intervals(
    decision: Decision, cut: int, level: float
) -> tuple[float, float, float, float]:
    """Return the interval of the score of a cut, and that of its expected score."""
    at, metric = ranking_of(decision).prediction(cut), decision.metric
    low, high = ScoreDistribution(at, metric).interval(level)
    if at.n_draws == 1:
        return low, high, low, high
    expected = at.by_draw(metric)[0]
    return low, high, *np.quantile(expected, [(1 - level) / 2, (1 + level) / 2])
