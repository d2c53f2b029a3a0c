"""Observed against expected positives, bin by bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut.calibration import CalibrationCheck, calibration_check
from bestcut.displays._axes import GREY, INK, axes, tidy


class CalibrationCheckDisplay:
    """Share of positives against mean probability, for the bins of a check.

    The axes are those of scikit-learn's ``CalibrationDisplay``, so that both can be
    drawn on the same. Bars show two standard deviations of what is expected; bins that
    stand out are filled.

    Parameters
    ----------
    check : CalibrationCheck
        What to show.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from bestcut.displays import CalibrationCheckDisplay
    >>> labels, probabilities = [1, 0, 0, 1], [0.9, 0.2, 0.1, 0.6]
    >>> CalibrationCheckDisplay.from_labels(labels, probabilities).check.fits
    True
    """

    def __init__(self, check: CalibrationCheck) -> None:
        self.check = check

    @classmethod
    def from_labels(
        cls, y_true: Any, y_proba: Any, *, ax: Any = None
    ) -> CalibrationCheckDisplay:
        """Check, and draw.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        y_proba : array-like of shape (n,)
            Probabilities.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationCheckDisplay
        """
        return cls(calibration_check(y_true, y_proba)).plot(ax=ax)

    @classmethod
    def from_check(
        cls, check: CalibrationCheck, *, ax: Any = None
    ) -> CalibrationCheckDisplay:
        """Draw a check.

        Parameters
        ----------
        check : CalibrationCheck
            What `bestcut.calibration_check` returned.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationCheckDisplay
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
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], ":", color=GREY, label="Perfectly calibrated")
        for one in self.check.bins:
            at = one.expected / one.n
            spread = 2 * one.std / one.n
            low, high = np.clip([at - spread, at + spread], 0, 1)
            self.ax_.plot([at, at], [low, high], color=GREY, linewidth=3, alpha=0.5)
            face = INK if one.stands_out else "white"
            self.ax_.plot(at, one.observed / one.n, "o", mfc=face, mec=INK, ms=7)
        word = "fit" if self.check.fits else "do not fit"
        self.ax_.set(
            xlabel="Mean predicted probability",
            ylabel="Fraction of positives",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            title=f"The labels {word} (p = {self.check.p_value:.2g})",
        )
        tidy(self.ax_)
        self.ax_.legend(frameon=False, loc="upper left")
        return self
