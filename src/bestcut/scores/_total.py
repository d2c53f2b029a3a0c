"""The law of a total: a sum of independent steps, each of a size of its own.

Few steps are listed: every total that is possible, with its probability. Many steps are
put on a grid, each moved to the nearest multiple of its width, and the law of the
moved total comes from the product of the characters of its steps. If all sizes are
multiples of one unit, cents for example, nothing is moved. Otherwise Lemma 23 of
docs/how-it-works/lemmas.md says how far all moves together take the total:
`value_error`, but for a probability that is part of `probability_error`.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut.scores._utility import FEW, Atoms, UtilityDistribution

ComplexArray: TypeAlias = NDArray[np.complex128]

CELLS = 1 << 20  # of the finest grid
FEWEST = 1 << 12  # of the coarsest
_LISTED = FEW.bit_length() - 1  # steps whose totals are all listed
_NO_STEP = 1e-280  # a step that is taken as sure, for squares and widths would vanish
_NO_STEPS = 1e-270  # what more of them than fit in memory add up to
_DECIMALS = 6  # of the finest unit that is looked for
_WHOLE = 1e-6  # so far from a whole number is a multiple of a unit, rounded
_TAIL = 25.0  # -log of a probability that may be left out
_RARE = 0.25  # up to this chance the logarithm of a character is a short series
_SMALLEST = 1e-18  # term of that series
_NOTHING = -45.0  # log of a character that is left out
_FACTORS = 1 << 25  # of characters that are multiplied one by one
_TOGETHER = 1 << 20  # of them at a time


class Steps(NamedTuple):
    """A total that starts somewhere and takes each step with a chance of its own.

    Attributes
    ----------
    start : float
        What is sure.
    size : ndarray
        What a step adds; not 0, and of either sign.
    chance : ndarray
        The chance that it is taken: above 0, at most 1/2.
    """

    start: float
    size: FloatArray
    chance: FloatArray

    @classmethod
    def of_rows(cls, p: FloatArray, hit: FloatArray, miss: FloatArray) -> Steps:
        """Return the total of rows that bring `hit` if positive and else `miss`.

        The likelier of both is taken as sure, and the step is to the other.
        """
        likely = p > 0.5
        sure, other = np.where(likely, hit, miss), np.where(likely, miss, hit)
        chance = np.where(likely, 1.0 - p, p)
        size = other - sure
        steps = (chance > 0.0) & (np.abs(size) > _NO_STEP)
        return cls(math.fsum(sure.tolist()), size[steps], chance[steps])

    def without_rarest(self) -> Steps:
        """Leave out what is taken with a probability of exp(-_TAIL), all together.

        It may be large, and would make the grid wide for nothing.
        """
        order = np.argsort(self.chance, kind="stable")
        kept = order[np.cumsum(self.chance[order]) > math.exp(-_TAIL)]
        kept.sort()
        return Steps(self.start, self.size[kept], self.chance[kept])

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest total that are possible."""
        below, above = np.minimum(self.size, 0.0), np.maximum(self.size, 0.0)
        return self.start + float(below.sum()), self.start + float(above.sum())

    @property
    def rounding(self) -> float:
        """Bound what rounding does to a total, however its steps are added up.

        Sizes are differences, and on a grid four more roundings of each size are added
        up; in a list, so many as there are steps.
        """
        roundings = min(self.size.size, _LISTED) + 5
        scale = abs(self.start) + roundings * float(np.abs(self.size).sum())
        return EPS * scale + _NO_STEPS


def distribution_of_total(steps: Steps, cells: int = CELLS) -> UtilityDistribution:
    """Return the law of a total, on a grid of at most so many cells if on one."""
    if steps.size.size <= _LISTED:
        return _listed(steps)
    likely = steps.without_rarest()
    few = likely.size.size <= _LISTED
    law = _listed(likely) if few else Grid(likely, cells)
    law.probability_error += math.exp(-_TAIL)
    return law


def _listed(steps: Steps) -> Atoms:
    """Return every possible total."""
    values, mass = np.zeros(1), np.ones(1)
    # From the smallest size up: what is added up first rounds least.
    for i in np.argsort(np.abs(steps.size), kind="stable").tolist():
        q = steps.chance[i]
        values = np.concatenate([values, values + steps.size[i]])
        mass = np.concatenate([mass * (1.0 - q), mass * q])
    rounding = steps.rounding
    size = steps.size.size
    return Atoms(steps.start + values, mass, size, moved=rounding, tolerance=rounding)


class Grid(Atoms):
    """The law of a total whose steps are moved to the nearest multiples of a width.

    Attributes
    ----------
    width : float
        The distance of neighbouring totals.
    """

    def __init__(self, steps: Steps, cells: int = CELLS) -> None:
        moved = _Moved(steps, cells)
        while not moved.is_affordable:
            moved = _Moved(steps, moved.cells // 2)
        pmf, error = moved.pmf()
        self.width = moved.width
        index = np.arange(moved.first, moved.first + pmf.size)
        values = steps.start + (moved.shift + index * moved.width)
        # What is moved beyond all that is possible is nearer to the truth at its end.
        self.values = np.clip(values, *steps.ends)
        # The true sums rise, so that the largest yet is as near to them as each is.
        upto = np.maximum.accumulate(np.cumsum(pmf))
        onward = np.maximum.accumulate(np.cumsum(pmf[::-1]))[::-1]
        self.upto = np.concatenate([[0.0], upto])
        self.onward = np.concatenate([onward, [0.0]])
        rounding = steps.rounding
        self.tolerance = rounding + min(moved.stray, moved.width / 2)
        self.value_error = rounding + moved.stray
        self.probability_error = error + pmf.size * EPS


class _Moved:
    """Steps on a grid that is closed to a circle.

    Attributes
    ----------
    cells : int
        How many, a power of 2.
    width : float
        Of a cell.
    first : int
        The number of the lowest cell; the grid holds it and those that follow.
    places, chance : ndarray
        The size of each step in cells, where it is not 0, and the chance of it.
    shift : float
        What all moves together take from the expected total.
    stray : float
        How much more or less they take, but for a probability that is in the error.
    """

    def __init__(self, steps: Steps, cells: int) -> None:
        size, q = steps.size, steps.chance
        low, high = -_farthest(-size, q), _farthest(size, q)
        # No move is longer than half a cell: together they go no farther than this.
        margin = math.ceil(_bernstein(0.5, float(q @ (1.0 - q)) / 4)) + 3
        inner = max(cells - 2 * margin, margin)
        self.width = width = max((high - low) / inner, _unit(size))
        places = np.rint(size / width)
        move = size - places * width
        there = places != 0.0
        self.places: CountArray = places[there].astype(np.int64)
        self.chance: FloatArray = q[there]
        self.shift = math.fsum((move * q).tolist())
        self.stray = max(_farthest(move, q), _farthest(-move, q))
        centre = math.fsum((size * q).tolist()) - self.shift
        self.first = math.floor((centre + low) / width) - margin + 1
        last = math.ceil((centre + high) / width) + margin - 1
        self.cells = 1 << (last - self.first).bit_length()
        self._is_coarsest = self.cells <= max(FEWEST, 8 * margin)

    @cached_property
    def _is_rare(self) -> BoolArray:
        return self.chance <= _RARE

    @cached_property
    def _needed(self) -> IndexArray:
        """The frequencies that may matter; others have a character of nearly 0.

        With v = q (1 - q) the square of its size is the product of
        1 - 2 v (1 - Re z), so that its logarithm is at most the sum of -v (1 - Re z).
        """
        variance = self.chance * (1.0 - self.chance)
        table = np.bincount(self._at(1), variance, self.cells)
        spread = np.fft.rfft(table).real
        return np.flatnonzero(spread - spread[0] > _NOTHING)

    def _at(self, times: int) -> CountArray:
        """Return the cell on the circle of so many times each step."""
        return (self.places * times) & (self.cells - 1)

    @property
    def is_affordable(self) -> bool:
        """Whether the factors that are multiplied one by one are few enough."""
        often = int(np.count_nonzero(~self._is_rare))
        return self._is_coarsest or often * self._needed.size <= _FACTORS

    def pmf(self) -> tuple[FloatArray, float]:
        """Return the law, from the lowest cell on, and the error of its sums."""
        table, sure, relative = self._series()
        needed, rounds = self._needed, 4 * EPS * (math.log2(self.cells) + 2)
        relative += rounds * (float(np.abs(table).sum()) - sure)
        relative += 6 * EPS * (self.chance.size + 2)
        character = np.zeros(self.cells // 2 + 1, dtype=np.complex128)
        character[needed] = np.exp(np.fft.rfft(table)[needed] + sure) * self._product()
        size = np.abs(character[needed])
        error = 4 * math.exp(-_TAIL) + self.cells * math.exp(_NOTHING)
        # In a sum over cells, what is wrong at frequency j counts 1 / j times at most.
        error += math.expm1(relative) * float((size / np.maximum(needed, 1)).sum())
        error += 2 * rounds * float(size.sum())
        return np.roll(np.fft.irfft(character, self.cells), -self.first), error

    def _series(self) -> tuple[FloatArray, float, float]:
        """Return the logarithms of characters of rare steps as powers of z.

        log(1 - q + q z^k) is log(1 - q) and the sum of -(-r)^j / j z^(j k), where
        r = q / (1 - q) is at most 1/3. Returned are the table of coefficients, the sum
        of log(1 - q), and the error of the table, with what later terms add up to.
        """
        order = np.flatnonzero(self._is_rare)
        order = order[np.argsort(-self.chance[order], kind="stable")]
        q = self.chance[order]
        ratio, power = q / (1.0 - q), -np.ones(q.size)
        table, error = np.zeros(self.cells), 2 * _SMALLEST * q.size
        for j in itertools.count(1):
            power = -power * ratio
            kept = int(np.searchsorted(-np.abs(power), -_SMALLEST))
            if not kept:
                break
            power, ratio, order = power[:kept], ratio[:kept], order[:kept]
            at = self._at(j)[order]
            table += np.bincount(at, power / j, self.cells)
            most = int(np.bincount(at).max())
            error += EPS * (most / 2 + 2 * j) * float(np.abs(power).sum()) / j
        return table, math.fsum(np.log1p(-q).tolist()), error

    def _product(self) -> ComplexArray:
        """Return the product of the other characters, where it is needed."""
        often, needed = ~self._is_rare, self._needed
        places, q = self.places[often, None], self.chance[often, None]
        product = np.ones(needed.size, dtype=np.complex128)
        turn = np.exp(-2j * np.pi / self.cells * np.arange(self.cells)) - 1.0
        rows = max(_TOGETHER // needed.size, 1)
        for i in range(0, q.size, rows):
            at = (places[i : i + rows] * needed) & (self.cells - 1)
            product *= np.prod(1.0 + q[i : i + rows] * turn[at], axis=0)
        return product


def _farthest(size: FloatArray, q: FloatArray) -> float:
    """Bound how far a sum of steps gets above its mean, but for exp(-_TAIL)."""
    scale = float(np.abs(size).max())
    if scale == 0.0:
        return 0.0
    part = size / scale
    above = np.where(part > 0.0, part * (1.0 - q), -part * q)
    variance = float(part**2 @ (q * (1.0 - q)))
    return scale * min(_bernstein(float(above.max()), variance), float(above.sum()))


def _bernstein(most: float, variance: float) -> float:
    """Bound a sum of variables with mean 0, none above `most`, as `_farthest`."""
    third = most * _TAIL / 3
    return third + math.sqrt(third**2 + 2 * variance * _TAIL)


def _unit(size: FloatArray) -> float:
    """Return the largest unit that all sizes are multiples of, or 0.0.

    It is looked for among the multiples of decimal fractions, and may be wrong by
    rounding: what that moves is counted as any move.
    """
    for decimals in range(_DECIMALS + 1):
        scaled = size * 10.0**decimals
        whole = np.rint(scaled)
        if np.abs(whole).max() >= 2.0**53:
            break
        if np.abs(scaled - whole).max() <= _WHOLE:
            common = int(np.gcd.reduce(np.abs(whole).astype(np.int64)))
            return common / 10.0**decimals
    return 0.0
