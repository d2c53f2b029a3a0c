"""Probabilities of many kinds, and how a summary's cut is compared with the sweep's."""

import numpy as np

import bestcut
from bestcut.streams import ScoreSummary
from helpers import assert_threshold
from summary.ways import decided

KINDS = {
    "spread": lambda rng, n: rng.beta(0.3, 3, n),
    "uniform": lambda rng, n: rng.random(n),
    "mostly positive": lambda rng, n: 1 - rng.beta(0.3, 3, n),
    "rare": lambda rng, n: rng.beta(0.3, 3, n) * min(20 / n, 1.0),
    "confident": lambda rng, n: np.where(
        rng.random(n) < 0.5, 1e-6 * rng.random(n), 1 - 1e-6 * rng.random(n)
    ),
    "all equal": lambda rng, n: np.full(n, rng.random()),
    "two values": lambda rng, n: rng.choice([0.2, 0.7], n),
    "one bin": lambda rng, n: 0.3 + 1e-4 * rng.random(n),
    "neighbours": lambda rng, n: 0.3 + rng.integers(0, 3, n) * np.spacing(0.3),
    "next to 1": lambda rng, n: np.full(n, 1 - 1e-16),
    "denormal": lambda rng, n: rng.integers(0, 5, n) * 5e-324,
    "zeros and ones": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "heavy ties": lambda rng, n: np.round(rng.beta(0.3, 3, n), 1),
    "float32": lambda rng, n: rng.beta(0.3, 3, n).astype(np.float32),
    "a few of everything": lambda rng, n: rng.choice(
        [0.0, 5e-324, 1e-20, 0.1, 0.5, 1 - 2**-53, 1.0, *rng.random(3)], n
    ),
}


def streamed(p, metric, chunks=1, **bounds):
    """Summary, bracket and cut of scores that come in chunks."""
    parts = np.array_split(p, chunks)
    summary = ScoreSummary()
    for part in parts:
        summary.update(part)
    bracket = summary.bracket(metric, **bounds)
    return bracket, bracket.refine(
        np.concatenate([bracket.select(part) for part in parts])
    )


def assert_as_good(p, metric, **bounds):
    """The cut equals that after a sort in value, and everything it says is true."""
    swept = decided("sort", p, metric, **bounds)
    bracket, cut = streamed(p, metric, **bounds)
    labels = cut.predict(p)
    own = bestcut.expected_score(p, labels, metric)
    case = f"{cut!r} of {bracket!r}, sorted {swept!r}"
    assert labels.sum() == cut.n_positive, case
    tolerance = cut.error + swept.error
    assert abs(cut.expected_score - own) <= tolerance, case
    assert abs(cut.expected_score - swept.expected_score) <= tolerance, case
    assert abs(cut.expected_score - swept.expected_score) <= 1e-12, case
    assert bracket.lower_bound <= cut.expected_score <= bracket.upper_bound, case
    if not np.isnan(bracket.threshold):
        rough = bestcut.expected_score(p, p >= bracket.threshold, metric)
        slack = 1e-12 * max(1.0, abs(rough))
        assert bracket.lower_bound - slack <= rough <= bracket.upper_bound + slack, case
    assert bracket.low <= cut.threshold <= bracket.high or cut.n_positive == 0, case
    assert_threshold(p, cut)
