"""The expected score of every cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut.decide import Decision, decide
from bestcut.displays._axes import GREY, INK, LINES, PALE, axes, tidy
from bestcut.metrics import Metric, get
from bestcut.scores import Prediction, ScoreDistribution

_MOST_POINTS = 2000
_BAND_POINTS = 41


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

    Examples
    --------
    >>> import bestcut
    >>> from bestcut.displays import ExpectedScoreDisplay
    >>> p = [0.9, 0.6, 0.4, 0.3, 0.1]
    >>> display = ExpectedScoreDisplay.from_proba(p, ["f1", "mcc"])
    >>> len(display.lines_)
    2
    """

    def __init__(self, decisions: dict[str, Decision]) -> None:
        self.decisions = decisions

    @classmethod
    def from_proba(
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
        y_proba : array-like of shape (n,) or dict of str to array-like
            Probabilities; a dict has those of several models, by their names.
        metric : str or Metric, or a list of them, default="f1"
            Whose expected score.
        ax : matplotlib axes, optional
            Where to draw.
        band : float, optional
            Show between what the score will be with this probability, 0.9 say.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
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
            Show between what the score will be with this probability.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
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
            Show between what the score will be with this probability.
        threshold : float or None, default=0.5
            Mark what this threshold would give.

        Returns
        -------
        ExpectedScoreDisplay
            Itself.
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_: list[Any] = []
        self.points_: list[Any] = []
        for i, (name, decision) in enumerate(self.decisions.items()):
            self._draw(name, decision, LINES[i % len(LINES)], band, threshold)
        losses = [not d.metric.greater_is_better for d in self.decisions.values()]
        what = "Expected loss" if losses and all(losses) else "Expected score"
        self.ax_.set(xlabel="Predicted positives", ylabel=what)
        tidy(self.ax_)
        self.ax_.legend(frameon=False)
        return self

    def _draw(
        self,
        name: str,
        decision: Decision,
        line: str,
        band: float | None,
        threshold: float | None,
    ) -> None:
        curve, k = decision.curve, decision.n_positive
        shown = _thinned(curve.n_positive.size, k)
        if band is not None:
            cuts = np.unique(np.append(shown[:: max(shown.size // _BAND_POINTS, 1)], k))
            ends = np.array([_interval(decision, cut, band) for cut in cuts.tolist()])
            self.ax_.fill_between(
                cuts,
                ends[:, 0],
                ends[:, 1],
                color=PALE,
                linewidth=0,
                zorder=0,
                label=f"{100 * band:g}% of test sets",
            )
        label = f"{name}: best at {k}, {decision.expected_score:.3g}"
        self.lines_ += self.ax_.plot(
            shown, curve.expected_score[shown], line, color=INK, label=label
        )
        self.points_ += self.ax_.plot(
            k, curve.expected_score[k], "o", color=INK, ms=7, clip_on=False
        )
        if threshold is not None:
            there = int(np.count_nonzero(curve.threshold[1:] >= threshold))
            self.ax_.plot(
                there,
                curve.expected_score[there],
                "s",
                mfc="white",
                mec=GREY,
                ms=7,
                label=f"at {threshold:g}" if len(self.lines_) == 1 else None,
            )


def _thinned(size: int, keep: int) -> Any:
    """Return the cuts to draw: all, or as many as a line can show."""
    if size <= _MOST_POINTS:
        return np.arange(size)
    some = np.linspace(0, size - 1, _MOST_POINTS).astype(np.intp)
    return np.unique(np.append(some, keep))


def _interval(decision: Decision, cut: int, level: float) -> tuple[float, float]:
    eta = decision.curve.threshold[1:]
    at = Prediction(eta[:cut], eta[cut:])
    return ScoreDistribution(at, decision.metric).interval(level)
