"""What may be passed as labels, probabilities and metrics, and what is refused."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut.metrics import LinearUtility


def test_a_list_of_metrics_gives_a_dict_by_name():
    rng = np.random.default_rng(1)
    p, labels = rng.random(30), rng.random(30) < 0.4
    metrics = ["f1", "squared_count_error", LinearUtility(tp=1, name="caught")]
    means = bestcut.expected_score(p, labels, metrics)
    laws = bestcut.score_distribution(p, labels, metrics)
    names = ["f1", "squared_count_error", "caught"]
    assert list(means) == list(laws) == names
    for name, metric in zip(names, metrics, strict=True):
        alone = bestcut.score_distribution(p, labels, metric)
        slack = alone.error + laws[name].error
        assert means[name] == pytest.approx(alone.mean, abs=slack, rel=0)
        assert laws[name].mean == pytest.approx(alone.mean, abs=slack, rel=0)
        assert laws[name].ppf(0.3) == alone.ppf(0.3)
    assert bestcut.expected_score(p, labels, ["mcc"]).keys() == {"mcc"}
    default = bestcut.expected_score(p, labels)
    assert isinstance(default, float)
    assert default == means["f1"]


def label_containers():
    labels = [True, False, True, False]
    numbers = [1, 0, 1, 0]
    frozen = np.array(labels)
    frozen.flags.writeable = False
    return {
        "list of bools": labels,
        "list of ints": numbers,
        "tuple of floats": (1.0, 0.0, 1.0, 0.0),
        "bool": np.array(labels),
        "int8": np.array(numbers, dtype=np.int8),
        "uint8": np.array(numbers, dtype=np.uint8),
        "float32": np.array(numbers, dtype=np.float32),
        "read-only": frozen,
        "strided": np.repeat(labels, 2)[::2],
        "pandas": pd.Series(numbers, index=list("dcba")),
        "pandas bool": pd.Series(labels),
        "pandas nullable": pd.Series(labels, dtype="boolean"),
        "pandas nullable ints": pd.Series(numbers, dtype="Int64"),
        "polars": pl.Series(numbers),
        "polars bool": pl.Series(labels),
    }


@pytest.mark.parametrize("kind", label_containers())
def test_every_container_of_labels_is_fine_and_not_changed(kind):
    p = np.array([0.25, 0.5, 0.125, 0.75])
    reference = bestcut.score_distribution(p, np.array([True, False, True, False]))
    data = label_containers()[kind]
    before = list(copy.copy(data))
    for proba in (p, p.astype(np.float32), p.tolist(), pd.Series(p), pl.Series(p)):
        distribution = bestcut.score_distribution(proba, data, "f1")
        assert distribution.mean == reference.mean
        assert distribution.interval() == reference.interval()
        assert bestcut.expected_score(proba, data) == reference.mean
        assert bestcut.expected_confusion(proba, data).mean.tp == 0.375
        distribution.sample(3, 0)
    assert list(data) == before
    assert p.tolist() == [0.25, 0.5, 0.125, 0.75]


def test_a_distribution_does_not_follow_later_changes_of_its_inputs():
    p, labels = np.array([0.3, 0.6, 0.2, 0.8]), np.array([True, False, True, True])
    distribution = bestcut.score_distribution(p, labels, "jaccard")
    confusion = bestcut.expected_confusion(p, labels)
    fresh = bestcut.score_distribution(p.copy(), labels.copy(), "jaccard")
    expected = fresh.mean, fresh.ppf(0.3), fresh.prob_at_least(0.5), fresh.std
    cells = bestcut.expected_confusion(p.copy(), labels.copy()).interval()
    p[:], labels[:] = 0.0, False
    got = (
        distribution.mean,
        distribution.ppf(0.3),
        distribution.prob_at_least(0.5),
        distribution.std,
    )
    assert got == expected
    assert confusion.interval() == cells


def test_nothing_to_predict_has_the_score_of_nothing():
    for metric, value in (("f1", 0.0), (bestcut.metrics.FBeta(zero_division=1.0), 1.0)):
        distribution = bestcut.score_distribution([], [], metric)
        assert bestcut.expected_score([], [], metric) == distribution.mean == value
        assert distribution.std == 0
        assert distribution.interval() == (value, value)
        assert distribution.prob_at_least(value) == 1
    assert bestcut.expected_confusion([], []).mean == (0, 0, 0, 0)


BAD_LABELS = {
    "a fraction": ([0, 0.3, 1], ValueError, r"`y_pred`.*y_pred\[1\] = 0\.3"),
    "two": ([0, 1, 2], ValueError, r"`y_pred`.*2"),
    "minus one": ([-1, 1, 1], ValueError, r"`y_pred`.*-1"),
    "nan": ([0, np.nan, 1], ValueError, r"`y_pred`.*nan"),
    "too few": ([0, 1], ValueError, r"`y_pred`.*3.*2"),
    "too many": ([0, 1, 0, 1], ValueError, r"`y_pred`.*3.*4"),
    "2-D": ([[0, 1, 1]], ValueError, r"`y_pred`.*\(1, 3\)"),
    "scalar": (1, ValueError, r"`y_pred`"),
    "strings": (["a", "b", "a"], TypeError, r"`y_pred`.*<U1"),
    "none": (None, (TypeError, ValueError), r"`y_pred`"),
    "missing": (
        pd.Series([1, None, 0], dtype="Int64"),
        (TypeError, ValueError),
        r"`y_pred`",
    ),
    "missing bool": (
        pd.Series([True, None, False], dtype="boolean"),
        (TypeError, ValueError),
        r"`y_pred`",
    ),
    "masked": (np.ma.array([0, 1, 1], mask=[0, 1, 0]), TypeError, r"`y_pred`.*masked"),
    "masked bool": (
        np.ma.array([False, True, True], mask=[0, 1, 0]),
        TypeError,
        r"`y_pred`.*masked",
    ),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_bad_labels_are_refused_by_name(kind):
    labels, error, message = BAD_LABELS[kind]
    for function in (
        bestcut.expected_score,
        bestcut.score_distribution,
        bestcut.expected_confusion,
    ):
        with pytest.raises(error, match=message):
            function([0.1, 0.2, 0.3], labels)


def test_bad_probabilities_and_metrics_are_refused_as_in_decide():
    for function in (
        bestcut.expected_score,
        bestcut.score_distribution,
        bestcut.expected_confusion,
    ):
        with pytest.raises(bestcut.InvalidProbabilityError, match="`y_proba`"):
            function([0.1, 1.2], [0, 1])
        with pytest.raises(ValueError, match="`y_proba`"):
            function([[0.1, 0.2]], [0, 1])
    for function in (bestcut.expected_score, bestcut.score_distribution):
        with pytest.raises(ValueError, match="Did you mean 'f1'"):
            function([0.1, 0.2], [0, 1], "F1")
        with pytest.raises(ValueError, match="Did you mean 'jaccard'"):
            function([0.1, 0.2], [0, 1], ["f1", "iou"])
        with pytest.raises(TypeError, match="from_counts"):
            function([0.1, 0.2], [0, 1], max)
