"""From numbers to one HTML document.

Text from the user is escaped before it goes into HTML. Data go into a script as JSON in
which no tag can begin or end.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

import bestcut
from bestcut.metrics import Metric, names
from bestcut.report import _words as words
from bestcut.report._numbers import Cuts, Scores
from bestcut.report._truth import MOST_CHECKED, Truth

if TYPE_CHECKING:
    from bestcut.report._report import Report

_MARKS = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def page_of(report: Report) -> str:
    """Return the document."""
    cuts, scores, maps = report.cuts, report.scores, report.maps
    first, made = scores[0], report.calibration
    learned = None if made is None else words.learned(made.n_labelled, made.n_positive)
    decimals = words.decimals_of(first)
    texts = {
        "title": report.title,
        "source": report.source,
        "headline": words.headline(cuts, first.best),
        "rule": words.rule(cuts, first.best),
        "outcome": words.outcome(cuts, first.best),
        "conditions": words.conditions(report.conditions),
        "comparison": words.comparison(cuts, first, first.metric.label),
        "expected": expected(first.metric),
        "flagged": words.whole(cuts.n_positive[first.best]),
        "n": words.whole(cuts.n),
        "threshold": words.threshold_at(cuts, first.best),
        "score": words.fixed(first.mean[first.best], decimals),
        "low": words.fixed(first.low[first.best], decimals),
        "high": words.fixed(first.high[first.best], decimals),
        "precision_note": _how_exact(cuts, scores),
        "version": bestcut.__version__,
        "band": _band(first)
        + words.REALISED * (report.truth is not None)
        + words.BARRED * (not cuts.allowed.all()),
    }
    chart = json.loads(_resource("chart.json"))
    config = chart["config"]
    # Where the decision's own metric is shown, it is not shown beside itself.
    others = [x for x in report.beside if x.metric.label != first.metric.label]
    scripts = {"runtime": _runtime(), "script": _resource("page.js")}
    return Template(_resource("page.html")).substitute(
        {name: escape(text) for name, text in texts.items()},
        style=_resource("page.css"),
        **scripts,
        script_hashes=" ".join(map(_hash, scripts.values())),
        chart=_json(chart),
        beside_figures=_beside_figures(others, first.best),
        beside_rows=_beside_rows(report.beside, report.truth),
        beside_heads=_heads(one.metric.label for one in report.beside),
        realised_head=_heads(["Realised"] * (report.truth is not None)),
        labels=_labels(report),
        doubt=_doubt(first, learned, maps),
        alone=_alone(first),
        specs=_spec("histogram", {}, config)
        + _maps_spec(maps, config)
        + _check_spec(report.truth, config),
        caveats=_caveats(first, learned, labels=report.truth is not None),
        data=_json(_data(report)),
        options=_options(scores),
        comparison_rows=_comparison_rows(cuts, first, others),
        metric_rows=_metric_rows(cuts, scores, report.beside),
    )


def expected(metric: Metric) -> str:
    """Return the name of the expected value of a metric."""
    better = "" if metric.greater_is_better else " (less is better)"
    return f"Expected {metric.label}{better}"


def _how_exact(cuts: Cuts, scores: Sequence[Scores]) -> str:
    every = cuts.n_positive.size == cuts.n + 1
    shown = "all" if every else f"{words.whole(cuts.n_positive.size)} of the"
    text = (
        f"The curve shows {shown} {words.whole(cuts.n + 1)} possible cuts. Expected "
        "scores and counts are exact at each cut shown."
    )
    if all(one.computed.all() for one in scores) and cuts.computed.all():
        text += " So are the intervals."
    else:
        few = words.whole(int(np.count_nonzero(scores[0].computed)))
        text += (
            f" Intervals of {scores[0].metric.label} were computed at {few} of these "
            "cuts, including the best cut and the cut at 0.5. Elsewhere they are "
            "interpolated, and marked with \u2248."
        )
    if every:
        return text
    text += (
        " For a number of cases between two of these cuts, everything is read off "
        "the straight line between them, and marked with \u2248"
    )
    apart = scores[0].apart
    if apart is None:
        return f"{text}."
    off = f"{apart:.1g}" if apart else "0"
    return (
        f"{text}. The expected {scores[0].metric.label} is then off by at most {off}."
    )


def _data(report: Report) -> dict[str, Any]:
    """Return what the script of the page reads."""
    cuts, truth = report.cuts, report.truth
    places = range(cuts.n_positive.size)
    metrics, beside = (
        [_metric_data(one) for one in some] for some in (report.scores, report.beside)
    )
    if truth is not None:
        for rows, realised in ((metrics, truth.scores), (beside, truth.beside)):
            for row, values in zip(rows, realised, strict=True):
                row["realised"] = _short(values)
    return {
        "n": cuts.n,
        "half": cuts.half,
        "flagged": cuts.n_positive.tolist(),
        "threshold": [words.threshold_at(cuts, i) for i in places],
        "exact": [None, *cuts.threshold[1:].tolist()],
        "below": [*cuts.next_below[:-1].tolist(), None],
        "left": (cuts.tied - cuts.tied_flagged).tolist(),
        "rule": [words.rule(cuts, i) for i in places],
        "mean": [_short(row) for row in cuts.mean],
        "low": cuts.low.tolist(),
        "high": cuts.high.tolist(),
        "computed": cuts.computed.astype(int).tolist(),
        "allowed": cuts.allowed.astype(int).tolist(),
        "truth": None if truth is None else truth.cells.tolist(),
        "bars": [[*_short(bar[:2]), bar[2]] for bar in report.histogram],
        "metrics": metrics,
        "beside": beside,
    }


def _metric_data(one: Scores) -> dict[str, Any]:
    return {
        "label": one.metric.label,
        "expected": expected(one.metric),
        "meaning": _meaning(one.metric),
        "sign": int(one.metric.sign),
        "decimals": words.decimals_of(one),
        "best": one.best,
        "mean": _short(one.mean),
        "low": _short(one.low),
        "high": _short(one.high),
        "computed": one.computed.astype(int).tolist(),
        "known": None if one.known is None else [_short(end) for end in one.known],
        "realised": None,
    }


def _short(values: Iterable[float]) -> list[float]:
    """Return numbers with as many digits as a page can show."""
    return [float(f"{value:.12g}") for value in values]


def _meaning(metric: Metric) -> str:
    """Return a line about a metric that is known by name."""
    if metric.name not in names():
        return ""
    return (type(metric).__doc__ or "").strip().splitlines()[0]


def _json(value: Any) -> str:
    """Return JSON that is safe inside a script: it holds no `<`, `>` or `&`."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.translate(_MARKS)


def _options(scores: Sequence[Scores]) -> str:
    return "".join(
        f'<option value="{i}">{escape(one.metric.label)}</option>'
        for i, one in enumerate(scores)
    )


def _comparison_rows(cuts: Cuts, scores: Scores, beside: Sequence[Scores]) -> str:
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
    first = "".join(_row(name, map(escape, texts)) for name, texts in rows.items())
    return first + "".join(
        _row(one.metric.label, (_with_interval(one, i) for i in places))
        for one in beside
    )


def _metric_rows(cuts: Cuts, scores: Sequence[Scores], beside: Sequence[Scores]) -> str:
    rows = []
    for one in scores:
        i, decimals = one.best, words.decimals_of(one)
        cells = (
            words.whole(cuts.n_positive[i]),
            words.threshold_at(cuts, i),
            _with_interval(one, i),
            words.fixed(one.mean[cuts.half], decimals),
            *(_with_interval(other, i) for other in beside),
        )
        rows.append(_row(one.metric.label, cells))
    return "".join(rows)


def _beside_figures(beside: Sequence[Scores], i: int) -> str:
    """Return what is shown beside every cut, at the best one."""
    return "".join(
        f"<div><dt>{escape(expected(one.metric))}</dt>"
        f"<dd>{_with_interval(one, i)}</dd></div>\n"
        for one in beside
    )


def _beside_rows(beside: Sequence[Scores], truth: Truth | None) -> str:
    """Return rows that the script fills with what is shown beside every cut."""
    names = ("mean", "range", *["real"] * (truth is not None))
    return "".join(
        _row(one.metric.label, (f'<span id="beside-{i}-{x}"></span>' for x in names))
        for i, one in enumerate(beside)
    )


def _heads(names: Iterable[str]) -> str:
    return "".join(f'<th scope="col">{escape(name)}</th>' for name in names)


def _with_interval(scores: Scores, i: int) -> str:
    """Return an expected score and its interval, as HTML."""
    mean = words.fixed(scores.mean[i], words.decimals_of(scores))
    nearly = "" if scores.computed[i] else "\u2248 "
    return f"{mean} <small>{nearly}{_interval(scores, i)}</small>"


def _interval(scores: Scores, i: int) -> str:
    return words.interval(scores.low[i], scores.high[i], scores)


# --- probabilities that are not known exactly ----------------------------------------

_MATCH = (
    "The probabilities are calibrated.",
    "Of the cases given 30%, three in ten must turn out positive. If they do not, the "
    "decision and every number here are wrong too, and nothing on this page can "
    "show it. Check this on cases whose outcome is known.",
)
_MATCHED = (
    _MATCH[0],
    "Of the cases given 30%, three in ten must turn out positive. If they do not, the "
    "decision and every expected score here are wrong too. The labels above say how "
    "well this holds for these cases.",
)
_ALIKE = (
    "The labelled cases are like these.",
    "The scores are from the same model, and a score means the same for these cases as "
    "for the labelled cases. If these cases come from another time or place, or were "
    "chosen in another way, the probabilities are wrong. The interval does not cover "
    "this, and nothing on this page can show it. Label some of these cases and "
    "compare.",
)
_DRAWN = (
    "The probabilities are among those drawn.",
    "The draws must show how far off the probabilities may be. The interval does not "
    "cover what no draw allows for, such as a change in the data.",
)
_INDEPENDENT = (
    "Cases are independent of each other.",
    "If outcomes depend on each other, as for the payments of one fraud ring, the real "
    "score varies more than the interval says.",
)
_CHANCE = (
    "The interval covers chance only.",
    "It says how far the score may be from the expected score because outcomes are not "
    "certain. It does not know whether the model is wrong, whether the data have "
    "changed, or how labels will be made.",
)
_BOTH = (
    "The interval covers chance and doubt about the probabilities.",
    "Outcomes are not certain, and neither is the probability that a score stands for. "
    "The interval covers both. It does not cover a change in the data, cases that "
    "depend on each other, or labels that are made in another way.",
)
_THESE = ("The cut is for these cases.", "Another batch has another best threshold.")


def _caveats(first: Scores, learned: str | None, *, labels: bool) -> str:
    if first.known is None:
        said = (_MATCHED if labels else _MATCH, _INDEPENDENT, _CHANCE, _THESE)
    else:
        said = (_ALIKE if learned else _DRAWN, _INDEPENDENT, _BOTH, _THESE)
    return "".join(
        f"<dt>{escape(name)}</dt>\n<dd>{escape(text)}</dd>\n" for name, text in said
    )


def _band(first: Scores) -> str:
    if first.known is None:
        return "The band holds the score 90% of the time."
    return (
        "The wide band holds the score 90% of the time. The dark band inside is due to "
        "chance alone: it would hold the score 90% of the time if the probabilities "
        "were known."
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
    """Return the section about where the probabilities come from."""
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
            '<div role="img" aria-labelledby="maps-name"><div id="maps" class="chart">'
            "</div></div>\n</figure>\n"
        )
    return (
        '<section class="half doubt" aria-labelledby="doubt-title">\n<div>\n'
        f'<h2 id="doubt-title">{title}</h2>\n{said}</div>\n{picture}</section>\n'
    )


# --- labels ---------------------------------------------------------------------------


def _labels(report: Report) -> str:
    """Return the section about what the labels say."""
    truth = report.truth
    if truth is None:
        return ""
    i = report.scores[0].best
    rows = "".join(
        _row(
            one.metric.label,
            (_with_interval(one, i), words.fixed(seen[i], words.decimals_of(one))),
        )
        for some, realised in (
            (report.scores, truth.scores),
            (report.beside, truth.beside),
        )
        for one, seen in zip(some, realised, strict=True)
    )
    check = truth.check
    verdict = words.too_many(MOST_CHECKED) if check is None else check.verdict
    found = words.realised(truth.cells[:, i])
    said = (found, f"{truth.surprise.verdict}.", verdict)
    texts = "".join(f"<p>{escape(text)}</p>\n" for text in said if text)
    return (
        '<section aria-labelledby="labels-title">\n'
        '<h2 id="labels-title">What the labels say</h2>\n'
        f'<div class="half doubt">\n<div>{texts}</div>\n'
        f"<div>{_check_picture(check)}</div>\n</div>\n"
        '<div class="wide" tabindex="0" role="region" aria-labelledby="labels-title">\n'
        "<table>\n<thead><tr><td></td>"
        + _heads(("Expected at the best cut, 90% between", "Realised"))
        + f"</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n"
    )


def _check_picture(check: Any) -> str:
    if check is None or not check.bins:
        return ""
    return (
        f'<figure>\n<figcaption id="check-name">{escape(words.CHECK)}</figcaption>\n'
        '<div role="img" aria-labelledby="check-name"><div id="check" class="chart">'
        "</div></div>\n</figure>\n"
    )


def _check_spec(truth: Truth | None, config: Any) -> str:
    """Return the script element with the bins of the check of labels, if any."""
    if truth is None or truth.check is None or not truth.check.bins:
        return ""
    bins = [
        {
            "at": one.expected / one.n,
            "low": max(one.expected - 2 * one.std, 0.0) / one.n,
            "high": min(one.expected + 2 * one.std, one.n) / one.n,
            "share": one.observed / one.n,
            "out": one.stands_out,
        }
        for one in truth.check.bins
        if one.n
    ]
    ends = (min(one["at"] for one in bins), max(one["at"] for one in bins))
    line = [{"at": end, "share": end} for end in ends]
    return _spec("check", {"bins": bins, "line": line}, config)


def _maps_spec(maps: Mapping[str, Any], config: Any) -> str:
    """Return the script element with what to draw of the maps, if anything."""
    return _spec("maps", dict(maps), config) if maps.get("maps") else ""


def _spec(name: str, datasets: dict[str, Any], config: Any) -> str:
    """Return the script element that says how to draw a picture."""
    spec = json.loads(_resource(f"{name}.json"))
    spec["datasets"] |= datasets
    spec["config"] = config
    return f'<script id="{name}-spec" type="application/json">{_json(spec)}</script>\n'


def _hash(script: str) -> str:
    """Return how the page's policy names a script; browsers run no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


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
