"""`bestcut decide --group-by`: goals, conditions, and one line for each group."""

import json

import numpy as np
import pytest

import bestcut
from bestcut.goals import Quantile
from bestcut.metrics import FBeta, Precision
from cli.run import PROBABILITIES, QUERIES, TAGS, call, complaint

pl = pytest.importorskip("polars")

PAIRS = """\
order,product,p
17,milk,0.83
4,soap,0.07
17,eggs,0.41
17,rice,0.12
04,tea,0.0
4,milk,0.11
9,eggs,0.35
9,jam,0.31
9,tea,0.05
"""
BASKETS = [[0.83, 0.41, 0.12], [0.07, 0.11], [0.0], [0.35, 0.31, 0.05]]


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return ["decide", "pairs.csv", "--proba", "p", "--group-by", "order"]


# --- goals and conditions ------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["--goal", "quantile=0.25"], {"goal": Quantile(0.25)}),
        (["--at-least", "precision=0.5"], {"at_least": {"precision": 0.5}}),
        (
            ["--at-least", "precision=0.5@60%"],
            {"at_least": {"precision": bestcut.goals.Certain(0.5, probability=0.6)}},
        ),
        (
            ["--at-least", "precision=0.8", "--zero-division", "1"],
            {"at_least": {Precision(zero_division=1.0): 0.8}},
        ),
    ],
    ids=str,
)
def test_each_group_has_its_goal_and_conditions(folder, options, asked):
    line = ["decide", "scores.csv", "--proba", "p", "--group-by", "query", *options]
    metric = FBeta(zero_division=float("--zero-division" in options))
    many = bestcut.decide_each(PROBABILITIES, metric, groups=QUERIES, **asked)
    facts = json.loads(call(*line, "-o", "out.csv", "--json").stdout)
    assert facts["mean_expected_score"] == many.expected_score.mean()
    assert facts["positive"] == many.n_positive.sum()
    marks = pl.read_csv("out.csv")["decision"].to_numpy() == 1
    np.testing.assert_array_equal(marks, many.labels)
    if "goal" in asked:
        assert facts["goal"] == "mean 25% quantile"
        assert facts["goal_value"] == many.goal_value.mean()
    low, high = many.distribution().interval(0.9)
    assert facts["interval_90"] == pytest.approx([low, high], abs=1e-3)


def test_a_group_that_cannot_satisfy_a_condition_is_named_with_the_cure(pairs):
    line = complaint(call(*pairs, "--at-least", "precision=0.5"))
    assert line.startswith("order '04': --at-least cannot be satisfied by any")
    assert (
        "This happens in 3 of 4 groups. To allow no positives in these groups, add"
        in line
    )
    assert call(*pairs, "--at-least", "precision=0.5", "--zero-division", 1).stdout


def test_money_is_summed_over_groups(pairs):
    run = call(*pairs, "--metric", "1000000*tp - 300000*fp", "--summary-only")
    assert "mean expected score:   317,500.00\n" in run.stdout
    assert "total expected score:  1,270,000.00\n" in run.stdout


def test_many_groups_have_no_interval(tmp_path, monkeypatch):
    monkeypatch.setattr("bestcut.cli._printing._CONVOLVED", 3)
    (tmp_path / "x.csv").write_text(
        "p,g\n0.5,a\n0.5,b\n0.5,c\n0.5,d\n", encoding="utf-8"
    )
    line = ["decide", tmp_path / "x.csv", "--proba", "p", "--group-by", "g"]
    assert "90%" not in call(*line, "--summary-only").stdout


# --- one line for each group ---------------------------------------------------------


def test_lines_have_the_order_of_the_file_and_nothing_is_none(pairs):
    run = call(*pairs, "--collect", "product", "--name", "products")
    assert run.stdout == (
        "order,products\n17,milk eggs\n4,soap milk\n04,None\n9,eggs jam\n"
    )
    run = call(*pairs, "--collect", "product", "--zero-division", "1")
    assert run.stdout == "order,decision\n17,milk eggs\n4,None\n04,None\n9,None\n"


@pytest.mark.parametrize("name", ["out.parquet", "out.ndjson", "out.tsv", "out.csv.gz"])
def test_every_format_can_hold_the_lines(pairs, tmp_path, name):
    assert call(*pairs, "--collect", "product", "-o", name).exit_code == 0
    readers = {
        "parquet": pl.read_parquet,
        "ndjson": pl.read_ndjson,
        "tsv": lambda path: pl.read_csv(path, separator="\t", infer_schema=False),
        "gz": lambda path: pl.read_csv(path, infer_schema=False),
    }
    frame = readers[name.rpartition(".")[2]](tmp_path / name)
    assert frame.columns == ["order", "decision"]
    assert frame["order"].to_list() == ["17", "4", "04", "9"]
    assert frame["decision"][2] == "None"


def test_keys_keep_their_type(pairs, tmp_path):
    frame = pl.DataFrame(
        {"order": [3, 1, 3], "product": [7, 8, 9], "p": [0.9, 0.5, 0.8]}
    )
    frame.write_parquet(tmp_path / "x.parquet")
    pairs[1] = "x.parquet"
    call(*pairs, "--collect", "product", "-o", "y.parquet")
    found = pl.read_parquet(tmp_path / "y.parquet")
    assert found.to_dict(as_series=False) == {
        "order": [3, 1],
        "decision": ["7 9", "8"],
    }
    assert found.schema["order"] == pl.Int64


def test_labels_of_documents_are_collected_too(tmp_path):
    (tmp_path / "tags.csv").write_text(TAGS, encoding="utf-8")
    line = ["decide", tmp_path / "tags.csv", "--proba", "p", "--group-by", "document"]
    more = ["--per-group", "2", "--average-by", "tag", "--collect", "tag"]
    assert call(*line, *more).stdout == (
        "document,decision\nd1,law tax\nd2,law sea\nd3,art tax\n"
    )


def test_no_rows_make_no_lines(tmp_path):
    (tmp_path / "x.csv").write_text("p,g,id\n", encoding="utf-8")
    line = ["decide", tmp_path / "x.csv", "--proba", "p", "--group-by", "g"]
    assert call(*line, "--collect", "id").stdout == "g,decision\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--collect", "none"],
            "no column 'none'. Name a column with --collect; the columns are: o",
        ),
        (["--collect", "product", "--name", "order"], "already has a column 'order'"),
        (["--collect", "product", "--summary-only"], "so --collect must be left out"),
    ],
)
def test_what_cannot_be_collected_is_refused(pairs, options, message):
    assert message in complaint(call(*pairs, *options))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "column 'product', row 2: the value to collect is missing. Fill it"),
        ("oat milk", "row 2: 'oat milk' holds a blank, but blanks separate values"),
        ('"a\tb"', r"row 2: 'a\tb' holds a blank"),
    ],
)
def test_values_that_cannot_be_joined_are_refused(pairs, tmp_path, cell, message):
    (tmp_path / "pairs.csv").write_text(PAIRS.replace("soap", cell), encoding="utf-8")
    assert message in complaint(call(*pairs, "--collect", "product", "-o", "out.csv"))
    assert not (tmp_path / "out.csv").exists()


# --- the summary alone ---------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [[], ["--group-by", "query"], ["--goal", "reach=0.5"]], ids=str
)
def test_the_summary_alone_is_what_is_said_beside_rows(folder, options):
    line = ["decide", "scores.csv", "--proba", "p", *options]
    beside = call(*line)
    alone = call(*line, "--summary-only")
    assert (alone.stdout, alone.stderr) == (beside.stderr, "")
    machines = call(*line, "--summary-only", "--json")
    assert json.loads(machines.stdout) == json.loads(call(*line, "--json").stderr)
    # The name of a new column does not matter where there is none.
    assert call(*line, "--summary-only", "--name", "id").exit_code == 0
