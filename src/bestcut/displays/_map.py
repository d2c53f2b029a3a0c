"""The maps of a calibration, and the labels they were learned from."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._tables import check_order
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_labels, check_scores, check_whole_number
from bestcut.calibration import Calibration, calibrate, labelled_bins
from bestcut.displays._axes import DARK, GREY, INK, PALE, axes, tidy

_PLACES = 401
_LINES = 8  # draws that are shown one by one


class CalibrationMapDisplay:
    """Which probability each score stands for, and how sure this is, by a calibration.

    The line is the mean of all maps, the grey band holds 90 % of the maps at each
    score, and the thin lines are some of the maps. Labelled scores, if they are given,
    are shown in bins: the share of positives against the mean score.

    Parameters
    ----------
    calibration : Calibration
        What to show.
    y_true, scores : array-like of shape (m,), optional
        Labels and scores to show beside the maps: those that the calibration was
        learned from, or others.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    line_ : Line2D
        The mean of the maps.
    band_ : PolyCollection
        The band that holds 90 % of the maps.
    draws_ : list of Line2D
        Some of the maps.
    points_ : Line2D or None
        Shares of positives in bins of the labelled scores.

    Raises
    ------
    ValueError
        If labels are not 0 and 1, a score is NaN, or a classifier has no calibration to
        show.

    See Also
    --------
    bestcut.calibrate : Learns the maps.
    bestcut.displays.CalibrationCheckDisplay : Whether probabilities fit other labels.

    Examples
    --------
    >>> import numpy as np
    >>> from bestcut.displays import CalibrationMapDisplay
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(200)
    >>> labels = rng.random(200) < scores**2
    >>> display = CalibrationMapDisplay.from_predictions(labels, scores)
    >>> display.points_.get_xdata().size
    10
    """

    def __init__(
        self, calibration: Calibration, y_true: Any = None, scores: Any = None
    ) -> None:
        self.calibration = calibration
        self.scores: FloatArray | None = None
        self.labels: BoolArray | None = None
        if y_true is not None or scores is not None:
            check_order(y_true=y_true, scores=scores)
            self.scores = check_scores(scores, name="scores")
            self.labels = check_labels(
                y_true, self.scores.size, name="y_true", of="scores"
            )

    @classmethod
    def from_predictions(
        cls, y_true: Any, scores: Any, *, n_bins: int = 10, ax: Any = None
    ) -> CalibrationMapDisplay:
        """Calibrate, and draw the maps with the labels.

        Parameters
        ----------
        y_true : array-like of shape (m,)
            Labels.
        scores : array-like of shape (m,)
            Scores, from a model that was not fitted on these labels.
        n_bins : int, default=10
            The largest number of bins; each holds about as many labelled scores.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationMapDisplay
            What was drawn.
        """
        return cls(calibrate(y_true, scores), y_true, scores).plot(n_bins=n_bins, ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> CalibrationMapDisplay:
        """Draw the maps of a classifier that calibrates itself.

        Parameters
        ----------
        estimator : ExpectedMetricClassifier
            A fitted one with ``calibration="posterior"``, for two classes.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationMapDisplay
            What was drawn.
        """
        calibration = getattr(estimator, "calibration_", None)
        if not isinstance(calibration, Calibration):
            raise errors.no_calibration_to_show(
                type(estimator).__name__, several=isinstance(calibration, list)
            )
        return cls(calibration).plot(ax=ax)

    @classmethod
    def from_calibration(
        cls,
        calibration: Calibration,
        y_true: Any = None,
        scores: Any = None,
        *,
        n_bins: int = 10,
        ax: Any = None,
    ) -> CalibrationMapDisplay:
        """Draw the maps of a calibration.

        Parameters
        ----------
        calibration : Calibration
            What `bestcut.calibrate` returned.
        y_true, scores : array-like of shape (m,), optional
            Labels and scores to show beside the maps.
        n_bins : int, default=10
            The largest number of bins; each holds about as many labelled scores.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationMapDisplay
            What was drawn.
        """
        return cls(calibration, y_true, scores).plot(n_bins=n_bins, ax=ax)

    def plot(self, *, n_bins: int = 10, ax: Any = None) -> CalibrationMapDisplay:
        """Draw.

        Parameters
        ----------
        n_bins : int, default=10
            The largest number of bins; each holds about as many labelled scores.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CalibrationMapDisplay
            Itself.
        """
        bins = check_whole_number(
            n_bins, name="n_bins", least=1, cure="Pass 1 for a single bin."
        )
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        at = np.linspace(*self.calibration.score_range, _PLACES)
        maps = self.calibration.probabilities(at)
        low, high = np.quantile(maps, [0.05, 0.95], axis=0)
        self.band_ = self.ax_.fill_between(
            at, low, high, color=PALE, linewidth=0, label="90% of the maps"
        )
        step = max(maps.shape[0] // _LINES, 1)
        self.draws_ = self.ax_.plot(at, maps[::step][:_LINES].T, color=DARK, lw=0.6)
        self.draws_[0].set_label("some of them")
        (self.line_,) = self.ax_.plot(at, maps.mean(axis=0), color=INK, label="Mean")
        self.points_ = None
        if self.scores is not None and self.labels is not None and self.scores.size:
            parts = labelled_bins(self.scores, self.labels, bins)
            x, y = ([part[i].mean() for part in parts] for i in (0, 1))
            (self.points_,) = self.ax_.plot(
                x, y, "o", mfc="white", mec=GREY, clip_on=False, label="Labels, in bins"
            )
        n = self.calibration.n_labelled
        self.ax_.set(
            xlabel="Score",
            ylabel="Probability",
            ylim=(-0.02, 1.02),
            title=f"From {n} {'label' if n == 1 else 'labels'}",
        )
        tidy(self.ax_)
        self.ax_.legend(frameon=False, loc="upper left")
        return self
