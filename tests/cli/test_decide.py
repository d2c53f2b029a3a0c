"""`bestcut decide`: the decisions of the library."""

import json
import os
import re
import subprocess
import time

import numpy as np
import pytest

import bestcut
from bestcut.cli._printing import print_json
from cli.run import BIN, PROBABILITIES, QUERIES, call, complaint, environment


def decided(*options):
    run = call("decide", "scores.csv", "--proba", "p", "--json", *options)
    assert run.exit_code == 0, run.stderr
    marks = [int(line[-1]) for line in records(run.stdout)[1:]]
    return np.array(marks, dtype=bool), json.loads(run.stderr)


def records(text):
    return re.sub('"[^"]*"', "", text).splitlines()


def test_the_summary_and_the_column_are_those_of_decide(folder):
    marks, facts = decided("--metric", "mcc", "--min-positives", "2")
    one = bestcut.decide(PROBABILITIES, "mcc", min_positives=2)
    np.testing.assert_array_equal(marks, one.labels)
    assert 0 < facts.pop("error") < 1e-12  # rounding, which differs from that of decide
    assert facts == {
        "metric": "mcc",
        "rows": 10,
        "positive": one.n_positive,
        "threshold": one.threshold,
        "expected_score": pytest.approx(one.expected_score, rel=1e-12),
        "gap": 0.0,  # every cut was looked at
        "gap_scope": one.gap_scope,
        "interval_90": pytest.approx(one.distribution().interval(0.9), rel=1e-12),
        "min_positives": 2,
    }


def test_what_was_asked_is_shown_with_what_was_reached(folder):
    asked = ["--metric", "recall", "--max-positives", "4"]
    asked += ["--at-least", "precision=0.6", "--at-least", "precision=0.3@90%"]
    _, facts = decided(*asked)
    wanted = [0.6, bestcut.goals.Certain(0.3, probability=0.9)]
    one = bestcut.decide(
        PROBABILITIES, "recall", at_least={"precision": wanted}, max_positives=4
    )
    expected, probable = one.conditions
    assert facts["max_positives"] == 4
    assert facts["conditions"] == [
        {
            "what": "expected precision",
            "at_least": 0.6,
            "reached": pytest.approx(expected.reached, rel=1e-15),
        },
        {
            "what": "P(precision >= 0.3)",
            "at_least": 0.9,
            "reached": pytest.approx(probable.reached, rel=1e-15),
        },
    ]
    arguments = ["decide", "scores.csv", "--proba", "p", *asked, "-o", "out.csv"]
    lines = call(*arguments).stderr.splitlines()
    assert "max positives:         4" in lines
    reached = f"{expected.reached:.4g} (at least 0.6)"
    assert f"expected precision:    {reached}" in lines
    reached = f"{probable.reached:.4g} (at least 0.9)"
    assert f"P(precision >= 0.3):   {reached}" in lines


def test_json_goes_where_the_table_does_not(folder):
    arguments = ["decide", "scores.csv", "--proba", "p", "--json"]
    beside = call(*arguments)
    assert beside.stdout.startswith("id,query,p")
    alone = call(*arguments, "-o", "out.csv")
    assert alone.stderr == ""
    assert json.loads(alone.stdout) == json.loads(beside.stderr)
    assert all(key.isidentifier() for key in json.loads(alone.stdout))


def test_numbers_that_are_not_finite_are_null_in_json(capsys):
    inf, nan = float("inf"), float("nan")
    facts = {"gap": inf, "each": [{"score": np.float64(nan)}], "between": (-inf, 0.5)}
    print_json(facts | {"positive": 3, "metric": "f1", "threshold": None})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        **{"gap": None, "each": [{"score": None}], "between": [None, 0.5]},
        **{"positive": 3, "metric": "f1", "threshold": None},
    }


def test_groups_are_decided_each_by_itself(folder):
    marks, facts = decided("--group-by", "query", "--max-positives", "2")
    p, queries = np.array(PROBABILITIES), np.array(QUERIES)
    for query in "ab":
        one = bestcut.decide(p[queries == query], "f1", max_positives=2)
        np.testing.assert_array_equal(marks[queries == query], one.labels)
    assert facts["groups"] == 2
    assert facts["positive"] == marks.sum()


def test_groups_are_told_apart_by_their_text(tmp_path):
    file = tmp_path / "x.csv"
    file.write_bytes(b"p,g\r\n0.9,7\r\n0.3,7\r\n0.3,07\r\n0.2, 7\r\n0.2,7")
    run = call("decide", file, "--proba", "p", "--group-by", "g", "--json")
    assert json.loads(run.stderr)["groups"] == 3


def test_the_strictest_of_repeated_conditions_holds(folder):
    both = ["--at-least", "precision=0.7", "--at-least", "precision=0.1"]
    one = bestcut.decide(PROBABILITIES, "recall", at_least={"precision": 0.7})
    for options in (both, both[2:] + both[:2]):
        marks, _ = decided("--metric", "recall", *options)
        assert marks.sum() == one.n_positive < 10


def test_a_loss_is_kept_down(folder):
    options = ["--at-most", "fpr=0.1", "--at-most", "fnr=0.9@80%"]
    marks, facts = decided("--metric", "recall", *options)
    wanted = {"fpr": 0.1, "fnr": bestcut.goals.Certain(0.9, probability=0.8)}
    one = bestcut.decide(PROBABILITIES, "recall", at_most=wanted)
    np.testing.assert_array_equal(marks, one.labels)
    below, surely = facts["conditions"]
    assert below["at_most"] == 0.1 >= below["reached"]
    assert surely["at_least"] == 0.8 <= surely["reached"]
    assert surely["what"] == "P(false_negative_rate <= 0.9)"
    run = call("decide", "scores.csv", "--proba", "p", *options, "--summary-only")
    assert f"{below['reached']:.4g} (at most 0.1)" in run.stdout
    run = call("decide", "scores.csv", "--proba", "p", "--at-most", "f1=0.5")
    assert "--at-most must hold losses" in complaint(run)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("quantile=0.1", bestcut.goals.Quantile(0.1)),
        ("reach=0.7", bestcut.goals.ProbAtLeast(0.7)),
    ],
)
def test_goals_are_those_of_decide(folder, text, goal):
    marks, facts = decided("--goal", text)
    one = bestcut.decide(PROBABILITIES, "f1", goal=goal)
    np.testing.assert_array_equal(marks, one.labels)
    assert facts["goal"] == goal.describe(one.metric)
    assert facts["goal_value"] == one.goal_value


def test_a_formula_is_as_good_as_a_name(folder):
    marks, facts = decided("--metric", "2*tp / (2*tp + fp + fn)")
    by_name, same = decided()
    np.testing.assert_array_equal(marks, by_name)
    assert facts["expected_score"] == pytest.approx(same["expected_score"], rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            r"Missing option '--proba' \(or '--classes'\). See bestcut decide --help.",
        ),
        (["--proba", "p", "--metric", "f1x"], "Did you mean 'f1'"),
        (["--proba", "p", "--metric", "tp/"], "'tp/' is not understood"),
        (["--proba", "p", "--metric", "fp-tp"], "More true positives can be worse"),
        (["--proba", "p", "--at-least", "precision"], "is not METRIC=NUMBER"),
        (["--proba", "p", "--at-least", "=0.9"], "is not METRIC=NUMBER"),
        (["--proba", "p", "--at-least", "f1=nan"], "is not METRIC=NUMBER"),
        (
            ["--proba", "p", "--at-least", "f1=0.99"],
            "The most that each metric can reach",
        ),
        (["--proba", "p", "--goal", "median"], "not one of mean, quantile=NUMBER"),
        (["--proba", "p", "--goal", "quantile="], "not one of mean, quantile=NUMBER"),
        (["--proba", "p", "--goal", "quantile=2"], "strictly between 0 and 1"),
        (["--proba", "p", "--max-positives", "-1"], "'--max-positives'"),
        (["--proba", "p", "--min-positives", "9", "--max-positives", "1"], "at least"),
        (["--proba", "p", "--collect", "id"], "--collect needs --group-by. Name the"),
        (
            ["--classes", "p,yhat", "--collect", "id"],
            "--classes cannot be used with --collect",
        ),
        (["--proba", "p", "--summary-only", "-o", "x.csv"], "so -o must be left out"),
        (["--proba", "p", "--summary-only", "-o", "-"], "so -o must be left out"),
        (
            ["--proba", "p", "--group-by", "q"],
            "no column 'q'. Name a column with --group-b",
        ),
        (["--proba", "p", "--name", "id"], "already has a column 'id'"),
        (["--proba", "p", "--format", "xls"], "'xls' is not one of"),
        (
            ["--proba", "p", "-o", "out.xls"],
            "out.xls: has a name that does not tell its format",
        ),
        (["--proba", "p", "--oops"], "--oops"),
        (["--proba", "p", "more"], "unexpected extra argument"),
    ],
)
def test_wrong_options_are_one_line_on_standard_error(folder, options, message):
    assert re.search(message, complaint(call("decide", "scores.csv", *options)))
    assert os.listdir(folder) == ["scores.csv"]


# --- large files ----------------------------------------------------------------------


@pytest.fixture
def large(tmp_path):
    """Return a folder with a CSV that is large, as its few rows are long."""
    rows = ["0.9", "0.1", "0.4", "0.35"] * 20
    with open(tmp_path / "large.csv", "w", encoding="utf-8") as file:
        file.write("p,text\n")
        for p in rows:
            file.write(f"{p},{'x' * 2**20}\n")
    return tmp_path, np.array(rows, dtype=float)


def test_a_large_file_is_streamed_and_a_terminal_shows_how_far(large):
    folder, p = large
    reader, terminal = os.openpty()
    line = [BIN / "bestcut", "decide", "large.csv", "--proba", "p", "-o", "out.csv"]
    with subprocess.Popen(
        [*line, "--json"],
        cwd=folder,
        env=environment(TERM="xterm"),
        stderr=terminal,
        stdout=subprocess.PIPE,
    ) as process:
        os.close(terminal)
        shown = read_all(reader)
        out = process.stdout.read()
    assert process.returncode == 0, shown
    one = bestcut.decide(p)
    facts = json.loads(out)
    assert facts["positive"] == one.n_positive
    assert facts["rows"] == p.size
    assert b"Copying the rows" in shown
    marks = [
        line[-2:]
        for line in (folder / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert marks == [f",{mark:d}" for mark in one.labels]


def read_all(reader):
    text = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # so ends a terminal
            part = b""
        if not part:
            os.close(reader)
            return text
        text += part


def test_a_large_file_that_is_interrupted_leaves_no_part(large):
    folder, _ = large
    line = [BIN / "bestcut", "decide", "large.csv", "--proba", "p", "-o", "out.csv"]
    with subprocess.Popen(
        line, cwd=folder, env=environment(), stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        while len(os.listdir(folder)) == 1:  # until the copy has begun
            assert process.poll() is None
            time.sleep(0.001)
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert err == "bestcut: interrupted; no file was written.\n"
    assert os.listdir(folder) == ["large.csv"]


@pytest.mark.parametrize("options", [[], ["--max-positives", "3"], ["--metric", "mcc"]])
def test_a_summary_of_the_scores_decides_as_the_scores_themselves(folder, options):
    _, held = decided(*options, "--at-least", "accuracy=0")
    marks, facts = decided(*options)
    assert marks.sum() == facts["positive"] == held["positive"]
    assert facts.keys() == held.keys() - {"conditions"}
    for key in ("threshold", "expected_score", "interval_90"):
        assert facts[key] == pytest.approx(held[key], rel=1e-12)


def test_what_the_library_refuses_is_said_in_options(folder):
    run = call(
        *["decide", "scores.csv", "--proba", "p"],
        *["--min-positives", "5", "--max-positives", "3"],
    )
    assert "--max-positives must be at least --min-positives" in complaint(run)
