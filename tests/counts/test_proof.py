"""Rules stand for counts only where that is proved, within the error that is proved."""

import numpy as np
import pytest

from bestcut.counts import poisson_binomial_window, value_of_cut
from bestcut.counts._proof import SideRange, plan_rules
from bestcut.counts._side import ListedSide
from bestcut.metrics import from_expression, is_followed
from bestcut.metrics._bounds import largest_score

# A formula, and whether rules of few nodes are proved for either side of a cut in the
# middle of coin tosses: there tp is as likely to be above fp as below it, and fp as
# likely to be above fn.
SMOOTH_IN_THE_MIDDLE = [
    ("sqrt(tp/(tp+fn) * tn/(tn+fp))", True),
    ("(tp*tn - fp*fn) / sqrt((tp+fp)*(tp+fn)*(tn+fp)*(tn+fn))", True),
    ("1 / (1/tp + 1/tn)", True),
    ("-(n_pred - n_pos)**2 / n**2", True),
    ("abs(tp + fp) / n", True),
    ("tp / (-tp - fp - 1) + 0.1*tn", True),
    ("tp**9 / n**9", True),
    ("max(tp, fp)", False),
    ("abs(tp - fp)", False),
    ("tp*tn / (fp - fn)", False),
    ("sqrt(tp - fp)", False),
    ("tp*fp / 0", False),
]


def rules_at(metric, above, below):
    """Return the nodes of both sides, and value and error of the cut between them."""
    sides = ListedSide(above), ListedSide(below)
    largest = largest_score(metric, above.size + below.size)
    ranges = (
        SideRange(
            *((np.array([x]),) * 2 for x in (s.positives, s.negatives, s.variance))
        )
        for s in sides
    )
    plan = plan_rules(metric, *ranges, largest, 1e-13)
    return [int(x[0]) for x in plan.nodes], *value_of_cut(metric, largest, *sides)


def exact_value(metric, above, below):
    """E[metric] and E|metric| of one cut from laws built instance by instance."""
    tp, fn = (poisson_binomial_window(x, tail=1e-19) for x in (above, below))
    a, b = tp.counts[:, None], fn.counts
    score = metric.score_cells(a, above.size - a, b, below.size - b)
    score = np.broadcast_to(score, (a.size, b.size))
    return tp.pmf @ score @ fn.pmf, tp.pmf @ np.abs(score) @ fn.pmf


def assert_within_error(found, metric, *sides):
    value, error = found
    truth, size = exact_value(metric, *sides)
    assert abs(value - truth) <= error + 1e-14 * size
    assert abs(value - truth) <= 1e-12 * size


def test_a_value_outside_its_error_is_noticed():
    metric = from_expression("tp / n")
    sides = np.full(40, 0.5), np.full(40, 0.5)
    assert_within_error((0.25, 0.0), metric, *sides)
    for found in ((0.25 + 1e-11, 1e-12), (0.25 + 1e-11, 1.0)):
        with pytest.raises(AssertionError):
            assert_within_error(found, metric, *sides)


@pytest.mark.parametrize(("text", "smooth"), SMOOTH_IN_THE_MIDDLE)
def test_whether_a_formula_is_smooth_is_proved_for_the_counts_at_hand(text, smooth):
    metric = from_expression(text)
    assert is_followed(metric)
    sides = np.full(1800, 0.5), np.full(1800, 0.5)
    nodes, *found = rules_at(metric, *sides)
    assert (min(nodes) > 0) == (max(nodes) > 0) == smooth
    assert_within_error(found, metric, *sides)


@pytest.mark.parametrize("text", ["max(tp, fp)", "abs(tp - fp)", "sqrt(tp - fp)"])
def test_a_kink_is_no_matter_where_counts_never_come_to_it(text):
    metric = from_expression(text)
    sides = np.full(1200, 0.75), np.full(6300, 0.05)
    nodes, *found = rules_at(metric, *sides)
    assert min(nodes) > 0
    assert_within_error(found, metric, *sides)


def test_a_power_of_counts_cannot_be_followed_and_counts_are_taken_one_by_one():
    metric = from_expression("tp**n")
    assert not is_followed(metric)
    sides = np.full(1800, 0.5), np.full(1800, 0.5)
    assert rules_at(metric, *sides)[0] == [0, 0]
