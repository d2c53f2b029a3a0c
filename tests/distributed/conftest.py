"""Real engines, the cases that both must pass, and what it means to pass them."""

import itertools
import os
import signal

import numpy as np
import pytest

import bestcut


def _beta(size, seed=0):
    return np.random.default_rng(seed).beta(0.3, 3, size)


# Partitions, and what is asked. Ties at the cut come from budgets on rounded scores.
CASES = {
    "skewed": (np.split(_beta(5000), [4900, 4901, 4901]), {"metric": "f1"}),
    "single rows": (np.split(_beta(5), 5), {"metric": "jaccard"}),
    "empty ones": ([[], _beta(300), [], [], _beta(7, 1), []], {"metric": "mcc"}),
    "nothing": ([[], []], {"metric": "f1"}),
    "all equal": ([[0.25] * 40, [0.25], [], [0.25] * 9], {"max_positives": 42}),
    "zeros and ones": ([[0, 1, 0], [1], [0, 0.5], [0] * 9], {"metric": "f2"}),
    "a tie at the cut": (
        np.split(np.round(_beta(900), 1), [400, 400, 401]),
        {"metric": "gmean", "min_positives": 500},
    ),
    "a budget of none": ([[0.9, 0.8], [0.7]], {"max_positives": 0}),
    "own metric": (
        np.split(_beta(60), 3),
        {
            "metric": bestcut.metrics.from_counts(
                lambda tp, fp, fn, tn: tp / (tp + 0.3 * fp + 0.7 * fn),
                name="tversky",
                zero_division=0.0,
            )
        },
    ),
}


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def case(request):
    parts, asked = CASES[request.param]
    return [np.asarray(part, dtype=np.float64) for part in parts], asked


@pytest.fixture
def agrees():
    """Return a check that labels and cut are as good as the local decision."""

    from helpers import assert_threshold  # which workers, that load this file, lack

    def check(p, labels, cut, asked):
        local = bestcut.decide(p, **asked)
        within = cut.error + local.error
        assert cut.n == p.size
        assert labels.dtype == np.bool_
        assert labels.sum() == cut.n_positive
        assert abs(cut.expected_score - local.expected_score) <= within
        own = bestcut.expected_score(p, labels, cut.metric)
        assert abs(own - cut.expected_score) <= within
        assert labels[p > cut.threshold].all()
        assert not labels[p < cut.threshold].any()
        assert_threshold(p, cut)
        there = cut.n_tied[1]
        assert cut.summary_bytes <= 2_000_000 * cut.partitions
        assert cut.bracket_bytes <= 16 * p.size + 32 * there

    return check


class Evaluations:
    """Counts across processes, and may kill the process that counts."""

    def __init__(self, folder, kill_at=None):
        self.folder, self.kill_at = folder, kill_at

    def count(self):
        """Return how often this was called before, by any process."""
        i = next(i for i in itertools.count() if self._is_mine(i))
        if i == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    def _is_mine(self, i):
        try:
            (self.folder / str(i)).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def __len__(self):
        return len(list(self.folder.iterdir()))


@pytest.fixture
def evaluations(tmp_path):
    """Return a maker of counters: of evaluations, by any process."""

    def make(kill_at=None):
        return Evaluations(tmp_path, kill_at)

    return make
