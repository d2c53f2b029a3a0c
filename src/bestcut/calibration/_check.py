"""Once the labels are known: do they fit the probabilities?

The number of positives, overall and along the ranking, is held against its
Poisson-binomial law. No p-value rests on a limit theorem.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from functools import reduce
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut._types import FloatArray
from bestcut._validation import (
    check_labels,
    check_probabilities,
    check_share,
    check_whole_number,
)
from bestcut.counts import NEGLIGIBLE, NOTHING, Law, convolved, law_of

_CHECKPOINTS = 200
_FLOOR = 1e-15  # laws are known to about this; smaller p-values are reported as this
_UNRESOLVED = 1e-12  # in words, a p-value below this is "p < 1e-12"
# Expected counts are pairwise sums of up to 2^40 terms (at most 50 roundings of half
# an epsilon), added up over at most 200 checkpoints, and a difference of two of them
# is compared with another: 2 (50 + 200) half epsilons.
_SLACK = 256 * float(np.finfo(np.float64).eps)
_WIDTH = 79


@dataclass(frozen=True)
class CalibrationBin:
    """Instances of similar probability, and their positives.

    Attributes
    ----------
    n : int
        How many instances.
    low, high : float
        Their smallest and largest probability.
    expected : float
        Expected number of positives: the sum of the probabilities.
    observed : int
        How many are positive.
    std : float
        Standard deviation of the number of positives.
    p_value : float
        Exact two-sided p-value of `observed`: twice the smaller tail, at most 1.
    adjusted_p_value : float
        The same, allowing for having looked at all bins (Šidák).
    stands_out : bool
        Whether `adjusted_p_value` is at most the level of the check.
    """

    n: int
    low: float
    high: float
    expected: float
    observed: int
    std: float
    p_value: float
    adjusted_p_value: float
    stands_out: bool


@dataclass(frozen=True, repr=False)
class CalibrationCheck:
    """Whether labels fit the probabilities that were given for them.

    Attributes
    ----------
    verdict : str
        The outcome in words.
    p_value : float
        Of the whole check: twice the smaller of `path_p_value` and the smallest
        `adjusted_p_value` of a bin, at most 1; 0 if a label is impossible.
    level : float
        At most this often are right probabilities rejected.
    overall : CalibrationBin
        All instances as one bin.
    statistic : float
        Largest distance, over the checkpoints along the ranking, between the positives
        so far and their expected number, in standard deviations of the total.
    path_p_value : float
        Probability that `statistic` is as large or larger.
    bins : tuple of CalibrationBin
        From the largest probabilities down.
    n_impossible : int
        How many labels are positive at probability 0 or negative at probability 1.
    first_impossible : int or None
        Where the first of them is in the input.
    """

    verdict: str
    p_value: float
    level: float
    overall: CalibrationBin
    statistic: float
    path_p_value: float
    bins: tuple[CalibrationBin, ...]
    n_impossible: int
    first_impossible: int | None

    @property
    def fits(self) -> bool:
        """Whether the labels fit: `p_value` is above `level`."""
        return self.p_value > self.level

    def _table(self) -> list[list[str]]:
        head = ["probabilities", "n", "expected", "observed", "p-value", "adjusted", ""]
        rows = [_row(b) for b in self.bins]
        return [head, *rows, ["all", *_row(self.overall)[1:5], "", ""]]

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = textwrap.wrap(f"CalibrationCheck: {self.verdict}", _WIDTH)
        for first, *others in table:
            cells = [first.ljust(widths[0])]
            cells += [c.rjust(w) for c, w in zip(others, widths[1:], strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return (
            f"<p>{escape(self.verdict)}</p><table><caption>bestcut calibration check"
            f"</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        )


def calibration_check(
    y_true: Any, y_proba: Any, *, n_bins: int = 10, level: float = 0.05
) -> CalibrationCheck:
    """Check labels against the probabilities that were given for them.

    If the probabilities are right and the labels independent, the number of positives
    among any of the instances has a known law. Two tests look for what does not fit:
    one follows the count along the ranking, one takes bins of similar probability.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, 0 or 1. They must not have been used to fit the probabilities.
    y_proba : array-like of shape (n,)
        Probability of each instance to be positive.
    n_bins : int, default=10
        At most how many bins. They have about equal variance, thus tell equally much,
        and never part equal probabilities.
    level : float, default=0.05
        How often right probabilities may be rejected, at most.

    Returns
    -------
    CalibrationCheck
        With ``verdict``, ``fits``, ``p_value``, ``statistic``, ``overall``, ``bins``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].

    Notes
    -----
    The count along the ranking is looked at up to 200 checkpoints, about equally
    spaced in variance and never between equal probabilities. Its law is carried from
    one to the next; what is as far off as the observed count ever was is taken out and
    summed. All p-values come from the laws of counts. Beside rounding, only ends of
    laws with less than 1e-20 probability are left out; p-values below 1e-15, where
    that begins to matter, are reported as 1e-15, and only the impossible as 0. The
    result does not depend on the order of the input.

    The whole check is on the safe side of `level`, as counts are discrete and two
    tests share it. A bin may thus stand out although the whole still fits.

    Labels that fit are no proof: with few positives only large errors show.

    Examples
    --------
    >>> import numpy as np
    >>> from bestcut.calibration import calibration_check
    >>> rng = np.random.default_rng(0)
    >>> y_proba = rng.random(1000)
    >>> y_true = rng.random(1000) < y_proba
    >>> calibration_check(y_true, y_proba).fits
    True
    >>> calibration_check(y_true, y_proba**2, n_bins=4)
    CalibrationCheck: The labels do not fit the probabilities (p < 1e-12): 523
    positives where 348.2 were expected. Most out of line: probabilities 3.61e-08
    to 0.25, where 41.0 were expected and 122 seen: too low.
    probabilities        n  expected  observed   p-value  adjusted
    0.61 to 0.999      229     181.3       207  4.49e-06  1.79e-05  *
    0.426 to 0.61      141      73.0        98  2.57e-05  0.000103  *
    0.25 to 0.426      158      52.8        96  3.03e-12  1.21e-11  *
    3.61e-08 to 0.25   472      41.0       122   < 1e-12   < 1e-12  *
    all               1000     348.2       523   < 1e-12
    """
    bins_wanted = check_whole_number(
        n_bins, name="n_bins", least=1, cure="Pass 1 for a single bin."
    )
    level = check_share(
        level,
        name="level",
        cure="Pass the share of false alarms to accept, such as 0.05.",
    )
    p = check_probabilities(y_proba)
    labels = check_labels(y_true, p.size, name="y_true")
    order = np.argsort(-p, kind="stable")
    ranking = _ranking(p[order] + 0.0, labels[order])  # + 0.0: no negative zero
    parts = _bin_blocks(ranking, bins_wanted)
    laws = [_sum_law(ranking.laws[i]) for i in parts]
    bins = tuple(
        _group(ranking, i, law, len(parts), level)
        for i, law in zip(parts, laws, strict=True)
    )
    law = _sum_law(laws)
    overall = _group(ranking, slice(0, len(ranking.laws)), law, 1, level)
    distance, statistic = _furthest(ranking, overall.std)
    path = _path_p_value(ranking, distance)
    smallest = min([path, *(b.adjusted_p_value for b in bins)])
    impossible = np.flatnonzero((labels & (p == 0.0)) | (~labels & (p == 1.0)))
    first = int(impossible[0]) if impossible.size else None
    p_value = min(1.0, 2.0 * smallest) if first is None else 0.0
    if first is not None:
        verdict = _verdict_impossible(first, impossible.size, bool(labels[first]))
    elif overall.n == 0:
        verdict = "There are no labels to check."
    elif p_value > level:
        verdict = _verdict_fit(p_value, overall, bins, law, level)
    else:
        verdict = _verdict_misfit(p_value, overall, bins, ranking)
    return CalibrationCheck(
        verdict=verdict,
        p_value=p_value,
        level=level,
        overall=overall,
        statistic=statistic,
        path_p_value=path,
        bins=bins,
        n_impossible=impossible.size,
        first_impossible=first,
    )


# --- the ranking, cut into blocks ----------------------------------------------------


@dataclass(frozen=True)
class _Ranking:
    """Probabilities in descending order, in blocks that end at the checkpoints.

    `ends` holds a leading 0 and the number of instances up to each checkpoint; the
    other arrays have an entry for each block.
    """

    eta: FloatArray
    ends: NDArray[np.int_]
    observed: NDArray[np.int_]
    expected: FloatArray
    variance: FloatArray
    laws: list[Law]


def _ranking(eta: FloatArray, labels: NDArray[np.bool_]) -> _Ranking:
    """Cut the sorted instances into blocks and find the law of each."""
    spread = eta * (1.0 - eta)
    ends = _checkpoints(eta, spread)
    parts = [slice(a, b) for a, b in pairwise(ends.tolist())]
    return _Ranking(
        eta=eta,
        ends=ends,
        observed=np.array([np.count_nonzero(labels[i]) for i in parts], dtype=np.int_),
        expected=np.array([eta[i].sum() for i in parts]),
        variance=np.array([spread[i].sum() for i in parts]),
        laws=[law_of(eta[i]) for i in parts],
    )


def _checkpoints(eta: FloatArray, spread: FloatArray) -> NDArray[np.int_]:
    """Return 0 and the ends of the blocks, about equally spaced in variance.

    Certain instances add no variance and go with the block next to them.
    """
    if eta.size == 0:
        return np.zeros(1, dtype=np.int_)
    ends = np.flatnonzero(eta[1:] != eta[:-1]) + 1
    passed = np.cumsum(spread)
    total, passed = passed[-1], passed[ends - 1]
    between = (passed > 0.0) & (passed < total)
    chosen = ends[between][_nearest(passed[between], total, _CHECKPOINTS)]
    return np.concatenate([[0], chosen, [eta.size]])


def _nearest(passed: FloatArray, total: float, parts: int) -> NDArray[np.int_]:
    """Return which entries of `passed` come nearest to cutting `total` into parts."""
    if passed.size == 0:
        return np.zeros(0, dtype=np.int_)
    # More parts than entries could use every entry, and need not be told apart.
    parts = min(parts, _CHECKPOINTS)
    targets = total * (np.arange(1, parts) / parts)
    right = np.minimum(np.searchsorted(passed, targets), passed.size - 1)
    left = np.maximum(right - 1, 0)
    nearer = targets - passed[left] <= passed[right] - targets
    return np.unique(np.where(nearer, left, right))


# --- tests ---------------------------------------------------------------------------


def _two_sided(law: Law, observed: int) -> float:
    """Return twice the smaller tail of `law` at `observed`, within [_FLOOR, 1]."""
    i = observed - law.start
    below = float(law.pmf[: max(i + 1, 0)].sum())
    above = float(law.pmf[max(i, 0) :].sum())
    return max(min(1.0, 2.0 * min(below, above)), _FLOOR)


def _adjusted(p_value: float, m: int) -> float:
    """Return 1 - (1 - p)^m without cancellation."""
    return 1.0 if p_value >= 1.0 else -math.expm1(m * math.log1p(-p_value))


def _sum_law(laws: list[Law]) -> Law:
    """Return the law of the sum of independent counts."""
    return reduce(convolved, laws, NOTHING)


def _bin_blocks(ranking: _Ranking, n_bins: int) -> list[slice]:
    """Return the blocks of each of up to `n_bins` bins."""
    if not ranking.laws:
        return []
    passed = np.cumsum(ranking.variance)
    inner = _nearest(passed[:-1], passed[-1], n_bins) + 1
    edges = [0, *inner.tolist(), len(ranking.laws)]
    return [slice(a, b) for a, b in pairwise(edges)]


def _group(
    ranking: _Ranking, blocks: slice, law: Law, m: int, level: float
) -> CalibrationBin:
    """Hold some blocks, one of `m` bins, against the law of their positives."""
    eta = ranking.eta[ranking.ends[blocks.start] : ranking.ends[blocks.stop]]
    observed = int(ranking.observed[blocks].sum())
    sure, never = np.count_nonzero(eta == 1.0), np.count_nonzero(eta == 0.0)
    possible = sure <= observed <= eta.size - never
    p_value = _two_sided(law, observed) if possible else 0.0
    adjusted = _adjusted(p_value, m)
    return CalibrationBin(
        n=eta.size,
        low=float(eta[-1]) if eta.size else math.nan,
        high=float(eta[0]) if eta.size else math.nan,
        expected=float(ranking.expected[blocks].sum()),
        observed=observed,
        std=math.sqrt(ranking.variance[blocks].sum()),
        p_value=p_value,
        adjusted_p_value=adjusted,
        stands_out=adjusted <= level,
    )


def _deviations(ranking: _Ranking) -> FloatArray:
    """Return the positives so far less their expected number, at each checkpoint."""
    return np.cumsum(ranking.observed, dtype=np.float64) - np.cumsum(ranking.expected)


def _furthest(ranking: _Ranking, std: float) -> tuple[float, float]:
    """Return the largest deviation, in instances and in standard deviations."""
    distance = float(np.abs(_deviations(ranking)).max(initial=0.0))
    if std == 0.0:
        return distance, math.inf if distance else 0.0
    return distance, distance / std


def _path_p_value(ranking: _Ranking, distance: float) -> float:
    """Return the probability that some checkpoint is at least `distance` off.

    What the running count has within `distance` moves on; the rest is summed. So are
    values at the ends with less than `NEGLIGIBLE` mass: at 200 checkpoints they add at
    most 4e-18, and the p-value is never too small for it.
    """
    if not ranking.laws:
        return 1.0
    centres = np.cumsum(ranking.expected)
    reach = distance - _SLACK * max(float(centres[-1]), 1.0)
    start, mass, reached = 0, np.ones(1), []
    for law, centre in zip(ranking.laws, centres.tolist(), strict=True):
        start, mass = start + law.start, np.convolve(mass, law.pmf)
        # Rounding here is far below the slack: the observed count stays outside.
        low = max(math.floor(centre - reach) + 1 - start, 0)
        high = min(math.ceil(centre + reach) - start, mass.size)
        if low < high and mass[low] < NEGLIGIBLE:
            low += int(np.searchsorted(np.cumsum(mass[low:high]), NEGLIGIBLE))
        if low < high and mass[high - 1] < NEGLIGIBLE:
            ending = np.cumsum(mass[low:high][::-1])
            high -= int(np.searchsorted(ending, NEGLIGIBLE))
        if low >= high:  # nothing is left inside
            reached.append(float(mass.sum()))
            break
        reached += [float(mass[:low].sum()), float(mass[high:].sum())]
        start, mass = start + low, mass[low:high]
    return max(min(1.0, math.fsum(reached)), _FLOOR)


# --- words ---------------------------------------------------------------------------


def _small(p_value: float) -> str:
    """Return the p-value in three digits, or the bound it is below."""
    if 0.0 < p_value < _UNRESOLVED:
        return f"< {_UNRESOLVED:.0e}"
    return f"{p_value:.3g}"


def _p(p_value: float) -> str:
    text = _small(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _mean(expected: float) -> str:
    return f"{expected:.1f}" if expected >= 10.0 else f"{expected:.3g}"


def _chance(p: float) -> str:
    """Return the probability in three digits, or as many as tell it from 1."""
    for digits in range(3, 18):
        text = f"{p:.{digits}g}"
        if text != "1":
            return text
    return "1"


def _range(group: CalibrationBin) -> str:
    low, high = _chance(group.low), _chance(group.high)
    return low if low == high else f"{low} to {high}"


def _row(group: CalibrationBin) -> list[str]:
    return [
        _range(group),
        str(group.n),
        _mean(group.expected),
        str(group.observed),
        _small(group.p_value),
        _small(group.adjusted_p_value),
        "*" if group.stands_out else "",
    ]


def _most_out_of_line(bins: tuple[CalibrationBin, ...]) -> CalibrationBin:
    """Return the bin with the smallest p-value; of such, the one furthest off."""
    return min(bins, key=lambda b: (b.p_value, -abs(b.observed - b.expected) / b.std))


def _verdict_impossible(first: int, n_impossible: int, label: bool) -> str:
    word, chance = ("positive", 0) if label else ("negative", 1)
    more = f" There are {n_impossible} such labels." if n_impossible > 1 else ""
    return (
        f"The labels cannot come from the probabilities (p = 0): y_true[{first}] is "
        f"{word}, but y_proba[{first}] is {chance}.{more}"
    )


def _verdict_fit(
    p_value: float,
    overall: CalibrationBin,
    bins: tuple[CalibrationBin, ...],
    law: Law,
    level: float,
) -> str:
    """Say that the labels fit, and how little or much that means."""
    tails = np.minimum(np.cumsum(law.pmf), np.cumsum(law.pmf[::-1])[::-1])
    fitting = 2.0 * tails > level
    fitting[np.argmax(tails)] = True  # the median, whatever the rounding
    low, high = (law.start + np.flatnonzero(fitting)[[0, -1]]).tolist()
    weak = high - low > min(overall.expected, overall.n - overall.expected)
    verdict = (
        f"The labels fit the probabilities ({_p(p_value)}): "
        f"{_count(overall.observed, 'positive')} among "
        f"{_count(overall.n, 'instance')}, {_mean(overall.expected)} expected. "
    )
    if overall.std == 0.0:
        return verdict + "All probabilities are 0 or 1."
    verdict += (
        f"Taken alone, any total from {low} to {high} would have fitted"
        f"{', so this says little' if weak else ''}."
    )
    worst = _most_out_of_line(bins)
    if worst.stands_out:
        verdict += f" Yet one bin stands out: {_what_is_wrong(worst)}."
    return verdict


def _verdict_misfit(
    p_value: float,
    overall: CalibrationBin,
    bins: tuple[CalibrationBin, ...],
    ranking: _Ranking,
) -> str:
    """Say that the labels do not fit, and where it shows most."""
    verdict = (
        f"The labels do not fit the probabilities ({_p(p_value)}): "
        f"{_count(overall.observed, 'positive')} where {_mean(overall.expected)} were "
        "expected. "
    )
    worst = _most_out_of_line(bins)
    if worst.stands_out:
        return f"{verdict}Most out of line: {_what_is_wrong(worst)}."
    deviations = _deviations(ranking)
    at = int(np.argmax(np.abs(deviations)))
    side = "low" if deviations[at] > 0.0 else "high"
    if at == len(ranking.laws) - 1:
        return f"{verdict}No bin stands out; on the whole they are too {side}."
    k = int(ranking.ends[at + 1])
    return (
        f"{verdict}No bin stands out, but the {k} largest probabilities, "
        f"{_chance(float(ranking.eta[k - 1]))} and above, are on the whole too {side}: "
        f"{_mean(float(ranking.expected[: at + 1].sum()))} expected, "
        f"{int(ranking.observed[: at + 1].sum())} seen."
    )


def _what_is_wrong(group: CalibrationBin) -> str:
    side = "low" if group.observed > group.expected else "high"
    noun = "probability" if group.low == group.high else "probabilities"
    return (
        f"{noun} {_range(group)}, where {_mean(group.expected)} were expected and "
        f"{group.observed} seen: too {side}"
    )
