"""A report: its numbers, its title, and the page it becomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from bestcut import _errors as errors
from bestcut._results import html_table
from bestcut._tables import check_order
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import (
    check_kind,
    check_labels,
    check_probabilities,
)
from bestcut._writing import writing
from bestcut.calibration import Calibration
from bestcut.metrics import LinearUtility, Metric, get, require_ranking
from bestcut.report import _words as words
from bestcut.report._histogram import histogram_of
from bestcut.report._maps import maps_of
from bestcut.report._numbers import (
    PRECISION,
    RECALL,
    Conditions,
    Cuts,
    Scores,
    compute,
)
from bestcut.report._page import page_of
from bestcut.report._truth import Truth, truth_of
from bestcut.uncertain import UncertainProbabilities

OTHERS = (
    "f1",
    "f2",
    "f0.5",
    "jaccard",
    "mcc",
    "cohen_kappa",
    "balanced_accuracy",
    "accuracy",
)
_NONE = Conditions()


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """The contents of a report about a batch of probabilities; made by `make_report`.

    Attributes
    ----------
    title, source : str
        The heading of the page, and where the probabilities came from.
    cuts : Cuts
        The cuts that are shown: how many are flagged, thresholds, confusion matrices.
    scores : tuple of Scores
        For each metric the expected score and its 90 % interval at these cuts. The
        first is the metric of the decision.
    beside : tuple of Scores
        The same for what is shown beside every cut: precision, recall, and what the
        outcomes are worth.
    conditions : Conditions
        What a cut must satisfy.
    histogram : list of tuple
        Both ends of each bar of the probabilities, and how many instances are in it.
    truth : Truth or None
        What the labels say, if they are known.
    calibration : Calibration or None
        The calibration that turned scores into the probabilities, if it is known.
    maps : dict
        What is drawn of it: points of the maps, and bins of labelled cases.

    See Also
    --------
    bestcut.report.make_report : Returns one.
    bestcut.Decision : The decision alone.

    Examples
    --------
    >>> from bestcut.report import make_report
    >>> report = make_report([0.62, 0.48, 0.31, 0.22, 0.09], title="Five cases")
    >>> report.title, len(report.cuts.n_positive)
    ('Five cases', 6)
    >>> report.summary()
    '3 of 5 flagged, expected F1 0.56, 90% between 0.00 and 1.00'
    """

    title: str
    source: str
    cuts: Cuts
    scores: tuple[Scores, ...]
    beside: tuple[Scores, ...]
    conditions: Conditions
    histogram: list[tuple[float, float, int]]
    truth: Truth | None = None
    calibration: Calibration | None = None
    maps: dict[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """Return the page: one HTML document that loads nothing from elsewhere.

        Returns
        -------
        str
            The page.
        """
        return page_of(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, completely or not at all.

        Parameters
        ----------
        path : str or path
            The file, which is compressed if its name ends in ``.gz``; ``-`` is standard
            output. An existing file is replaced when the page is written.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        data = self.html().encode(errors="replace")  # names of files may be odd bytes
        with writing(os.fspath(path)) as file:
            file.write(data)

    def summary(self) -> str:
        """Return the decision and what to expect from it in one line.

        Returns
        -------
        str
            One line, without markup.
        """
        first, i = self.scores[0], self.scores[0].best
        decimals = words.decimals_of(first)
        mean, low, high = (
            words.fixed(values[i], decimals)
            for values in (first.mean, first.low, first.high)
        )
        k, n = (words.whole(x) for x in (self.cuts.n_positive[i], self.cuts.n))
        text = (
            f"{k} of {n} flagged, expected {first.metric.label} {mean}, "
            f"90% between {low} and {high}"
        )
        if self.truth is not None:
            text += f"; realised {words.fixed(self.truth.scores[0][i], decimals)}"
        return text

    def __repr__(self) -> str:
        return f"Report({self.summary()})"

    def _repr_html_(self) -> str:
        rows = [("title", self.title), ("summary", self.summary())]
        if self.source:
            rows.insert(1, ("source", self.source))
        rows.append(("the page", "report.write('report.html') writes it"))
        return html_table("bestcut Report", rows)


def make_report(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    others: Sequence[str | Metric] = OTHERS,
    title: str | None = None,
    source: str = "",
    at_least: Mapping[str | Metric, Any] | None = None,
    at_most: Mapping[str | Metric, Any] | None = None,
    max_positives: int | None = None,
    worth: LinearUtility | None = None,
    y_true: Any = None,
    calibration: Calibration | None = None,
) -> Report:
    """Compute what a report about a batch of probabilities shows.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probability of each instance to be positive, or draws of it. Labels
        are taken to be independent given these.
    metric : str or Metric, default="f1"
        What the decision maximises.
    others : sequence of str or Metric, optional
        Other metrics that a reader may switch to. If several have the same name, the
        first is taken.
    title : str, optional
        The heading; by default it names the metric.
    source : str, default=""
        Where the probabilities came from, such as the name of a file.
    at_least, at_most : mapping of str or Metric to float or Certain, optional
        Conditions on the cut, as `bestcut.decide` takes them. They hold for the best
        cut of every metric; other cuts are shown too, and marked.

        .. versionadded:: 0.3
            `at_most`.
    max_positives : int, optional
        The largest number of positives; other cuts are shown too, and marked.
    worth : LinearUtility, optional
        What the outcomes are worth, to be shown beside every cut.
    y_true : array-like of shape (n,), optional
        Labels, if they are known. The page then also shows realised scores beside the
        expected ones, and whether the labels fit the probabilities.
    calibration : Calibration, optional
        The calibration that turned scores into `y_proba`; its maps are drawn.

    Returns
    -------
    Report
        With ``html()`` and ``write(path)``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    SolverMismatchError
        If a metric or `worth` does not satisfy the ranking principle.
    InfeasibleError
        If no cut satisfies the conditions.
    ValueError
        If a metric is not known, or labels are not 0 and 1.
    TypeError
        If an argument is of another kind, or `calibration` is given for probabilities
        that are not draws.

    See Also
    --------
    bestcut.Decision : Its ``report()`` does the same for a decision at hand.
    bestcut.check_calibration : The check that the report shows.
    bestcut.displays.ExpectedScoreDisplay : The curve as a plot.

    Notes
    -----
    Metrics must satisfy the ranking principle, as for `bestcut.decide`.

    All cuts are shown for up to 400 instances. For more instances some hundred cuts are
    shown, from end to end, with more of them near the best cuts and near a threshold of
    0.5. Expected scores and confusion matrices are exact at each cut shown. The
    intervals are exact for up to some hundred instances. For more instances they are
    computed at the cuts that matter and some more; elsewhere they are interpolated, and
    marked. With draws, fewer cuts are shown, and there are two intervals: one with
    doubt about the probabilities, and one without it, as if the means of the draws were
    known to be right.

    Examples
    --------
    >>> from bestcut.report import make_report
    >>> report = make_report([0.62, 0.48, 0.31, 0.31, 0.22, 0.09], others=["mcc"])
    >>> report
    Report(4 of 6 flagged, expected F1 0.54, 90% between 0.00 and 0.86)
    >>> page = report.html()
    >>> page.startswith("<!doctype html>"), len(page) < 3e6
    (True, True)
    """
    return compute_report(
        y_proba,
        metric,
        others=others,
        title=title,
        source=source,
        conditions=Conditions(at_least, at_most, max_positives),
        worth=worth,
        y_true=y_true,
        calibration=calibration,
    )


def compute_report(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    others: Sequence[str | Metric] = OTHERS,
    title: str | None = None,
    source: str = "",
    conditions: Conditions = _NONE,
    worth: LinearUtility | None = None,
    y_true: Any = None,
    calibration: Calibration | None = None,
    labelled: tuple[BoolArray, FloatArray] | None = None,
    on_step: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Do what `make_report` does, and what only the command asks for.

    Parameters
    ----------
    y_proba, metric, others, title, source, conditions, worth, y_true, calibration
        As for `make_report`.
    labelled : tuple of ndarray, optional
        The labels and the scores that `calibration` was learned from; bins of them are
        drawn beside the maps.
    on_step : callable, optional
        Called at each step with its name, the number of steps done, and the number of
        all steps.
    """
    metrics = _different([metric, *_listed(others)])
    for chosen in metrics:
        require_ranking(chosen, way_out="Choose another metric.")
    check_order(y_proba=y_proba, y_true=y_true)
    drawn = isinstance(y_proba, UncertainProbabilities)
    p: Any = y_proba if drawn else check_probabilities(y_proba)
    if calibration is not None:
        check_kind(calibration, Calibration, name="calibration", called="a Calibration")
        if not drawn:
            raise errors.bad_kind(
                "calibration",
                "needs the probabilities that it made; `y_proba` holds known "
                "probabilities",
                "Pass `calibration(scores)` as `y_proba`.",
            )
    heading = f"The best cut for {metrics[0].label}" if title is None else title
    for name, text in (("title", heading), ("source", source)):
        check_kind(text, str, name=name, called="a string")
    labels = None if y_true is None else check_labels(y_true, len(p), name="y_true")
    beside: list[Metric] = [PRECISION, RECALL]
    if worth is not None:
        check_kind(worth, LinearUtility, name="worth", called="a LinearUtility")
        require_ranking(worth, way_out="Choose other worths.")
        beside.append(worth)
    tell = _told(on_step, 2 + len(metrics) + len(beside) + (labels is not None))
    numbers = compute(p, metrics, beside, conditions, tell)
    truth = None
    if labels is not None:
        tell("Looking at the labels")
        truth = truth_of(p, labels, numbers)
    maps = {} if calibration is None else maps_of(calibration, labelled)
    return Report(
        heading,
        source,
        numbers.cuts,
        tuple(numbers.scores),
        tuple(numbers.beside),
        conditions,
        histogram_of(p.mean if drawn else p),
        truth,
        calibration,
        maps,
    )


def _told(
    on_step: Callable[[str, int, int], None] | None, steps: int
) -> Callable[[str], None]:
    """Return a function that reports the step that begins, and the progress."""
    done = count()

    def tell(what: str) -> None:
        if on_step is not None:
            on_step(what, next(done), steps)

    return tell


def _listed(others: Any) -> Sequence[str | Metric]:
    if isinstance(others, str | Metric) or not isinstance(others, Sequence):
        raise errors.bad_kind(
            "others",
            "must be a list of metrics",
            'Pass, for example, ["f1", "mcc"].',
            value=others,
        )
    return others


def _different(metrics: Sequence[str | Metric]) -> list[Metric]:
    """Return the first metric of each name."""
    by_name: dict[str, Metric] = {}
    for metric in map(get, metrics):
        by_name.setdefault(metric.name, metric)
    return list(by_name.values())
