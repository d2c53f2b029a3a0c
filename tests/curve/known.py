"""Probabilities of many kinds, and the comparison of a curve with its definition."""

import numpy as np

from bestcut.metrics import from_counts
from bestcut.search import Allowed, best_of_sorted, whole_curve
from helpers import descending
from oracles.extended import expected_curve

BETA = {
    "rare": (0.5, 20),
    "skewed": (0.3, 3),
    "confident": (0.05, 1),
    "u-shaped": (0.5, 0.5),
    "uniform": (1, 1),
    "high": (5, 1),
    "middling": (30, 30),
}
LAWS = [*BETA, "constant", "two-point", "tied", "certain", "all zero", "all one"]
TVERSKY = from_counts(
    lambda tp, fp, fn, tn: tp / (tp + 0.3 * fp + 0.7 * fn),
    "tversky",
    zero_division=0.0,
    smooth=True,
)


def probabilities(law, n, seed=0):
    """n probabilities, descending; the Beta laws with a sure 0 and a sure 1 in them."""
    rng = np.random.default_rng([seed, n])
    if law in BETA:
        eta = rng.beta(*BETA[law], size=n)
        eta[:1], eta[1:2] = 0.0, 1.0
    else:
        eta = {
            "constant": np.full(n, 0.3),
            "two-point": rng.choice([0.02, 0.9], size=n),
            "tied": np.round(rng.random(n), 1),
            "certain": rng.choice([0.0, 1.0], size=n),
            "all zero": np.zeros(n),
            "all one": np.ones(n),
        }[law]
    return descending(eta)


def assert_curve_is_right(eta, metric, largest_error=1e-12):
    truth = expected_curve(eta, metric)
    values, errors = whole_curve(eta, metric)
    scale = max(1.0, np.max(np.abs(truth)))
    gap = np.max(np.abs(values - truth))
    assert gap <= 1e-13 * scale
    assert gap <= errors.max()
    assert errors.max() <= largest_error * scale
    best_cut = best_of_sorted(eta, metric, Allowed(0, eta.size))
    own = truth[best_cut.k]
    best = truth.max() if metric.greater_is_better else truth.min()
    assert abs(metric.sign * best_cut.utility - own) <= best_cut.error
    assert abs(best - own) <= 2 * best_cut.error
