"""What would overflow is refused, and what barely does not is decided."""

import numpy as np
import pytest
from scipy.special import expit

import bestcut
from bestcut.metrics import FractionalLinear, LinearUtility, from_counts
from helpers import descending
from search.known import ExactCuts, assert_promise


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearUtility(tp=1e308),
        lambda: LinearUtility(tp=1, tn=-1e200),
        lambda: FractionalLinear(c=(0, 1e308, 0, 0), d=(0, 0, 1, 1)),
        lambda: FractionalLinear(c=(0, 1, 0, 0), d=(0, 0, 1e308, 1e308)),
        lambda: from_counts(lambda tp, fp, fn, tn: 1e200 * tp),
        lambda: from_counts(lambda tp, fp, fn, tn: 1e200 * expit(tp), smooth=True),
    ],
)
@pytest.mark.parametrize("n", [3, 600])
def test_what_would_overflow_is_refused(make, n):
    p = np.random.default_rng(0).beta(1, 3, n)
    with pytest.raises(ValueError, match="overflow"):
        bestcut.decide(p, make())


@pytest.mark.parametrize(
    "metric",
    [
        LinearUtility(tp=1e150, fp=-1e150),
        FractionalLinear(c=(0, 1e140, 0, 0), d=(0, 0, 1e-140, 1e-140)),
        FractionalLinear(c=(0, 1e-200, 0, 0), d=(0, 0, 1e-200, 1e-200)),
        from_counts(lambda tp, fp, fn, tn: 1e149 * tp / (tp + fp + 1)),
        from_counts(lambda tp, fp, fn, tn: 1e-290 * tp / (tp + fp + 1)),
    ],
    ids=["large", "larger", "small", "large callable", "small callable"],
)
def test_what_barely_does_not_overflow(metric):
    p = np.random.default_rng(0).beta(1, 3, 700)
    decision = bestcut.decide(p, metric)
    assert np.isfinite(decision.expected_score)
    cuts = ExactCuts(descending(p), [*range(0, 701, 20), decision.n_positive])
    assert_promise(decision, cuts, metric)
