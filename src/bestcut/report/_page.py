"""From numbers to one HTML document.

What a user wrote is escaped on its way into HTML, and data go into a script as JSON in
which no tag can begin or end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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


def page_of(
    title: str,
    source: str,
    cuts: Cuts,
    scores: Sequence[Scores],
    learned: str | None,
    maps: Mapping[str, Any],
) -> str:
    """Return the document.

    `learned` says what the probabilities were learned from, and `maps` what to draw of
    that, if it is known.
    """
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
        "band": _band(first),
    }
    chart = json.loads(_resource("chart.json"))
    return Template(_resource("page.html")).substitute(
        {name: escape(text) for name, text in texts.items()},
        style=_resource("page.css"),
        runtime=_runtime(),
        script=_resource("page.js"),
        chart=_json(chart),
        doubt=_doubt(first, learned, maps),
        alone=_alone(first),
        maps=_maps_script(maps, chart["config"]),
        caveats=_caveats(first, learned),
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
                "known": None if one.known is None else [x.tolist() for x in one.known],
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
    return words.interval(scores.low[i], scores.high[i], scores)


# --- probabilities that are not known exactly ----------------------------------------

_MATCH = (
    "The probabilities are calibrated.",
    "Of the cases given 30%, three in ten must turn out positive. If they do not, the "
    "decision and every number here are wrong with them, and nothing on this page can "
    "show it. Check it on cases whose outcome is known.",
)
_ALIKE = (
    "The labelled cases are like these.",
    "The scores are from the same model, and a score means for these cases what it "
    "meant for those with a known outcome. If they come from another time or place, or "
    "were chosen otherwise, the probabilities are off, the interval does not cover it, "
    "and nothing on this page can show it. Label some of these cases and compare.",
)
_DRAWN = (
    "The probabilities are among those drawn.",
    "The draws must say how far off the probabilities may be. What none of them holds "
    "for possible, such as a change in the data, the interval does not cover.",
)
_INDEPENDENT = (
    "Cases are independent of each other.",
    "Where they go together, such as the payments of one fraud ring, the real score "
    "varies more than the interval says.",
)
_CHANCE = (
    "The interval knows chance, and only that.",
    "It says how far the score may be from what is expected because outcomes are not "
    "certain. It does not know whether the model is wrong, whether the data have "
    "changed, or how labels will be made.",
)
_BOTH = (
    "The interval covers chance and doubt about the probabilities.",
    "Outcomes are not certain, and neither is which probability a score stands for: it "
    "covers both. It does not cover that the data have changed, that cases go "
    "together, or that labels will be made otherwise.",
)
_THESE = ("The cut is for these cases.", "Another batch has another best threshold.")


def _caveats(first: Scores, learned: str | None) -> str:
    if first.known is None:
        said = (_MATCH, _INDEPENDENT, _CHANCE, _THESE)
    else:
        said = (_ALIKE if learned else _DRAWN, _INDEPENDENT, _BOTH, _THESE)
    return "".join(
        f"<dt>{escape(name)}</dt>\n<dd>{escape(text)}</dd>\n" for name, text in said
    )


def _band(first: Scores) -> str:
    if first.known is None:
        return "The band holds the score 90% of the time."
    return (
        "The wide band holds the score 90% of the time. The dark band inside would, if "
        "the probabilities were known: it is chance alone."
    )


def _alone(first: Scores) -> str:
    """Return one more figure: the interval without doubt about the probabilities."""
    if first.known is None:
        return ""
    i, decimals = first.best, words.decimals_of(first)
    low, high = (escape(words.fixed(end[i], decimals)) for end in first.known)
    return (
        f"<div><dt>By chance alone between</dt><dd>{low} <small>and</small> {high}"
        "</dd></div>\n"
    )


def _doubt(first: Scores, learned: str | None, maps: Mapping[str, Any]) -> str:
    """Return the section about where the probabilities are from."""
    if first.known is None:
        return ""
    title, where_from = "How scores became probabilities", learned
    if where_from is None:
        title, where_from = "How sure the probabilities are", words.DRAWN
    shares = words.shares(first, learned=learned is not None)
    texts = (where_from, words.both_intervals(first), shares)
    said = "".join(f"<p>{escape(text)}</p>\n" for text in texts)
    picture = ""
    if maps.get("maps"):
        caption = words.MAPS + (words.BINS if maps["bins"] else "")
        picture = (
            f'<figure>\n<figcaption id="maps-name">{escape(caption)}</figcaption>\n'
            '<div role="img" aria-labelledby="maps-name"><div id="maps"></div></div>\n'
            "</figure>\n"
        )
    return (
        '<section class="half doubt" aria-labelledby="doubt-title">\n<div>\n'
        f'<h2 id="doubt-title">{title}</h2>\n{said}</div>\n{picture}</section>\n'
    )


def _maps_script(maps: Mapping[str, Any], config: Any) -> str:
    """Return the script element with what to draw of the maps, if anything."""
    if not maps.get("maps"):
        return ""
    spec = json.loads(_resource("maps.json"))
    spec |= {"datasets": dict(maps), "config": config}
    return f'<script id="maps-spec" type="application/json">{_json(spec)}</script>\n'


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
