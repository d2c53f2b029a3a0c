"""Laws from sums of features against laws in extended precision."""

import mpmath
import numpy as np
import pytest

from bestcut.counts import _side, value_of_cut
from bestcut.counts._moments import LEAST_VARIANCE, features
from bestcut.counts._window import law_of
from bestcut.metrics import from_counts

EPS = float(np.finfo(float).eps)


def binomial(n, p, start, stop):
    """Return the probabilities of start, ..., stop - 1 to 40 digits."""
    p = mpmath.mpf(float(p))
    value = mpmath.binomial(n, start) * p**start * (1 - p) ** (n - start)
    out = []
    for s in range(start, stop):
        out.append(value)
        value = value * (n - s) / (s + 1) * p / (1 - p)
    return out


def window(n, p):
    """Return a range of counts that leaves out less than 1e-19 of the probability."""
    reach = 10 * np.sqrt(n * p * (1 - p)) + 40
    return max(int(n * p - reach), 0), min(int(n * p + reach), n) + 1


def exact_law(groups):
    """Return the first count and the probabilities of groups of equal instances."""
    first, law = 0, [mpmath.mpf(1)]
    for n, p in groups:
        low, high = window(n, p)
        part = binomial(n, p, low, high)
        total = [mpmath.mpf(0)] * (len(law) + len(part) - 1)
        for i, x in enumerate(law):
            for j, y in enumerate(part):
                total[i + j] += x * y
        first, law = first + low, total
    return first, law


GROUPS = {
    "least": [(484, 0.5)],
    "rare": [(12_300, 0.01)],
    "sure": [(12_300, 0.99)],
    "both": [(6_200, 0.01), (6_200, 0.99)],
    "many sure": [(1_300_000, 1 - 1e-4)],
    "mixed": [(300, 0.4), (3_000, 0.03)],
    "wide": [(40_000, 0.3)],
}


@pytest.mark.parametrize("name", GROUPS)
def test_sums_of_probabilities_have_the_error_that_is_stated(name, monkeypatch):
    monkeypatch.setattr(_side, "_MANY", 0)
    groups = GROUPS[name]
    with mpmath.workdps(40):
        first, exact = exact_law(groups)
        side = _side.ListedSide(np.concatenate([np.full(n, p) for n, p in groups]))
        assert side.variance >= LEAST_VARIANCE
        law = side.law
        sums = [float(x) for x in law.pmf]
        stated = (1000 + 15 * np.sqrt(side.variance)) * EPS
        error, worst = mpmath.mpf(0), mpmath.mpf(0)
        start = min(first, law.start)
        stop = max(first + len(exact), law.start + len(sums))
        for s in range(start, stop):
            here = sums[s - law.start] if 0 <= s - law.start < len(sums) else 0.0
            error += here - (exact[s - first] if 0 <= s - first < len(exact) else 0)
            worst = max(worst, abs(error))
        assert worst <= stated


def test_fewer_cumulants_are_enough_for_a_larger_variance():
    counts = [_side.cumulant_count(v) for v in (121, 500, 5e3, 5e4, 5e6)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] <= _side.ROOM
    assert counts[-1] >= 4


def test_the_bound_on_cumulants_holds_on_its_circle():
    angle = np.linspace(0, np.pi, 4001)
    z = _side._RADIUS * np.exp(1j * angle)
    for logit in np.linspace(-12, 12, 97):
        ratio = np.cosh(logit / 2) ** 2 / np.abs(np.cosh((z + logit) / 2)) ** 2
        assert np.max(ratio) <= 17


def test_laws_from_sums_are_wrong_by_an_absolute_error():
    eta = np.random.default_rng(0).uniform(0.3, 0.7, 1200)
    above, below = eta[:800], eta[800:]
    mean, sigma = above.sum(), np.sqrt(np.sum(above * (1 - above)))
    metric = from_counts(
        lambda tp, fp, fn, tn: np.where(tp > mean + 4 * sigma, 1.0, 0.0), "tail"
    )
    sides = [
        _side.SummedSide(
            x.size,
            features(x, 20).sum(axis=1),
            float((1 - x).sum()),
            lambda x=x: law_of(x),
        )
        for x in (above, below)
    ]
    value, error = value_of_cut(metric, 1.0, *sides)
    law = law_of(above)
    truth = law.pmf[law.counts > mean + 4 * sigma].sum()
    assert abs(value - truth) <= error
    assert error >= float(_side.error_of_sums(np.array([sigma**2]))[0])
