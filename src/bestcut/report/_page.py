"""From numbers to one HTML document.

What a user wrote is escaped on its way into HTML, and data go into a script as JSON in
which no tag can begin or end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

import bestcut
from bestcut.metrics import Metric, names
from bestcut.report import _words as words
from bestcut.report._numbers import Cuts, Scores

_MARKS = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def page_of(title: str, source: str, cuts: Cuts, scores: Sequence[Scores]) -> str:
    """Return the document."""
    first = scores[0]
    label = first.metric.label
    decimals = words.decimals_of(first)
    texts = {
        "title": title,
        "source": source,
        "headline": words.headline(cuts, first.best),
        "rule": words.rule(cuts, first.best),
        "outcome": words.outcome(cuts, first.best),
        "comparison": words.comparison(cuts, first, label),
        "label": label,
        "expected": expected(first.metric),
        "flagged": words.whole(cuts.n_positive[first.best]),
        "n": words.whole(cuts.n),
        "threshold": words.threshold_at(cuts, first.best),
        "score": words.fixed(first.mean[first.best], decimals),
        "low": words.fixed(first.low[first.best], decimals),
        "high": words.fixed(first.high[first.best], decimals),
        "precision_note": _how_exact(cuts, scores),
        "version": bestcut.__version__,
    }
    return Template(_resource("page.html")).substitute(
        {name: escape(text) for name, text in texts.items()},
        style=_resource("page.css"),
        runtime=_runtime(),
        script=_resource("page.js"),
        chart=_json(json.loads(_resource("chart.json"))),
        data=_json(_data(cuts, scores)),
        options=_options(scores),
        comparison_rows=_comparison_rows(cuts, first),
        metric_rows=_metric_rows(cuts, scores),
    )


def expected(metric: Metric) -> str:
    """Return what the expected value of a metric is called."""
    better = "" if metric.greater_is_better else " (less is better)"
    return f"Expected {metric.label}{better}"


def _how_exact(cuts: Cuts, scores: Sequence[Scores]) -> str:
    every = cuts.n_positive.size == cuts.n + 1
    shown = "all" if every else f"{words.whole(cuts.n_positive.size)} of the"
    text = (
        f"The curve shows {shown} {words.whole(cuts.n + 1)} cuts there are. Expected "
        "scores and counts are exact at each of them."
    )
    if all(one.computed.all() for one in scores):
        return f"{text} So are the intervals."
    few = words.whole(int(np.count_nonzero(scores[0].computed)))
    return (
        f"{text} Intervals were computed at {few} of them, among these the best cut "
        "and the cut at 0.5. In between they are interpolated, and marked with \u2248."
    )


def _data(cuts: Cuts, scores: Sequence[Scores]) -> dict[str, Any]:
    """Return what the script of the page reads."""
    places = range(cuts.n_positive.size)
    return {
        "n": cuts.n,
        "half": cuts.half,
        "flagged": cuts.n_positive.tolist(),
        "threshold": [words.threshold_at(cuts, i) for i in places],
        "rule": [words.rule(cuts, i) for i in places],
        "mean": cuts.mean.tolist(),
        "low": cuts.low.tolist(),
        "high": cuts.high.tolist(),
        "metrics": [
            {
                "label": one.metric.label,
                "expected": expected(one.metric),
                "meaning": _meaning(one.metric),
                "sign": int(one.metric.sign),
                "decimals": words.decimals_of(one),
                "best": one.best,
                "mean": one.mean.tolist(),
                "low": one.low.tolist(),
                "high": one.high.tolist(),
                "computed": one.computed.astype(int).tolist(),
            }
            for one in scores
        ],
    }


def _meaning(metric: Metric) -> str:
    """Return a line about a metric that is known by name."""
    if metric.name not in names():
        return ""
    return (type(metric).__doc__ or "").strip().splitlines()[0]


def _json(value: Any) -> str:
    """Return JSON that can stand in a script: it holds no `<`, `>` or `&`."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.translate(_MARKS)


def _options(scores: Sequence[Scores]) -> str:
    return "".join(
        f'<option value="{i}">{escape(one.metric.label)}</option>'
        for i, one in enumerate(scores)
    )


def _comparison_rows(cuts: Cuts, scores: Scores) -> str:
    places = (scores.best, cuts.half)
    cells = zip(("Right", "False alarms", "Missed"), cuts.mean[:3], strict=True)
    decimals = words.decimals_of(scores)
    rows = {
        "Flagged": [words.whole(cuts.n_positive[i]) for i in places],
        **{name: [words.about(mean[i]) for i in places] for name, mean in cells},
        expected(scores.metric): [
            words.fixed(scores.mean[i], decimals) for i in places
        ],
        "90% between": [_interval(scores, i) for i in places],
    }
    return "".join(_row(name, map(escape, texts)) for name, texts in rows.items())


def _metric_rows(cuts: Cuts, scores: Sequence[Scores]) -> str:
    rows = []
    for one in scores:
        i, decimals = one.best, words.decimals_of(one)
        mean, at_half = (
            words.fixed(one.mean[place], decimals) for place in (i, cuts.half)
        )
        cells = (
            words.whole(cuts.n_positive[i]),
            words.threshold_at(cuts, i),
            f"{mean} <small>{_interval(one, i)}</small>",
            at_half,
        )
        rows.append(_row(one.metric.label, cells))
    return "".join(rows)


def _interval(scores: Scores, i: int) -> str:
    decimals = words.decimals_of(scores)
    low, high = (words.fixed(end[i], decimals) for end in (scores.low, scores.high))
    return f"{low} to {high}"


def _row(name: str, cells: Iterable[str]) -> str:
    """Return a row of a table; its cells are HTML, its name is text."""
    rest = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(name)}</th>{rest}</tr>\n'


def _resource(name: str) -> str:
    return files("bestcut.report").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _runtime() -> str:
    """Return Vega-Lite and what it needs as one script."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
