"""What labels leave open about the map from scores to probabilities.

Two posteriors over nondecreasing maps, each good where the other is not, as functions
of clean arrays. Labelled scores come as cells: places u in ascending order, how many
labels are there, and how many of them are positive. A draw is a row of values at the
knots, in [0, 1] and nondecreasing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from bestcut._types import CountArray, FloatArray, IndexArray

MOST_KNOTS = 400
_MOST_CELLS = 1200
_INNER_KNOTS = 12  # of the spline
_RIDGES = 10.0 ** np.arange(-1.0, 2.1, 0.5)
_MOST_BINS = 150
BINS = (3.0, 3.0)
TAU = 0.0
_LEAST = 1e-9  # no map says that anything is impossible or certain
_BLOCK = 4_000_000  # entries of one temporary array


@dataclass(frozen=True)
class Cells:
    """Labelled scores, grouped: places, how many labels, how many positives."""

    u: FloatArray
    count: FloatArray
    positive: FloatArray


# --- cells and knots -----------------------------------------------------------------


def cells_of(u: FloatArray, positive: CountArray | FloatArray) -> Cells:
    """Group labelled scores into at most some 1200 cells, never parting equal ones.

    A cell holds about the same share of the positives and negatives together, each
    class counting as much as the other: where the rare class is, cells are small.
    """
    order = np.argsort(u, kind="stable")
    sorted_u = u[order]
    first = np.flatnonzero(np.concatenate([[True], sorted_u[1:] != sorted_u[:-1]]))
    places = sorted_u[first]
    passed = np.concatenate([[0.0], np.cumsum(positive[order], dtype=np.float64)])
    ends = np.append(first, u.size)
    count, hits = np.diff(ends).astype(np.float64), np.diff(passed[ends])
    if places.size > _MOST_CELLS:
        mass = np.cumsum(balanced_mass(count, hits))
        group = np.minimum((mass * _MOST_CELLS).astype(np.intp), _MOST_CELLS - 1)
        start = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
        total = np.add.reduceat(count, start)
        # Relative to the first place, so that means of equal numbers are equal.
        base = np.repeat(places[start], np.diff(np.append(start, places.size)))
        shift = np.add.reduceat((places - base) * count, start) / total
        places = places[start] + shift
        count, hits = total, np.add.reduceat(hits, start)
    return Cells(places, count, hits)


def balanced_mass(count: FloatArray, hits: FloatArray) -> FloatArray:
    """Return shares of the labels, both classes together counting one half each."""
    m, positives = count.sum(), hits.sum()
    negatives = m - positives
    if positives == 0.0 or negatives == 0.0:
        return count / m
    return 0.5 * (hits / positives + (count - hits) / negatives)


def knots_of(cells: Cells) -> FloatArray:
    """Return the places of the knots: cells at even balanced mass, and both ends."""
    if cells.u.size <= MOST_KNOTS:
        return cells.u.copy()
    mass = np.cumsum(balanced_mass(cells.count, cells.positive))
    wanted = np.linspace(0.0, mass[-1], MOST_KNOTS)
    at = np.searchsorted(mass, wanted)
    at[0], at[-1] = 0, cells.u.size - 1
    return cells.u[np.unique(np.minimum(at, cells.u.size - 1))]


def even_coordinate(cells: Cells, knots: FloatArray) -> tuple[Cells, FloatArray]:
    """Return cells and knots in a coordinate without far-off places.

    Log-odds of scores at exactly 0 and 1, or of a model that is too sure, lie far
    apart, and what happens between would look like one jump. Here the middle half of
    the labels, both classes counting the same, has length one, and what is further out
    comes nearer, logarithmically. Lone ends are one step off what is next to them.
    """
    u = cells.u.copy()
    if u.size < 3:
        return Cells(np.arange(u.size) * 1.0, cells.count, cells.positive), (
            np.searchsorted(u, knots) * 1.0
        )
    mass = balanced_mass(cells.count, cells.positive)
    passed = np.cumsum(mass) - 0.5 * mass
    inside = np.interp([0.05, 0.95], passed, u)
    step = max(0.1 * (inside[1] - inside[0]), 0.0)
    u[0] = max(u[0], u[1] - step) if step > 0.0 else u[0]
    u[-1] = min(u[-1], u[-2] + step) if step > 0.0 else u[-1]
    low, middle, high = np.interp([0.25, 0.5, 0.75], passed, u)
    scale = max(high - low, 1e-3 * (u[-1] - u[0]))
    z = np.arcsinh((u - middle) / scale)
    return Cells(z, cells.count, cells.positive), np.interp(knots, cells.u, z)


# --- nearest nondecreasing rows ------------------------------------------------------


def nondecreasing(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the nearest nondecreasing row to each row, in weighted least squares.

    By the formula of greatest minorants: the entry at i is the largest over starts
    j <= i of the least over ends k >= i of the weighted mean from j to k.
    """
    rows, n = values.shape
    out = np.empty_like(values)
    step = max(1, _BLOCK // max(1, n * n))
    for low in range(0, rows, step):
        part = slice(low, min(rows, low + step))
        w = np.broadcast_to(weights, values.shape)[part]
        zero = np.zeros((w.shape[0], 1))
        mass = np.concatenate([zero, np.cumsum(w, axis=1)], axis=1)
        total = np.concatenate([zero, np.cumsum(w * values[part], axis=1)], axis=1)
        length = mass[:, None, 1:] - mass[:, :-1, None]
        sums = total[:, None, 1:] - total[:, :-1, None]
        valid = np.triu(np.ones((n, n), dtype=bool)) & (length > 0.0)
        means = np.where(valid, sums / np.where(valid, length, 1.0), np.inf)
        least = np.minimum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
        upper = np.where(np.triu(np.ones((n, n), dtype=bool)), least, -np.inf)
        out[part] = upper.max(axis=1)
    # Sums are rounded: what is a hair out of order is put in order.
    return np.maximum.accumulate(out, axis=1)


# --- draws ---------------------------------------------------------------------------


def normal_draws(rng: np.random.Generator, rows: int, columns: int) -> FloatArray:
    """Return standard normal draws, each column with one in each of `rows` strata."""
    inverse = NormalDist().inv_cdf
    strata = (np.arange(rows) + rng.random((columns, rows))) / rows
    out = np.empty((rows, columns))
    for j in range(columns):
        inside = np.clip(strata[j], 1e-12, 1.0 - 1e-12)
        out[:, j] = rng.permutation([inverse(x) for x in inside.tolist()])
    return out


def _in_order(values: FloatArray) -> FloatArray:
    """Return values that no rounding puts out of order, or at 0 or 1."""
    values = np.maximum.accumulate(values, axis=1)
    return np.clip(values, _LEAST, 1.0 - _LEAST)


def _sigmoid(x: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def spline_draws(
    cells: Cells, knots: FloatArray, rng: np.random.Generator, n_draws: int
) -> FloatArray:
    """Return draws of a smooth map: a logistic regression on a spline of the score.

    logit g = a + b z + sum of c_j softplus((z - q_j) / h) h, with a normal prior on
    the coefficients. The prior's width for the c_j is drawn from what the evidence
    leaves open, the coefficients from a normal law about the mode (Laplace); draws
    that fall somewhere are drawn again.
    """
    cells, knots = even_coordinate(cells, knots)
    basis = _Basis.of(cells)
    x = basis.at(cells.u)
    grid = basis.at(knots)
    slopes = basis.slope(knots)
    modes, roots, evidence = _laplace(x, cells, basis)
    weight = np.exp(evidence - evidence.max())
    shares = np.cumsum(weight / weight.sum())
    tries = 4 * n_draws
    which = np.searchsorted(shares, (np.arange(tries) + rng.random()) / tries)
    which = np.minimum(which, shares.size - 1)
    which = rng.permutation(which)
    z = normal_draws(rng, tries, x.shape[1])
    theta = modes[which] + np.einsum("bij,bj->bi", roots[which], z)
    rising = (theta @ slopes.T).min(axis=1) >= 0.0
    chosen = np.concatenate([np.flatnonzero(rising), np.flatnonzero(~rising)])
    chosen = np.sort(chosen[:n_draws])
    values = _sigmoid(theta[chosen] @ grid.T)
    if not rising[chosen].all():
        mass = np.interp(knots, cells.u, cells.count)
        falls = ~rising[chosen]
        values[falls] = nondecreasing(values[falls], mass)
    return _in_order(values)


@dataclass(frozen=True)
class _Basis:
    """Functions of u: 1, z and softplus at the spline's knots; z is standardised."""

    centre: float
    scale: float
    inner: FloatArray
    width: float

    @classmethod
    def of(cls, cells: Cells) -> _Basis:
        mass = balanced_mass(cells.count, cells.positive)
        mass = mass / mass.sum()
        centre = float(mass @ cells.u)
        scale = float(np.sqrt(mass @ (cells.u - centre) ** 2))
        if not scale > 0.0:
            return cls(centre, 1.0, np.zeros(0), 1.0)
        z = (cells.u - centre) / scale
        passed = np.cumsum(mass) - 0.5 * mass
        at = (np.arange(_INNER_KNOTS) + 0.5) / _INNER_KNOTS
        inner = np.unique(np.interp(at, passed, z))
        spread = (inner[-1] - inner[0]) / max(1, inner.size - 1)
        return cls(centre, scale, inner, max(0.5 * float(spread), 0.05))

    def _z(self, u: FloatArray) -> FloatArray:
        return (u - self.centre) / self.scale

    def at(self, u: FloatArray) -> FloatArray:
        z = self._z(u)
        bends = self.width * np.logaddexp(0.0, (z[:, None] - self.inner) / self.width)
        return np.column_stack([np.ones(z.size), z, bends])

    def slope(self, u: FloatArray) -> FloatArray:
        z = self._z(u)
        bends = _sigmoid((z[:, None] - self.inner) / self.width)
        return np.column_stack([np.zeros(z.size), np.ones(z.size), bends])

    def precision(self, ridge: float) -> FloatArray:
        """Return the prior's precisions."""
        return np.concatenate([[0.02, 0.02], np.full(self.inner.size, ridge)])


def _laplace(
    x: FloatArray, cells: Cells, basis: _Basis
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return modes, roots of covariances and log evidences, for each ridge."""
    ridges = _RIDGES if basis.inner.size else _RIDGES[:1]
    prior = np.array([basis.precision(float(ridge)) for ridge in ridges])
    n = x.shape[1]
    # Half a positive and half a negative, spread like the labels: Jeffreys' prior.
    extra = cells.count / cells.count.sum()
    cells = Cells(cells.u, cells.count + extra, cells.positive + 0.5 * extra)
    share = (cells.positive.sum() + 0.5) / (cells.count.sum() + 1.0)
    theta = np.zeros((ridges.size, n))
    theta[:, 0] = np.log(share / (1.0 - share))
    theta[:, 1] = 0.5
    centre = np.zeros(n)

    def objective(theta: FloatArray) -> FloatArray:
        eta = theta @ x.T
        fit = eta @ cells.positive - np.logaddexp(0.0, eta) @ cells.count
        return fit - 0.5 * np.sum(prior * (theta - centre) ** 2, axis=1)

    value = objective(theta)
    for _ in range(60):
        p = _sigmoid(theta @ x.T)
        slope = (cells.positive - cells.count * p) @ x - prior * (theta - centre)
        w = cells.count * p * (1.0 - p)
        hessian = np.einsum("rc,ci,cj->rij", w, x, x, optimize=True)
        hessian[:, np.arange(n), np.arange(n)] += prior
        step = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
        size = np.ones(ridges.size)
        new = theta + step
        new_value = objective(new)
        for _ in range(30):
            worse = new_value < value
            if not worse.any():
                break
            size[worse] *= 0.5
            new = theta + size[:, None] * step
            new_value = objective(new)
        better = new_value >= value
        theta = np.where(better[:, None], new, theta)
        gain = np.where(better, new_value - value, 0.0)
        value = np.maximum(value, new_value)
        if gain.max() < 1e-9:
            break
    p = _sigmoid(theta @ x.T)
    w = cells.count * p * (1.0 - p)
    hessian = np.einsum("rc,ci,cj->rij", w, x, x, optimize=True)
    hessian[:, np.arange(n), np.arange(n)] += prior
    lower = np.linalg.cholesky(hessian)
    roots = np.linalg.inv(lower).transpose(0, 2, 1)
    log_det = 2.0 * np.log(np.einsum("rii->ri", lower)).sum(axis=1)
    evidence = value + 0.5 * np.log(prior).sum(axis=1) - 0.5 * log_det
    return theta, roots, evidence


def projection_draws(
    cells: Cells, knots: FloatArray, rng: np.random.Generator, n_draws: int
) -> FloatArray:
    """Return draws of a map with steps: Beta draws in bins, made nondecreasing.

    Each draw has bins of its own, so that no edge is favoured.
    """
    cells, knots = even_coordinate(cells, knots)
    m = float(cells.count.sum())
    fit = nondecreasing(
        ((cells.positive + 0.5) / (cells.count + 1.0))[None], cells.count + 1.0
    )[0]
    mass = cells.count * np.sqrt(fit * (1.0 - fit))
    mass = np.maximum(mass, 0.02 * cells.count * mass.sum() / m)
    passed = np.cumsum(mass) / mass.sum()
    middle = passed - 0.5 * mass / mass.sum()
    low, high = BINS
    even = (np.arange(n_draws) + rng.random()) / n_draws
    factor = low * (high / low) ** rng.permutation(even)
    n_bins = np.clip(factor * m ** (1.0 / 3.0), 1.0, float(_MOST_BINS))
    offset = (np.arange(n_draws) + rng.random()) / n_draws
    places = middle * n_bins[:, None] + rng.permutation(offset)[:, None]
    bins = places.astype(np.intp)
    return _binned_draws(cells, knots, rng, bins, int(bins.max()) + 1)


def _binned_draws(
    cells: Cells,
    knots: FloatArray,
    rng: np.random.Generator,
    bins: IndexArray,
    n_bins: int,
) -> FloatArray:
    n_draws = bins.shape[0]
    flat = (bins + n_bins * np.arange(n_draws)[:, None]).ravel()
    shape, size = (n_draws, n_bins), n_draws * n_bins

    def summed(values: FloatArray) -> FloatArray:
        weights = np.broadcast_to(values, bins.shape).ravel()
        return np.bincount(flat, weights=weights, minlength=size).reshape(shape)

    count, hits, place = (
        summed(cells.count),
        summed(cells.positive),
        summed(cells.count * cells.u),
    )
    prior = nondecreasing((hits + 0.5) / (count + 1.0), count + 1e-9)
    # Together at least half a positive and half a negative, as in Jeffreys' prior.
    full = count > 0.0
    for _ in range(2):
        part = (prior * full).sum(axis=1, keepdims=True)
        prior = 1.0 - prior * np.maximum(1.0, 0.5 / part)
    prior = np.clip(prior, 1e-12, 1.0 - 1e-12)
    draws = rng.beta(hits + prior, count - hits + 1.0 - prior)
    draws = nondecreasing(draws, count + 1e-9)
    draws = np.clip(draws, _LEAST, 1.0 - _LEAST)
    out = np.empty((n_draws, knots.size))
    for b in range(n_draws):
        full = count[b] > 0.0
        u = place[b, full] / count[b, full]
        v = draws[b, full]
        out[b] = _sigmoid(np.interp(knots, u, np.log(v) - np.log1p(-v)))
    return _in_order(out)


def mixture_draws(
    cells: Cells, knots: FloatArray, rng: np.random.Generator, n_draws: int
) -> FloatArray:
    """Return draws of both kinds, half and half, in turn."""
    half = (n_draws + 1) // 2
    out = np.empty((n_draws, knots.size))
    out[0::2] = spline_draws(cells, knots, rng, half)
    if n_draws > 1:
        out[1::2] = projection_draws(cells, knots, rng, n_draws - half)
    if TAU:
        out = np.clip(out, 1e-12, 1 - 1e-12)
        z = normal_draws(rng, n_draws, 1)
        out = _sigmoid((np.log(out) - np.log1p(-out)) * np.exp(TAU * z))
        out = np.maximum.accumulate(out, axis=1)
    return out
