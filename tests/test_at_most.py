"""`at_most` is to losses what `at_least` is to scores."""

import numpy as np
import pytest

import bestcut
from bestcut.goals import Certain

P = np.array([0.95, 0.9, 0.8, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1, 0.05] * 5)
DRAWS = bestcut.UncertainProbabilities([P, P**1.2, P**0.8])
FPR = bestcut.metrics.get("fpr")


@pytest.mark.parametrize("y_proba", [P, DRAWS], ids=["known", "drawn"])
@pytest.mark.parametrize("most", [0.05, 0.2, Certain(0.2, probability=0.9)])
def test_the_best_cut_below_a_rate_is_the_best_of_those_that_keep_it(y_proba, most):
    decision = bestcut.decide(y_proba, "recall", at_most={"fpr": most})
    kept = []
    order = np.argsort(-P, kind="stable")
    for k in range(P.size + 1):
        labels = np.zeros(P.size, dtype=bool)
        labels[order[:k]] = True
        score = bestcut.score_distribution(y_proba, labels, FPR)
        if isinstance(most, Certain):
            # For a loss this is the probability of at most so much.
            kept.append(score.prob_at_least(most.score) >= most.probability)
        else:
            kept.append(score.mean <= most)
    # The expected recall rises with every row.
    assert 0 < decision.n_positive == max(np.flatnonzero(kept)) < P.size
    (condition,) = decision.conditions
    assert condition.metric == FPR
    assert "at most" in repr(decision) or isinstance(most, Certain)


def test_a_rate_below_and_one_minus_it_above_are_the_same_condition():
    below = bestcut.decide(P, "recall", at_most={"fpr": 0.1, "fnr": 0.6})
    above = bestcut.decide(P, "recall", at_least={"tnr": 0.9, "tpr": 0.4})
    assert below.n_positive == above.n_positive
    assert [repr(one) for one in below.conditions] == [
        f"expected false_positive_rate {below.conditions[0].reached:.6g} (at most 0.1)",
        f"expected false_negative_rate {below.conditions[1].reached:.6g} (at most 0.6)",
    ]


def test_both_may_be_asked_for_and_several_of_one():
    decision = bestcut.decide(
        P, "f1", at_least={"recall": 0.5}, at_most={"fpr": [0.3, Certain(0.4)]}
    )
    assert [one.metric.name for one in decision.conditions] == [
        "recall",
        *["false_positive_rate"] * 2,
    ]
    assert "P(false_positive_rate <= 0.4)" in repr(decision)


@pytest.mark.parametrize("y_proba", [P, DRAWS], ids=["known", "drawn"])
def test_what_cannot_be_kept_is_refused_with_what_can(y_proba):
    with pytest.raises(bestcut.InfeasibleError) as error:
        bestcut.decide(y_proba, at_most={"fpr": 0.001}, min_positives=20)
    assert str(error.value).startswith(
        "`at_most` cannot be satisfied by any prediction with 20 to 50 positive. The "
        "best that each metric can reach: false_positive_rate "
    )
    assert "(asked: 0.001), with 20 positive" in str(error.value)
    with pytest.raises(bestcut.InfeasibleError, match="`at_least` and `at_most` can"):
        bestcut.decide(y_proba, at_least={"recall": 0.99}, at_most={"fpr": 0.01})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"at_least": {"fpr": 0.05}},
            r"`at_least` .*'false_positive_rate' is a loss\. Pass "
            r"at_most=\{'false_positive_rate': 0\.05\}\.",
        ),
        (
            {"at_most": {"precision": 0.9}},
            r"`at_most` .*'precision' is a score\. Pass at_least=\{'precision': 0\.9\}",
        ),
        ({"at_most": {"fpr": 5}}, r"`at_most\[.*\]` must be .*got 5\. Pass 0\.05 for"),
        ({"at_most": 0.05}, r"`at_most` must map losses .*\{'false_positive_rate': 0"),
        ({"at_most": {"fp": 3}}, r"`at_most` .*'fp' is a score"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_call_that_does(asked, message):
    for decide in (bestcut.decide, lambda p, **x: bestcut.decide_each([p], **x)):
        with pytest.raises((ValueError, TypeError), match=message):
            decide(P, **asked)


def test_many_problems_are_decided_as_each_by_itself():
    matrix = np.random.default_rng(0).beta(0.5, 1.5, (40, 12))
    for asked in ({"at_most": {"fpr": 0.1}}, {"at_most": {"fpr": Certain(0.2)}}):
        some = bestcut.decide_each(matrix, "f1", **asked)
        each = [bestcut.decide(row, "f1", **asked) for row in matrix]
        np.testing.assert_allclose(
            some.expected_score,
            [one.expected_score for one in each],
            rtol=0,
            atol=float(some.error.max() + max(one.error for one in each)),
        )
    with pytest.raises(bestcut.InfeasibleError, match="row 0: `at_most` cannot") as e:
        bestcut.decide_each(matrix, at_most={"fpr": 1e-6}, min_positives=3)
    assert "0/0" not in str(e.value)


def test_a_row_utility_takes_no_conditions():
    with pytest.raises(bestcut.SolverMismatchError, match="`at_most` must be left out"):
        bestcut.decide(P, bestcut.RowUtility(tp=1.0), at_most={"fpr": 0.1})
