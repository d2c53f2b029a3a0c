"""The expected score of each class, and how often classes are confused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._types import CountArray, FloatArray
from bestcut._validation import check_option
from bestcut.displays._axes import GREY, INK, axes, tidy
from bestcut.displays._estimators import class_probabilities, classes_of, metric_of
from bestcut.many import multiclass
from bestcut.many.multiclass import mean_over_classes
from bestcut.metrics import Metric, get
from bestcut.scores import Prediction

_MOST_NUMBERS = 12  # classes whose confusions are written out
_MOST_NAMES = 40  # classes whose names are all written
_LINE = 0.27  # inches for the name of a class
_CELL = 0.46  # inches for the number of a confusion
_WIDE = 6.4  # inches, as matplotlib's own figures
_SHARES = ("true", "pred", "all")


class ClassScoresDisplay:
    """The expected score of each class, the best first, and how often it is chosen.

    Parameters
    ----------
    classes : ndarray of shape (classes,)
        What the classes are called.
    scores : ndarray of float, shape (classes,)
        The expected score of each class against the rest.
    n_positive : ndarray of int, shape (classes,)
        How many rows are given each class.
    metric : str or Metric
        What the scores are of.
    mean : float
        The average over classes.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    points_ : Line2D
        The scores, the best first.
    order_ : ndarray of int
        Which class is drawn first, second, and so on.

    Raises
    ------
    ValueError
        If rows do not sum to 1, a predicted class is unknown, or the decision is not
        for the macro average.

    See Also
    --------
    bestcut.multiclass.decide : Makes the decision that is drawn.
    bestcut.displays.ClassConfusionDisplay : Which classes will be confused.

    Examples
    --------
    >>> from bestcut import multiclass
    >>> from bestcut.displays import ClassScoresDisplay
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
    >>> d = multiclass.decide(P, classes=["cat", "dog", "owl"])
    >>> display = ClassScoresDisplay.from_decision(d)
    >>> display.classes[display.order_].tolist()
    ['cat', 'dog', 'owl']
    """

    def __init__(
        self,
        classes: NDArray[Any],
        scores: FloatArray,
        n_positive: CountArray,
        metric: str | Metric,
        mean: float,
    ) -> None:
        self.classes, self.scores, self.n_positive = classes, scores, n_positive
        self.metric, self.mean = get(metric), mean

    @classmethod
    def from_decision(
        cls, decision: multiclass.MulticlassDecision, *, ax: Any = None
    ) -> ClassScoresDisplay:
        """Draw the scores of a decision.

        Parameters
        ----------
        decision : MulticlassDecision
            What `bestcut.multiclass.decide` returned for ``average="macro"``.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassScoresDisplay
            What was drawn.
        """
        if decision.average != "macro":
            raise errors.no_scores_of_classes(decision.average)
        return cls(
            decision.classes,
            decision.each,
            decision.n_positive,
            decision.metric,
            mean_over_classes(decision),
        ).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        metric: str | Metric | None = None,
        *,
        weights: Any = None,
        ax: Any = None,
    ) -> ClassScoresDisplay:
        """Draw the scores of what a classifier predicts, by its own probabilities.

        Parameters
        ----------
        estimator : classifier
            A fitted one, with ``predict_proba``.
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.
        metric : str or Metric, optional
            The metric of each class against the rest; if None, what the classifier
            decides for, and F1 for those that decide for nothing.
        weights : array-like of shape (classes,), optional
            The weight of each class in the mean.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassScoresDisplay
            What was drawn.
        """
        classes = classes_of(estimator)
        return cls.from_predictions(
            class_probabilities(estimator, X),
            estimator.predict(X),
            metric_of(estimator, metric),
            classes=classes,
            weights=weights,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y_proba: Any,
        y_pred: Any,
        metric: str | Metric = "f1",
        *,
        classes: Any = None,
        weights: Any = None,
        ax: Any = None,
    ) -> ClassScoresDisplay:
        """Draw the scores of any choice of classes.

        Parameters
        ----------
        y_proba : array-like or sparse matrix of shape (rows, classes)
            Calibrated probabilities; each row sums to 1.
        y_pred : array-like of shape (rows,)
            The class of each row: its index, or its name.
        metric : str or Metric, default="f1"
            The metric of each class against the rest.
        classes : array-like of shape (classes,), optional
            What the classes are called.
        weights : array-like of shape (classes,), optional
            The weight of each class in the mean.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassScoresDisplay
            What was drawn.
        """
        multiclass.score_distribution(  # refuses what is wrong
            y_proba, y_pred, metric, classes=classes, weights=weights
        )
        p, taken, names = _choice(y_proba, y_pred, classes)
        moments = [
            Prediction.of_labels(p[:, j], taken[:, j]).moments(get(metric))
            for j in range(names.size)
        ]
        scores = np.array([x.mean for x in moments])
        mean = float(np.average(scores, weights=weights))
        return cls(names, scores, taken.sum(axis=0), metric, mean).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ClassScoresDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassScoresDisplay
            Itself.
        """
        count = self.classes.size
        shown = min(count, _MOST_NAMES)
        self.ax_ = axes(ax, (_WIDE, max(_LINE * shown + 1.2, 2.2)))
        self.figure_ = self.ax_.figure
        self.order_ = np.argsort(-self.metric.sign * self.scores, kind="stable")
        scores, place = self.scores[self.order_], np.arange(count)
        self.ax_.hlines(place, 0.0, scores, color=GREY, linewidth=1)
        (self.points_,) = self.ax_.plot(scores, place, "o", color=INK, clip_on=False)
        self.ax_.axvline(self.mean, color=INK, linewidth=1, linestyle="--")
        self.ax_.axvline(0.0, color=INK, linewidth=0.8)
        self.ax_.set(
            xlabel=f"Expected {self.metric.label}",
            ylabel="Class (rows given it)",
            ylim=(count - 0.4, -0.6),
            title=f"Average {self.mean:.3g} (dashed)",
        )
        names = [
            f"{name}  ({number})"
            for name, number in zip(
                self.classes[self.order_].tolist(),
                self.n_positive[self.order_].tolist(),
                strict=True,
            )
        ]
        _name_ticks(self.ax_.yaxis, names)
        tidy(self.ax_)
        return self


class ClassConfusionDisplay:
    """How many rows of each class are expected to be given each class.

    Parameters
    ----------
    confusion : ndarray of float, shape (classes, classes)
        Entry (i, j) is the expected number of rows of class i that are given class j.
    classes : ndarray of shape (classes,)
        What the classes are called.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    image_ : AxesImage
        The matrix.
    texts_ : list of Text
        Its numbers, if there are at most 12 classes.

    Raises
    ------
    ValueError
        If rows do not sum to 1, a predicted class is unknown, or `normalize` is none of
        the options.

    See Also
    --------
    bestcut.displays.ClassScoresDisplay : The expected score of each class.
    bestcut.multiclass.decide : Chooses the classes.
    sklearn.metrics.ConfusionMatrixDisplay : The same once labels are known.

    Examples
    --------
    >>> from bestcut.displays import ClassConfusionDisplay
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
    >>> display = ClassConfusionDisplay.from_predictions(P, [0, 2, 1, 0])
    >>> display.confusion.round(1).tolist()
    [[1.5, 0.5, 0.5], [0.4, 0.4, 0.2], [0.1, 0.1, 0.3]]
    """

    def __init__(self, confusion: FloatArray, classes: NDArray[Any]) -> None:
        self.confusion, self.classes = confusion, classes

    @classmethod
    def from_decision(
        cls,
        decision: multiclass.MulticlassDecision,
        y_proba: Any,
        *,
        normalize: str | None = None,
        ax: Any = None,
    ) -> ClassConfusionDisplay:
        """Draw what a decision will confuse.

        Parameters
        ----------
        decision : MulticlassDecision
            What `bestcut.multiclass.decide` returned.
        y_proba : array-like or sparse matrix of shape (rows, classes)
            The probabilities that it was made for.
        normalize : {"true", "pred", "all"}, optional
            As in `plot`.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassConfusionDisplay
            What was drawn.
        """
        return cls.from_predictions(
            y_proba,
            decision.labels,
            classes=decision.classes,
            normalize=normalize,
            ax=ax,
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, normalize: str | None = None, ax: Any = None
    ) -> ClassConfusionDisplay:
        """Draw what a classifier will confuse, by its own probabilities.

        Parameters
        ----------
        estimator : classifier
            A fitted one, with ``predict_proba``.
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.
        normalize : {"true", "pred", "all"}, optional
            As in `plot`.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassConfusionDisplay
            What was drawn.
        """
        classes = classes_of(estimator)
        return cls.from_predictions(
            class_probabilities(estimator, X),
            estimator.predict(X),
            classes=classes,
            normalize=normalize,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y_proba: Any,
        y_pred: Any,
        *,
        classes: Any = None,
        normalize: str | None = None,
        ax: Any = None,
    ) -> ClassConfusionDisplay:
        """Draw what any choice of classes will confuse.

        Parameters
        ----------
        y_proba : array-like or sparse matrix of shape (rows, classes)
            Calibrated probabilities; each row sums to 1.
        y_pred : array-like of shape (rows,)
            The class of each row: its index, or its name.
        classes : array-like of shape (classes,), optional
            What the classes are called.
        normalize : {"true", "pred", "all"}, optional
            As in `plot`.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassConfusionDisplay
            What was drawn.
        """
        multiclass.score_distribution(  # refuses what is wrong
            y_proba, y_pred, "accuracy", classes=classes
        )
        p, taken, names = _choice(y_proba, y_pred, classes)
        confusion = p.T @ taken.astype(np.float64)
        return cls(confusion, names).plot(normalize=normalize, ax=ax)

    def plot(
        self, *, normalize: str | None = None, ax: Any = None
    ) -> ClassConfusionDisplay:
        """Draw.

        Parameters
        ----------
        normalize : {"true", "pred", "all"}, optional
            Show shares instead of numbers of rows, as scikit-learn's
            ``ConfusionMatrixDisplay`` does: shares of the rows of each class, of the
            rows that are given each class, or of all rows.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        ClassConfusionDisplay
            Itself.
        """
        values = self._values(normalize)
        count = self.classes.size
        cell = _CELL if count <= _MOST_NUMBERS else _LINE
        side = max(cell * min(count, _MOST_NAMES) + 1.4, 3.6)
        self.ax_ = axes(ax, (side + 0.6, side))
        self.figure_ = self.ax_.figure
        largest = float(values.max(initial=0.0)) or 1.0
        self.image_ = self.ax_.imshow(values, cmap="Greys", vmin=0.0, vmax=largest)
        self.texts_: list[Any] = []
        if count <= _MOST_NUMBERS:
            for i, j in np.ndindex(values.shape):
                ink = "white" if values[i, j] > 0.55 * largest else INK
                text = _short(float(values[i, j]), is_share=normalize is not None)
                place: dict[str, Any] = {"ha": "center", "va": "center"}
                self.texts_.append(
                    self.ax_.text(j, i, text, color=ink, size="small", **place)
                )
        else:
            bar = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.8)
            bar.outline.set_visible(False)
        what = {
            None: "Expected numbers of rows",
            "true": "Expected shares of each class",
            "pred": "Expected shares of the rows given each class",
            "all": "Expected shares of all rows",
        }
        self.ax_.set(xlabel="Given class", ylabel="Actual class", title=what[normalize])
        names = [str(name) for name in self.classes.tolist()]
        _name_ticks(self.ax_.xaxis, names)
        _name_ticks(self.ax_.yaxis, names)
        if max(map(len, names)) > 3:
            self.ax_.tick_params(axis="x", rotation=90 if count > 6 else 45)
        return self

    def _values(self, normalize: str | None) -> FloatArray:
        """Return numbers of rows, or shares."""
        if normalize is None:
            return self.confusion
        kind = check_option(normalize, _SHARES, name="normalize")
        axis = {"true": 1, "pred": 0, "all": None}[kind]
        total = self.confusion.sum(axis=axis, keepdims=True)
        return np.asarray(self.confusion / np.where(total > 0.0, total, 1.0))


def _choice(
    y_proba: Any, y_pred: Any, classes: Any
) -> tuple[FloatArray, Any, NDArray[Any]]:
    """Return probabilities, the class that each row is given, and names.

    The caller has checked them.
    """
    p = np.asarray(
        y_proba.toarray() if hasattr(y_proba, "tocsr") else y_proba, dtype=np.float64
    )
    names = multiclass.check_classes(classes, p.shape[1], y_proba)
    return p, np.asarray(y_pred)[:, None] == names, names


def _name_ticks(axis: Any, names: list[str]) -> None:
    """Write the names of classes: all of them, or as many as there is room for."""
    step = -(-len(names) // _MOST_NAMES)
    axis.set_ticks(range(0, len(names), step), names[::step])
    axis.set_tick_params(length=0)


def _short(value: float, *, is_share: bool) -> str:
    if is_share:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"
