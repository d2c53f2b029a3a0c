"""The ranked probabilities, and where they are cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut.decision import Decision, decide, ranked_draws_behind, ranking_of
from bestcut.displays._axes import (
    GREY,
    INK,
    PALE,
    axes,
    count_instances,
    thinned,
    tidy,
)
from bestcut.displays._estimators import decision_of
from bestcut.metrics import Metric


class DecisionDisplay:
    """Sorted probabilities with the cut, and with the threshold of 0.5.

    Parameters
    ----------
    decision : Decision
        What to show.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    line_ : Line2D
        The probabilities, or the means of their draws.
    bounds_ : list of Line2D
        The bounds that hold 90 % of the draws, if there are draws.

    Raises
    ------
    InvalidProbabilityError
        In ``from_predictions``, if a probability is NaN or outside [0, 1].
    ValueError
        If a metric is not known, or a classifier is not fitted or does not have two
        classes.

    See Also
    --------
    bestcut.decide : Makes the decision that is drawn.
    bestcut.displays.ExpectedScoreDisplay : The expected score of every cut.

    Examples
    --------
    >>> from bestcut.displays import DecisionDisplay
    >>> display = DecisionDisplay.from_predictions([0.9, 0.6, 0.4, 0.3, 0.1])
    >>> display.decision.n_positive
    3
    """

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    @classmethod
    def from_predictions(
        cls, y_proba: Any, metric: str | Metric = "f1", *, ax: Any = None
    ) -> DecisionDisplay:
        """Decide, and draw.

        Parameters
        ----------
        y_proba : array-like of shape (n,) or UncertainProbabilities
            Probabilities, or draws of them.
        metric : str or Metric, default="f1"
            What to maximise.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        DecisionDisplay
            What was drawn.
        """
        return cls(decide(y_proba, metric)).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        metric: str | Metric | None = None,
        *,
        pos_label: Any = None,
        ax: Any = None,
    ) -> DecisionDisplay:
        """Decide by a classifier's probabilities, and draw.

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

        Returns
        -------
        DecisionDisplay
            What was drawn.
        """
        return cls(decision_of(estimator, X, metric, pos_label)).plot(ax=ax)

    @classmethod
    def from_decision(cls, decision: Decision, *, ax: Any = None) -> DecisionDisplay:
        """Draw a decision.

        Parameters
        ----------
        decision : Decision
            What `bestcut.decide` returned.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        DecisionDisplay
            What was drawn.
        """
        return cls(decision).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> DecisionDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        DecisionDisplay
            Itself.
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        eta = ranking_of(self.decision).eta
        draws = ranked_draws_behind(self.decision)
        k = self.decision.n_positive
        # A step for each instance, half a rank to either side.
        shown = thinned(eta.size + 1, k)
        rank, height = shown + 0.5, np.append(eta, eta[-1:].sum())[shown]
        above = shown <= k
        self.ax_.fill_between(
            rank[above],
            height[above],
            step="post",
            color=PALE,
            linewidth=0,
            label=f"{k} positive",
        )
        self.bounds_: list[Any] = []
        if draws is not None and eta.size:
            table = draws.taken(np.minimum(shown, eta.size - 1)).rows(0, shown.size)
            for end in np.quantile(table, [0.05, 0.95], axis=1):
                self.bounds_ += self.ax_.step(
                    rank, end, ":", where="post", color=INK, linewidth=0.8
                )
            self.bounds_[0].set_label("90% of the draws")
        (self.line_,) = self.ax_.step(rank, height, where="post", color=INK)
        self.ax_.axvline(k + 0.5, color=INK, linewidth=1)
        self.ax_.axhline(0.5, color=GREY, linewidth=1, linestyle="--", label="0.5")
        label = self.decision.metric.label
        self.ax_.set(
            xlabel="Rank by probability",
            ylabel="Probability" if draws is None else "Probability, mean of the draws",
            ylim=(0, 1.02),
            title=f"Best cut for {label}",
        )
        count_instances(self.ax_.xaxis)
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self
