"""bestcut.multilabel: each average as defined, exactly, and before the labels."""

import pickle
import re
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import metrics as sk

import bestcut
from bestcut import multilabel
from bestcut.metrics import MCC, FBeta, Jaccard, LinearUtility, from_counts
from groups import one_in
from many.known import title
from oracles.definitions import DEFINITIONS
from oracles.enumeration import expected_score as exact_expected_score

AVERAGES = ("samples", "macro", "micro")
each_average = pytest.mark.parametrize("average", AVERAGES)
P64 = np.array([[40, 9, 3], [64, 0, 20]])  # probabilities in sixty-fourths
P = P64 / 64


def problems(matrix, average):
    """Return the problems that are averaged over, as rows."""
    matrix = np.asarray(matrix)
    if average == "micro":
        return matrix.reshape(1, -1)
    return matrix if average == "samples" else matrix.T


def realised(Y, labels, metric, average):
    """Return the average score by its definition."""
    scores = [
        float(metric(tp=(y & s).sum(), n_pred=s.sum(), n_pos=y.sum(), n=y.size))
        for y, s in zip(
            problems(Y, average).astype(bool),
            problems(labels, average).astype(bool),
            strict=True,
        )
    ]
    return float(np.mean(scores))


@lru_cache
def outcomes(shape):
    return [
        np.array(bits, dtype=int).reshape(shape)
        for bits in product((0, 1), repeat=shape[0] * shape[1])
    ]


def weight_of(Y, p):
    return float(np.prod(np.where(Y == 1, p, 1 - p)))


def brute_force(p, labels, metric, average):
    """Return the values of the average score and their probabilities."""
    pairs = [
        (realised(Y, labels, metric, average), weight_of(Y, p))
        for Y in outcomes(p.shape)
    ]
    values, weights = np.array(pairs).T
    return values, weights


# --- decisions -----------------------------------------------------------------------


@each_average
@pytest.mark.parametrize("name", ["f1", "jaccard", "mcc", "recall", "gmean"])
def test_no_label_matrix_has_a_better_expected_average(name, average):
    def exact(labels):
        parts = zip(problems(P64, average), problems(labels, average), strict=True)
        scores = [
            exact_expected_score(
                [Fraction(int(x), 64) for x in p], s, DEFINITIONS[name], Fraction(0)
            )
            for p, s in parts
        ]
        return sum(scores) / len(scores)

    found = multilabel.decide(P, name, average=average)
    own = exact(found.labels.astype(int).tolist())
    best = max(exact(labels.tolist()) for labels in outcomes((2, 3)))
    assert abs(Fraction(found.expected_score) - own) <= Fraction(found.error)
    assert best - own <= 2 * Fraction(found.error)
    assert found.each.shape == (len(problems(P, average)),)
    assert found.expected_score == pytest.approx(found.each.mean(), abs=1e-15)


@pytest.mark.parametrize(
    "metric", ["f1", "jaccard", "mcc", FBeta(2, zero_division=1.0)], ids=str
)
def test_averages_are_rows_columns_or_all_together(metric):
    p = np.random.default_rng(0).beta(0.3, 2, size=(30, 7))
    samples = multilabel.decide(p, metric, average="samples")
    rows = bestcut.decide_each(p, metric)
    assert np.array_equal(samples.labels, rows.labels)
    assert np.array_equal(samples.each, rows.expected_score)
    macro = multilabel.decide(p, metric, average="macro")
    columns = bestcut.decide_each(p, metric, axis=0)
    assert np.array_equal(macro.labels, columns.labels)
    assert np.array_equal(macro.each, columns.expected_score)
    micro = multilabel.decide(p, metric, average="micro")
    one = bestcut.decide(p.ravel(), metric)
    assert np.array_equal(micro.labels, one.labels.reshape(p.shape))
    assert micro.each.tolist() == [micro.expected_score] == [one.expected_score]
    assert micro.error == one.error


@each_average
@pytest.mark.parametrize("metric", ["f1", "jaccard", "squared_count_error"])
def test_what_is_best_for_another_average_is_not_better(metric, average):
    p = np.random.default_rng(1).beta(0.3, 2, size=(40, 6))
    best = multilabel.decide(p, metric, average=average)
    sign = 1 if best.metric.greater_is_better else -1
    same = multilabel.expected_score(p, best.labels, metric, average=average)
    assert same == pytest.approx(best.expected_score, abs=1e-13)
    for other in AVERAGES:
        labels = multilabel.decide(p, metric, average=other).labels
        value = multilabel.expected_score(p, labels, metric, average=average)
        assert sign * value <= sign * same + 1e-13
    at_half = multilabel.expected_score(p, p >= 0.5, metric, average=average)
    assert sign * at_half < sign * same


@each_average
def test_bounds_are_kept(average):
    p = np.random.default_rng(2).beta(0.3, 2, size=(12, 6))
    most = multilabel.decide(p, "recall", average=average, max_positives=2)
    assert (problems(most.labels, average).sum(axis=1) == 2).all()
    least = multilabel.decide(p, "f1", average=average, min_positives=5)
    assert (problems(least.labels, average).sum(axis=1) >= 5).all()


def test_threads_do_not_change_anything():
    p = np.random.default_rng(3).beta(0.3, 2, size=(3000, 12))
    for average in AVERAGES:
        one = multilabel.decide(p, "f1", average=average)
        two = multilabel.decide(p, "f1", average=average, n_jobs=2)
        assert np.array_equal(one.labels, two.labels)
        assert one.expected_score == two.expected_score


def test_frames_are_taken_and_not_changed():
    for table in (pd.DataFrame(P), pl.DataFrame(P), P.tolist(), np.asfortranarray(P)):
        before = np.array(table)
        found = multilabel.decide(table, average="macro")
        assert np.array_equal(
            found.labels, multilabel.decide(P, average="macro").labels
        )
        assert np.array_equal(np.array(table), before)


def test_no_rows_and_no_columns_are_no_problem():
    for shape in ((0, 3), (3, 0), (0, 0)):
        for average in AVERAGES:
            found = multilabel.decide(np.zeros(shape), average=average)
            assert found.labels.shape == shape
    assert np.isnan(multilabel.decide(np.zeros((0, 3))).expected_score)


def test_the_repr_says_what_was_decided():
    text = repr(multilabel.decide(P, "f1", average="macro"))
    assert text.startswith("MultilabelDecision(macro f1: 2 x 3, ")
    assert "positive, expected score 0." in text


def test_a_decision_can_be_pickled():
    found = multilabel.decide(P)
    assert np.array_equal(pickle.loads(pickle.dumps(found)).labels, found.labels)


# --- the scikit-learn call that measures the same ------------------------------------

SAME = {
    "f1": (FBeta(), lambda a, b, **o: sk.f1_score(a, b, **o)),
    "f2": (FBeta(2), lambda a, b, **o: sk.fbeta_score(a, b, beta=2, **o)),
    "jaccard": (Jaccard(), sk.jaccard_score),
    "precision": (bestcut.metrics.get("precision"), sk.precision_score),
    "recall": (bestcut.metrics.get("recall"), sk.recall_score),
    "f1, empty is 1": (FBeta(zero_division=1.0), sk.f1_score),
    "jaccard, empty is 1": (Jaccard(zero_division=1.0), sk.jaccard_score),
}


@each_average
@pytest.mark.parametrize("name", SAME)
def test_scikit_learn_measures_what_is_maximised(name, average):
    metric, function = SAME[name]
    labels = np.array([[1, 0, 0], [1, 0, 1]])
    expected, seen = 0.0, 0
    for Y in outcomes((2, 3)):
        weight = weight_of(Y, P)
        if weight == 0:
            continue
        value = function(Y, labels, average=average, zero_division=metric.zero_division)
        assert value == pytest.approx(realised(Y, labels, metric, average), abs=1e-14)
        expected += weight * value
        seen += 1
    assert seen == 16
    found = multilabel.expected_score(P, labels, metric, average=average)
    assert found == pytest.approx(expected, abs=1e-13)


# --- expectations and laws -----------------------------------------------------------

METRICS = [
    *(bestcut.metrics.get(name) for name in ("f1", "jaccard", "mcc", "gmean")),
    bestcut.metrics.get("squared_count_error"),
    FBeta(zero_division=1.0),
    MCC(zero_division=1.0),
    LinearUtility(tp=3, fp=-1),
    from_counts(lambda tp, fp, fn, tn: 1.0 * (tp > fp + fn), "more right than wrong"),
]


def cases(rng):
    p = rng.beta(0.5, 1, size=(2, 3))
    yield P, np.array([[1, 0, 0], [1, 0, 1]])
    yield p, (rng.random((2, 3)) < 0.5).astype(int)
    yield np.round(p), np.zeros((2, 3), dtype=int)
    yield np.full((3, 2), 0.001), np.ones((3, 2), dtype=int)  # rare, but large
    yield rng.random((4, 2)), np.ones((4, 2), dtype=int)


def moments_of_law(law):
    mass = np.diff(law.upto)
    mean = law.values @ mass
    return mean, np.sqrt((law.values - mean) ** 2 @ mass), mass.sum()


@one_in(2, "metric, average", {title(m): m for m in METRICS}, AVERAGES)
def test_mean_and_spread_are_those_of_all_outcomes(metric, average):
    for p, labels in cases(np.random.default_rng(4)):
        values, weights = brute_force(p, labels, metric, average)
        mean = values @ weights
        std = np.sqrt((values - mean) ** 2 @ weights)
        found = multilabel.score_distribution(p, labels, metric, average=average)
        assert found.mean == pytest.approx(mean, abs=found.error + 1e-14)
        assert found.error < 1e-12
        assert found.std == pytest.approx(std, abs=1e-7)
        assert found.mean == multilabel.expected_score(
            p, labels, metric, average=average
        )


@one_in(2, "metric, average", {title(m): m for m in METRICS}, AVERAGES)
def test_the_law_is_that_of_all_outcomes_blurred_as_it_says(metric, average):
    sign = 1 if metric.greater_is_better else -1
    for p, labels in cases(np.random.default_rng(5)):
        values, weights = brute_force(p, labels, metric, average)
        found = multilabel.score_distribution(p, labels, metric, average=average)
        if average != "micro":
            mean, std, total = moments_of_law(found._utility)
            slack = 1e-9 * max(1.0, abs(found.mean))
            assert total == pytest.approx(1.0, abs=1e-9)
            assert sign * mean == pytest.approx(found.mean, abs=slack)
            noise = found.value_error**2
            assert found.std**2 - 1e-9 <= std**2 <= found.std**2 + noise + 1e-9
        # By Chebyshev's inequality the blur moves a score by more than `far` with
        # probability 1e-3 at most.
        far = found.value_error / np.sqrt(1e-3) + 1e-12
        for x in [*values[::5], 0.1234, found.mean]:
            reached = found.prob_at_least(float(x))
            gap = sign * (values - x)
            least, most = weights[gap >= far].sum(), weights[gap >= -far].sum()
            assert least - 1e-3 - 1e-9 <= reached <= most + 1e-3 + 1e-9
        for q in (0.05, 0.3, 0.5, 0.9):
            x = found.ppf(q)
            assert weights[values <= x + far].sum() >= q - 1e-3 - 1e-9
            assert weights[values < x - far].sum() <= q + 1e-3 + 1e-9


@pytest.mark.parametrize("average", ["samples", "macro"])
@pytest.mark.parametrize("metric", ["f1", "mcc", "squared_count_error"])
def test_the_law_of_many_rows_is_the_one_that_simulation_sees(metric, average):
    rng = np.random.default_rng(6)
    p = rng.beta(0.3, 2, size=(60, 5))
    chosen = multilabel.decide(p, metric, average=average)
    found = multilabel.score_distribution(p, chosen.labels, metric, average=average)
    size = 4000
    labels, n = problems(chosen.labels, average), problems(p, average).shape[1]
    scores = np.empty(size)
    for i in range(size):
        Y = problems(rng.random(p.shape) < p, average)
        counts = ((Y & labels).sum(axis=1), labels.sum(axis=1), Y.sum(axis=1))
        scores[i] = np.mean(found.metric.score(*(x * 1.0 for x in counts), float(n)))
    assert_same_law(found, scores)
    assert_same_law(found, found.sample(size, random_state=1))


def assert_same_law(found, scores):
    """Hold means, spreads and quantiles of a law against draws from it."""
    size = scores.size
    assert found.mean == pytest.approx(scores.mean(), abs=5 * found.std / size**0.5)
    assert found.std == pytest.approx(scores.std(), rel=0.08)
    blur = 10 * found.value_error
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        x = found.ppf(q)
        off = 5 * np.sqrt(q * (1 - q) / size)
        assert np.mean(scores <= x + blur) >= q - off
        assert np.mean(scores < x - blur) <= q + off


def test_wide_rows_have_the_moments_of_each():
    rng = np.random.default_rng(7)
    p = rng.beta(0.3, 2, size=(4, 300))
    labels = p >= 0.3
    for name in ("f1", "mcc", "squared_count_error"):
        found = multilabel.score_distribution(p, labels, name)
        each = [
            bestcut.score_distribution(row, s, name)
            for row, s in zip(p, labels, strict=True)
        ]
        assert found.mean == pytest.approx(np.mean([x.mean for x in each]), abs=1e-12)
        spread = np.sqrt(np.sum([x.std**2 for x in each])) / 4
        assert found.std == pytest.approx(spread, rel=1e-9)
        mean, std, _ = moments_of_law(found._utility)
        assert abs(mean) == pytest.approx(abs(found.mean), abs=1e-9)
        assert std == pytest.approx(spread, rel=1e-4)
        # The same matrix by columns and by rows is the same problem.
        turned = multilabel.score_distribution(p.T, labels.T, name, average="macro")
        assert turned.mean == found.mean


def test_rows_of_256_and_257_go_two_ways_to_the_same():
    rng = np.random.default_rng(8)
    p = rng.beta(0.3, 2, size=(3, 256))
    padded = np.pad(p, ((0, 0), (0, 1)))  # one label more, of probability 0
    for name in ("f1", "jaccard"):
        a = multilabel.score_distribution(p, p >= 0.3, name)
        b = multilabel.score_distribution(padded, padded >= 0.3, name)
        assert a.mean == pytest.approx(b.mean, abs=1e-12)
        assert a.std == pytest.approx(b.std, rel=1e-8)


def test_rare_scores_of_many_rows_stay_in_the_law():
    rows = 1000
    p, labels = np.full((rows, 1), 0.001), np.ones((rows, 1), dtype=int)
    found = multilabel.score_distribution(p, labels, "f1")
    mean, std, _ = moments_of_law(found._utility)
    assert found.mean == pytest.approx(0.001, rel=1e-12)
    assert mean == pytest.approx(0.001, rel=1e-6)
    assert std == pytest.approx(np.sqrt(0.001 * 0.999 / rows), rel=1e-4)
    # The number of hits is binomial; between two of its values nothing is blurred.
    assert found.prob_at_least(0.5 / rows) == pytest.approx(1 - 0.999**rows, abs=1e-4)


def test_a_realised_score_can_be_a_surprise():
    rng = np.random.default_rng(9)
    p = rng.beta(0.3, 2, size=(200, 6))
    found = multilabel.decide(p)
    law = multilabel.score_distribution(p, found.labels)
    Y = rng.random(p.shape) < p
    seen = sk.f1_score(Y, found.labels, average="samples", zero_division=0)
    assert law.surprise(seen).p_value > 1e-3
    assert law.surprise(law.mean - 8 * law.std).p_value < 1e-6
    assert repr(law).startswith("F1 0.")


# --- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize("call", ["decide", "expected_score", "score_distribution"])
def test_what_is_wrong_is_said(call):
    function = getattr(multilabel, call)
    more = () if call == "decide" else (np.ones((2, 3)),)
    with pytest.raises(ValueError, match="`average` 'weighted' is not known"):
        function(P, *more, average="weighted")
    with pytest.raises(ValueError, match="`y_proba` must be 2-D"):
        function(P[0], *more)
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"y_proba\[0, 1\] = 2"):
        function([[0.5, 2.0, 0.1], [0, 0, 0]], *more)
    with pytest.raises(ValueError, match="f1x"):
        function(P, *more, "f1x")


@pytest.mark.parametrize("call", ["expected_score", "score_distribution"])
def test_predictions_must_fit(call):
    function = getattr(multilabel, call)
    with pytest.raises(ValueError, match=r"`y_pred` must be of shape \(2, 3\)"):
        function(P, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"y_pred\[1, 2\] = 0\.5"):
        function(P, [[0, 1, 0], [0, 0, 0.5]])
    for average, shape in (("samples", (0, 3)), ("macro", (3, 0))):
        with pytest.raises(
            ValueError, match="must not be empty: there is nothing to average over"
        ):
            function(np.zeros(shape), np.zeros(shape), average=average)


@each_average
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_a_sparse_matrix_needs_row_budgets(kind, average):
    given = kind(P)
    message = (
        "`y_proba` may be a sparse matrix only with `per_row`, the number of labels "
        f"that each row is given; got a {kind.__name__} of shape (2, 3). Pass "
        "`per_row=...` with average='macro' or 'micro', pass `y_proba.toarray()`, or "
        "decide each row or column by itself with `bestcut.decide_each`."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        multilabel.decide(given, average=average)
    for function in (multilabel.expected_score, multilabel.score_distribution):
        message = f"of each column; got a {kind.__name__}. Pass `y_proba.toarray()`."
        with pytest.raises(TypeError, match=re.escape(message)):
            function(given, P > 0.5, average=average)


def test_what_the_refusal_of_a_sparse_matrix_recommends_works():
    given, wanted = sparse.csr_array(P), multilabel.decide(P)
    assert np.array_equal(multilabel.decide(given.toarray()).labels, wanted.labels)
    assert np.array_equal(bestcut.decide_each(given).labels.toarray(), wanted.labels)
    found = multilabel.decide(given, average="macro", per_row=1)
    assert found.labels.sum(axis=1).tolist() == [1, 1]


def test_bounds_of_decide_are_checked():
    with pytest.raises(ValueError, match="`min_positives` must not be negative"):
        multilabel.decide(P, min_positives=-1)
    assert multilabel.decide(P, average="micro", min_positives=4).labels.sum() >= 4


def test_the_comparison_with_draws_rejects_another_law():
    p = np.random.default_rng(3).random((40, 6))
    found = bestcut.multilabel.score_distribution(p, p > 0.4, "f1")
    scores = found.sample(4000, random_state=1)
    assert_same_law(found, scores)
    for wrong in (scores + 0.02, scores.mean() + 1.2 * (scores - scores.mean())):
        with pytest.raises(AssertionError):
            assert_same_law(found, wrong)


def test_one_row_is_told_what_to_do():
    with pytest.raises(ValueError, match=r"For one row pass `\[y_proba\]`\. For one"):
        multilabel.decide([0.2, 0.4])
