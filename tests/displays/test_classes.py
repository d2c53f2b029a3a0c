"""The displays of several classes show what will be scored, and what confused."""

from itertools import pairwise

import numpy as np
import pytest

from groups import one_in

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)

import bestcut  # noqa: E402
from bestcut import multiclass  # noqa: E402
from bestcut.displays import ClassConfusionDisplay, ClassScoresDisplay  # noqa: E402

NAMES = ["cat", "dog", "hen", "owl"]
P = np.random.default_rng(0).dirichlet([1.2, 0.8, 0.3, 0.1], 60)
FOUND = multiclass.decide(P, classes=NAMES)

DRAW = {
    "scores": lambda p, ax: ClassScoresDisplay.from_predictions(
        p, np.argmax(p, axis=1), ax=ax
    ),
    "a decision": lambda p, ax: ClassScoresDisplay.from_decision(
        multiclass.decide(p), ax=ax
    ),
    "mcc": lambda p, ax: ClassScoresDisplay.from_decision(
        multiclass.decide(p, "mcc"), ax=ax
    ),
    "confusion": lambda p, ax: ClassConfusionDisplay.from_predictions(
        p, np.argmax(p, axis=1), ax=ax
    ),
    "confusion of a decision": lambda p, ax: ClassConfusionDisplay.from_decision(
        multiclass.decide(p), p, normalize="true", ax=ax
    ),
}


@pytest.mark.parametrize("name", DRAW)
def test_a_display_draws_where_it_is_told_and_in_grey(name):
    _, (left, right) = plt.subplots(1, 2)
    display = DRAW[name](P, right)
    assert display.ax_ is right
    assert not left.has_data()
    assert right.get_xlabel()
    assert right.get_ylabel()
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())[..., :3].astype(int)
    assert (pixels == pixels[..., :1]).all()
    assert display.plot() is display


@one_in(2, "name, classes", list(DRAW), [2, 13, 90])
def test_few_and_many_classes_fit(name, classes):
    display = DRAW[name](np.full((2, classes), 1 / classes), None)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    assert len(boxes) == (classes if classes <= 40 else 30)  # every third of 90
    boxes.sort(key=lambda box: box.y0)
    for below, above in pairwise(boxes):
        assert below.y1 <= above.y0 + 1.0  # a pixel
    assert all(box.x0 >= -1.0 for box in boxes)


def test_scores_are_those_of_each_class_the_best_first():
    display = ClassScoresDisplay.from_decision(FOUND)
    scores, place = display.points_.get_data()
    np.testing.assert_array_equal(scores, np.sort(FOUND.each)[::-1])
    np.testing.assert_array_equal(place, range(4))
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == [
        f"{NAMES[j]}  ({FOUND.n_positive[j]})" for j in display.order_.tolist()
    ]
    assert display.ax_.get_title() == f"Average {FOUND.expected_score:.3g} (dashed)"
    top, bottom = display.ax_.transData.transform([[0, 0], [0, 3]])[:, 1]
    assert top > bottom


def test_any_predictions_are_scored_as_by_the_library():
    same = ClassScoresDisplay.from_predictions(P, FOUND.labels, classes=NAMES)
    np.testing.assert_allclose(same.scores, FOUND.each, atol=1e-10)
    np.testing.assert_array_equal(same.n_positive, FOUND.n_positive)
    weights = [1, 2, 3, 4]
    other = ClassScoresDisplay.from_predictions(P, [1] * 60, "mcc", weights=weights)
    each = [bestcut.expected_score(P[:, j], [j == 1] * 60, "mcc") for j in range(4)]
    np.testing.assert_allclose(other.scores, each, atol=1e-12)
    assert other.mean == pytest.approx(
        multiclass.expected_score(P, [1] * 60, "mcc", weights=weights), abs=1e-12
    )


def test_of_a_loss_the_smallest_is_the_best():
    display = ClassScoresDisplay.from_predictions(
        P, np.argmax(P, axis=1), "squared_count_error"
    )
    assert (np.diff(display.points_.get_xdata()) >= 0).all()


def test_what_counts_besides_is_not_in_the_average():
    found = multiclass.decide(P, also={"precision@k": 0.5})
    display = ClassScoresDisplay.from_decision(found)
    assert display.mean == pytest.approx(found.each.mean(), abs=1e-12)
    assert display.mean < found.expected_score


def test_the_confusion_is_the_expected_number_of_rows():
    display = ClassConfusionDisplay.from_decision(FOUND, P)
    for i in range(4):
        for j in range(4):
            given = FOUND.labels == NAMES[j]
            assert display.confusion[i, j] == pytest.approx(P[given, i].sum())
    np.testing.assert_allclose(display.confusion.sum(axis=0), FOUND.n_positive)
    np.testing.assert_allclose(display.confusion.sum(axis=1), P.sum(axis=0))
    for j in range(4):  # one class against the rest
        cells = bestcut.expected_confusion(P[:, j], FOUND.labels == NAMES[j]).mean
        assert display.confusion[j, j] == pytest.approx(cells.tp)
    np.testing.assert_array_equal(display.image_.get_array(), display.confusion)
    assert len(display.texts_) == 16


@pytest.mark.parametrize(("normalize", "axis"), [("true", 1), ("pred", 0)])
def test_shares_sum_to_one(normalize, axis):
    display = ClassConfusionDisplay.from_decision(FOUND, P, normalize=normalize)
    shown = np.asarray(display.image_.get_array())
    np.testing.assert_allclose(shown.sum(axis=axis), 1.0)
    everything = display.plot(normalize="all")
    np.testing.assert_allclose(np.asarray(everything.image_.get_array()).sum(), 1.0)
    none = ClassConfusionDisplay.from_predictions(P, [0] * 60, normalize="pred")
    assert np.asarray(none.image_.get_array())[:, 1:].max() == 0.0


def test_sparse_probabilities_are_as_good():
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.csr_array(P)
    labels = np.argmax(P, axis=1)
    scores = ClassScoresDisplay.from_predictions(rows, labels).scores
    dense = ClassScoresDisplay.from_predictions(P, labels).scores
    np.testing.assert_array_equal(scores, dense)


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(ValueError, match="average='micro', one score for all classes"):
        ClassScoresDisplay.from_decision(multiclass.decide(P, average="micro"))
    with pytest.raises(ValueError, match="`normalize`"):
        ClassConfusionDisplay.from_decision(FOUND, P, normalize="rows")
    with pytest.raises(ValueError, match="y_pred"):
        ClassConfusionDisplay.from_predictions(P, [0, 1])
    with pytest.raises(ValueError, match="sum to 1"):
        ClassScoresDisplay.from_predictions(P / 2, [0] * 60)
