"""What algebra proves about a move is so for every n."""

import numpy as np
import pytest

from bestcut.metrics._algebra_proof import left_by_algebra
from bestcut.metrics._moves import MORE_AGREEMENT, MORE_TP
from groups import slow
from metrics.known import falls, random_metric


@pytest.mark.parametrize("count", [60, slow(240)])
@pytest.mark.parametrize("moves", [MORE_TP, MORE_AGREEMENT], ids=["tp", "agreement"])
def test_algebra_never_contradicts_the_lattice(moves, count):
    rng = np.random.default_rng(1)
    proved = 0
    for _ in range(count):
        metric, n = random_metric(rng), int(rng.integers(8, 31))
        left = [left_by_algebra(metric, move) for move in moves]
        if not any(left):
            proved += 1
            assert not falls(metric, n, moves), metric.name
    assert proved > count / 30  # or the test says little
