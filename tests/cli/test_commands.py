"""What each command prints, by its real entry point; what its options mean.

The golden files hold commands and all they write. BESTCUT_GOLDEN=write makes them anew.
"""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import bestcut
from cli.run import (
    BIN,
    PROBABILITIES,
    QUERIES,
    SCORES,
    call,
    complaint,
    environment,
    shell,
)

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = {
    "decide": [
        "bestcut decide scores.csv --proba p",
        "bestcut decide scores.csv --proba p --group-by query --name best --json",
        "bestcut decide scores.csv --proba p --metric recall --at-least precision=0.7"
        " --max-positives 100 -o out.csv; ls; cat out.csv",
    ],
    "expect": [
        "bestcut expect scores.csv --proba p --pred yhat --label label --metric f1,mcc",
        "bestcut expect scores.csv --proba p --pred yhat --json",
    ],
    "compare": ["bestcut compare scores.csv --proba p"],
    "check": [
        'bestcut check "2*tp/(2*tp+fp+fn)"',
        'bestcut check "fp - tp"; echo $?',
        "bestcut check \"__import__('os').system('touch made')\"; echo $?; ls",
    ],
    "metrics": ["bestcut metrics"],
    "demo": ["bestcut demo"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_writes_what_its_golden_file_says(command, folder):
    text = ""
    for line in COMMANDS[command]:
        run = shell(line, folder)
        err = re.sub("^", "2> ", run.stderr.decode().rstrip("\n"), flags=re.MULTILINE)
        text += f"$ {line}\n{run.stdout.decode()}{err if run.stderr else ''}".rstrip()
        text += "\n\n"
    assert "\x1b" not in text  # no colour when piped
    file = GOLDEN / f"{command}.txt"
    if os.environ.get("BESTCUT_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_every_command_has_a_golden_file_and_an_example_in_its_help():
    from bestcut.cli._main import cli

    assert {*COMMANDS, "report"} == set(cli.commands)  # a page, tested apart
    for command in cli.commands:
        run = call(command, "--help")
        assert run.exit_code == 0
        if command not in ("metrics", "demo"):  # they take nothing
            assert re.search(rf"Examples?:\n    bestcut {command} ", run.stdout)


ARGUMENTS = {
    "decide": ["scores.csv", "--proba", "p", "-o", "out.csv"],
    "expect": ["scores.csv", "--proba", "p", "--pred", "yhat", "--label", "label"],
    "compare": ["scores.csv", "--proba", "p"],
    "check": ["fp-tp"],
}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_everything_fits_60_columns(name, folder, monkeypatch, capsys):
    from bestcut.cli._main import cli

    monkeypatch.setenv("COLUMNS", "60")
    runs = (
        [[name, "--help"], [name, *ARGUMENTS.get(name, [])]] if name else [["--help"]]
    )
    for arguments in runs:  # not by click's runner, which has a width of its own
        cli.main(arguments, standalone_mode=False)
        out, err = capsys.readouterr()
        for line in (out + err).splitlines():
            assert len(line) <= 60
            assert line == line.rstrip()


def test_the_shell_is_told_commands_options_and_metrics(folder):
    source = shell("_BESTCUT_COMPLETE=bash_source bestcut", folder)
    assert b"complete -o nosort -F _bestcut_completion bestcut" in source.stdout
    for words, found in {
        "bestcut co": "plain,compare",
        "bestcut decide scores.csv --at": "plain,--at-least",
        "bestcut decide scores.csv --metric jac": "plain,jaccard",
        "bestcut expect scores.csv --metric f1,mc": "plain,f1,mcc",
    }.items():
        cword = str(len(words.split()) - 1)
        from click.shell_completion import BashComplete

        from bestcut.cli._main import cli

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COMP_WORDS", words)
            patch.setenv("COMP_CWORD", cword)
            complete = BashComplete(cli, {}, "bestcut", "_BESTCUT_COMPLETE").complete()
        assert complete == found


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_an_interrupted_command_says_so_and_leaves_nothing(folder, number, status):
    # To open the pipe for writing waits until the command has opened it for reading.
    os.mkfifo(folder / "slow.csv")
    line = [BIN / "bestcut", "decide", "slow.csv", "--proba", "p", "-o", "out.csv"]
    with subprocess.Popen(
        line, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        # Unbuffered: closing has nothing left to write to a command that has ended.
        with open(folder / "slow.csv", "wb", buffering=0) as file:
            file.write(b"id,p\n1,0.5\n")
            process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert err == "bestcut: interrupted; nothing was written.\n"
    assert sorted(os.listdir(folder)) == ["scores.csv", "slow.csv"]


# --- large files ----------------------------------------------------------------------


@pytest.fixture
def large(tmp_path):
    """Return a folder with a CSV that is large, as its few rows are long."""
    rows = ["0.9", "0.1", "0.4", "0.35"] * 20
    with open(tmp_path / "large.csv", "w") as file:
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
    marks = [line[-2:] for line in (folder / "out.csv").read_text().splitlines()[1:]]
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
        line, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        while len(os.listdir(folder)) == 1:  # until the copy has begun
            assert process.poll() is None
            time.sleep(0.001)
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert err == "bestcut: interrupted; nothing was written.\n"
    assert os.listdir(folder) == ["large.csv"]


@pytest.mark.parametrize("options", [[], ["--max-positives", "3"], ["--metric", "mcc"]])
def test_streamed_or_held_the_decisions_are_the_same(folder, options, monkeypatch):
    held = decided(*options)
    monkeypatch.setattr("bestcut.cli._decide.LARGE", -1)
    streamed = decided(*options)
    np.testing.assert_array_equal(streamed[0], held[0])
    assert streamed[1].keys() == held[1].keys()
    for facts in (streamed[1], held[1]):  # bounds on rounding, which differs
        assert 0 < facts.pop("error") < 1e-12
        assert facts.pop("gap") == 0.0  # every cut was looked at
    for key in ("metric", "gap_scope"):
        assert streamed[1].pop(key) == held[1].pop(key)
    for key, value in held[1].items():
        assert streamed[1][key] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [["--group-by", "query"], ["--goal", "reach=0.7"], ["--at-least", "precision=0.5"]],
)
def test_what_cannot_be_streamed_is_held(folder, options, monkeypatch):
    held = decided(*options)
    monkeypatch.setattr("bestcut.cli._decide.LARGE", -1)
    np.testing.assert_array_equal(decided(*options)[0], held[0])


# --- decide ---------------------------------------------------------------------------


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
    assert facts == {
        "metric": "mcc",
        "rows": 10,
        "positive": one.n_positive,
        "threshold": one.threshold,
        "expected_score": one.expected_score,
        "error": one.error,
        "gap": one.gap,
        "gap_scope": one.gap_scope,
        "interval_90": list(one.distribution().interval(0.9)),
    }


def test_json_goes_where_the_table_does_not(folder):
    arguments = ["decide", "scores.csv", "--proba", "p", "--json"]
    beside = call(*arguments)
    assert beside.stdout.startswith("id,query,p")
    alone = call(*arguments, "-o", "out.csv")
    assert alone.stderr == ""
    assert json.loads(alone.stdout) == json.loads(beside.stderr)
    assert all(key.isidentifier() for key in json.loads(alone.stdout))


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
        ([], "Missing option '--proba'. See bestcut decide --help."),
        (["--proba", "p", "--metric", "f11"], "Did you mean 'f1'"),
        (["--proba", "p", "--metric", "tp/"], "'tp/' is not understood"),
        (["--proba", "p", "--metric", "fp-tp"], "More true positives can be worse"),
        (["--proba", "p", "--at-least", "precision"], "is not METRIC=NUMBER"),
        (["--proba", "p", "--at-least", "=0.9"], "is not METRIC=NUMBER"),
        (["--proba", "p", "--at-least", "f1=nan"], "is not METRIC=NUMBER"),
        (["--proba", "p", "--at-least", "f1=0.99"], "The most that each can reach"),
        (["--proba", "p", "--goal", "median"], "none of mean, quantile=NUMBER"),
        (["--proba", "p", "--goal", "quantile="], "none of mean, quantile=NUMBER"),
        (["--proba", "p", "--goal", "quantile=2"], "strictly between 0 and 1"),
        (["--proba", "p", "--max-positives", "-1"], "'--max-positives'"),
        (["--proba", "p", "--min-positives", "9", "--max-positives", "1"], "at least"),
        (["--proba", "p", "--group-by", "query", "--goal", "reach=1"], "--group-by"),
        (["--proba", "p", "--group-by", "q"], "no column 'q'. Name one with --group-b"),
        (["--proba", "p", "--name", "id"], "has a column 'id' already"),
        (["--proba", "p", "--format", "xls"], "'xls' is not one of"),
        (["--proba", "p", "-o", "out.xls"], "out.xls: has a name that says no format"),
        (["--proba", "p", "--oops"], "--oops"),
        (["--proba", "p", "more"], "unexpected extra argument"),
    ],
)
def test_wrong_options_are_one_line_on_standard_error(folder, options, message):
    assert re.search(message, complaint(call("decide", "scores.csv", *options)))
    assert os.listdir(folder) == ["scores.csv"]


def test_unknown_commands_are_one_line_too():
    assert "No such command 'decode'" in complaint(call("decode"))


# --- expect, compare, check -----------------------------------------------------------


def test_expect_says_what_the_library_says(folder):
    run = call(
        *["expect", *ARGUMENTS["expect"], "--json"],
        *["--metric", "f1, min(tp, fp)/n"],
    )
    found = json.loads(run.stdout)
    y_pred = np.isin(np.arange(10), [0, 1, 2])
    y_true = np.isin(np.arange(10), [0, 1, 4, 6])
    score = bestcut.score_distribution(PROBABILITIES, y_pred, "f1")
    first, second = found["scores"]
    assert first["expected"] == score.mean
    assert (first["low"], first["high"]) == score.interval(0.9)
    assert first["realised"] == pytest.approx(4 / 7)
    assert first["p_value"] == score.surprise(first["realised"]).p_value
    assert second["metric"] == "min(tp, fp)/n"
    assert second["realised"] == pytest.approx(0.1)
    check = bestcut.calibration_check(y_true, PROBABILITIES)
    assert found["calibration"] == check.verdict


def test_labels_may_be_words(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("p,y\n0.9,TRUE\n0.2, false\n0.4,1.0\n")
    run = call("expect", file, "--proba", "p", "--pred", "y", "--json")
    (row,) = json.loads(run.stdout)["scores"]
    assert row["expected"] == bestcut.expected_score([0.9, 0.2, 0.4], [1, 0, 1], "f1")
    file.write_text("p,y\n0.9,yes\n")
    run = call("expect", file, "--proba", "p", "--pred", "y")
    assert "column 'y', row 1: 'yes' is no label" in complaint(run)


def test_compare_has_every_metric_and_the_threshold_of_one_half(folder):
    rows = json.loads(call("compare", "scores.csv", "--proba", "p", "--json").stdout)
    assert {row["metric"] for row in rows} == set(bestcut.metrics.names(aliases=False))
    for row in rows:
        best = bestcut.decide(PROBABILITIES, row["metric"])
        assert row["positive"] == best.n_positive
        assert row["expected"] == best.expected_score
        half = np.array(PROBABILITIES) >= 0.5
        at_half = bestcut.expected_score(PROBABILITIES, half, row["metric"])
        assert row["expected_at_half"] == at_half


@pytest.mark.parametrize(
    ("formula", "status", "words"),
    [
        ("f1", 0, "Yes."),
        ("tp/(tp+fp)", 0, "Yes."),
        ("-fp/n", 0, "Yes."),  # not taken for options
        ("-tp", 1, "More true positives can be worse: (tp=0, fp=1, fn=1, tn=0)"),
        ("sqrt(tp*tn)", 0, "n <= 24"),
    ],
)
def test_check_gives_a_verdict_and_a_status(formula, status, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    run = call("check", formula)
    assert run.exit_code == status
    assert words in run.stdout
    run = call("check", formula, "--json")
    assert run.exit_code == status
    assert (json.loads(run.stdout)["qualifies"] is True) == (status == 0)


def test_check_uses_the_value_of_zero_division():
    with pytest.MonkeyPatch.context() as patch:
        seen = []
        patch.setattr(
            "bestcut.check_metric",
            lambda metric, check=bestcut.check_metric: (
                seen.append(metric.zero_division) or check(metric)
            ),
        )
        for formula in ("f1", "tp/fp"):
            call("check", formula, "--zero-division", "1")
    assert seen == [1.0, 1.0]


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (
            "ModuleNotFoundError(name='polars')",
            2,
            "the command needs polars: pip install 'bestcut[cli]'",
        ),
        ("KeyboardInterrupt", 130, "interrupted; nothing was written."),
    ],
)
def test_what_happens_while_packages_are_loaded_is_one_line(
    tmp_path, error, status, line
):
    (tmp_path / "polars.py").write_text(f"raise {error}")
    run = shell("bestcut metrics", tmp_path, PYTHONPATH=str(tmp_path))
    assert run.returncode == status
    assert run.stderr.decode() == f"bestcut: {line}\n"
