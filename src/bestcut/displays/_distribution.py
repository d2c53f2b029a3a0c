"""The distribution of a score."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut.displays._axes import DARK, GREY, INK, PALE, axes, tidy
from bestcut.displays._estimators import (
    metric_of,
    positive_label,
    positive_probabilities,
)
from bestcut.metrics import Metric
from bestcut.scores import ScoreDistribution, score_distribution

_LEVELS = np.linspace(0.0005, 0.9995, 400)


class ScoreDistributionDisplay:
    """How probable it is to reach each score.

    Parameters
    ----------
    score : ScoreDistribution
        What to show.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    line_ : Line2D
        The probability of reaching a score.
    labels_line_ : Line2D or None
        If probabilities are draws: the same as if the mean probabilities were known to
        be right, which leaves chance in the labels alone.

    Raises
    ------
    ValueError
        If `level` is not strictly between 0 and 1, a metric is not known, or a
        classifier is not fitted or does not have two classes.

    See Also
    --------
    bestcut.score_distribution : The numbers that are drawn.
    bestcut.displays.ExpectedScoreDisplay : The expected score of every cut.

    Examples
    --------
    >>> import bestcut
    >>> from bestcut.displays import ScoreDistributionDisplay
    >>> score = bestcut.decide([0.9, 0.6, 0.4, 0.3, 0.1]).distribution()
    >>> ScoreDistributionDisplay.from_distribution(score).ax_.get_xlabel()
    'F1'
    """

    def __init__(self, score: ScoreDistribution) -> None:
        self.score = score

    @classmethod
    def from_distribution(
        cls,
        score: ScoreDistribution,
        *,
        level: float = 0.9,
        observed: float | None = None,
        ax: Any = None,
    ) -> ScoreDistributionDisplay:
        """Draw the distribution of a score.

        Parameters
        ----------
        score : ScoreDistribution
            From `bestcut.score_distribution`, or from ``Decision.distribution``.
        level : float, default=0.9
            The probability of the interval that is shaded.
        observed : float, optional
            A score to mark.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ScoreDistributionDisplay
            What was drawn.
        """
        return cls(score).plot(level=level, observed=observed, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_proba: Any,
        y_pred: Any,
        metric: str | Metric = "f1",
        *,
        level: float = 0.9,
        observed: float | None = None,
        ax: Any = None,
    ) -> ScoreDistributionDisplay:
        """Draw the distribution of the score of some predictions.

        Parameters
        ----------
        y_proba : array-like of shape (n,), or UncertainProbabilities
            The probability of each row to be positive.
        y_pred : array-like of shape (n,)
            The predicted labels, 0 and 1 or booleans.
        metric : str or Metric, default="f1"
            Whose distribution.
        level : float, default=0.9
            The probability of the interval that is shaded.
        observed : float, optional
            A score to mark.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ScoreDistributionDisplay
            What was drawn.
        """
        score = score_distribution(y_proba, y_pred, metric)
        return cls.from_distribution(score, level=level, observed=observed, ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        metric: str | Metric | None = None,
        *,
        pos_label: Any = None,
        level: float = 0.9,
        observed: float | None = None,
        ax: Any = None,
    ) -> ScoreDistributionDisplay:
        """Draw the distribution of the score of what a classifier predicts.

        Parameters
        ----------
        estimator : classifier
            A fitted one, with ``predict_proba``. A
            `bestcut.estimators.ExpectedMetricClassifier` brings its own decision, with
            the doubt about its calibration.
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.
        metric : str or Metric, optional
            Whose distribution; if None, what the classifier decides for, and F1 for
            those that decide for nothing.
        pos_label : int, float, bool or str, optional
            The positive class; if None, the classifier's own, or the second.
        level : float, default=0.9
            The probability of the interval that is shaded.
        observed : float, optional
            A score to mark.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ScoreDistributionDisplay
            What was drawn.
        """
        p = positive_probabilities(estimator, X, pos_label)
        positive = positive_label(estimator, pos_label)
        predicted = np.asarray(estimator.predict(X)) == positive
        score = score_distribution(p, predicted, metric_of(estimator, metric))
        return cls.from_distribution(score, level=level, observed=observed, ax=ax)

    def plot(
        self, *, level: float = 0.9, observed: float | None = None, ax: Any = None
    ) -> ScoreDistributionDisplay:
        """Draw.

        Parameters
        ----------
        level : float, default=0.9
            The probability of the interval that is shaded.
        observed : float, optional
            A score to mark.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ScoreDistributionDisplay
            Itself.
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        known = self.score.at_mean()
        drawn = known is not self.score
        low, high = self.score.interval(level)
        self.ax_.axvspan(
            low, high, color=PALE, linewidth=0, label=f"{100 * level:g}% of test sets"
        )
        self.labels_line_ = None
        if drawn:
            self.ax_.axvspan(
                *known.interval(level),
                color=DARK,
                linewidth=0,
                label="of that, chance in labels alone",
            )
        self.line_ = self._draw(self.score, INK, "-", "all doubts" if drawn else None)
        if drawn:
            name = "chance in labels alone"
            self.labels_line_ = self._draw(known, INK, ":", name)
        score = self.score.metric.greater_is_better
        self.ax_.axvline(
            self.score.mean, color=GREY, linestyle="--", lw=1, label="expected"
        )
        if observed is not None:
            self.ax_.axvline(observed, color=INK, linestyle=":", label="observed")
        least = "at least" if score else "at most"
        self.ax_.set(
            xlabel=self.score.metric.label,
            ylabel=f"Probability of {least} this",
            ylim=(0, 1.02),
        )
        tidy(self.ax_)
        self.ax_.legend(loc="lower left" if score else "upper left")
        return self

    def _draw(
        self, law: ScoreDistribution, color: str, line: str, label: str | None
    ) -> Any:
        values = np.unique(law.ppf(_LEVELS))
        reach = [law.prob_at_least(float(x)) for x in values]
        # A step of "at least" ends at its score, and a step of "at most" begins there.
        where = "pre" if law.metric.greater_is_better else "post"
        (drawn,) = self.ax_.step(
            values, reach, line, where=where, color=color, label=label
        )
        return drawn
