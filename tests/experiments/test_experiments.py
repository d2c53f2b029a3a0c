"""A cell is computed once and repeatably, and no score in it is above its oracle."""

import json

import numpy as np
import pytest
from experiments.cache import Session, array_cell, json_cell, path_of
from experiments.printed import METHODS, PAPER_METRICS, PRINTED
from experiments.protocol import full_fit, halves_of

from experiments import figure1, learn, page, tables
from groups import slow


@pytest.fixture(scope="module")
def cell(folder, tmp_path_factory):
    session = Session(folder, tmp_path_factory.mktemp("cache"))
    at = {"name": "breast_cancer", "split": 0, "label": 1, "n_halves": 1}
    return json_cell(session, tables.table_cell, at), session, at


def test_no_score_is_above_its_oracle_and_j_goes_with_f(cell):
    tables.check_invariants([cell[0]])


def test_the_check_of_the_oracle_notices(cell):
    spoiled = json.loads(json.dumps(cell[0]))
    spoiled["scores"]["raw"]["f1"]["dta"]["score"] = 1.01
    with pytest.raises(AssertionError, match="above its oracle: breast_cancer"):
        tables.check_invariants([spoiled])
    spoiled = json.loads(json.dumps(cell[0]))
    spoiled["scores"]["raw"]["jaccard"]["baseline"] -= 0.01
    with pytest.raises(AssertionError, match="J is not F"):
        tables.check_invariants([spoiled])


def test_a_cell_is_computed_once(cell, monkeypatch):
    result, session, at = cell
    path = path_of(session, tables.table_cell, at, ".json")
    assert path.exists()
    monkeypatch.setattr(tables, "promise", None)  # computing again would fail
    assert json_cell(session, tables.table_cell, at) == result


def test_an_interrupted_cell_leaves_nothing_behind(tmp_path):
    session = Session(tmp_path, tmp_path / "cache")
    tries = []

    def counted(session, value):
        tries.append(value)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return {"value": value}

    counted.__module__ = "experiments.tables"
    with pytest.raises(KeyboardInterrupt):
        json_cell(session, counted, {"value": 3})
    assert not list(tmp_path.rglob("*.json"))
    for _ in range(2):
        assert json_cell(session, counted, {"value": 3}) == {"value": 3}
    assert len(tries) == 2
    json_cell(session, counted, {"value": 4})
    assert len(tries) == 3


def test_fits_are_repeatable(cell, tmp_path):
    _, session, at = cell
    at = {key: at[key] for key in ("name", "split", "label")}
    again = array_cell(Session(session.data, tmp_path), full_fit, at)
    for name, kept in array_cell(session, full_fit, at).items():
        np.testing.assert_array_equal(kept, again[name])


def test_the_oracle_is_the_best_of_all_cuts():
    rng = np.random.default_rng(0)
    y, p = rng.random(40) < 0.3, rng.choice([0.1, 0.2, 0.4], 40)
    order = np.argsort(-p, kind="stable")
    for metric in ("f1", "squared_count_error"):
        scores = []
        for k in range(41):
            labels = np.zeros(40, dtype=bool)
            labels[order[:k]] = True
            scores.append(tables.realised(metric, y, labels))
        best = max(scores) if metric == "f1" else min(scores)
        assert tables.oracle(metric, y, p) == pytest.approx(best, rel=1e-15)


def test_halves_share_out_the_positives():
    y = np.arange(101) < 7
    model, threshold = halves_of(y, np.random.default_rng(0))
    assert sorted([*model, *threshold]) == list(range(101))
    assert (y[model].sum(), y[threshold].sum()) == (4, 3)


@pytest.mark.parametrize("size", [15, slow(100)])
def test_solvers_agree_with_enumeration_on_random_draws(tmp_path, size):
    count = figure1.draws_cell(Session(tmp_path, tmp_path), chunk=99, size=size)
    assert count["draws"] == size
    assert count["disagreements"] == 0
    assert count["not_top_k"] == 0


def test_a_wrong_solver_would_be_counted(tmp_path, monkeypatch):
    honest = figure1.bestcut.decide

    def all_positive(p, metric, *, solver="auto"):
        return honest(p, metric, solver=solver, min_positives=len(p))

    monkeypatch.setattr(figure1.bestcut, "decide", all_positive)
    count = figure1.draws_cell(Session(tmp_path, tmp_path), chunk=99, size=5)
    assert count["disagreements"] > 0


def test_the_printed_scene_rows_contradict_themselves():
    odd = {(o.name, o.T, o.method) for o in learn.printed_oddities()}
    assert ("scene", 1, "Baseline") in odd
    assert ("spambase", 1, "DTA") in odd
    assert ("image", 1, "Baseline") not in odd
    assert all(set(row) == set(PAPER_METRICS) for row in PRINTED.values())
    assert len(METHODS) == 3


def test_a_paired_comparison_counts_every_data_set_once():
    def one(name, dta, eum):
        scores = {"f1": {"dta": {"score": dta}, "eum": [eum]}}
        return {"name": name, "scores": {"raw": scores}}

    cells = [one("a", 0.5, 0.4), one("a", 0.7, 0.6), one("b", 0.5, 0.8)]
    p = learn.paired(cells, "f1", "dta", "eum")
    assert (p.wins, p.ties, p.losses) == (2, 0, 1)
    assert p.mean == pytest.approx(-0.1)
    assert p.low < p.mean < p.high


def test_text_is_wrapped_and_tables_are_not():
    text = "word " * 40 + "\n\n| " + "x" * 200 + " |\n\n- " + "item " * 30
    lines = page.wrapped(text).splitlines()
    assert max(len(line) for line in lines if not line.startswith("|")) <= 90
    assert any(len(line) > 200 for line in lines)
    assert page.signed(-0.0001) == "+0.000"
