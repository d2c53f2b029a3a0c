"""Metrics, problems, and what must hold of every decision."""

from types import SimpleNamespace

import numpy as np

import bestcut
from bestcut.metrics import (
    MCC,
    FBeta,
    FractionalLinear,
    Jaccard,
    LinearUtility,
    Precision,
    from_counts,
)
from helpers import NAMES, assert_threshold


def tversky(tp, fp, fn, tn):
    return tp / (tp + 0.3 * fp + 0.7 * fn)


SMOOTH = from_counts(tversky, "tversky", zero_division=0.0, smooth=True)
STEPS = from_counts(
    lambda tp, fp, fn, tn: 1.0 * (tp >= 0.6 * (tp + fn)) - 0.1 * fp / (fp + tn + 1),
    "steps",
)
COST = from_counts(
    lambda tp, fp, fn, tn: 2.0 * fn + fp, "cost", greater_is_better=False
)
SHARE = FractionalLinear((0, 1, 0, 0), (0, 0.25, 0.5, 1), name="share")  # no kernel
OFFSET = FractionalLinear((0, 1, 0, 0), (0.5, 0, 1, 1), name="offset")  # sees n
SUMS = ("linear_utility", "cost")  # which grow with n; the others are at most 1
FAMILY = [
    *(bestcut.metrics.get(name) for name in NAMES),
    *(FBeta(beta) for beta in (3, 1 / 3, 0.1, 1000, 2.5)),
    *(type_(zero_division=1.0) for type_ in (FBeta, Jaccard, MCC, Precision)),
    FBeta(2, zero_division=-0.5),
    LinearUtility(tp=3, fp=-1, fn=-0.5),
    SHARE,
    OFFSET,
    SMOOTH,
    STEPS,
    COST,
]


def title(metric):
    return f"{metric.name}-{getattr(metric, 'zero_division', '')}"


def skewed(rng, rows, n):
    """Rows of every sort: rare, tied, all 0, all 1, one value, certain, anything."""
    p = rng.beta(0.3, 3, size=(rows, n))
    kinds = (
        np.zeros(n),
        np.ones(n),
        np.full(n, 0.3),
        rng.choice([0.0, 1.0], size=n),
        rng.choice([0.1, 0.4, 0.4, 0.9], size=n),
        rng.choice([5e-324, 1e-300, 1e-16, 1 - 1e-16, 0.5], size=n),
        rng.random(n),
        rng.beta(3, 0.5, size=n),
    )
    for i, row in enumerate(kinds[:rows]):
        p[i] = row
    return p


def assert_as_decide(p, many, i, labels, metric, low=0, high=None):
    """Problem i is decided as well as `decide` does, and what is said of it is true."""
    one = bestcut.decide(p, metric, min_positives=low, max_positives=high)
    claimed, error = many.expected_score[i], many.error[i]
    case = f"{metric.name} of {p}: {labels}, but {one!r}"
    if np.isnan(one.expected_score):
        assert np.isnan(claimed), case
    else:
        assert abs(claimed - one.expected_score) <= error + one.error, case
    largest = 3.0 * p.size if metric.name in SUMS else 1.0
    assert error <= 3e-12 * max(largest, 1.0) or np.isnan(claimed), case
    assert labels.dtype == bool
    assert labels.sum() == many.n_positive[i], case
    assert low <= labels.sum() <= (p.size if high is None else high), case
    found = SimpleNamespace(
        n_positive=many.n_positive[i],
        threshold=many.threshold[i],
        n_tied=many.n_tied[i],
    )
    assert_threshold(p, found)
    tied = labels[p == many.threshold[i]]
    assert np.array_equal(tied, np.sort(tied)[::-1]), case  # the earliest
    assert np.array_equal(labels | (p == many.threshold[i]), p >= many.threshold[i])
