"""The displays tell doubt about the probabilities from chance in the labels."""

import numpy as np
import pytest

from groups import one_in

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)

import bestcut  # noqa: E402
from bestcut import UncertainProbabilities, multilabel  # noqa: E402
from bestcut.displays import (  # noqa: E402
    CalibrationCheckDisplay,
    CalibrationMapDisplay,
    DecisionDisplay,
    ExpectedScoreDisplay,
    ScoreDistributionDisplay,
)

RNG = np.random.default_rng(0)
BASE = np.sort(RNG.beta(0.5, 2, 40))
TABLE = np.array([BASE**power for power in np.linspace(0.7, 1.4, 15)])
U = UncertainProbabilities(TABLE)
SCORES = RNG.random(200)
LABELS = RNG.random(200) < SCORES**2
CALIBRATION = bestcut.calibrate(LABELS, SCORES, n_draws=50)

DRAW = {
    "curve": lambda p, ax: ExpectedScoreDisplay.from_predictions(
        p, "f1", band=0.9, ax=ax
    ),
    "curves": lambda p, ax: ExpectedScoreDisplay.from_predictions(
        {"one": p, "mean": p.mean}, ["f1", "mcc"], band=0.9, ax=ax
    ),
    "of a decision": lambda p, ax: ExpectedScoreDisplay.from_decision(
        bestcut.decide(p, "squared_count_error"), band=0.9, ax=ax
    ),
    "decision": lambda p, ax: DecisionDisplay.from_predictions(p, "f1", ax=ax),
    "score": lambda p, ax: ScoreDistributionDisplay.from_distribution(
        bestcut.decide(p, "f1").distribution(), observed=0.5, ax=ax
    ),
    "loss": lambda p, ax: ScoreDistributionDisplay.from_distribution(
        bestcut.decide(p, "squared_count_error").distribution(), ax=ax
    ),
    "check": lambda p, ax: CalibrationCheckDisplay.from_predictions(
        np.arange(len(p)) % 2, p, ax=ax
    ),
    "maps": lambda p, ax: CalibrationMapDisplay.from_calibration(CALIBRATION, ax=ax),
    "maps and labels": lambda p, ax: CalibrationMapDisplay.from_calibration(
        CALIBRATION, LABELS, SCORES, ax=ax
    ),
}


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@one_in(2, "name", list(DRAW))
def test_a_display_draws_where_it_is_told_and_in_grey(name):
    _, (left, right) = plt.subplots(1, 2)
    display = DRAW[name](U, right)
    assert display.ax_ is right
    assert not left.has_data()
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())[..., :3].astype(int)
    assert (pixels == pixels[..., :1]).all()
    assert display.plot() is display


@one_in(
    3,
    "name, table",
    list(DRAW),
    [np.empty((2, 0)), [[0.3]], [[0.3], [0.6]], [[0.0] * 4] * 2, [[1.0, 1.0]] * 3],
)
def test_a_display_takes_the_smallest_batches(name, table):
    display = DRAW[name](UncertainProbabilities(table), None)
    display.figure_.canvas.draw()
    (axes,) = display.figure_.axes
    assert axes.has_data()
    assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()


def ends_at(band, x):
    points = band.get_paths()[0].vertices
    there = points[points[:, 0] == x][:, 1]
    return there.min(), there.max()


def test_the_bands_are_the_interval_and_the_range_of_the_expected_scores():
    display = ExpectedScoreDisplay.from_predictions(U, "f1", band=0.8)
    (decision,) = display.decisions.values()
    (band,), (doubt,) = display.bands_, display.doubts_
    k = decision.n_positive
    interval = decision.distribution().interval(0.8)
    np.testing.assert_allclose(ends_at(band, k), interval, rtol=1e-12)
    each = [bestcut.expected_score(p, decision.labels, "f1") for p in TABLE]
    np.testing.assert_allclose(
        ends_at(doubt, k), np.quantile(each, [0.1, 0.9]), rtol=1e-12
    )
    assert "80% of test sets" in legend(display)
    assert "of that, doubt about the probabilities" in legend(display)
    assert ExpectedScoreDisplay.from_predictions(U, "f1").doubts_ == []
    assert ExpectedScoreDisplay.from_predictions(U.mean, "f1", band=0.8).doubts_ == []


def test_the_curve_is_the_mean_over_draws():
    display = ExpectedScoreDisplay.from_predictions(U, "f1")
    (line,) = display.lines_
    curves = [bestcut.decide(p, "f1").curve.expected_score for p in TABLE]
    np.testing.assert_allclose(line.get_ydata(), np.mean(curves, axis=0), atol=1e-12)


def test_the_ranked_means_lie_between_the_ends_of_the_draws():
    display = DecisionDisplay.from_predictions(U)
    low, high = (line.get_ydata()[:-1] for line in display.bounds_)
    ranked = np.sort(TABLE, axis=1)[:, ::-1]
    np.testing.assert_allclose(display.line_.get_ydata()[:-1], ranked.mean(axis=0))
    np.testing.assert_allclose([low, high], np.quantile(ranked, [0.05, 0.95], axis=0))
    assert "90% of the draws" in legend(display)
    assert DecisionDisplay.from_predictions(U.mean).bounds_ == []


def test_chance_in_labels_alone_is_the_law_of_the_mean_probabilities():
    decision = bestcut.decide(U, "f1")
    score = decision.distribution()
    display = ScoreDistributionDisplay.from_distribution(score)
    known = bestcut.score_distribution(U.mean, decision.labels, "f1")
    x, y = display.labels_line_.get_data()
    np.testing.assert_allclose(y, [known.prob_at_least(v) for v in x], atol=1e-12)
    x, y = display.line_.get_data()
    np.testing.assert_allclose(y, [score.prob_at_least(v) for v in x], atol=1e-12)
    assert {"all doubts", "chance in labels alone"} <= set(legend(display))
    plain = ScoreDistributionDisplay.from_distribution(known)
    assert plain.labels_line_ is None
    assert legend(plain) == ["90% of test sets", "expected"]
    assert known.at_mean() is known


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_averages_have_a_part_of_chance_alone_too(average, shared):
    columns = [
        UncertainProbabilities(TABLE[:3, :6]),
        UncertainProbabilities(TABLE[3:6, 9:15]),
    ]
    labels = np.arange(12).reshape(6, 2) % 3 == 0
    score = multilabel.score_distribution(
        columns, labels, average=average, shared_draws=shared
    )
    means = np.column_stack([column.mean for column in columns])
    known = multilabel.score_distribution(means, labels, average=average)
    assert score.at_mean().mean == pytest.approx(known.mean, abs=1e-12)
    assert score.at_mean().std == pytest.approx(known.std, abs=1e-12)


def test_the_maps_are_those_of_the_calibration():
    display = CalibrationMapDisplay.from_calibration(CALIBRATION, LABELS, SCORES)
    x = display.line_.get_xdata()
    assert (x[0], x[-1]) == CALIBRATION.score_range
    maps = CALIBRATION.probabilities(x)
    np.testing.assert_array_equal(display.line_.get_ydata(), maps.mean(axis=0))
    there = ends_at(display.band_, x[200])
    np.testing.assert_allclose(there, np.quantile(maps[:, 200], [0.05, 0.95]))
    for line in display.draws_:
        assert (line.get_ydata() == maps).all(axis=1).any()
    assert legend(display) == [
        "90% of the maps",
        "some of them",
        "Mean",
        "Labels, in bins",
    ]
    assert display.ax_.get_title() == "From 200 labels"
    assert CalibrationMapDisplay.from_calibration(CALIBRATION).points_ is None


def test_bins_of_labels_have_about_as_many_and_part_no_equal_scores():
    x, y = CalibrationMapDisplay.from_predictions(
        LABELS, SCORES, n_bins=4
    ).points_.get_data()
    order = np.argsort(SCORES).reshape(4, 50)
    np.testing.assert_allclose(x, SCORES[order].mean(axis=1))
    np.testing.assert_allclose(y, LABELS[order].mean(axis=1))
    display = CalibrationMapDisplay.from_predictions([1, 0, 1, 1], [0.5, 0.5, 0.5, 0.9])
    assert display.points_.get_xdata().tolist() == [0.5, 0.9]
    assert display.points_.get_ydata() == pytest.approx([2 / 3, 1.0])
    one = CalibrationMapDisplay.from_predictions([1], [3.5])
    assert one.points_.get_xdata().tolist() == [3.5]


def test_labels_to_show_are_checked():
    with pytest.raises(ValueError, match="`n_bins` must be at least 1"):
        CalibrationMapDisplay.from_predictions([0, 1], [0.2, 0.4], n_bins=0)
    with pytest.raises(ValueError, match="y_true"):
        CalibrationMapDisplay.from_calibration(CALIBRATION, [0, 1, 0], [0.2, 0.4])
    with pytest.raises((TypeError, ValueError), match="scores"):
        CalibrationMapDisplay.from_calibration(CALIBRATION, [0, 1])
