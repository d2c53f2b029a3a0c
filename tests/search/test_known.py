"""`assert_promise` of known.py, which these tests rest on, rejects false promises."""

from dataclasses import replace

import numpy as np
import pytest

import bestcut
from helpers import descending
from search.known import ExactCuts, assert_promise


@pytest.mark.parametrize("name", ["f1", "squared_count_error"])
def test_the_comparison_rejects_promises_that_do_not_hold(name):
    p = np.random.default_rng(0).beta(0.5, 2, 60)
    metric = bestcut.metrics.get(name)
    cuts = ExactCuts(descending(p), range(61))
    decision = bestcut.decide(p, metric)
    assert_promise(decision, cuts, metric)
    off = replace(decision, expected_score=decision.expected_score + 1e-9)
    worse = bestcut.decide(p, metric, min_positives=50)
    for wrong in (off, worse):
        with pytest.raises(AssertionError):
            assert_promise(wrong, cuts, metric)
