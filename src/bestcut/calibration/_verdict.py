"""What a calibration check found, in sentences."""

from __future__ import annotations

import numpy as np

from bestcut.calibration._ranking import Ranking, deviations
from bestcut.calibration._result import (
    CalibrationBin,
    shown_count,
    shown_p_value,
    shown_probability,
    shown_range,
)
from bestcut.counts import Law


def verdict_impossible(first: int, n_impossible: int, label: bool) -> str:
    """Say that a label has probability 0, and which is the first."""
    word, chance = ("positive", 0) if label else ("negative", 1)
    more = f" There are {n_impossible} such labels." if n_impossible > 1 else ""
    return (
        f"The labels cannot come from the probabilities (p = 0): y_true[{first}] is "
        f"{word}, but y_proba[{first}] is {chance}.{more}"
    )


def verdict_fit(
    p_value: float,
    overall: CalibrationBin,
    bins: tuple[CalibrationBin, ...],
    law: Law,
    level: float,
) -> str:
    """Say that the labels fit, and how much this means."""
    tails = np.minimum(np.cumsum(law.pmf), np.cumsum(law.pmf[::-1])[::-1])
    fitting = 2.0 * tails > level
    fitting[np.argmax(tails)] = True  # the median, whatever the rounding
    low, high = (law.start + np.flatnonzero(fitting)[[0, -1]]).tolist()
    weak = high - low > min(overall.expected, overall.n - overall.expected)
    verdict = (
        f"The labels fit the probabilities ({_p(p_value)}): "
        f"{_count(overall.observed, 'positive')} among "
        f"{_count(overall.n, 'instance')}, {shown_count(overall.expected)} expected. "
    )
    if overall.std == 0.0:
        return verdict + "All probabilities are 0 or 1."
    if overall.p_value > min(level, 0.5):
        verdict += (
            f"Taken alone, any total from {low} to {high} would have fitted"
            f"{', so this says little' if weak else ''}."
        )
    else:
        verdict += (
            f"But taken alone, the total is not one from {low} to {high}: the share of "
            "positives may be another."
        )
    worst = _most_out_of_line(bins)
    if worst.stands_out:
        verdict += f" Yet one bin stands out: {_what_is_wrong(worst)}."
    return verdict


def verdict_misfit(
    p_value: float,
    overall: CalibrationBin,
    bins: tuple[CalibrationBin, ...],
    ranking: Ranking,
) -> str:
    """Say that the labels do not fit, and where it shows most."""
    verdict = (
        f"The labels do not fit the probabilities ({_p(p_value)}): "
        f"{_count(overall.observed, 'positive')} where "
        f"{shown_count(overall.expected)} were expected. "
    )
    worst = _most_out_of_line(bins)
    if worst.stands_out:
        return f"{verdict}Most out of line: {_what_is_wrong(worst)}."
    off = deviations(ranking)
    at = int(np.argmax(np.abs(off)))
    side = "low" if off[at] > 0.0 else "high"
    if at == ranking.expected.size - 1:
        return f"{verdict}No bin stands out; all probabilities together are too {side}."
    k = int(ranking.ends[at + 1])
    return (
        f"{verdict}No bin stands out, but the {k} largest probabilities, "
        f"{shown_probability(float(ranking.eta[k - 1]))} and above, are on the whole "
        f"too {side}: {shown_count(float(ranking.expected[: at + 1].sum()))} expected, "
        f"{int(ranking.observed[: at + 1].sum())} seen."
    )


def _most_out_of_line(bins: tuple[CalibrationBin, ...]) -> CalibrationBin:
    """Return the bin with the smallest p-value; among equals, the one furthest off."""
    return min(bins, key=lambda b: (b.p_value, -abs(b.observed - b.expected) / b.std))


def _what_is_wrong(group: CalibrationBin) -> str:
    side = "low" if group.observed > group.expected else "high"
    noun = "probability" if group.low == group.high else "probabilities"
    return (
        f"{noun} {shown_range(group)}, where {shown_count(group.expected)} were "
        f"expected and {group.observed} seen: too {side}"
    )


def _p(p_value: float) -> str:
    text = shown_p_value(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
