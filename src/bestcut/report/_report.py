"""A report: its numbers, its title, and the page it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestcut import _errors as errors
from bestcut._validation import check_kind, check_probabilities
from bestcut.metrics import Metric, get, require_ranking
from bestcut.report import _words as words
from bestcut.report._numbers import Cuts, Scores, compute
from bestcut.report._page import page_of

ALSO = (
    "f1",
    "f2",
    "f0.5",
    "jaccard",
    "mcc",
    "cohen_kappa",
    "balanced_accuracy",
    "accuracy",
)


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """What to tell about a batch of probabilities; made by `make_report`.

    Attributes
    ----------
    title, source : str
        What it is called, and where the probabilities came from.
    cuts : Cuts
        The cuts that are shown: how many are flagged, thresholds, confusion matrices.
    scores : tuple of Scores
        For each metric the expected score and its 90 % interval at these cuts. The
        first is the one that the decision is made for.
    """

    title: str
    source: str
    cuts: Cuts
    scores: tuple[Scores, ...]

    def html(self) -> str:
        """Return the page: one HTML document that loads nothing.

        Returns
        -------
        str
        """
        return page_of(self.title, self.source, self.cuts, self.scores)

    def write(self, path: str | Path) -> None:
        """Write the page.

        Parameters
        ----------
        path : str or Path
            The file; one that exists is replaced.
        """
        Path(path).write_bytes(self.html().encode(errors="replace"))

    def summary(self) -> str:
        """Return the decision and what to expect of it in one line.

        Returns
        -------
        str
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
        return text.replace(words.NARROW, " ")

    def __repr__(self) -> str:
        return f"Report({self.summary()})"


def make_report(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    also: Sequence[str | Metric] = ALSO,
    title: str | None = None,
    source: str = "",
) -> Report:
    """Compute what a report about a batch of probabilities shows.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        Calibrated probability of each instance to be positive. Labels are taken to be
        independent given these.
    metric : str or Metric, default="f1"
        What the decision is made for.
    also : sequence of str or Metric, optional
        What a reader may switch to. Of metrics with the same name the first is taken.
    title : str, optional
        The heading; by default it names the metric.
    source : str, default=""
        Where the probabilities came from, such as the name of a file.

    Returns
    -------
    Report
        With ``html()`` and ``write(path)``.

    Notes
    -----
    Metrics must satisfy the ranking principle, as for `bestcut.decide`.

    All cuts are shown of up to 400 instances, and otherwise some hundred: from end to
    end, and more of them near the best ones and near a threshold of 0.5. Expected
    scores and confusion matrices are exact at each of them. So are the intervals for
    up to about a thousand instances; beyond, they are computed at the cuts that matter
    and some more, interpolated between, and marked where they are.

    Examples
    --------
    >>> from bestcut.report import make_report
    >>> report = make_report([0.62, 0.48, 0.31, 0.31, 0.22, 0.09], also=["mcc"])
    >>> report
    Report(4 of 6 flagged, expected F1 0.54, 90% between 0.00 and 0.86)
    >>> page = report.html()
    >>> page.startswith("<!doctype html>"), len(page) < 3e6
    (True, True)
    """
    metrics = _different([metric, *_listed(also)])
    for chosen in metrics:
        require_ranking(chosen, way_out="Choose another metric.")
    p = check_probabilities(y_proba)
    heading = f"The best cut for {metrics[0].label}" if title is None else title
    for name, text in (("title", heading), ("source", source)):
        check_kind(text, str, name=name, called="a string")
    cuts, scores = compute(p, metrics)
    return Report(heading, source, cuts, tuple(scores))


def _listed(also: Any) -> Sequence[str | Metric]:
    if isinstance(also, str | Metric) or not isinstance(also, Sequence):
        raise errors.not_metrics(also)
    return also


def _different(metrics: Sequence[str | Metric]) -> list[Metric]:
    """Return the first metric of each name."""
    by_name: dict[str, Metric] = {}
    for metric in map(get, metrics):
        by_name.setdefault(metric.name, metric)
    return list(by_name.values())
