"""The columns of a table have names, and these are the classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import bestcut
from bestcut import multiclass, multilabel
from bestcut.displays import ClassConfusionDisplay, ClassScoresDisplay

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = 1 + np.argmax(X + RNG.normal(size=X.shape), axis=1)  # classes 1, 2, 3
MODEL = LogisticRegression().fit(X, Y)
P = MODEL.predict_proba(X)
NAMES = ["cat", "dog", "owl"]
KINDS = {
    "pandas": lambda p, names: pd.DataFrame(p, columns=names),
    "polars": lambda p, names: pl.DataFrame(p, schema=[str(x) for x in names]),
}


def test_the_classes_of_a_model_are_the_columns_of_its_frame():
    frame = pd.DataFrame(P, columns=MODEL.classes_)
    found = multiclass.decide(frame)
    wanted = multiclass.decide(P, classes=MODEL.classes_)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    assert found.realised(Y) == wanted.realised(Y) > 0.5
    of_truth = multiclass.expected_score(frame, Y)
    assert of_truth == multiclass.expected_score(P, Y, classes=MODEL.classes_)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_named_columns_does_not_matter(kind):
    wanted = multiclass.decide(P, classes=NAMES)
    mixed = KINDS[kind](P[:, [2, 0, 1]], ["owl", "cat", "dog"])
    found = multiclass.decide(mixed)
    np.testing.assert_array_equal(np.asarray(found.labels), wanted.labels)
    for score in (multiclass.expected_score, multiclass.score_distribution):
        one, other = score(mixed, wanted.labels), score(P, wanted.labels, classes=NAMES)
        assert repr(one) == repr(other) or one == pytest.approx(other, rel=1e-12)
    np.testing.assert_array_equal(np.asarray(wanted.rule()(mixed)), wanted.labels)
    display = ClassScoresDisplay.from_predictions(mixed, wanted.labels)
    assert display.classes.tolist() == ["owl", "cat", "dog"]
    ClassConfusionDisplay.from_predictions(mixed, wanted.labels)
    with pytest.raises(ValueError, match=r"`classes` must be in .*column 0 .*'owl'"):
        multiclass.decide(mixed, classes=NAMES)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_may_say_otherwise(kind):
    frame = KINDS[kind](P, ["p_cat", "p_dog", "p_owl"])
    found = multiclass.decide(frame, classes=NAMES)
    assert set(found.labels) <= set(NAMES)
    assert set(multiclass.decide(frame).labels) <= {"p_cat", "p_dog", "p_owl"}


@pytest.mark.parametrize("frame", [pd.DataFrame(P), pl.DataFrame(P)])
def test_columns_that_nobody_named_are_their_indices(frame):
    np.testing.assert_array_equal(
        np.asarray(multiclass.decide(frame).labels), multiclass.decide(P).labels
    )


@pytest.mark.parametrize("kind", KINDS)
def test_sets_of_labels_are_not_matched_by_position_against_their_names(kind):
    frame = KINDS[kind](P, NAMES)
    labels = KINDS[kind](np.eye(3, dtype=int)[[2, 0, 1]][Y - 1], ["owl", "cat", "dog"])
    cure = r"columns in one order.*Pass `y_pred\[y_proba\.columns\]`"
    with pytest.raises(ValueError, match=cure):
        multilabel.expected_score(frame, labels)
    decision = multilabel.decide(frame)
    with pytest.raises(ValueError, match="must have their columns in one order"):
        decision.realised(labels)
    some = bestcut.decide_each(frame, axis=0)
    with pytest.raises(ValueError, match="must have their columns in one order"):
        some.realised(labels)
    assert decision.realised(labels[NAMES]) > 0.0
