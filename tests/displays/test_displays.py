"""The displays draw what they say, where they are told, in black and white."""

import io
import re
from pathlib import Path

import numpy as np
import pytest

from groups import one_in

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)

import bestcut  # noqa: E402
from bestcut import displays  # noqa: E402
from bestcut.displays import (  # noqa: E402
    CalibrationCheckDisplay,
    DecisionDisplay,
    ExpectedScoreDisplay,
    ScoreDistributionDisplay,
)

ROOT = Path(__file__).parents[2]
P = np.random.default_rng(0).beta(0.4, 2, 80)
P.flags.writeable = False
Y = np.random.default_rng(1).random(80) < P


def score_of(p, metric="f1"):
    return bestcut.decide(p, metric).distribution()


DRAW = {
    "curve": lambda p, ax: ExpectedScoreDisplay.from_predictions(p, "f1", ax=ax),
    "band": lambda p, ax: ExpectedScoreDisplay.from_predictions(
        p, "mcc", band=0.9, ax=ax
    ),
    "curve of a decision": lambda p, ax: ExpectedScoreDisplay.from_decision(
        bestcut.decide(p), ax=ax
    ),
    "decision": lambda p, ax: DecisionDisplay.from_predictions(p, "f1", ax=ax),
    "a decision": lambda p, ax: DecisionDisplay.from_decision(bestcut.decide(p), ax=ax),
    "score": lambda p, ax: ScoreDistributionDisplay.from_distribution(
        score_of(p), observed=0.5, ax=ax
    ),
    "loss": lambda p, ax: ScoreDistributionDisplay.from_distribution(
        score_of(p, "squared_count_error"), ax=ax
    ),
    "calibration": lambda p, ax: CalibrationCheckDisplay.from_predictions(
        np.arange(len(p)) % 2, p, ax=ax
    ),
    "a check": lambda p, ax: CalibrationCheckDisplay.from_check(
        bestcut.check_calibration(np.zeros(len(p)), p), ax=ax
    ),
}


def drawn(display):
    out = io.BytesIO()
    display.figure_.savefig(out, format="png", dpi=40, metadata={"Software": None})
    return out.getvalue()


@pytest.mark.parametrize("name", DRAW)
def test_a_display_draws_on_the_axes_it_is_given(name):
    figure, (left, right) = plt.subplots(1, 2)
    display = DRAW[name](P, right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.has_data()
    assert not left.has_data()
    assert right.get_xlabel()
    assert right.get_ylabel()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", DRAW)
def test_a_display_makes_its_own_axes_and_can_be_drawn_again(name):
    display = DRAW[name](P, None)
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


@one_in(2, "name", list(DRAW))
def test_a_display_is_the_same_every_time(name):
    assert drawn(DRAW[name](P, None)) == drawn(DRAW[name](P.copy(), None))


@one_in(3, "name, p", list(DRAW), [[], [0.3], [0.0] * 4, [1.0, 1.0]])
def test_a_display_takes_the_smallest_batches(name, p):
    assert drawn(DRAW[name](p, None)).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", DRAW)
def test_a_display_uses_no_colour(name):
    display = DRAW[name](P, None)
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())[..., :3].astype(int)
    assert (pixels == pixels[..., :1]).all()


# --- the curve ------------------------------------------------------------------------


def test_the_curve_and_its_best_cut_are_those_of_decide():
    display = ExpectedScoreDisplay.from_predictions(P, "f1")
    one = bestcut.decide(P, "f1")
    (line,), (point,) = display.lines_, display.points_
    np.testing.assert_array_equal(line.get_xdata(), one.curve.n_positive)
    np.testing.assert_array_equal(line.get_ydata(), one.curve.expected_score)
    assert point.get_xdata() == [one.n_positive]
    assert display.decisions["F1"].n_positive == one.n_positive
    assert display.bands_ == []


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_several_metrics_and_models_are_told_apart():
    display = ExpectedScoreDisplay.from_predictions(P, ["f1", "mcc"])
    assert [re.sub(":.*", "", x) for x in labels(display)] == ["F1", "MCC", "at 0.5"]
    assert len({line.get_linestyle() for line in display.lines_}) == 2
    models = {"one": P, "other": P**0.5}
    display = ExpectedScoreDisplay.from_predictions(models, band=0.9, threshold=None)
    shown = [re.sub(":.*", "", x) for x in labels(display)]
    assert sorted(shown) == ["90% of test sets", "one", "other"]
    assert len(display.bands_) == 2
    display = ExpectedScoreDisplay.from_predictions(models, ["f1", "mcc"])
    assert list(display.decisions) == ["one, F1", "one, MCC", "other, F1", "other, MCC"]
    many = ExpectedScoreDisplay.from_predictions(P, bestcut.metrics.names()[:8])
    # matplotlib has no public name for the dashes of a line.
    looks = {
        (str(line._unscaled_dash_pattern), line.get_color()) for line in many.lines_
    }
    assert len(looks) == len(many.lines_)


def test_a_loss_is_called_a_loss():
    display = ExpectedScoreDisplay.from_predictions(P, "squared_count_error")
    assert display.ax_.get_ylabel() == "Expected loss"
    line, point = display.lines_[0], display.points_[0]
    assert point.get_ydata()[0] == min(line.get_ydata())
    both = ExpectedScoreDisplay.from_predictions(P, ["f1", "squared_count_error"])
    assert both.ax_.get_ylabel() == "Expected score"


def test_the_band_reaches_from_end_to_end_and_is_the_interval():
    display = ExpectedScoreDisplay.from_predictions(P, "f1", band=0.8)
    points = display.bands_[0].get_paths()[0].vertices
    assert (points[:, 0].min(), points[:, 0].max()) == (0, P.size)
    one = bestcut.decide(P, "f1")
    there = points[points[:, 0] == one.n_positive][:, 1]
    np.testing.assert_allclose(
        (there.min(), there.max()), one.distribution().interval(0.8), rtol=1e-12
    )


def test_the_mark_is_at_the_threshold():
    display = ExpectedScoreDisplay.from_predictions([0.9, 0.6, 0.5, 0.2], threshold=0.5)
    (mark,) = (x for x in display.ax_.lines if x.get_label() == "at 0.5")
    assert mark.get_xdata() == [3]  # 0.5 itself is flagged, as by scikit-learn


def test_a_curve_marks_what_a_threshold_of_a_half_would_give():
    display = bestcut.decide([0.9, 0.6, 0.5, 0.2]).curve.plot()
    (mark,) = (x for x in display.ax_.lines if x.get_label() == "at 0.5")
    assert mark.get_xdata() == [3]


def test_large_batches_are_thinned_but_keep_the_best_cut():
    p = np.random.default_rng(0).beta(0.4, 2, 20_000)
    display = ExpectedScoreDisplay.from_predictions(p, "f1")
    x = display.lines_[0].get_xdata()
    assert x.size <= 2001
    assert {0, p.size, bestcut.decide(p).n_positive} <= set(x.tolist())
    line = DecisionDisplay.from_predictions(p).line_
    assert line.get_xdata().size <= 2001


# --- the others -----------------------------------------------------------------------


def test_the_ranked_probabilities_are_cut_between_two_ranks():
    display = DecisionDisplay.from_predictions([0.1, 0.9, 0.4, 0.6])
    assert display.line_.get_xdata().tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert display.line_.get_ydata().tolist() == [0.9, 0.6, 0.4, 0.1, 0.1]
    k = display.decision.n_positive
    assert any(list(line.get_xdata()) == [k + 0.5] * 2 for line in display.ax_.lines)
    assert labels(display) == [f"{k} positive", "0.5"]


@pytest.mark.parametrize("metric", ["f1", "squared_count_error"])
def test_the_law_is_that_of_the_score_between_its_values_too(metric):
    score = score_of([0.9, 0.5, 0.3], metric)
    display = ScoreDistributionDisplay.from_distribution(score, level=0.8)
    x, y = display.line_.get_data()
    step = display.line_.get_drawstyle()
    for a, b, left, right in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True):
        shown = right if step == "steps-pre" else left
        assert shown == pytest.approx(score.prob_at_least((a + b) / 2), abs=1e-12)
    words = "at least" if metric == "f1" else "at most"
    assert display.ax_.get_ylabel() == f"Probability of {words} this"
    assert labels(display) == ["80% of test sets", "expected"]


def test_bins_that_stand_out_are_filled():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = rng.random(1000) < p
    good = CalibrationCheckDisplay.from_predictions(y, p)
    assert len(good.points_) == 1
    assert good.ax_.get_title().startswith("The labels fit (p = ")
    bad = CalibrationCheckDisplay.from_predictions(y, p**2)
    assert bad.ax_.get_title() == "The labels do not fit (p < 1e-12)"
    plain, filled = bad.points_
    assert filled.get_markerfacecolor() == "black"
    assert filled.get_xdata().size == sum(b.stands_out for b in bad.check.bins)
    assert plain.get_xdata().size + filled.get_xdata().size == len(bad.check.bins)
    assert len(bad.bars_.get_segments()) == len(bad.check.bins)


def test_the_gallery_shows_every_display():
    text = (ROOT / "docs" / "guides" / "displays.md").read_text(encoding="utf-8")
    for name in displays.__all__:
        assert f"`{name}`" in text
    script = (ROOT / "docs" / "figures" / "displays_gallery.py").read_text(
        encoding="utf-8"
    )
    pictures = set(re.findall(r"^def (\w+)\(ax\)", script, re.MULTILINE))
    assert set(re.findall(r"figures/displays_(\w+)\.png", text)) == pictures


@pytest.mark.parametrize("name", displays.__all__)
def test_every_display_is_made_from_a_classifier_and_from_predictions(name):
    made = getattr(displays, name)
    assert callable(made.from_estimator)
    assert callable(made.from_predictions)


def test_the_score_of_any_predictions_is_drawn():
    flagged = P >= 0.3
    display = ScoreDistributionDisplay.from_predictions(P, flagged, "mcc", level=0.8)
    assert display.score.metric == bestcut.metrics.get("mcc")
    wanted = bestcut.score_distribution(P, flagged, "mcc")
    assert display.score.interval() == wanted.interval()
    assert display.ax_.get_xlabel() == "MCC"


def test_the_legend_of_many_curves_is_below_them():
    names = ["f1", "f2", "mcc", "jaccard", "balanced_accuracy"]
    display = ExpectedScoreDisplay.from_predictions(P, names)
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    axes = display.ax_.get_window_extent()
    assert legend.y1 < axes.y0
    assert legend.y0 >= 0
    assert 0 <= legend.x0 < legend.x1 <= display.figure_.bbox.x1
    few = ExpectedScoreDisplay.from_predictions(P, names[:3])
    few.figure_.canvas.draw()
    assert few.ax_.get_legend().get_window_extent().y0 > few.ax_.get_window_extent().y0


def test_the_calibration_is_shown_where_the_probabilities_are():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 60, 3000)
    display = CalibrationCheckDisplay.from_predictions(rng.random(3000) < p, p)
    at = [one.expected / one.n for one in display.check.bins]
    shares = [one.observed / one.n for one in display.check.bins]
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert left <= min(at) < max(at) <= right < 0.2
    assert bottom <= min(shares) < max(shares) <= top < 0.3


def test_axes_with_something_in_them_keep_their_limits():
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    ax.set(xlim=(-1, 2), ylim=(-1, 2))
    CalibrationCheckDisplay.from_predictions([1, 0], [0.1, 0.05], ax=ax)
    assert ax.get_xlim() == ax.get_ylim() == (-1, 2)
    plt.close(figure)


@pytest.mark.parametrize("p", [[], [0.3], [0.0, 1.0], [1.0]])
def test_few_probabilities_are_shown_too(p):
    display = CalibrationCheckDisplay.from_predictions(np.ones(len(p)), p)
    low, high = display.ax_.get_xlim()
    assert low < high
