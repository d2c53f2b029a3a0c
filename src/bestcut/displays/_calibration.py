"""Observed against expected positives, bin by bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut._types import FloatArray
from bestcut.calibration import CalibrationCheck, check_calibration
from bestcut.displays._axes import GREY, INK, PALE, axes, tidy
from bestcut.displays._estimators import positive_label, positive_probabilities

_UNRESOLVED = 1e-12  # smaller p-values are not told apart


class CalibrationCheckDisplay:
    """Share of positives against mean probability, for the bins of a check.

    The axes are those of scikit-learn's ``CalibrationDisplay``, so both can be drawn on
    the same axes. The axes reach only as far as there is something to see, so rare
    positives are not lost in a corner. Bars show two standard deviations around the
    expected share; the points of bins that stand out are filled.

    Parameters
    ----------
    check : CalibrationCheck
        What to show.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    line_ : Line2D
        Where the expected and the observed agree.
    bars_ : LineCollection
        The expected shares in the bins.
    points_ : list of Line2D
        The observed shares: in bins that fit, and in bins that stand out.

    Raises
    ------
    InvalidProbabilityError
        In ``from_predictions``, if a probability is NaN or outside [0, 1].
    ValueError
        If labels are not 0 and 1, or a classifier is not fitted or does not have two
        classes.

    See Also
    --------
    bestcut.check_calibration : The numbers that are drawn.
    bestcut.displays.CalibrationMapDisplay : The map that a calibration learned.
    sklearn.calibration.CalibrationDisplay : The same axes, without a test.

    Examples
    --------
    >>> from bestcut.displays import CalibrationCheckDisplay
    >>> labels, probabilities = [1, 0, 0, 1], [0.9, 0.2, 0.1, 0.6]
    >>> CalibrationCheckDisplay.from_predictions(labels, probabilities).check.fits
    True
    """

    def __init__(self, check: CalibrationCheck) -> None:
        self.check = check

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_proba: Any, *, ax: Any = None
    ) -> CalibrationCheckDisplay:
        """Check, and draw.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,) or UncertainProbabilities
            Probabilities, or draws of them.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationCheckDisplay
            What was drawn.
        """
        return cls(check_calibration(y_true, y_proba)).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, pos_label: Any = None, ax: Any = None
    ) -> CalibrationCheckDisplay:
        """Check a classifier's probabilities, and draw.

        Parameters
        ----------
        estimator : classifier
            A fitted one, with ``predict_proba``. The doubt about the calibration of a
            `bestcut.estimators.ExpectedMetricClassifier` is allowed for.
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            Rows that it was not fitted on.
        y : array-like of shape (n,)
            Their classes.
        pos_label : int, float, bool or str, optional
            The positive class; if None, the classifier's own, or the second.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationCheckDisplay
            What was drawn.
        """
        p = positive_probabilities(estimator, X, pos_label)
        positive = positive_label(estimator, pos_label)
        return cls.from_predictions(np.asarray(y) == positive, p, ax=ax)

    @classmethod
    def from_check(
        cls, check: CalibrationCheck, *, ax: Any = None
    ) -> CalibrationCheckDisplay:
        """Draw a check.

        Parameters
        ----------
        check : CalibrationCheck
            What `bestcut.check_calibration` returned.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationCheckDisplay
            What was drawn.
        """
        return cls(check).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CalibrationCheckDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationCheckDisplay
            Itself.
        """
        self.ax_ = axes(ax)
        shared = self.ax_.has_data()
        self.figure_ = self.ax_.figure
        (self.line_,) = self.ax_.plot(
            [0, 1], [0, 1], ":", color=GREY, label="Perfectly calibrated"
        )
        bins = [one for one in self.check.bins if one.n]
        at = np.array([one.expected / one.n for one in bins])
        spread = np.array([2 * one.std / one.n for one in bins])
        share = np.array([one.observed / one.n for one in bins])
        out = np.array([one.stands_out for one in bins], dtype=np.bool_)
        low, high = np.clip(at - spread, 0, 1), np.clip(at + spread, 0, 1)
        self.bars_ = self.ax_.vlines(
            at, low, high, color=PALE, linewidth=4, label="Expected, ±2 sd"
        )
        self.points_: list[Any] = []
        for some, face, name in (
            (~out, "white", "Observed"),
            (out, INK, "Observed, stands out"),
        ):
            if not some.any():
                continue
            self.points_ += self.ax_.plot(
                at[some],
                share[some],
                "o",
                mfc=face,
                mec=INK,
                ms=7,
                clip_on=False,
                label=name,
            )
        word = "fit" if self.check.fits else "do not fit"
        p = self.check.p_value
        shown = f"p = {p:.2g}" if p > _UNRESOLVED else f"p < {_UNRESOLVED:g}"
        self.ax_.set(
            xlabel="Mean predicted probability",
            ylabel="Fraction of positives",
            title=f"The labels {word} ({shown})",
        )
        if not shared:  # shared axes already have their own limits
            heights = np.concatenate([at, share, low, high])
            self.ax_.set(xlim=_reach(at), ylim=_reach(heights))
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self


def _reach(values: FloatArray) -> tuple[float, float]:
    """Return limits that hold the values with some room, and nothing impossible."""
    if not values.size:
        return -0.02, 1.02
    low, high = float(values.min()), float(values.max())
    room = max(0.05 * (high - low), 1e-3)
    return max(low - room, -0.02), min(high + room, 1.02)
