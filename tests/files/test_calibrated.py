"""`decide_file` with a calibration, a goal or conditions decides as `decide` does."""

import numpy as np
import pytest

import bestcut

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(3)
OLD = RNG.normal(size=80)
CALIBRATION = bestcut.calibrate(RNG.random(80) < 1 / (1 + np.exp(1 - 2 * OLD)), OLD)
NEW = np.clip(RNG.normal(size=50), OLD.min(), OLD.max())
NEW[7] = NEW[3]


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "new.csv"
    pl.DataFrame({"id": np.arange(50), "s": NEW}).write_csv(path)
    return path


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_decision_is_that_of_decide(scores, tmp_path, name):
    out = tmp_path / name
    found = bestcut.decide_file(
        scores, out, y_proba="s", calibration=CALIBRATION, max_positives=30
    )
    one = bestcut.decide(CALIBRATION(NEW), "f1", max_positives=30)
    assert found.n == 50
    assert found.n_positive == one.n_positive
    assert found.threshold == one.threshold
    around = NEW[one.labels].min(), NEW[~one.labels].max()
    assert found.score_threshold == np.mean(around)
    assert found.n_tied == one.n_tied == (0, 0)
    assert (found.expected_score, found.error) == (one.expected_score, one.error)
    assert (found.gap, found.gap_scope) == (one.gap, one.gap_scope)
    assert found.distribution().interval() == one.distribution().interval()
    assert found.confusion().mean == one.confusion().mean
    assert found.distribution().std_calibration > 0
    table = pl.read_csv(out) if name.endswith("csv") else pl.read_parquet(out)
    np.testing.assert_array_equal(table["decision"].to_numpy() == 1, one.labels)
    assert table["id"].to_list() == list(range(50))


def test_a_goal_and_conditions_are_those_of_decide(scores, tmp_path):
    goal = bestcut.goals.Quantile(0.2)
    wanted = {"precision": [0.4, bestcut.goals.Certain(0.3, probability=0.9)]}
    found = bestcut.decide_file(
        *(scores, tmp_path / "out.csv"),
        y_proba="s",
        calibration=CALIBRATION,
        goal=goal,
        at_least=wanted,
    )
    one = bestcut.decide(CALIBRATION(NEW), "f1", goal=goal, at_least=wanted)
    assert (found.n_positive, found.goal_value) == (one.n_positive, one.goal_value)
    assert found.goal == goal


def test_known_probabilities_take_goals_and_conditions_too(tmp_path):
    p = [0.9, 0.8, 0.3, 0.2, 0.1]
    pl.DataFrame({"p": p}).write_parquet(tmp_path / "p.parquet")
    files = tmp_path / "p.parquet", tmp_path / "out.parquet"
    wanted = {"precision": 0.7}
    found = bestcut.decide_file(*files, y_proba="p", metric="recall", at_least=wanted)
    one = bestcut.decide(p, "recall", at_least=wanted)
    assert found.n_positive == one.n_positive == 2
    assert found.score_threshold is None
    kept = bestcut.decide_file(*files, y_proba="p", metric="tpr", at_most={"fpr": 0.1})
    same = bestcut.decide(p, "tpr", at_most={"fpr": 0.1})
    assert kept.n_positive == same.n_positive < 5
    plain = bestcut.decide_file(*files, y_proba="p")
    assert plain.goal == bestcut.goals.Mean()
    assert plain.goal_value == plain.expected_score


def test_a_goal_counts_the_rows_tied_at_the_threshold_that_are_positive(tmp_path):
    p = [0.9, 0.5, 0.5, 0.5, 0.1]
    pl.DataFrame({"p": p}).write_csv(tmp_path / "p.csv")
    goal = bestcut.goals.Quantile(0.3)
    found = bestcut.decide_file(
        *(tmp_path / "p.csv", tmp_path / "out.csv"),
        y_proba="p",
        metric="recall",
        goal=goal,
        max_positives=3,
    )
    assert (found.n_positive, found.threshold, found.n_tied) == (3, 0.5, (2, 3))
    decided = pl.read_csv(tmp_path / "out.csv")["decision"].to_list()
    assert decided == [1, 1, 1, 0, 0]


def test_a_scan_is_calibrated_as_well(tmp_path):
    scan = pl.LazyFrame({"s": NEW})
    out = tmp_path / "out.csv"
    found = bestcut.decide_file(scan, out, y_proba="s", calibration=CALIBRATION)
    assert found.n_positive == bestcut.decide(CALIBRATION(NEW)).n_positive


def test_scores_beyond_the_labels_are_a_warning_that_names_the_column(tmp_path):
    (tmp_path / "x.csv").write_text("s\n0.1\n99\n99\n-99\n", encoding="utf-8")
    files = tmp_path / "x.csv", tmp_path / "out.csv"
    message = r"x.csv: 3 of 4 entries of column 's' \(75.0%\) are outside the labelled"
    with pytest.warns(UserWarning, match=message) as caught:
        bestcut.decide_file(*files, y_proba="s", calibration=CALIBRATION)
    assert caught[0].filename == __file__


def test_nothing_positive_has_no_lowest_score(scores, tmp_path):
    found = bestcut.decide_file(
        *(scores, tmp_path / "out.csv"),
        y_proba="s",
        calibration=CALIBRATION,
        max_positives=0,
    )
    assert (found.n_positive, found.n_tied, found.score_threshold) == (
        0,
        (0, 0),
        np.inf,
    )


def test_what_is_wrong_is_refused_before_anything_is_written(scores, tmp_path):
    files = scores, tmp_path / "out.csv"
    with pytest.raises(TypeError, match="`calibration` must be a Calibration; got str"):
        bestcut.decide_file(*files, y_proba="s", calibration="old.csv")
    with pytest.raises(
        bestcut.FileError, match=r"no column 'p'. Name a column with `y_proba`"
    ):
        bestcut.decide_file(*files, y_proba="p", calibration=CALIBRATION)
    with pytest.raises(bestcut.FileError, match="already has a column 'id'"):
        bestcut.decide_file(*files, y_proba="s", name="id", calibration=CALIBRATION)
    scores.write_text("s\n-1\n", encoding="utf-8")
    with pytest.raises(bestcut.FileError, match="row 1: -1 is not a probability"):
        bestcut.decide_file(*files, y_proba="s", goal=bestcut.goals.Quantile(0.1))
    with pytest.raises(TypeError, match="`goal` must be one of"):
        bestcut.decide_file(*files, y_proba="s", goal="mean")
    scores.write_text("s\n1\ninf\n", encoding="utf-8")
    message = (
        "new.csv: column 's', row 2: inf is not a finite number. Fill it or delete"
    )
    with pytest.raises(bestcut.FileError, match=message):
        bestcut.decide_file(*files, y_proba="s", calibration=CALIBRATION)
    assert [x.name for x in tmp_path.iterdir()] == ["new.csv"]
