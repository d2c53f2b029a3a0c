"""The example on real data: what its table rests on, and its main finding."""

import numpy as np
import pytest

from helpers import load_script

pytest.importorskip("sklearn", reason="the example fits models with scikit-learn")

N_SPLITS = 20


example = load_script("examples/promised_intervals.py")


@pytest.fixture(scope="module")
def letters():
    folder = example.find_data()
    if folder is None:
        pytest.skip(example.MISSING)
    return example.load(folder, "letters")


def outcomes(data, calibration):
    found = example.run(
        *data, "naive Bayes", calibration, N_SPLITS, metrics=["f1"], n_jobs=1
    )
    return found["f1"]


def test_intervals_hold_where_the_probabilities_are_right():
    # 300 fresh batches: the number of intervals that hold is binomial with a chance of
    # at least 0.9 each. Four standard deviations below the mean is 0.83.
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        y_proba = rng.beta(0.5, 2.0, size=100)
        y_true = (rng.random(100) < y_proba).astype(np.int64)
        found.append(example.promise(y_proba, y_true, "f1", 1.0))
    stated = example.mean(found, "stated")
    assert 0.9 <= stated < 0.95
    bound = 4 * np.sqrt(stated * (1 - stated) / 300)
    assert abs(example.coverage(found)[0] - stated) <= bound


def test_calibration_restores_the_intervals_of_naive_bayes(letters):
    as_it_is, calibrated = (outcomes(letters, how) for how in (None, "isotonic"))
    assert all(o.low < o.high and o.low >= 0 and o.high <= 1 for o in calibrated)
    assert all(o.n == 500 and 0 < o.n_positive < 50 for o in calibrated)
    # Overconfident: promised far too much, and the check says so every time.
    assert example.mean(as_it_is, "promised") > example.mean(as_it_is, "realised") + 0.1
    assert all(o.rejected for o in as_it_is)
    assert sum(o.covered for o in as_it_is) <= N_SPLITS // 4
    # 5000 labels to calibrate and 500 to test: by the rule of thumb 88 % hold. A
    # binomial count of 20 at 0.8 is below 11 with probability 0.003.
    assert example.rule_of_thumb(500, 5000) == pytest.approx(0.883, abs=0.001)
    assert sum(o.covered for o in calibrated) >= 11
    gap = example.mean(calibrated, "promised") - example.mean(calibrated, "realised")
    assert abs(gap) < 0.1


def test_draws_promise_less_than_their_means_taken_for_the_truth():
    rng = np.random.default_rng(0)
    y = (rng.random(250) < 0.3).astype(np.int64)
    X = rng.normal(loc=1.2 * y)[:, None]
    fit, test = np.arange(100), np.arange(100, 250)
    model = example.make_model("naive Bayes", example.DRAWS, sparse=False)
    model.fit(X[fit], y[fit])
    draws, same = example.calibrated_draws(model, X, y, fit, [test, test[::-1]])
    np.testing.assert_array_equal(draws.mean, same.mean[::-1])
    honest, sure = (example.promise(p, y[test], "f1", 1.0) for p in (draws, draws.mean))
    assert honest.high - honest.low > 1.2 * (sure.high - sure.low)
    assert honest.covered


def test_the_script_says_why_it_is_skipped_without_data(tmp_path, capsys):
    assert example.main(["--data", str(tmp_path)]) == 0
    assert "BESTCUT_DATA" in capsys.readouterr().out


def test_the_rows_of_a_split_are_disjoint():
    for n in (683, 34780):
        rows = example.parts(n, seed=3)
        everything = np.concatenate(rows)
        assert np.unique(everything).size == everything.size
        assert [part.size for part in rows] == [
            min(int(n * share), most)
            for share, most in zip((0.5, 0.25, 0.25), example.MOST_ROWS, strict=True)
        ]
