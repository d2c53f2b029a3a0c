"""Metrics and predictions whose laws are known exactly, and how to compare."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

import bestcut
from bestcut.counts._window import law_of
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    from_counts,
    from_rates,
    from_uvp,
)
from oracles import EPS, error_of
from oracles.definitions import LOSSES
from oracles.outcomes import ExactLaw

EVERY_NAME = bestcut.metrics.names()
RATES = {"gmean", "hmean", "qmean", "qmean_sqrt"}  # zero_division is a rate there
TINY = 1e-12  # more than any error bound for a few instances and scores of size 1


def zero_divisions(name):
    if name in LOSSES:
        return [0]
    if name in RATES:
        return [0, 1, 0.5]
    extra = ["drop"] if name == "balanced_accuracy" else []
    return [0, 1, 0.5, -2, *extra]


def exactly(zero_division):
    return zero_division if zero_division == "drop" else Fraction(zero_division)


# Metrics of one's own, and what they are in exact arithmetic.


def bumpy(tp, fp, fn, tn):
    return (tp - 2) ** 2 - 3 * fp * fn + (tn % 2)


def worst_rate(tpr, tnr, p):
    return np.minimum(tpr, tnr)


def exact_worst_rate(tp, fp, fn, tn, zero_division):
    tpr = Fraction(tp, tp + fn) if tp + fn else Fraction(zero_division)
    tnr = Fraction(tn, tn + fp) if tn + fp else Fraction(zero_division)
    return min(tpr, tnr)


def exact_lift(tp, fp, fn, tn, zero_division):
    n = tp + fp + fn + tn
    chance = (tp + fp) * (tp + fn)
    return Fraction(tp * n, chance) if chance else Fraction(zero_division)


def exact_pole(tp, fp, fn, tn, zero_division):
    # (n - 2 u + 3 v) / (2 u - v), by shares of n
    top, bottom = fp + fn + tn + tp - 2 * tp + 3 * (tp + fp), 2 * tp - (tp + fp)
    return Fraction(top, bottom) if bottom else Fraction(zero_division)


CUSTOM = {
    "bumpy": (from_counts(bumpy, "bumpy"), lambda *x: Fraction(bumpy(*x[:4])), 0),
    "bumpy loss": (
        from_counts(bumpy, "bumpy loss", greater_is_better=False),
        lambda *x: Fraction(bumpy(*x[:4])),
        0,
    ),
    "constant": (
        from_counts(lambda *x: 0.25, "constant"),
        lambda *x: Fraction(0.25),
        0,
    ),
    "step": (
        from_counts(lambda tp, fp, fn, tn: (tp >= 2) * 1.0, "step"),
        lambda tp, fp, fn, tn, _: Fraction(tp >= 2),
        0,
    ),
    "worst rate": (
        from_rates(worst_rate, "worst rate", zero_division=0.5),
        exact_worst_rate,
        0.5,
    ),
    "lift": (
        from_uvp(lambda u, v, p: u / (v * p), "lift", zero_division=1.0),
        exact_lift,
        1,
    ),
    "utility": (
        LinearUtility(tp=100, fp=-5, fn=-20, tn=0.5),
        lambda tp, fp, fn, tn, _: 100 * tp - 5 * fp - 20 * fn + Fraction(tn, 2),
        0,
    ),
    "regret": (
        LinearUtility(tp=-1, fp=2, fn=3, tn=-4),
        lambda tp, fp, fn, tn, _: Fraction(-tp + 2 * fp + 3 * fn - 4 * tn),
        0,
    ),
    "pole": (
        FractionalLinear(c=(1, -2, 3, 0), d=(0, 2, -1, 0), zero_division=7.0),
        exact_pole,
        7,
    ),
}


def problem(rng, n):
    """Probabilities with certain, tied, tiny ones; labels of every kind."""
    p = (
        lambda: rng.random(n),
        lambda: rng.choice([0.0, 0.3, 0.7, 1.0], size=n),
        lambda: np.full(n, rng.random()),
        lambda: rng.choice([0.0, 1.0], size=n),
        lambda: rng.beta(0.3, 2, size=n),
        lambda: rng.integers(0, 65, size=n) / 64,
        lambda: rng.choice([1e-300, 1e-9, 0.5, 1 - 1e-9, 1.0], size=n),
    )[rng.integers(7)]()
    k = int(rng.integers(0, n + 1))
    labels = (
        lambda: rng.random(n) < rng.random(),
        lambda: np.argsort(np.argsort(-p, kind="stable")) < k,
        lambda: np.argsort(np.argsort(p, kind="stable")) < k,
        lambda: np.ones(n, dtype=bool),
        lambda: np.zeros(n, dtype=bool),
    )[rng.choice(5, p=[0.45, 0.25, 0.1, 0.1, 0.1])]()
    return p, labels


def size_of(law: ExactLaw) -> float:
    return max(1.0, float(max(abs(v) for v in law.values)))


def index_of(value, law, atol):
    """Return which value of the law this is."""
    errors = [error_of(value, v) for v in law.values]
    i = int(np.argmin(errors))
    assert errors[i] <= Fraction(atol), f"{value} never occurs"
    return i


def assert_quantile(value, q, law, slack, atol):
    """Raise unless P(X < value) <= q <= P(X <= value), up to the slack."""
    i = index_of(value, law, atol)
    level = Fraction(q)
    assert law.cumulative[i] >= level - slack, f"{value} is below the {q}-quantile"
    below = law.cumulative[i - 1] if i else 0
    room = slack if q == 0 else EPS
    assert below <= level + room, f"{value} is above the {q}-quantile"


def levels_of(law, slack, rng):
    """Return levels of every kind, and for those that are sure the right quantile."""
    sure = []
    for i, level in enumerate(law.cumulative):
        if law.masses[i] > 4 * slack:
            if float(level) < 1 or level == 1:  # 1 itself is the end of the law
                sure.append((float(level), law.values[i]))
            sure.append((float(level - 2 * slack), law.values[i]))
        if i + 1 < len(law.values) and law.masses[i + 1] > 4 * slack:
            sure.append((float(level + 2 * slack), law.values[i + 1]))
    return [0.0, 1.0, 0.05, 0.5, 0.95, *rng.random(4)], sure


def assert_law(distribution, law, rng, *, loss=False, most=1000):
    """Compare everything a distribution says with the exact law.

    Of the steps of the law and of the points between, at most `most` are looked at.
    """

    def some(items):
        chosen = rng.permutation(len(items))[:most]
        return [items[i] for i in np.sort(chosen)]

    size = size_of(law)
    # The mean, and the bounds themselves, which must not hide anything.
    unseen = Fraction(128e-20 * size)  # laws leave out what is less likely than that
    assert error_of(distribution.mean, law.mean) <= distribution.error + unseen
    assert 0 <= distribution.error <= TINY * size
    assert 0 < distribution.probability_error <= TINY
    assert 0 <= distribution.value_error <= TINY * size
    assert error_of(distribution.std, law.std) <= Fraction(1e-8 * size)
    if law.std > size / 1000:
        assert error_of(distribution.std, law.std) <= Fraction(1e-12 * size)
    chance_error = Fraction(distribution.probability_error)
    atol = distribution.value_error + 16 * float(EPS) * size

    # Quantiles, at steps of the law too.
    slack = 2 * chance_error + EPS
    levels, sure = levels_of(law, slack, rng)
    for q in levels:
        assert_quantile(distribution.ppf(q), q, law, slack, atol)
    if sure := some(sure):
        found = distribution.ppf([q for q, _ in sure])
        for (q, value), x in zip(sure, found, strict=True):
            assert error_of(x, value) <= Fraction(atol), (q, x, float(value))

    # Chances, at every value, a little off it, and between two.
    points = [(float(v), v) for v in law.values]
    seen = [v for v, m in zip(law.values, law.masses, strict=True) if m > 1e-18]
    # Of the score itself: others may be much larger, and are no reason to round.
    least = min(1.0, float(max(map(abs, seen))))
    points += [
        (x + sign * float(EPS) * max(abs(x), least), v)
        for x, v in points
        for sign in (-1, 1)
    ]
    points += [(float((a + b) / 2), (a + b) / 2) for a, b in pairwise(law.values)]
    points += [(float(v), v) for v in (law.values[0] - 1, law.values[-1] + 1)]
    for x, exact in some(points):
        low, high = law.at_most(exact), law.at_least(exact)
        chance = distribution.prob_at_least(x)
        assert 0 <= chance <= 1
        assert error_of(chance, low if loss else high) <= chance_error, x
        surprise = distribution.surprise(x)
        assert error_of(surprise.prob_lower, low) <= chance_error, x
        assert error_of(surprise.prob_higher, high) <= chance_error, x
        two_sided = min(Fraction(1), 2 * min(low, high))
        assert error_of(surprise.p_value, two_sided) <= 2 * chance_error
        assert 0 <= surprise.p_value <= 1

    # Intervals.
    for level in (0.9, 0.5, float(rng.random())):
        interval = distribution.interval(level)
        ends = [(1 - level) / 2, (1 + level) / 2]
        assert list(interval) == [distribution.ppf(q) for q in ends]
        i, j = (index_of(x, law, atol) for x in interval)
        assert sum(law.masses[i : j + 1]) >= Fraction(level) - 2 * slack
    assert tuple(distribution.interval()) == tuple(distribution.interval(0.9))


def direct_law(p, labels, metric):
    """Return every score in the windows of both laws, and its probability."""
    inside, outside = law_of(p[labels]), law_of(p[~labels])
    tp, fn = inside.counts[:, None], outside.counts
    k, n = float(labels.sum()), float(p.size)
    scores = np.broadcast_to(metric.score(tp, k, tp + fn, n), (tp.size, fn.size))
    return scores.ravel(), np.outer(inside.pmf, outside.pmf).ravel()
