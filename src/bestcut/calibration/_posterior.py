"""What labels leave open about the map from scores to probabilities.

Three posteriors over nondecreasing maps and their mixture, as functions of clean
arrays. Labelled scores come as cells: places in ascending order, how many labels are
there, and how many of them are positive. A draw is a row of values at the knots,
inside (0, 1) and nondecreasing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from bestcut._progress import Advance
from bestcut._types import BoolArray, FloatArray, IndexArray

MOST_KNOTS = 400
_MOST_CELLS = 1200
_LEAST = 1e-9  # no map says that anything is impossible or certain
# The model of a batch is hardly ever quite that of the labels (which is that of four
# fifths of the rows, or of last month): log-odds are stretched or shrunk by some 4%.
_DRIFT = 0.04
_BENDS = 12  # of the spline
# Scores of a forest, many of them 0, need maps that bend freely: the smallest.
_RIDGES = 10.0 ** np.arange(-2.0, 2.1, 0.5)
_MOST_BINS = 150  # of the projection
_RISES = np.array([2.0, 4.0, 8.0, 16.0, 32.0])  # of the process, in log-odds
_RISE_POWER = 4.0  # prior odds of settings are rises to this power
_TOP = 4.0  # how near the ends the spline's prior half labels are, as a power of ranks
_SHAPES = np.array([1.0, 3.0, 10.0, 30.0, 100.0])  # about how many jumps
_TOGETHER = 16  # steps of the process whose laws are made at once
_BLOCK = 16  # states that are summed first; a lattice has some whole blocks
_FEW = 100.0  # labels of a class, up to which a third of the draws are the spline's


@dataclass(frozen=True)
class Cells:
    """Labelled scores, grouped: places, how many labels, how many positives."""

    u: FloatArray
    count: FloatArray
    positive: FloatArray


if TYPE_CHECKING:  # as it stands it would load numpy.random
    Draws = Callable[[Cells, FloatArray, np.random.Generator, int, Advance], FloatArray]

# --- cells, knots, coordinates -------------------------------------------------------


def cells_of(u: FloatArray, positive: BoolArray) -> Cells:
    """Group labelled scores into at most some 1200 cells, never parting equal ones."""
    order = np.argsort(u, kind="stable")
    ranked = u[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    passed = np.concatenate([[0], np.cumsum(positive[order], dtype=np.int64)])
    ends = np.append(first, u.size)
    each = Cells(ranked[first], np.diff(ends) * 1.0, np.diff(passed[ends]) * 1.0)
    return _merged(each, _MOST_CELLS)


def _merged(cells: Cells, most: int) -> Cells:
    """Return at most so many cells, of about the same balanced mass."""
    if cells.u.size <= most:
        return cells
    mass = np.cumsum(_balanced_mass(cells))
    group = np.minimum((mass * most).astype(np.intp), most - 1)
    start = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    count = np.add.reduceat(cells.count, start)
    # From the first place on, so that rounding puts no mean out of order.
    base = np.repeat(cells.u[start], np.diff(np.append(start, cells.u.size)))
    ahead = np.add.reduceat((cells.u - base) * cells.count, start) / count
    return Cells(cells.u[start] + ahead, count, np.add.reduceat(cells.positive, start))


def _balanced_mass(cells: Cells) -> FloatArray:
    """Return shares of the labels, each class together counting one half."""
    positives, negatives = cells.positive.sum(), (cells.count - cells.positive).sum()
    if positives == 0.0 or negatives == 0.0:
        return np.asarray(cells.count / cells.count.sum())
    of_negatives = (cells.count - cells.positive) / negatives
    return np.asarray(0.5 * (cells.positive / positives + of_negatives))


def knots_of(cells: Cells) -> FloatArray:
    """Return the places of the knots: cells at even balanced mass, and both ends."""
    if cells.u.size <= MOST_KNOTS:
        return cells.u.copy()
    mass = np.cumsum(_balanced_mass(cells))
    at = np.searchsorted(mass, np.linspace(0.0, mass[-1], MOST_KNOTS))
    at[0], at[-1] = 0, cells.u.size - 1
    return np.asarray(cells.u[np.unique(np.minimum(at, cells.u.size - 1))])


def even_coordinate(cells: Cells, knots: FloatArray) -> tuple[Cells, FloatArray]:
    """Return cells and knots in a coordinate without far-off places.

    Log-odds of scores at exactly 0 and 1, or of a model that is too sure, lie far
    apart, and what happens between would look like one jump. Here the middle half of
    the labels, both classes counting the same, has length one, and what is further out
    comes nearer, logarithmically. Lone ends are one step off what is next to them.
    """
    if cells.u.size < 3:
        places: FloatArray = np.arange(cells.u.size, dtype=np.float64)
    else:
        u = cells.u.copy()
        mass = _balanced_mass(cells)
        passed = np.cumsum(mass) - 0.5 * mass
        step = 0.1 * float(np.diff(np.interp([0.05, 0.95], passed, u))[0])
        if step > 0.0:
            u[0], u[-1] = max(u[0], u[1] - step), min(u[-1], u[-2] + step)
        low, middle, high = np.interp([0.25, 0.5, 0.75], passed, u)
        scale = max(high - low, 1e-3 * (u[-1] - u[0]))
        places = np.asarray(np.arcsinh((u - middle) / scale), dtype=np.float64)
        # Neighbours that rounding makes equal are put apart by a hair.
        places = np.maximum.accumulate(places) + 1e-12 * np.arange(u.size)
    at = np.searchsorted(cells.u, knots)
    return Cells(places, cells.count, cells.positive), places[at]


# --- nearest nondecreasing rows ------------------------------------------------------


def nondecreasing(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the nearest nondecreasing row to each row, in weighted least squares.

    Weights are positive; there is a row of them for each row of values.
    """
    rows = zip(values.tolist(), weights.tolist(), strict=True)
    return np.array([_pooled(v, w) for v, w in rows]).reshape(values.shape)


def _pooled(values: list[float], weights: list[float]) -> FloatArray:
    """Pool adjacent violators: of one row, in time proportional to its length."""
    levels: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values, weights, strict=True):
        level, mass, size = value, weight, 1
        while levels and levels[-1] >= level:
            below, share = levels.pop(), masses.pop()
            level = (below * share + level * mass) / (share + mass)
            mass += share
            size += sizes.pop()
        levels.append(level)
        masses.append(mass)
        sizes.append(size)
    return np.repeat(levels, sizes)


# --- small things that draws share ---------------------------------------------------


def normal_draws(rng: np.random.Generator, rows: int, columns: int) -> FloatArray:
    """Return standard normal draws, each column with one in each of `rows` strata."""
    inverse = NormalDist().inv_cdf
    strata = (np.arange(rows) + rng.random((columns, rows))) / rows
    strata = np.clip(strata, 1e-12, 1.0 - 1e-12)
    columns_of = [rng.permutation([inverse(x) for x in s.tolist()]) for s in strata]
    return np.column_stack(columns_of)


def _systematic(
    rng: np.random.Generator, shares: FloatArray, n_draws: int
) -> IndexArray:
    """Return indices, each as often as its share says up to one, in random order."""
    even = (np.arange(n_draws) + rng.random()) / n_draws
    chosen = np.searchsorted(np.cumsum(shares) / shares.sum(), even, side="right")
    return rng.permutation(np.minimum(chosen, shares.size - 1))


def sigmoid(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def logit(p: FloatArray) -> FloatArray:
    return np.asarray(np.log(p) - np.log1p(-p))


def in_order(values: FloatArray) -> FloatArray:
    """Return values that no rounding puts out of order, or at 0 or 1."""
    values = np.maximum.accumulate(values, axis=1)
    return np.clip(values, _LEAST, 1.0 - _LEAST)


# --- a process that jumps: exact -----------------------------------------------------


def process_draws(
    cells: Cells,
    knots: FloatArray,
    rng: np.random.Generator,
    n_draws: int,
    advance: Advance,
) -> FloatArray:
    """Return draws of a map whose log-odds rise by jumps, many small or few large.

    The prior is an increasing process with independent increments (a gamma process on
    a lattice), whose mean rise and number of jumps are unknown, over two kinds of time:
    length along the coordinate, and share of the labels with both classes counting the
    same. On a lattice that is a hidden Markov chain: filtering forwards gives the
    evidence of each setting, sampling backwards exact draws. A first, coarse pass says
    which settings and which range of log-odds matter.
    """
    reach = np.log(cells.count.sum()) + 3.0
    kind, shape, rise = (
        part.ravel() for part in np.meshgrid([0, 1], _SHAPES, _RISES, indexing="ij")
    )
    settings = np.column_stack([kind, shape, rise])
    # Scores that are worth calibrating order the instances: large rises are likelier.
    prior = _RISE_POWER * np.log(rise)
    few, states = _merged(cells, 60), np.linspace(-reach, reach, 96)
    chains = _Chains.filtered(few, settings, prior, states)
    paths = chains.sampled(rng, 100, lambda count: None)
    margin = 4.0 * (states[1] - states[0])
    states = np.linspace(
        max(-reach, float(paths.min()) - margin),
        min(reach, float(paths.max()) + margin),
        256,
    )
    kept = chains.evidence > chains.evidence.max() - 6.0
    many = _merged(cells, 250)
    chains = _Chains.filtered(many, settings[kept], prior[kept], states)
    paths = chains.sampled(rng, n_draws, advance)
    at_knots = [np.interp(knots, many.u, path) for path in paths]
    return in_order(sigmoid(np.array(at_knots)))


@dataclass(frozen=True)
class _Chains:
    """Chains of log-odds along the cells, filtered, for each setting of the prior."""

    states: FloatArray
    steps: list[FloatArray]  # the law of the rise from each cell to the next
    weights: list[FloatArray]  # of the states at each cell, given labels up to there
    evidence: FloatArray

    @classmethod
    def filtered(
        cls, cells: Cells, settings: FloatArray, prior: FloatArray, states: FloatArray
    ) -> _Chains:
        kind, shape, rise = settings.T
        gaps = _gaps(cells)[kind.astype(np.intp)].T
        size, width = states.size, float(states[1] - states[0])
        fit = cells.positive[:, None] * states
        fit -= cells.count[:, None] * np.logaddexp(0.0, states)
        best = fit.max(axis=1)
        likelihood = np.exp(fit - best[:, None])
        p = sigmoid(states)
        weight = np.tile((p * (1.0 - p)) ** 0.05, (settings.shape[0], 1))
        weight /= weight.sum(axis=1, keepdims=True)
        steps: list[FloatArray] = []
        weights, totals = [], []
        for c in range(cells.u.size):
            if c > 0:
                at = (c - 1) % _TOGETHER
                if at == 0:
                    some = shape * gaps[c - 1 : c - 1 + _TOGETHER]
                    laws = _rise_laws(some, rise / shape / width, size)
                    transforms = np.fft.rfft(laws, 2 * size)
                    steps.extend(laws)
                product = np.fft.rfft(weight, 2 * size)
                product *= transforms[at]
                weight = np.fft.irfft(product, 2 * size)[:, :size]
                # What is left of the transforms' rounding is no probability.
                weight[weight < 1e-14 * weight.max(axis=1, keepdims=True)] = 0.0
            weight = weight * likelihood[c]
            total = weight.sum(axis=1, keepdims=True)
            if (lost := total[:, 0] <= 0.0).any():
                weight[lost], total[lost] = 1.0 / size, 1.0
            weight /= total
            weights.append(weight)
            totals.append(np.where(lost, 1e-300, total[:, 0]))
        evidence = prior + best.sum() + np.log(totals).sum(axis=0)
        return cls(states, steps, weights, evidence)

    def sampled(
        self, rng: np.random.Generator, n_draws: int, advance: Advance
    ) -> FloatArray:
        """Return paths of log-odds, of settings in proportion to their evidence.

        All draws take one step together, so each step counts as its share of them.
        """
        shares = np.exp(self.evidence - self.evidence.max())
        of = _systematic(rng, shares, n_draws)
        cells, size = len(self.weights), self.states.size
        path = np.empty((n_draws, cells), dtype=np.intp)
        # Laws of rises backwards, and then zeros: a window ends with no rise at all.
        falls = np.zeros((shares.size, 2 * size - 1))
        windows = np.lib.stride_tricks.sliding_window_view(falls, size, axis=1)
        weight = self.weights[-1][of]
        for c in range(cells - 1, -1, -1):
            state = _picked(weight, 1.0 - rng.random(n_draws))
            path[:, c] = state
            done = cells - 1 - c
            advance(n_draws * (done + 1) // cells - n_draws * done // cells)
            if c > 0:
                falls[:, :size] = self.steps[c - 1][:, ::-1]
                weight = windows[of, size - 1 - state]
                weight *= self.weights[c - 1][of]
        return np.asarray(self.states[path])


def _picked(weight: FloatArray, level: FloatArray) -> IndexArray:
    """Return where the running sum of each row reaches `level` (above 0) of it all."""
    every = np.arange(weight.shape[0])
    blocks = weight.reshape(every.size, -1, _BLOCK)
    passed = np.cumsum(blocks @ np.ones(_BLOCK), axis=1)
    target = level * passed[:, -1]
    block = (passed >= target[:, None]).argmax(axis=1)
    before = np.where(block > 0, passed[every, block - 1], 0.0)
    inside = np.cumsum(blocks[every, block], axis=1)
    left = np.minimum(target - before, inside[:, -1])  # sums are rounded
    return np.asarray(_BLOCK * block + (inside >= left[:, None]).argmax(axis=1))


def _gaps(cells: Cells) -> FloatArray:
    """Return the time between neighbouring cells, of both kinds, adding up to one."""
    mass = _balanced_mass(cells)
    passed = np.cumsum(mass) - 0.5 * mass
    both = np.array([np.diff(cells.u), np.diff(passed)])
    return np.asarray(both / np.maximum(both.sum(axis=1, keepdims=True), 1e-300))


def _rise_laws(shape: FloatArray, scale: FloatArray, size: int) -> FloatArray:
    """Return the negative binomial laws of rises 0, 1, ...: gamma's on a lattice.

    `shape` has a row for each step and, as `scale`, a column for each setting.
    """
    k = np.arange(size - 1)
    laws = np.empty((*shape.shape, size))
    laws[..., 0] = np.exp(-shape * np.log1p(scale))
    np.add(k, np.maximum(shape, 1e-12)[..., None], out=laws[..., 1:])
    laws[..., 1:] *= (scale / (1.0 + scale))[:, None] / (k + 1.0)
    return np.asarray(np.multiply.accumulate(laws, axis=-1, out=laws))


# --- bins, made nondecreasing --------------------------------------------------------


def projection_draws(
    cells: Cells,
    knots: FloatArray,
    rng: np.random.Generator,
    n_draws: int,
    advance: Advance,
) -> FloatArray:
    """Return draws of a map with steps: Beta draws in bins, made nondecreasing.

    Some 3 m^(1/3) bins of equal standard deviation; each draw's begin elsewhere, so
    that no edge is favoured.
    """
    m = float(cells.count.sum())
    rates = (cells.positive + 0.5) / (cells.count + 1.0)
    fit = nondecreasing(rates[None], cells.count[None] + 1.0)[0]
    mass = cells.count * np.sqrt(fit * (1.0 - fit))
    mass = np.maximum(mass, 0.02 * cells.count * mass.sum() / m)
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    n_bins = min(float(_MOST_BINS), max(1.0, 3.0 * m ** (1.0 / 3.0)))
    offset = rng.permutation((np.arange(n_draws) + rng.random()) / n_draws)
    bins = (middle * n_bins + offset[:, None]).astype(np.intp)
    bins = np.minimum(bins, _MOST_BINS)
    size = int(bins.max()) + 1
    flat = (bins + size * np.arange(n_draws)[:, None]).ravel()

    def summed(values: FloatArray) -> FloatArray:
        weights = np.broadcast_to(values, bins.shape).ravel()
        sums = np.bincount(flat, weights=weights, minlength=n_draws * size)
        return np.asarray(sums.reshape(n_draws, size), dtype=np.float64)

    count, hits = summed(cells.count), summed(cells.positive)
    place = summed(cells.count * cells.u)
    full = count > 0.0
    weights = count + 1e-9  # empty bins take part in nothing
    prior = nondecreasing((hits + 0.5) / (count + 1.0), weights)
    # Together at least half a positive and half a negative, as in Jeffreys' prior.
    for _ in range(2):
        part = (prior * full).sum(axis=1, keepdims=True)
        prior = 1.0 - np.minimum(prior * np.maximum(1.0, 0.5 / part), 1.0)
    prior = np.clip(prior, _LEAST, 1.0 - _LEAST)
    rates = rng.beta(hits + prior, count - hits + 1.0 - prior)
    rates = logit(np.clip(nondecreasing(rates, weights), _LEAST, 1.0 - _LEAST))
    out = np.empty((n_draws, knots.size))
    for b, some in enumerate(full):
        out[b] = np.interp(knots, place[b, some] / count[b, some], rates[b, some])
        advance(1)
    return in_order(sigmoid(out))


# --- a logistic regression on a spline -----------------------------------------------


def spline_draws(
    cells: Cells,
    knots: FloatArray,
    rng: np.random.Generator,
    n_draws: int,
    advance: Advance,
) -> FloatArray:
    """Return draws of a smooth map: a logistic regression on a spline of the score.

    Log-odds are a + b z + sum of c_j h softplus((z - q_j) / h), with a normal prior on
    the coefficients. The prior's width for the c_j is drawn from what the evidence
    leaves open, the coefficients from a normal law about the mode (Laplace). Draws
    that fall somewhere are drawn again; if too many do, they are made nondecreasing.
    """
    basis = _Basis.of(cells)
    modes, roots, evidence = _laplace(basis, cells)
    tries = 4 * n_draws
    which = _systematic(rng, np.exp(evidence - evidence.max()), tries)
    z = normal_draws(rng, tries, modes.shape[1])
    theta = modes[which] + np.einsum("bij,bj->bi", roots[which], z)
    rising = (theta @ basis.slopes(knots).T).min(axis=1) >= 0.0
    chosen = np.concatenate([np.flatnonzero(rising), np.flatnonzero(~rising)])[:n_draws]
    values = sigmoid(theta[chosen] @ basis.at(knots).T)
    falling = ~rising[chosen]
    if falling.any():
        weights = np.tile(np.interp(knots, cells.u, cells.count), (n_draws, 1))
        values[falling] = nondecreasing(values[falling], weights[falling])
    advance(n_draws)
    return in_order(values)


@dataclass(frozen=True)
class _Basis:
    """Functions of a place: 1, z and a softplus at each bend; z is standardised."""

    centre: float
    scale: float
    bends: FloatArray
    width: float

    @classmethod
    def of(cls, cells: Cells) -> _Basis:
        mass = _balanced_mass(cells)
        centre = float(mass @ cells.u)
        scale = float(np.sqrt(mass @ (cells.u - centre) ** 2))
        if not scale > 0.0:
            return cls(centre, 1.0, np.zeros(0), 1.0)
        z = (cells.u - centre) / scale
        at = (np.arange(_BENDS) + 0.5) / _BENDS
        bends = np.unique(np.interp(at, np.cumsum(mass) - 0.5 * mass, z))
        spread = (bends[-1] - bends[0]) / max(1, bends.size - 1)
        return cls(centre, scale, bends, max(0.5 * float(spread), 0.05))

    def _steps(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        z = (u - self.centre) / self.scale
        return z, (z[:, None] - self.bends) / self.width

    def at(self, u: FloatArray) -> FloatArray:
        z, steps = self._steps(u)
        bends = self.width * np.logaddexp(0.0, steps)
        return np.column_stack([np.ones(z.size), z, bends])

    def slopes(self, u: FloatArray) -> FloatArray:
        z, steps = self._steps(u)
        return np.column_stack([np.zeros(z.size), np.ones(z.size), sigmoid(steps)])


def _laplace(basis: _Basis, cells: Cells) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return modes, roots of covariances and log evidences, for each ridge."""
    x = basis.at(cells.u)
    n = x.shape[1]
    prior = np.full((_RIDGES.size, n), 0.02)
    prior[:, 2:] = _RIDGES[:, None]
    # Half a positive and half a negative, as in Jeffreys' prior, where they are to be
    # expected: high and low.
    share = cells.count / cells.count.sum()
    high = np.cumsum(share) - 0.5 * share
    more, less = share * high**_TOP, share * (1.0 - high) ** _TOP
    more, less = 0.5 * more / more.sum(), 0.5 * less / less.sum()
    count, positive = cells.count + more + less, cells.positive + more
    theta = np.zeros(prior.shape)
    theta[:, 0] = logit(positive.sum() / count.sum())

    def objective(theta: FloatArray) -> FloatArray:
        eta = theta @ x.T
        fit = eta @ positive - np.logaddexp(0.0, eta) @ count
        return np.asarray(fit - 0.5 * np.sum(prior * theta**2, axis=1))

    def curvature(p: FloatArray) -> FloatArray:
        out = np.matmul(x.T * (count * p * (1.0 - p))[:, None, :], x)
        out[:, np.arange(n), np.arange(n)] += prior
        return np.asarray(out)

    value = objective(theta)
    for _ in range(60):
        p = sigmoid(theta @ x.T)
        slope = (positive - count * p) @ x - prior * theta
        step = np.linalg.solve(curvature(p), slope[:, :, None])[:, :, 0]
        for _ in range(30):
            new_value = objective(theta + step)
            worse = new_value < value
            if not worse.any():
                break
            step[worse] *= 0.5
        step[worse] = 0.0
        theta = theta + step
        gain = np.where(worse, 0.0, new_value - value)
        value = value + gain
        if gain.max() < 1e-9:
            break
    lower = np.linalg.cholesky(curvature(sigmoid(theta @ x.T)))
    roots = np.linalg.inv(lower).transpose(0, 2, 1)
    log_det = 2.0 * np.log(np.einsum("rii->ri", lower)).sum(axis=1)
    evidence = value + 0.5 * np.log(prior).sum(axis=1) - 0.5 * log_det
    return theta, roots, evidence


# --- together ------------------------------------------------------------------------


def mixture_draws(
    cells: Cells,
    knots: FloatArray,
    rng: np.random.Generator,
    n_draws: int,
    advance: Advance,
) -> FloatArray:
    """Return draws of all kinds, in random order: a third of each.

    With many labels of both classes the spline only blurs, and its share fades. The
    rest is shared by the process and the projection.
    """
    positives = float(cells.positive.sum())
    fewest = min(positives, float(cells.count.sum()) - positives)
    smooth = int(n_draws * min(1.0, _FEW / max(fewest, 1.0)) / 3.0 + 0.5)
    stepped = (n_draws - smooth) // 2
    counts = {
        process_draws: n_draws - smooth - stepped,
        projection_draws: stepped,
        spline_draws: smooth,
    }
    parts = [draw(cells, knots, rng, n, advance) for draw, n in counts.items() if n > 0]
    return np.concatenate(parts)[rng.permutation(n_draws)]


def drawn(
    draw: Draws,
    cells: Cells,
    knots: FloatArray,
    rng: np.random.Generator,
    n_draws: int,
    advance: Advance,
) -> FloatArray:
    """Return draws of one kind, with what no labels can say: drift to the batch."""
    values = draw(*even_coordinate(cells, knots), rng, n_draws, advance)
    stretch = np.exp(_DRIFT * normal_draws(rng, n_draws, 1))
    return in_order(sigmoid(logit(values) * stretch))
