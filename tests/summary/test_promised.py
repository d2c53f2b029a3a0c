"""A cut of a stream that rests on the promise `smooth=True` says so."""

import warnings

import numpy as np
import pytest

import bestcut
from bestcut.files import decide_file
from bestcut.metrics import from_counts
from bestcut.streams import ScoreSummary

P = np.random.default_rng(0).dirichlet([0.3] * 3, 3000)[:, 0]
PEAK = round(P.sum()) + 25  # a number of positives that is likely, and not the mean


def metric(is_peaked, smooth):
    """Return a metric that cannot be followed, with or without one high value."""

    def function(tp, fp, fn, tn):
        peak = np.where(np.abs(tp + fn - PEAK) < 0.5, 3.0, 0.0) if is_peaked else 0.0
        return np.arcsinh(tp / 10) - 0.01 * fp + peak

    return from_counts(function, name="hits", smooth=smooth)


def streamed(chosen):
    bracket = ScoreSummary.from_scores(P).bracket(chosen)
    return bracket.refine(bracket.select(P))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_broken_promise_does_not_make_a_stream_wrong():
    found = streamed(metric(is_peaked=True, smooth=True))
    labels = np.zeros(P.size, dtype=bool)
    labels[np.argsort(-P, kind="stable")[: found.n_positive]] = True
    exact = metric(is_peaked=True, smooth=False)  # looks at every count
    true = bestcut.expected_score(P, labels, exact)
    assert abs(found.expected_score - true) <= found.error + 1e-10
    best = bestcut.decide(P, exact)
    assert best.expected_score <= found.expected_score + found.gap + 1e-10


def test_a_stream_that_rests_on_the_promise_has_no_finite_gap_and_warns():
    chosen = metric(is_peaked=False, smooth=True)
    with pytest.warns(UserWarning, match="smooth=True") as told:
        assert bestcut.decide(P, chosen).gap == np.inf
    assert [each.filename for each in told] == [__file__]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = streamed(chosen)
    assert found.gap == np.inf
    told = [each for each in caught if "smooth=True" in str(each.message)]
    assert [each.filename for each in told] == [__file__]


def test_a_file_that_rests_on_the_promise_says_so_too(tmp_path):
    pl = pytest.importorskip("polars")
    pl.DataFrame({"p": P}).write_parquet(tmp_path / "x.parquet")
    with pytest.warns(UserWarning, match="smooth=True"):
        found = decide_file(
            tmp_path / "x.parquet",
            tmp_path / "y.parquet",
            y_proba="p",
            metric=metric(is_peaked=False, smooth=True),
        )
    assert found.gap == np.inf
