"""What a cut may be better by than the edges of its part: proved bounds.

Inside a part of N instances with mean probability m, replace each probability by m. The
expected score G(j) of a cut after j of them then has

    G(j+1) - G(j) = E[ m D1 f + (1-m) D0 f ],

where D1 f is what one more predicted positive changes if it is positive, D0 f if it is
not, both with the total of positives as it is. Its second difference is bounded by
those of f, so that G lies below the chord from G(0) to G(N) plus j (N-j)/2 times that
(Lemma 10). And F differs from G by little: moving one probability by d changes an
expected score by d times the expected change of f when that one label flips (Lemma 9),
so what lies above the mean and what lies below it, sum |eta - m| / 2 each, can differ
by the span of these changes. Changes of f are bounded over boxes of counts, see
`bestcut.metrics.enclosed`; the chance to be outside a box by Bernstein's inequality
(Lemma 3), and what happens there by the largest score there is (Lemma 2).
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np

from bestcut._types import EPS, CountArray, FloatArray, IndexArray
from bestcut.counts import Law, Side, stray
from bestcut.metrics import FIRST, SECOND, Box, Interval, Metric, enclosed, spread

_LAYERS = (1e-3, 1e-8, 1e-20, 1e-60)  # chance to be outside each box, one-sided
_ROUNDING = 1e-12  # of the terms of a sum: more than it rounds
_TAILS = 10  # four cells and the total, two ends each
RARE = 25.0  # below this variance small totals of positives have boxes of their own
_WINDOWS = 1e-17  # what the windows of the law of the total leave out, and more
_UNLIKELY = (
    1e-19  # chance of the totals that are left out on either side: less than that
)
_ALIKE = 1.15  # ratio of totals that share a box


class Parts(NamedTuple):
    """Consecutive parts taken together: edges first[i] to last[i]."""

    first: IndexArray
    last: IndexArray
    size: FloatArray
    mean: FloatArray
    dispersion: FloatArray


class SearchState(Protocol):
    """What the bounds need to know of a search; see `CutSearch`."""

    metric: Metric
    n: int
    sign: float
    proved: float
    start: CountArray
    above: FloatArray
    below: FloatArray
    ends: tuple[Side, Side]
    displaced: tuple[FloatArray, FloatArray]

    @property
    def total_mean(self) -> float | FloatArray:
        """Expected number of positives in all; for each part, if they differ."""

    @property
    def total_variance(self) -> float | FloatArray:
        """Variance of the number of positives in all, likewise."""

    @property
    def peak(self) -> FloatArray:
        """What no probability below an edge exceeds."""

    def total_law(self) -> Law:
        """Return the law of the number of positives in all."""


def times(x: FloatArray, y: FloatArray) -> FloatArray:
    """Multiply, 0 times infinity being 0."""
    return np.where(x == 0.0, 0.0, x * np.where(x == 0.0, 1.0, y))


def above_chord(left: FloatArray, right: FloatArray, rise: FloatArray) -> FloatArray:
    """Return the largest value of a chord and a parabola that vanishes at its ends.

    The parabola is ``rise / 8`` high in the middle.
    """
    tilt = np.abs(right - left)
    inner = (left + right) / 2 + rise / 8 + tilt**2 / np.maximum(2 * rise, 1e-300)
    return np.where(tilt < rise / 2, inner, np.maximum(left, right))


class Changes:
    """Bounds on the expected changes of the utility inside parts.

    Attributes
    ----------
    ends : dict of str to tuple of ndarray
        The least and the largest expected change when a label flips, above the cut
        (``a``) and below it (``b``).
    bend : dict of str to ndarray
        How much the expected second difference in each pair of directions may be below
        0; less than 0 where it is surely above.
    cap : ndarray
        The largest expected utility.
    """

    def __init__(self, ranking: SearchState, parts: Parts) -> None:
        self.ranking, self.n = ranking, float(ranking.n)
        # What no first difference exceeds, no second difference, and no utility.
        self.most = dict.fromkeys(FIRST, 2.0) | dict.fromkeys(SECOND, 4.0) | {"": 1.0}
        self.ends: dict[str, tuple[FloatArray, FloatArray]] = {}
        self.bend: dict[str, FloatArray] = {}
        self._take(parts)
        if np.min(ranking.total_variance) < RARE:
            self._by_strata()
        else:
            self._by_layers()
        self.cap = self.caps()

    def _take(self, parts: Parts) -> None:
        """Note what the counts at the edges of parts are like."""
        ranking, (first, last) = self.ranking, parts[:2]
        above, below = ranking.above, ranking.below
        self.count, self.dispersion = parts.size.size, parts.dispersion
        spread_out = parts.size * parts.mean * (1 - parts.mean)
        self.n_pred = (
            ranking.start[first].astype(np.float64),
            ranking.start[last].astype(np.float64),
        )
        self.tp_mean = above[0, first], above[0, last]
        self.tp_variance = above[1, first], above[1, first] + spread_out
        self.fn_mean = below[0, first], below[0, last]
        self.fn_variance = below[1, last] + spread_out, below[1, last]
        self.most_probable = ranking.peak[first]
        added = above[1, last] - above[1, first]
        self.mean = ranking.total_mean
        self.variance = ranking.total_variance + np.maximum(spread_out - added, 0.0)

    def at(self, places: IndexArray, parts: Parts) -> Changes:
        """Return the bounds for parts that are inside others."""
        out = copy(self)
        out._take(parts)
        out.ends = {x: (lo[places], hi[places]) for x, (lo, hi) in self.ends.items()}
        out.bend = {name: bend[places] for name, bend in self.bend.items()}
        out.cap = self.cap[places]
        return out

    def bent(self, mean: FloatArray) -> FloatArray:
        """Return how much the second difference of G may be below 0, at least 0.

        `mean` is the mean probability of each part.
        """
        m = mean
        bend = (
            times(m**2, self.bend["11"])
            + times(2 * m * (1 - m), self.bend["01"])
            + times((1 - m) ** 2, self.bend["00"])
        )
        # The sum may cancel.
        bend += 8 * EPS * sum(np.abs(x) for x in self.bend.values())
        return np.maximum(bend, 0.0)

    def caps(self) -> FloatArray:
        """Return bounds on the expected utility of the cuts of parts and their edges.

        Cuts above and below everything do not count, where a share of no predictions is
        0/0: these are looked at. The shift by one is within the room that windows have.
        """
        out = copy(self)
        low, high = self.n_pred
        out.n_pred = (
            np.where(low == 0.0, np.minimum(1.0, high), low),
            np.where(high == self.n, np.maximum(self.n - 1.0, low), high),
        )
        if np.min(self.ranking.total_variance) < RARE:
            return out._caps_by_strata()
        tails, n_pos = self._layers()
        shape = (tails.size, self.count)
        high = out._values(out._box(tails, n_pos), shape)[1]
        return _expected(high, self.ranking.proved)

    def _box(self, tail: FloatArray, n_pos: Interval) -> Box:
        """Return where the counts are, but for the tails."""
        (k0, k1), n = self.n_pred, self.n
        (below_0, below_1), (v_0, v_1) = self.fn_mean, self.fn_variance
        tp = _window(*self.tp_mean, *self.tp_variance, tail, k1)
        fp = _window(
            k0 - self.tp_mean[0], k1 - self.tp_mean[1], *self.tp_variance, tail, k1
        )
        fn = _window(below_1, below_0, v_1, v_0, tail, n - k0)
        tn = _window(n - k1 - below_1, n - k0 - below_0, v_1, v_0, tail, n - k0)
        return Box(tp, Interval(k0, k1), n_pos, fp, fn, tn)

    def _bounds(
        self, box: Box, shape: tuple[int, ...]
    ) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return bounds on the utility (key "") and its differences over boxes.

        A derivative bounds a difference, and so does the largest score.
        """
        found = enclosed(self.ranking.metric, box, self.n)
        return {
            name: self._within(
                name, None if found is None else found.slope(name), shape
            )
            for name in (*FIRST, *SECOND)
        } | {"": self._within("", None if found is None else found.value, shape)}

    def _values(
        self, box: Box, shape: tuple[int, ...]
    ) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the utility over boxes, which alone take less time."""
        found = enclosed(self.ranking.metric, box, self.n, slopes=False)
        return self._within("", None if found is None else found.value, shape)

    def _within(
        self, name: str, found: Interval | None, shape: tuple[int, ...]
    ) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the metric as bounds on the utility."""
        if found is None:
            return np.full(shape, -np.inf), np.full(shape, np.inf)
        most = self.most[name] * self.ranking.proved
        low, high = spread(found, shape)
        low, high = np.maximum(low, -most), np.minimum(high, most)
        return (low, high) if self.ranking.sign > 0 else (-high, -low)

    def _layers(self) -> tuple[FloatArray, Interval]:
        """Return the chances to be outside the boxes, and where the total is."""
        tails = np.array(_LAYERS)[:, None]
        radius = stray(self.variance, np.log(tails))
        low = np.maximum(self.mean - radius - 2.0, 0.0)
        return tails, Interval(low, np.minimum(self.mean + radius + 2.0, self.n))

    def _by_layers(self) -> None:
        """Take ever larger boxes, each as often as the one before is left."""
        tails, n_pos = self._layers()
        found = self._bounds(self._box(tails, n_pos), (tails.size, self.count))
        for name in ("a", "b", *SECOND):
            low, high = found[name]
            most = self.most[name] * self.ranking.proved
            if name in SECOND:
                self.bend[name] = _expected(-low, most)
            else:
                self.ends[name] = -_expected(-low, most), _expected(high, most)

    def _stratum(self, low: FloatArray, high: FloatArray, *, tp: str) -> Box:
        """Return where the counts are if there are `low` to `high` positives.

        `tp` says how many of them are above the cut: none, one at most, some, or many.
        """
        box = self._box(np.array(_LAYERS[-1]), Interval(low, high))
        (k0, k1), n = self.n_pred, self.n
        most = np.minimum(box.tp.hi, high)
        limits: dict[str, tuple[Any, float]] = {
            "none": (0.0, 0.0),
            "one": (0.0, 1.0),
            "some": (1.0, np.inf),
            "many": (self._many()[0], np.inf),
        }
        least, largest = limits[tp]
        tp_hi = np.minimum(most, largest)
        tp_lo = np.minimum(np.maximum(box.tp.lo, least), tp_hi)
        caught = Interval(tp_lo, tp_hi)
        fn_hi = np.minimum(box.fn.hi, high - np.minimum(caught.lo, high))
        fn = Interval(np.minimum(np.maximum(low - caught.hi, box.fn.lo), fn_hi), fn_hi)
        fp = Interval(np.maximum(k0 - caught.hi, 0.0), np.maximum(k1 - caught.lo, 0.0))
        tn = Interval(np.maximum(n - k1 - fn.hi, 0.0), np.maximum(n - k0 - fn.lo, 0.0))
        return Box(caught, box.n_pred, box.n_pos, fp, fn, tn)

    def _many(self) -> tuple[FloatArray, FloatArray]:
        """Return a number of positives above the cut, and the chance to have fewer.

        Chernoff's bound: P(X <= x) <= exp(x - m) (m / x)^x for x below the mean m.
        """
        mean = self.tp_mean[0]
        many = np.maximum(np.floor(mean / 4.0), 1.0)
        fewer = np.maximum(many - 1.0, 1e-300)
        log = fewer - mean + fewer * np.log(np.maximum(mean, 1e-300) / fewer)
        return many, np.where(
            mean > 0.0, np.minimum(np.exp(log) * (1 + 1e-9), 1.0), 1.0
        )

    def _strata(
        self, low: FloatArray, ends: tuple[FloatArray, FloatArray]
    ) -> list[dict[str, tuple[FloatArray, FloatArray]]]:
        """Return bounds for each range of totals, TP = 0 being looked at by itself.

        Ranges have two ends each. There are bounds for either, and then bounds for
        either if there are many positives above the cut.

        Roots have no finite slope at 0, but differences are finite: a second one is at
        most twice the span of the utility, or of a first one. Only the directions that
        add a true positive step from TP = 0 to 1, and want the slopes between.
        """
        shape = (low.size, self.count)
        kinds = ("none", "some", "one", "many")
        boxes = [
            self._stratum(low[:, None], high[:, None], tp=x)
            for high in ends
            for x in kinds
        ]
        # All at once: what an enclosure takes is mostly its many small steps.
        found = self._bounds(_stacked(boxes, shape), (8 * low.size, self.count))
        any_number: list[dict[str, tuple[FloatArray, FloatArray]]] = [{}, {}]
        many: list[dict[str, tuple[FloatArray, FloatArray]]] = [{}, {}]
        for name, pair in found.items():
            last = 3 if name in ("1", "a", "01", "11") else 2
            least, most = (x.reshape(2, 4, *shape) for x in pair)
            for i in range(2):
                any_number[i][name] = (
                    least[i, :last].min(axis=0),
                    most[i, :last].max(axis=0),
                )
                many[i][name] = least[i, 3], most[i, 3]
        for here in (*any_number, *many):
            step = 2.0 * np.maximum(*map(np.abs, here["0"]))
            span = 2.0 * (here[""][1] - here[""][0])
            for name, limit in (("01", step), ("11", span)):
                low_end, high_end = here[name]
                here[name] = np.maximum(low_end, -limit), np.minimum(high_end, limit)
        return any_number + many

    def _caps_by_strata(self) -> FloatArray:
        """Return bounds on the expected utility by boxes for totals of positives."""
        low, high, chance = _strata_of(self.ranking.total_law(), *self._totals())
        shape = (low.size, self.count)
        none, some = (
            self._values(self._stratum(low[:, None], high[:, None], tp=x), shape)
            for x in ("none", "some")
        )
        highest = np.maximum(none[1], some[1])
        lowest = np.minimum(none[0], some[0])
        most = times(self._moved(), highest.max(axis=0) - lowest.min(axis=0))
        return weighted(chance, highest) + most + self._beyond_strata()

    def _totals(self) -> tuple[int, int]:
        """Return the least and the largest total that any part may lead to.

        Where probabilities move to the mean of their part, totals occur that have no
        chance under the given probabilities, if these are 0 and 1.
        """
        radius = stray(self.variance, np.log(_UNLIKELY)) + 2.0
        low = np.maximum(np.floor(np.min(self.mean - radius)), 0.0)
        high = np.minimum(np.ceil(np.max(self.mean + radius)), self.n)
        return int(low), int(high)

    def _moved(self) -> FloatArray:
        """Return how far probabilities are moved by what stands for them."""
        moved: FloatArray = self.ranking.displaced[0][-1] + self.dispersion
        return np.minimum(moved, 1.0)

    def _beyond_strata(self) -> float:
        """Return what is outside all boxes for totals."""
        return (_TAILS * _LAYERS[-1] + _WINDOWS) * 4.0 * self.ranking.proved

    def _by_strata(self) -> None:
        """Take a box for every total of positives, as often as it occurs."""
        low, high, chance = _strata_of(self.ranking.total_law(), *self._totals())
        shape = (low.size, self.count)
        found = self._strata(low, (high, np.minimum(high + 1.0, self.n)))
        here, flips, here_many, flips_many = found
        moved, tail, few = self._moved(), self._beyond_strata(), self._many()[1]
        for name in SECOND:
            bends = -here[name][0], -here_many[name][0]
            self.bend[name] = _over(chance, moved, *bends, few) + tail
        lowest, highest = here[""]
        jump = np.empty(shape)
        jump[:-1] = np.maximum(highest[:-1], highest[1:])
        jump[:-1] -= np.minimum(lowest[:-1], lowest[1:])
        jump[-1] = highest[-1] - lowest[-1]
        # Without one instance of the part, a total is at most twice as likely. And the
        # total with it is another with the chance that this one is positive.
        weight = 2.0 * (chance + np.append(chance[1:], 0.0))
        moved_on = np.minimum(moved + self.most_probable, 1.0)
        for name in ("a", "b"):
            ends = []
            for sign, end in ((-1.0, 0), (1.0, 1)):
                most = np.clip(sign * flips[name][end], -jump, jump)
                bound = weighted(weight, np.abs(most)) + times(
                    moved, np.abs(most).max(axis=0)
                )
                better = _over(
                    chance, moved_on, most, sign * flips_many[name][end], few
                )
                ends.append(sign * (np.minimum(better, bound) + tail))
            self.ends[name] = ends[0], ends[1]


def _over(
    chance: FloatArray,
    moved: FloatArray,
    high: FloatArray,
    many: FloatArray,
    few: FloatArray,
) -> FloatArray:
    """Bound an expectation over totals whose chances are off by `moved` in all.

    `many` are bounds that hold but for a chance of `few`.
    """
    many = np.minimum(high, many)
    with np.errstate(invalid="ignore"):  # no bound stays no bound
        more = times(moved, many.max(axis=0) - many.min(axis=0))
        more = more + times(few, (high - many).max(axis=0))
    out = weighted(chance, many) + np.where(np.isnan(more), np.inf, more)
    largest: FloatArray = high.max(axis=0)
    return np.minimum(out, largest)


def _stacked(boxes: list[Box], shape: tuple[int, ...]) -> Box:
    """Return several boxes as one."""
    return Box(
        *(
            Interval(
                *(
                    np.concatenate([np.broadcast_to(x, shape) for x in ends])
                    for ends in zip(*intervals, strict=True)
                )
            )
            for intervals in zip(*boxes, strict=True)
        )
    )


def _expected(high: FloatArray, most: float) -> FloatArray:
    """Bound an expectation by bounds over the boxes of `_LAYERS`, and beyond them.

    What is outside a box with some chance is worth that chance times what the next box
    allows for more.
    """
    levels = np.maximum.accumulate(
        np.concatenate([high, np.full((1, high.shape[1]), most)])
    )
    with np.errstate(invalid="ignore"):  # no bound stays no bound
        more = (_TAILS * np.array(_LAYERS)) @ np.diff(levels, axis=0)
        out = levels[0] + more + 16 * EPS * (np.abs(levels[0]) + more)
    return np.where(np.isnan(out), np.inf, out)


def _strata_of(
    law: Law, least: int, most: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ranges of the total of positives, and their probabilities.

    They hold all totals from `least` to `most`, and those of the law.
    Small totals are by themselves; larger ones are together if they are about the same.
    """
    first = min(max(law.start - 1, 0), least)
    totals = range(first, max(law.start + law.pmf.size, most) + 1)
    starts = [totals[0]]
    while starts[-1] < totals[-1]:
        starts.append(max(starts[-1] + 1, int(starts[-1] * _ALIKE)))
    if starts[-1] > totals[-1]:
        starts.pop()
    low = np.array(starts)
    high = np.append(low[1:] - 1, totals[-1])
    mass = np.zeros(len(totals))
    seen = law.start - first
    mass[seen : seen + law.pmf.size] = law.pmf
    chance: FloatArray = np.add.reduceat(mass, low - first)
    return low.astype(np.float64), high.astype(np.float64), chance


def _window(
    mean_0: FloatArray,
    mean_1: FloatArray,
    variance_0: FloatArray,
    variance_1: FloatArray,
    tail: FloatArray,
    most: FloatArray,
) -> Interval:
    """Return where counts from the smallest to the largest of a part can be."""
    log = np.log(tail)
    low = mean_0 - stray(variance_0, log) - 2.0
    high = mean_1 + stray(variance_1, log) + 2.0
    return Interval(np.maximum(low, 0.0), np.minimum(high, most))


def weighted(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Sum over the first axis; what never happens costs nothing."""
    terms = times(weight[:, None], values)
    with np.errstate(invalid="ignore"):  # no bound stays no bound
        out: FloatArray = terms.sum(axis=0) + _ROUNDING * np.abs(terms).sum(axis=0)
    return np.where(np.isnan(out), np.inf, out)
