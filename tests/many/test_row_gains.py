"""Amounts per row in many problems: each is decided as it would be by itself."""

import numpy as np
import pytest

import bestcut
from bestcut import RowUtility


def problem(rng, shape):
    """Return probabilities and amounts with ties among the gains."""
    p = rng.choice([0.0, 0.25, 0.5, *rng.random(4)], size=shape)
    return p, rng.choice([-1.0, 0.0, 2.0, 30.0], size=shape), rng.normal(size=shape)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("bounds", [{}, {"max_positives": 2}, {"min_positives": 3}])
def test_rows_and_columns_are_decided_as_each_by_itself(axis, bounds):
    rng = np.random.default_rng(axis)
    p, tp, tn = problem(rng, (6, 5))
    many = bestcut.decide_each(
        p, RowUtility(tp=tp, fp=-1.0, tn=tn), axis=axis, **bounds
    )
    assert many.threshold is None
    for i in range(p.shape[1 - axis]):
        at = (i, slice(None)) if axis else (slice(None), i)
        one = bestcut.decide(p[at], RowUtility(tp=tp[at], fp=-1.0, tn=tn[at]), **bounds)
        assert many.labels[at].tolist() == one.labels.tolist()
        assert many.n_positive[i] == one.n_positive
        apart = abs(many.expected_score[i] - one.expected_score)
        assert apart <= many.error[i] + one.error


@pytest.mark.parametrize("drawn", [False, True])
def test_groups_in_any_order_are_decided_as_each_by_itself(drawn):
    rng = np.random.default_rng(5)
    p, tp, fn = problem(rng, 200)
    groups = rng.integers(0, 30, size=200)
    y_proba = bestcut.UncertainProbabilities(np.stack([p, p**2])) if drawn else p
    limit = rng.integers(0, 6, size=np.unique(groups).size)
    many = bestcut.decide_each(
        y_proba, RowUtility(tp=tp, fn=fn), groups=groups, max_positives=limit
    )
    assert many.groups.tolist() == np.unique(groups).tolist()
    mean = y_proba.mean if drawn else p
    for i, group in enumerate(many.groups.tolist()):
        here = groups == group
        utility = RowUtility(tp=tp[here], fn=fn[here])
        one = bestcut.decide(mean[here], utility, max_positives=int(limit[i]))
        assert many.labels[here].tolist() == one.labels.tolist()
        apart = abs(many.expected_score[i] - one.expected_score)
        assert apart <= many.error[i] + one.error
    assert not many.gap.any()


def test_a_group_with_fewer_rows_than_asked_for_is_taken_whole():
    utility = RowUtility(tp=[-1.0, -2.0, -3.0])
    many = bestcut.decide_each([0.5] * 3, utility, groups=[1, 0, 0], min_positives=2)
    assert many.labels.tolist() == [True, True, True]


def test_numbers_for_all_rows_will_do_and_no_rows_at_all():
    many = bestcut.decide_each([[0.5, 0.1], [0.2, 0.9]], RowUtility(tp=3.0, fp=-1.0))
    assert many.labels.tolist() == [[True, False], [False, True]]
    nothing = bestcut.decide_each([], RowUtility(tp=[]), groups=[])
    assert nothing.labels.shape == (0,)
    assert repr(nothing) == "Decisions(row_utility: no problems)"
    empty = bestcut.decide_each(np.zeros((3, 0)), RowUtility(tp=np.zeros((3, 0))))
    assert repr(empty.expected_score) == "array([0., 0., 0.])"


def test_what_is_sparse_or_without_groups_is_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"Pass `y_proba.toarray\(\)`"):
        bestcut.decide_each(sparse.eye(2, format="csr"), RowUtility(tp=1.0))
    p = bestcut.UncertainProbabilities([[0.5, 0.5]])
    with pytest.raises(ValueError, match="groups"):
        bestcut.decide_each(p, RowUtility(tp=1.0))
    with pytest.raises(TypeError):
        bestcut.decide_each([p, p], RowUtility(tp=1.0))
