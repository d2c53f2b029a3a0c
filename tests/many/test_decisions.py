"""Decisions.distribution(): the mean score over many problems, before the labels."""

import itertools
import pickle

import numpy as np
import pytest

import bestcut
from bestcut import multilabel
from bestcut.metrics import FBeta, LinearUtility

scipy_sparse = pytest.importorskip("scipy.sparse")

METRICS = ["f1", FBeta(zero_division=1.0), "mcc", "accuracy", "squared_count_error"]


def law_of_mean(problems, labels, metric):
    """Return the values and probabilities of the mean score, over all label vectors."""
    metric = bestcut.metrics.get(metric)
    laws = []
    for p, chosen in zip(problems, labels, strict=True):
        law = []
        for truth in itertools.product([False, True], repeat=len(p)):
            y = np.array(truth, dtype=bool)
            counts = (y & chosen).sum(), chosen.sum(), y.sum(), y.size
            chance = np.prod(np.where(y, p, 1 - np.array(p)))
            law.append((float(metric(*map(float, counts))), float(chance)))
        laws.append(law)
    scores, chances = [], []
    for parts in itertools.product(*laws):
        scores.append(np.mean([score for score, _ in parts]))
        chances.append(np.prod([chance for _, chance in parts]))
    return np.array(scores), np.array(chances)


def assert_is_law(found, scores, chances):
    """A distribution has the moments of a law, and its probabilities."""
    mean = scores @ chances
    assert abs(found.mean - mean) <= found.error + 1e-13
    std = np.sqrt((scores - mean) ** 2 @ chances)
    assert found.std == pytest.approx(std, rel=1e-9, abs=1e-9)
    # The grid adds an error to every value; its standard deviation is known, and by
    # Chebyshev it is less than ten times that but for a probability of 0.01.
    wrong, sign = 10 * found.value_error + 1e-9, found.metric.sign
    for c in np.quantile(scores, [0.1, 0.5, 0.9]):
        better = chances[sign * scores >= sign * c + wrong].sum()
        worse = chances[sign * scores < sign * c - wrong].sum()
        reached = found.prob_at_least(c)
        assert better - 0.01 <= reached <= 1 - worse + 0.01


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_groups_of_different_sizes(metric):
    p = np.array([0.9, 0.3, 0.25, 0.6, 0.1, 0.45, 0.8])
    group = np.array([2, 0, 2, 0, 2, 0, 1])
    many = bestcut.decide_each(p, metric, groups=group)
    parts = [group == i for i in range(3)]
    law = law_of_mean([p[x] for x in parts], [many.labels[x] for x in parts], metric)
    assert_is_law(many.distribution(), *law)
    assert many.distribution().mean == pytest.approx(
        many.expected_score.mean(), abs=1e-12
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns_are_those_of_multilabel(axis):
    p = np.random.default_rng(0).random((6, 4))
    many = bestcut.decide_each(p, axis=axis)
    average = "samples" if axis == 1 else "macro"
    for metric in ("f1", "jaccard"):
        other = multilabel.score_distribution(p, many.labels, metric, average=average)
        assert repr(many.distribution(metric)) == repr(other)


@pytest.mark.parametrize("metric", ["f1", "accuracy", "mcc"])
def test_what_a_sparse_matrix_does_not_hold_is_counted(metric):
    p = np.array([[0.9, 0.0, 0.3, 0.0], [0.0, 0.6, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    many = bestcut.decide_each(scipy_sparse.csr_array(p), metric)
    law = law_of_mean(p, many.labels.toarray(), metric)
    assert_is_law(many.distribution(), *law)


def test_large_and_small_problems_together():
    rng = np.random.default_rng(1)
    p, group = rng.beta(0.5, 2, 700), np.repeat([0, 1, 2, 3], [300, 5, 0, 395])
    many = bestcut.decide_each(p, groups=group)
    score = many.distribution()
    each = [
        bestcut.score_distribution(p[group == g], many.labels[group == g])
        for g in many.groups
    ]
    assert score.mean == pytest.approx(np.mean([x.mean for x in each]), abs=1e-12)
    std = np.sqrt(sum(x.std**2 for x in each)) / 3
    assert score.std == pytest.approx(std, rel=1e-9)
    drawn = score.sample(4000, 0)
    assert abs(drawn.mean() - score.mean) < 5 * score.std / np.sqrt(4000)
    low, high = score.interval(0.9)
    inside = np.mean((drawn >= low) & (drawn <= high))
    assert 0.9 - 5 * np.sqrt(0.09 / 4000) <= inside


def test_draws_spread_the_mean():
    draws = np.array([[0.9, 0.4, 0.4, 0.3], [0.5, 0.2, 0.0, 0.3]])
    group = np.array([1, 0, 1, 0])
    p = bestcut.UncertainProbabilities(draws)
    many = bestcut.decide_each(p, groups=group)
    parts = [group == i for i in range(2)]
    laws = [
        law_of_mean([one[x] for x in parts], [many.labels[x] for x in parts], "f1")
        for one in draws
    ]
    scores = np.concatenate([law[0] for law in laws])
    chances = np.concatenate([law[1] for law in laws]) / 2
    assert_is_law(many.distribution(), scores, chances)
    assert many.distribution().std_calibration > 0
    assert many.distribution().at_mean().std_calibration == 0


def test_money_is_a_mean_over_problems():
    many = bestcut.decide_each([[0.5, 0.5], [1.0, 0.0]], LinearUtility(tp=80, fp=-10))
    assert many.distribution().mean == pytest.approx((70 + 80) / 2)


def test_it_does_not_change_with_the_arrays():
    p = np.random.default_rng(2).random((5, 4))
    for given in ({"y_proba": p}, {"y_proba": p.ravel(), "groups": np.arange(20) // 4}):
        many = bestcut.decide_each(**given)
        before = many.distribution().mean
        again = pickle.loads(pickle.dumps(many))
        many.labels[:] = ~many.labels
        given["y_proba"][:] = 1 - given["y_proba"]
        assert many.distribution().mean == before == again.distribution().mean


def test_no_problems_have_no_mean():
    with pytest.raises(ValueError, match="no problems"):
        bestcut.decide_each([], groups=[]).distribution()


def test_an_assertion_about_a_law_can_fail():
    found = bestcut.decide_each([[0.5, 0.25]]).distribution()
    scores, chances = law_of_mean([[0.5, 0.5]], [np.array([True, True])], "f1")
    with pytest.raises(AssertionError):
        assert_is_law(found, scores, chances)


# --- the form of scikit-learn's MultiOutputClassifier ---------------------------------


def as_multi_output(p, dtype=np.float64):
    """Return a list with the probabilities of both classes for each column."""
    return [np.stack([1 - x, x], axis=1).astype(dtype) for x in np.transpose(p)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_list_of_two_classes_for_each_label_is_a_matrix(dtype):
    p = np.round(np.random.default_rng(3).random((6, 4)), 2).astype(dtype)
    given = as_multi_output(p, dtype)
    for one in given:
        one.flags.writeable = False
    for axis in (0, 1):
        many = bestcut.decide_each(given, axis=axis)
        plain = bestcut.decide_each(p, axis=axis)
        np.testing.assert_array_equal(many.labels, plain.labels)
        assert many.expected_score == pytest.approx(plain.expected_score, rel=1e-12)
    for average in ("samples", "macro", "micro"):
        found = multilabel.decide(given, average=average)
        plain = multilabel.decide(p, average=average)
        np.testing.assert_array_equal(found.labels, plain.labels)
        score = multilabel.score_distribution(given, found.labels, average=average)
        assert score.mean == pytest.approx(found.expected_score, abs=1e-12)


def test_scikit_learn_makes_such_lists():
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.multioutput import MultiOutputClassifier

    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    Y = (X + rng.normal(size=(60, 3)) > 0.5).astype(int)
    found = MultiOutputClassifier(linear_model.LogisticRegression()).fit(X, Y)
    many = bestcut.decide_each(found.predict_proba(X))
    assert many.labels.shape == (60, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: [*x[:2], x[2][:, :1]], r"entry 2 has shape \(6, 1\). The model has"),
        (lambda x: [*x[:2], x[2][:4]], r"entry 2 has shape \(4, 2\). Pass a matrix"),
        (lambda x: [x[0], x[1][:, 0]], r"entry 1 has shape \(6,\)"),
        (lambda x: [x[0], 0.9 * x[1]], r"entry 1, row 0, they sum to 0\.9"),
        (lambda x: [x[0], x[1] * np.nan], "entry 1, row 0, they sum to nan"),
        (lambda x: [x[0], x[1].astype(str)], r"`y_proba\[1\]` must hold real numbers"),
        (lambda x: [x[0] * [-1, 1] + [1, 0]], r"sum to"),
    ],
)
def test_a_list_of_something_else_is_refused(change, message):
    given = as_multi_output(np.full((6, 3), 0.25))
    with pytest.raises((ValueError, TypeError), match=message):
        bestcut.decide_each(change(given))


def test_probabilities_outside_of_0_and_1_are_refused_in_lists_too():
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"y_proba\[0, 0\] = 1.5"):
        bestcut.decide_each([np.array([[-0.5, 1.5]])])


@pytest.mark.parametrize("metric", ["f1", "squared_count_error"])
def test_a_mean_is_no_better_and_no_worse_than_possible(metric):
    p = np.random.default_rng(5).random((3, 4))
    score = bestcut.decide_each(p, metric).distribution()
    assert score.ppf(0.0) >= 0.0
    assert score.ppf(1.0) <= 1.0
