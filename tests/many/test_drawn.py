"""Many problems with draws of their probabilities: as by enumeration of all labels."""

import weakref
from itertools import pairwise, product

import numpy as np
import pytest

import bestcut
from bestcut import UncertainProbabilities, decide_each, multilabel
from bestcut.metrics import get
from groups import slow

METRICS = ["f1", "jaccard", "mcc", "accuracy", "squared_count_error"]
AVERAGES = ["samples", "macro", "micro"]
each_metric = pytest.mark.parametrize("metric", METRICS)
each_average = pytest.mark.parametrize("average", AVERAGES)
each_sharing = pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
ATOL = 1e-12  # sums of some thousand products of probabilities and scores


def columns_of(seed, rows=4, count=2, draws=3):
    """Return draws of the probabilities of some columns: shape (draws, rows) each."""
    rng = np.random.default_rng(seed)
    return [rng.random((draws, rows)) for _ in range(count)]


def uncertain(tables):
    return [UncertainProbabilities(table) for table in tables]


def joint_draws(tables, shared):
    """Return matrices of probabilities, all equally likely."""
    if shared:
        return [np.column_stack(rows) for rows in zip(*tables, strict=True)]
    return [np.column_stack(rows) for rows in product(*tables)]


def scores_of(Y, labels, metric, average):
    """Return the average score of the labels for each of some outcomes."""
    axis = {"samples": 2, "macro": 1, "micro": (1, 2)}[average]
    tp = (Y & labels).sum(axis=axis).astype(float)
    fp = (~Y & labels).sum(axis=axis)
    fn = (Y & ~labels).sum(axis=axis)
    tn = (~Y & ~labels).sum(axis=axis)
    scores = np.broadcast_to(get(metric).score_cells(tp, fp, fn, tn), tp.shape)
    return scores if average == "micro" else scores.mean(axis=1)


def enumerated(tables, labels, metric, average, shared):
    """Return all average scores with their probabilities, and means by draw."""
    shape = labels.shape
    bits = list(product((False, True), repeat=labels.size))
    Y = np.array(bits).reshape(-1, *shape)
    scores = scores_of(Y, labels, metric, average)
    masses = [
        np.where(Y, p, 1 - p).prod(axis=(1, 2)) for p in joint_draws(tables, shared)
    ]
    means = [mass @ scores for mass in masses]
    return scores, np.mean(masses, axis=0), np.array(means)


@each_sharing
@each_average
@each_metric
def test_the_law_of_an_average_is_that_of_all_outcomes(metric, average, shared):
    tables = columns_of(0, rows=3, count=3)
    labels = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=bool)
    law = multilabel.score_distribution(
        uncertain(tables), labels, metric, average=average, shared_draws=shared
    )
    scores, mass, means = enumerated(tables, labels, metric, average, shared)
    mean = mass @ scores
    assert law.mean == pytest.approx(mean, abs=ATOL)
    assert law.std**2 == pytest.approx(mass @ (scores - mean) ** 2, abs=ATOL)
    assert law.std_calibration**2 == pytest.approx(np.var(means), abs=ATOL)
    # The grid moves a score by ten of its standard deviations with a chance of at most
    # 0.01 (Chebyshev).
    steps = np.unique(scores.round(9))
    for low, high in pairwise(steps):
        middle = (low + high) / 2
        better = (
            scores <= middle if metric == "squared_count_error" else scores >= middle
        )
        if high - low > 20 * law.value_error:
            assert law.prob_at_least(middle) == pytest.approx(
                mass[better].sum(), abs=0.01
            )
    one = multilabel.expected_score(
        uncertain(tables), labels, metric, average=average, shared_draws=shared
    )
    assert one == law.mean


@each_sharing
@each_average
@each_metric
def test_no_labels_are_better_by_more_than_the_gap(metric, average, shared):
    tables = columns_of(1, rows=3)
    decision = multilabel.decide(
        uncertain(tables), metric, average=average, shared_draws=shared
    )
    sign = get(metric).sign
    values = [
        sign * mass @ scores
        for labels in product((False, True), repeat=6)
        for scores, mass, _ in [
            enumerated(tables, np.reshape(labels, (3, 2)), metric, average, shared)
        ]
    ]
    scores, mass, _ = enumerated(tables, decision.labels, metric, average, shared)
    assert decision.expected_score == pytest.approx(mass @ scores, abs=ATOL)
    assert max(values) <= sign * decision.expected_score + decision.gap + ATOL
    assert decision.average == average
    assert decision.labels.shape == (3, 2)


@pytest.mark.parametrize("draws", [4, slow(1)])
@each_sharing
@each_average
@each_metric
def test_draws_that_agree_give_the_answers_of_known_probabilities(
    metric, average, shared, draws
):
    P = np.random.default_rng(2).random((5, 3))
    tables = [np.repeat(column[None], draws, axis=0) for column in P.T]
    drawn = multilabel.decide(
        uncertain(tables), metric, average=average, shared_draws=shared
    )
    known = multilabel.decide(P, metric, average=average)
    assert drawn.expected_score == pytest.approx(known.expected_score, abs=ATOL)
    np.testing.assert_allclose(drawn.each, known.each, rtol=0, atol=ATOL)
    assert drawn.gap <= ATOL
    laws = [
        multilabel.score_distribution(
            uncertain(tables),
            known.labels,
            metric,
            average=average,
            shared_draws=shared,
        ),
        multilabel.score_distribution(P, known.labels, metric, average=average),
    ]
    assert laws[0].mean == pytest.approx(laws[1].mean, abs=ATOL)
    assert laws[0].std == pytest.approx(laws[1].std, abs=ATOL)
    assert laws[0].std_calibration == pytest.approx(0.0, abs=ATOL)
    for q in (0.05, 0.3, 0.5, 0.95):
        assert laws[0].ppf(q) == pytest.approx(laws[1].ppf(q), abs=ATOL)
        assert laws[0].quantile_error(q) == pytest.approx(0.0, abs=ATOL)


def test_the_error_of_a_quantile_where_each_draw_is_sure_of_the_labels():
    sure = UncertainProbabilities([[1.0], [0.0]])  # the accuracy of 1 is 1, or 0
    law = multilabel.score_distribution(
        [sure, sure], [[True, True]], "accuracy", average="macro", shared_draws=False
    )
    # The chance of a mean accuracy of 0 in the draws of one column: 0 and 1/2, with a
    # standard error of 1/4. The levels 0.1 and 0.3 are those of 0 and 1/2.
    level_error = np.sqrt(2) / 4
    assert law.quantile_error(0.2) == pytest.approx(level_error / 0.1 / 4, rel=1e-3)
    both = UncertainProbabilities([[1.0, 1.0], [0.0, 0.0]])
    groups = bestcut.decide_each(both, "accuracy", groups=[0, 1]).distribution()
    # Chances of 0 and 1, with a standard error of 1/2; levels 0.2 and 0.6 of 0 and 1.
    assert groups.quantile_error(0.4) == pytest.approx(0.5 / 0.2 / 2, rel=1e-3)


@pytest.mark.slow
def test_doubt_averages_out_only_with_a_map_for_each_column():
    # One map that is wrong by a factor, for six equal columns.
    base = np.linspace(0.05, 0.85, 30)
    table = np.clip(base * np.linspace(0.6, 1.15, 20)[:, None], 0.0, 1.0)
    columns = [UncertainProbabilities(table)] * 6
    labels = np.repeat((base > 0.4)[:, None], 6, axis=1)
    own, shared = (
        multilabel.score_distribution(
            columns, labels, "f1", average="macro", shared_draws=together
        )
        for together in (False, True)
    )
    one = bestcut.score_distribution(columns[0], labels[:, 0], "f1")
    assert own.mean == pytest.approx(shared.mean, abs=ATOL)
    assert shared.std_calibration == pytest.approx(one.std_calibration, rel=1e-9)
    assert own.std_calibration == pytest.approx(one.std_calibration / np.sqrt(6), 1e-9)
    assert own.std_labels == pytest.approx(shared.std_labels, rel=1e-9)
    # The quantile's standard error by the formula, and by drawing the draws anew.
    rng = np.random.default_rng(0)
    for law, together in ((own, False), (shared, True)):
        again = []
        for _ in range(60):
            picks = rng.integers(20, size=(6, 20))
            some = [
                UncertainProbabilities(table[picks[0 if together else j]])
                for j in range(6)
            ]
            again.append(
                multilabel.score_distribution(
                    some, labels, "f1", average="macro", shared_draws=together
                ).ppf(0.1)
            )
        # The spread of 60 values is known to 9 %; four of these, and a small bias.
        assert law.quantile_error(0.1) == pytest.approx(np.std(again), rel=0.45)


@each_sharing
@pytest.mark.parametrize("average", ["samples", "macro"])
def test_samples_of_an_average_have_its_mean_and_spread(average, shared):
    tables = columns_of(4, rows=6, count=3)
    labels = np.random.default_rng(0).random((6, 3)) < 0.5
    law = multilabel.score_distribution(
        uncertain(tables), labels, average=average, shared_draws=shared
    )
    drawn = law.sample(20_000, 0)
    assert drawn.mean() == pytest.approx(law.mean, abs=5 * law.std / np.sqrt(20_000))
    assert drawn.std() == pytest.approx(law.std, rel=0.03)


def test_many_draws_of_own_columns_are_paired_at_random():
    rng = np.random.default_rng(0)
    shift = rng.normal(size=(100, 1))
    base = np.linspace(-2, 2, 12)
    table = 1 / (1 + np.exp(-base - shift))  # both columns with the same draws
    columns = [UncertainProbabilities(table)] * 2
    labels = np.repeat((base > 0)[:, None], 2, axis=1)
    own, shared = (
        multilabel.score_distribution(
            columns, labels, "accuracy", average="micro", shared_draws=together
        )
        for together in (False, True)
    )
    assert own.mean == pytest.approx(shared.mean, abs=ATOL)
    ratio = (own.std_calibration / shared.std_calibration) ** 2
    assert ratio == pytest.approx(0.5, abs=0.1)  # a correlation of 100 pairs: 0.2
    again = multilabel.score_distribution(columns, labels, "accuracy", average="micro")
    assert again.std == own.std


def test_one_calibration_for_all_columns_keeps_one_ranking():
    rng = np.random.default_rng(0)
    scores = rng.random(300)
    calibration = bestcut.calibrate(rng.random(300) < scores, scores, n_draws=20)
    low, high = calibration.score_range
    S = rng.uniform(low, high, (8, 3))
    columns = [calibration(column) for column in S.T]
    whole = multilabel.decide(columns, average="micro", shared_draws=True)
    flat = bestcut.decide(calibration(S.ravel()))
    assert whole.expected_score == pytest.approx(flat.expected_score, abs=ATOL)
    assert whole.gap <= 1e-9  # draws of one map rank alike
    np.testing.assert_array_equal(whole.labels.ravel(), flat.labels)


@each_average
def test_bounds_are_those_of_each_problem(average):
    columns = uncertain(columns_of(5, rows=4, count=3))
    decision = multilabel.decide(
        columns, average=average, min_positives=2, max_positives=2
    )
    axis = {"samples": 1, "macro": 0, "micro": None}[average]
    assert np.all(decision.labels.sum(axis=axis) == 2)


@each_metric
@pytest.mark.parametrize("jobs", [1, 3])
def test_groups_are_what_decide_would_choose(metric, jobs):
    rng = np.random.default_rng(0)
    table, groups = rng.random((3, 20)), rng.choice(list("abcd"), 20)
    found = decide_each(
        UncertainProbabilities(table), metric, groups=groups, n_jobs=jobs
    )
    assert found.groups.tolist() == list("abcd")
    for i, name in enumerate(found.groups):
        here = groups == name
        one = bestcut.decide(UncertainProbabilities(table[:, here]), metric)
        np.testing.assert_array_equal(found.labels[here], one.labels)
        assert found.expected_score[i] == one.expected_score
        assert found.n_positive[i] == one.n_positive
        assert found.threshold[i] == one.threshold
        assert (found.error[i], found.gap[i]) == (one.error, one.gap)


def test_the_laws_of_a_group_are_not_kept(monkeypatch):
    made, alive = [], []

    def counted(*arguments, **options):
        alive.append(sum(one() is not None for one in made))
        found = bestcut.decide(*arguments, **options)
        made.append(weakref.ref(found))
        return found

    monkeypatch.setattr("bestcut.many._each.decide", counted)
    draws = np.random.default_rng(4).random((5, 60))
    decide_each(UncertainProbabilities(draws), groups=np.arange(60) // 3)
    assert alive == [0] * 20


@pytest.mark.parametrize("draws", [1, 3])
def test_groups_with_draws_that_agree_are_as_for_known_probabilities(draws):
    rng = np.random.default_rng(1)
    p, groups = rng.random(30), rng.integers(5, size=30)
    options = {"groups": groups, "min_positives": 1, "max_positives": 3}
    known = decide_each(p, "f1", **options)
    drawn = decide_each(UncertainProbabilities([p] * draws), "f1", **options)
    np.testing.assert_allclose(
        drawn.expected_score, known.expected_score, rtol=0, atol=ATOL
    )
    np.testing.assert_array_equal(drawn.n_positive, known.n_positive)
    np.testing.assert_array_equal(drawn.labels, known.labels)
    empty = decide_each(UncertainProbabilities(np.empty((2, 0))), groups=[])
    assert repr(empty) == "Decisions(f1: no problems)"
    assert empty.labels.shape == (0,)


@each_average
def test_no_rows_at_all(average):
    none = uncertain([np.empty((2, 0))] * 2)
    decision = multilabel.decide(none, average=average)
    assert decision.labels.shape == (0, 2)
    known = multilabel.decide(np.empty((0, 2)), average=average)
    np.testing.assert_array_equal(decision.each, known.each)
    if average == "samples":
        with pytest.raises(
            ValueError, match="must not be empty: there is nothing to average over"
        ):
            multilabel.expected_score(none, decision.labels, average=average)


U = UncertainProbabilities([[0.5, 0.25]] * 2)
THREE = UncertainProbabilities([[0.5, 0.25]] * 3)
LONG = UncertainProbabilities([[0.5, 0.25, 0.1]] * 2)
MANY = [UncertainProbabilities([[0.5, 0.25]] * size) for size in (40, 50)]
REFUSED = {
    "no groups": (lambda: decide_each(U), "Pass `groups`, or call `bestcut.decide`"),
    "a list": (lambda: decide_each([U, U]), "call `bestcut.multilabel.decide`"),
    "a column": (lambda: multilabel.decide(U), r"Pass `\[y_proba\]` if there is one"),
    "a mixture": (
        lambda: multilabel.decide([U, [0.5, 0.25]]),
        r"y_proba\[1\] is list. For known probabilities, pass",
    ),
    "lengths": (
        lambda: multilabel.decide([U, LONG]),
        r"y_proba\[0\] has 2 and y_proba\[1\] has 3",
    ),
    "shared": (
        lambda: multilabel.decide([U, THREE], shared_draws=True),
        r"`shared_draws=True` takes .* y_proba\[0\] has 2 and y_proba\[1\] has 3",
    ),
    "unpaired": (
        lambda: multilabel.decide(MANY, average="micro"),
        "at most 1024 combinations of draws",
    ),
    "known": (
        lambda: multilabel.decide([[0.5]], shared_draws=True),
        "`shared_draws` is for draws of probabilities",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_possible_is_refused_with_the_way_out(name):
    call, words = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_columns_with_different_numbers_of_draws_have_a_macro_average():
    found = multilabel.decide([*MANY], average="macro")
    assert found.expected_score == pytest.approx(
        multilabel.decide([[0.5, 0.5], [0.25, 0.25]], average="macro").expected_score
    )
