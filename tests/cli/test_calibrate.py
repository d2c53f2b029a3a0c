"""`--calibrate`: a file of labels makes probabilities of scores, in every command."""

import json
import os
import re

import numpy as np
import pytest

import bestcut
from cli.run import call, complaint, shell

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(7)
OLD = np.round(RNG.normal(size=60), 3)
TRUTH = RNG.random(60) < 1 / (1 + np.exp(1 - 2 * OLD))
NEW = np.round(np.clip(RNG.normal(size=40), OLD.min(), OLD.max()), 3)
PRED = NEW > 0.5
LABELS = ["--calibrate", "old.csv", "--calibrate-label", "y"]


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return a folder with labelled scores and new ones."""
    pl.DataFrame({"s": OLD, "y": TRUTH.astype(int)}).write_csv(tmp_path / "old.csv")
    table = {"s": NEW, "yhat": PRED.astype(int), "y": np.arange(40) % 2}
    pl.DataFrame(table).write_csv(tmp_path / "new.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def known():
    calibration = bestcut.calibrate(TRUTH, OLD)
    return calibration, calibration(NEW)


def run(*arguments):
    found = call(*arguments)
    assert found.exit_code == 0, found.stderr
    return found


# --- the answers are those of the library ---------------------------------------------


def test_decide_says_what_the_library_says(places):
    found = run("decide", "new.csv", "--proba", "s", *LABELS, "--json", "-o", "out.csv")
    calibration, p = known()
    one = bestcut.decide(p, "f1")
    score = one.distribution()
    assert json.loads(found.stdout) == {
        "metric": "f1",
        "rows": 40,
        "positive": one.n_positive,
        "threshold": one.threshold,
        "score_threshold": np.mean([NEW[one.labels].min(), NEW[~one.labels].max()]),
        "expected_score": one.expected_score,
        "error": one.error,
        "gap": one.gap,
        "gap_scope": one.gap_scope,
        "interval_90": list(score.interval(0.9)),
        "std_labels": score.std_labels,
        "std_calibration": score.std_calibration,
        "calibrated": {
            "file": "old.csv",
            "labels": 60,
            "positives": int(TRUTH.sum()),
            "draws": 200,
            "score_range": list(calibration.score_range),
            "warnings": [],
        },
    }
    table = pl.read_csv(places / "out.csv")
    assert table.columns == ["s", "yhat", "y", "decision"]
    np.testing.assert_array_equal(table["decision"].to_numpy() == 1, one.labels)


def test_people_are_told_how_scores_were_calibrated(places):
    found = run("decide", "new.csv", "--proba", "s", *LABELS, "-o", "out.csv")
    score = bestcut.decide(known()[1], "f1").distribution()
    share = round(100 * score.std_labels**2 / score.std**2)
    lines = found.stderr.splitlines()
    assert lines[-2:] == [
        f"variance comes from:   labels {share}%, calibration {100 - share}%",
        f"calibrated on:         60 labels, {TRUTH.sum()} positive",
    ]
    assert lines[4].startswith("score threshold:")
    assert max(map(len, lines)) <= 60


def test_each_group_is_decided_as_the_library_does(places):
    options = ["--group-by", "y", "--max-positives", "9", "--metric", "mcc"]
    line = ["decide", "new.csv", "--proba", "s", *LABELS, *options, "-o", "out.csv"]
    found = json.loads(run(*line, "--json").stdout)
    calibration, p = known()
    groups = np.arange(40) % 2
    many = bestcut.decide_each(p, "mcc", groups=groups, max_positives=9)
    assert found == {
        "metric": "mcc",
        "groups": 2,
        "rows": 40,
        "positive": int(many.n_positive.sum()),
        "groups_left_empty": 0,
        "mean_expected_score": float(many.expected_score.mean()),
        "error": float(many.error.max()),
        "gap": float(many.gap.max()),
        "gap_scope": many.gap_scope,
        "interval_90": pytest.approx(many.distribution().interval(0.9), abs=1e-3),
        "calibrated": {
            "file": "old.csv",
            "labels": 60,
            "positives": int(TRUTH.sum()),
            "draws": 200,
            "score_range": list(calibration.score_range),
            "warnings": [],
        },
    }
    table = pl.read_csv(places / "out.csv")
    np.testing.assert_array_equal(table["decision"].to_numpy() == 1, many.labels)
    lines = run(*line).stderr.splitlines()
    assert [lines[-3], lines[-1]] == [
        f"mean expected score:   {many.expected_score.mean():.4g}",
        f"calibrated on:         60 labels, {TRUTH.sum()} positive",
    ]


@pytest.mark.parametrize(("most", "there"), [(399, False), (400, True)])
def test_draws_count_for_what_an_interval_of_groups_takes(
    places, monkeypatch, most, there
):
    monkeypatch.setattr("bestcut.cli._printing._CONVOLVED", most)
    line = ["decide", "new.csv", "--proba", "s", *LABELS, "--group-by", "y", "--json"]
    facts = json.loads(run(*line, "-o", "out.csv").stdout)
    assert (facts["groups"], facts["calibrated"]["draws"]) == (2, 200)
    assert ("interval_90" in facts) == there


def test_expect_says_what_the_library_says(places):
    options = ["--pred", "yhat", "--label", "y", "--metric", "f1,mcc"]
    line = ["expect", "new.csv", "--proba", "s", *options, *LABELS]
    found = json.loads(run(*line, "--json").stdout)
    score = bestcut.score_distribution(known()[1], PRED, "mcc")
    row = found["scores"][1]
    assert (row["low"], row["high"]) == score.interval(0.9)
    assert row["expected"] == score.mean
    assert row["std_labels"] == score.std_labels
    assert row["std_calibration"] == score.std_calibration
    assert row["p_value"] == score.surprise(row["realised"]).p_value
    assert found["calibrated"]["labels"] == 60
    check = bestcut.check_calibration(np.arange(40) % 2, known()[1])
    assert found["calibration"] == check.verdict
    text = run(*line).stdout
    assert " ".join(text.split()).endswith(check.verdict)
    assert "sd calib." in text.splitlines()[0]
    assert "covers chance in the labels and doubt" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_more_labels_than_can_soon_be_checked_are_not(places, monkeypatch):
    options = ["--pred", "yhat", "--label", "y", *LABELS]
    line = ["expect", "new.csv", "--proba", "s", *options]
    monkeypatch.setattr("bestcut.cli._expect.MOST_CHECKED", 40)
    assert "The labels do not fit" in run(*line).stdout
    monkeypatch.setattr("bestcut.cli._expect.MOST_CHECKED", 39)
    said = (
        "The 40 labels were not compared with the calibrated probabilities, because "
        "only 39 labels or fewer can be compared in a reasonable time. Pass a random "
        "part of the rows."
    )
    assert " ".join(run(*line).stdout.split()).endswith(said)
    assert json.loads(run(*line, "--json").stdout)["calibration"] == said
    known = ["expect", "new.csv", "--proba", "yhat", *options[:4]]
    assert "not compared" not in run(*known).stdout  # known probabilities are quick


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["--goal", "quantile=0.2"], {"goal": bestcut.goals.Quantile(0.2)}),
        (
            ["--at-least", "precision=0.3@60%"],
            {"at_least": {"precision": bestcut.goals.Certain(0.3, probability=0.6)}},
        ),
    ],
    ids=["goal", "condition"],
)
def test_each_group_has_its_goal_or_condition(places, options, asked):
    line = ["decide", "new.csv", "--proba", "s", *LABELS, "--group-by", "y", *options]
    found = json.loads(run(*line, "-o", "out.csv", "--json").stdout)
    many = bestcut.decide_each(known()[1], "f1", groups=np.arange(40) % 2, **asked)
    assert found["positive"] == many.n_positive.sum()
    assert found["mean_expected_score"] == many.expected_score.mean()
    if "goal" in asked:
        assert found["goal_value"] == many.goal_value.mean()


def test_compare_says_what_the_library_says(places):
    line = ["compare", "new.csv", "--proba", "s", *LABELS]
    found = json.loads(run(*line, "--json").stdout)
    assert found["calibrated"]["positives"] == TRUTH.sum()
    p = known()[1]
    (row,) = (row for row in found["metrics"] if row["metric"] == "jaccard")
    best = bestcut.decide(p, "jaccard")
    assert row["positive"] == best.n_positive
    assert row["expected"] == best.expected_score
    assert row["expected_at_given"] == bestcut.expected_score(
        p, p.mean >= 0.5, "jaccard"
    )
    assert row["std_calibration"] == best.distribution().std_calibration
    text = run(*line).stdout
    assert text.splitlines()[0].split() == [
        *["metric", "positive", "threshold", "expected", "at", "0.5"]
    ]
    assert text.endswith(
        f"Calibrated on 60 labels, {TRUTH.sum()} of them positive, in old.csv.\n"
    )


def test_report_shows_how_scores_were_calibrated(places):
    pytest.importorskip("vl_convert")
    from bestcut.report import compute_report

    options = ["--also", "mcc", "-o", "r.html"]
    found = run("report", "new.csv", "--proba", "s", *LABELS, *options)
    calibration, p = known()
    made = compute_report(
        p,
        others=["mcc"],
        source="new.csv, column s; calibrated on old.csv",
        calibration=calibration,
        labelled=(TRUTH.astype(bool), OLD),
    )
    assert (places / "r.html").read_text(encoding="utf-8") == made.html()
    first, second = found.stderr.splitlines()
    assert first == f"r.html: {made.summary()}"
    assert second.startswith("Calibrated on 60 labels, ")
    assert re.search(r"Variance: labels \d+%, calibration \d+%\.$", second)


def test_a_decision_may_be_bounded_and_careful(places):
    options = ["--metric", "recall", "--at-least", "precision=0.6@80%"]
    options += ["--at-least", "precision=0.65", "--max-positives", "30"]
    line = ["decide", "new.csv", "--proba", "s", *LABELS, *options, "--json"]
    found = json.loads(run(*line).stderr)
    wanted = [bestcut.goals.Certain(0.6, probability=0.8), 0.65]
    p = known()[1]
    one = bestcut.decide(p, "recall", at_least={"precision": wanted}, max_positives=30)
    assert found["positive"] == one.n_positive
    careful = json.loads(run(*line[:8], "--goal", "quantile=0.1", "--json").stderr)
    goal = bestcut.goals.Quantile(0.1)
    assert careful["goal_value"] == bestcut.decide(p, "f1", goal=goal).goal_value


# --- files ----------------------------------------------------------------------------


def same_in(places, name, *options):
    found = run("decide", "new.csv", "--proba", "s", *options, "--json", "-o", "o.csv")
    plain = run("decide", "new.csv", "--proba", "s", *LABELS, "--json", "-o", "o.csv")
    found, plain = json.loads(found.stdout), json.loads(plain.stdout)
    assert found["calibrated"].pop("file") == name
    assert plain["calibrated"].pop("file") == "old.csv"
    return found == plain


@pytest.mark.parametrize("name", ["old.parquet", "old.arrow", "old.ndjson", "old.tsv"])
def test_labels_may_be_in_any_format(places, name):
    table = pl.read_csv("old.csv").with_columns(y=pl.col("y") == 1).rename({"s": "t"})
    write = {
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
        "ndjson": table.write_ndjson,
        "tsv": lambda path: table.write_csv(path, separator="\t"),
    }[name.partition(".")[2]]
    write(places / name)
    options = ["--calibrate", name, "--calibrate-label", "y", "--calibrate-proba", "t"]
    assert same_in(places, name, *options)


def test_scores_may_be_the_only_other_column(places):
    pl.read_csv("old.csv").rename({"s": "t"}).write_csv("t.csv")
    assert same_in(places, "t.csv", "--calibrate", "t.csv", "--calibrate-label", "y")
    line = ["expect", "new.csv", "--proba", "s", "--label", "y", "--pred", "yhat"]
    found = run(*line, "--calibrate", "t.csv").stdout
    assert found == run(*line, *LABELS).stdout.replace("old.csv", "t.csv")


def test_labels_may_be_words_and_come_through_a_pipe(places):
    table = pl.read_csv("old.csv")
    words = table.with_columns(y=pl.col("y").replace_strict({0: "False", 1: " true"}))
    words.write_csv("words.csv")
    found = shell(
        "cat words.csv | bestcut decide new.csv --proba s --calibrate -"
        " --calibrate-label y --json -o out.csv",
        places,
    )
    assert found.returncode == 0, found.stderr
    facts = json.loads(found.stdout)["calibrated"]
    assert facts["file"] == "standard input"
    assert facts["positives"] == TRUTH.sum()


def test_scores_of_a_large_file_are_held_and_its_rows_are_not(places, monkeypatch):
    line = ["decide", "new.csv", "--proba", "s", *LABELS, "-o", "out.csv"]
    small = run(*line).stderr
    data = (places / "out.csv").read_bytes()
    monkeypatch.setattr("bestcut.files._text.PIECE", 64)
    monkeypatch.setattr("bestcut.files._text._KEPT", 0)
    assert run(*line).stderr == small
    assert (places / "out.csv").read_bytes() == data


# --- warnings -------------------------------------------------------------------------


def test_scores_beyond_the_labels_are_a_line_on_standard_error(places):
    (places / "far.csv").write_text(
        "s,yhat\n0.5,1\n99,1\n-99,0\n99,0\n", encoding="utf-8"
    )
    low, high = OLD.min(), OLD.max()
    line = (
        "bestcut: warning: far.csv: 3 of 4 entries of column 's' (75.0%) are outside "
        f"the labelled scores, {low:.6g} to {high:.6g}, which is more than chance "
        "explains: their probabilities are taken to be those at the end of that range. "
        "Label some of them."
    )
    groups = ["decide", "--group-by", "yhat"]
    for command in (["decide"], groups, ["expect", "--pred", "yhat"], ["compare"]):
        found = run(command[0], "far.csv", "--proba", "s", *command[1:], *LABELS)
        assert found.stderr.splitlines()[0] == line
        assert found.stderr.count("warning") == 1
    # A reader of JSON on standard error gets nothing but that.
    found = run("decide", "far.csv", "--proba", "s", *LABELS, "--json")
    facts = json.loads(found.stderr)
    assert facts["calibrated"]["warnings"] == [line.removeprefix("bestcut: warning: ")]
    found = run("decide", "far.csv", "--proba", "s", *LABELS, "--json", "-o", "o.csv")
    assert found.stderr.splitlines() == [line]


def test_scores_of_the_other_class_are_a_line_on_standard_error(places):
    rows = "".join(f"{-k},{int(k > 15)}\n" for k in range(30))
    (places / "turned.csv").write_text("s,y\n" + rows, encoding="utf-8")
    labels = ("--calibrate", "turned.csv", "--calibrate-label", "y")
    found = run("decide", "turned.csv", "--proba", "s", *labels)
    assert found.stderr.startswith(
        "bestcut: warning: turned.csv: none of 14 positives is among the 15 largest of "
        "30 scores 's', which chance explains"
    )


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_class_are_doubted(places, label):
    (places / "one.csv").write_text(f"s,y\n-9,{label}\n9,{label}\n", encoding="utf-8")
    options = ["--calibrate", "one.csv", "--calibrate-label", "y"]
    found = run("decide", "new.csv", "--proba", "s", *options)
    assert found.stderr.splitlines()[0] == (
        f"bestcut: warning: one.csv: all 2 labels in column 'y' are {label}, so the "
        "calibration is very uncertain. Check the column, or label more rows."
    )


def test_no_new_rows_are_no_trouble(places):
    (places / "none.csv").write_text("s,yhat\n", encoding="utf-8")
    found = run("decide", "none.csv", "--proba", "s", *LABELS, "--json", "-o", "o.csv")
    facts = json.loads(found.stdout)
    assert (facts["rows"], facts["score_threshold"]) == (0, None)
    found = run("decide", "none.csv", "--proba", "s", *LABELS, "--group-by", "yhat")
    assert "groups:                0\n" in found.stderr
    run("expect", "none.csv", "--proba", "s", "--pred", "yhat", *LABELS)
    run("compare", "none.csv", "--proba", "s", *LABELS)


def test_the_columns_of_labelled_scores_need_not_be_named(places):
    line = ["decide", "new.csv", "--proba", "s", "--summary-only", "--json"]
    only_other = run(*line, "--calibrate", "old.csv")
    assert only_other.stdout == run(*line, *LABELS).stdout
    # The name of the labels of FILE, where there are several columns.
    wide = {"id": np.arange(60), "s": OLD, "y": TRUTH.astype(int)}
    pl.DataFrame(wide).write_csv(places / "wide.csv")
    line = ["expect", "new.csv", "--proba", "s", "--pred", "yhat", "--label", "y"]
    as_in_file = run(*line, "--calibrate", "wide.csv", "--json")
    found, named = (
        json.loads(one.stdout) for one in (as_in_file, run(*line, *LABELS, "--json"))
    )
    assert found["scores"] == named["scores"]


# --- what is refused ------------------------------------------------------------------

FIRST = "--calibrate old.csv --calibrate-label y"
REFUSED = {
    "no label option": (
        "--calibrate new.csv",
        "--calibrate needs --calibrate-label. Name the column of labels in new.csv; "
        "besides 's' it has: yhat, y",
    ),
    "no score option": (
        "--calibrate new.csv --calibrate-label y --proba z",
        "new.csv: has no column 'z'. Name a column with --calibrate-proba; the columns "
        "are: s, yhat, y.",
    ),
    "no file for the label": (
        "--calibrate-label y",
        "--calibrate-label needs --calibrate. Name the file of",
    ),
    "no file for the scores": (
        "--calibrate-proba s",
        "--calibrate-proba needs --calibrate. Name the file of",
    ),
    "groups that are not there": (
        f"{FIRST} --group-by z",
        "new.csv: has no column 'z'. Name a column with --group-by; the columns are: "
        "s, yhat, y.",
    ),
    "missing file": (
        "--calibrate no.csv --calibrate-label y",
        "no.csv: cannot be read (No such file or directory)",
    ),
    "missing scores": (
        f"{FIRST} --calibrate-proba z",
        "old.csv: has no column 'z'. Name a column with --calibrate-proba; the columns "
        "are: s, y.",
    ),
    "missing labels": (
        "--calibrate old.csv --calibrate-label z",
        "old.csv: has no column 'z'. Name a column with --calibrate-label; the columns "
        "are: s, y.",
    ),
    "output": (f"{FIRST} -o old.csv", "old.csv: is the input itself"),
    "unknown format": (
        "--calibrate old.xls --calibrate-label y",
        "old.xls: has a name that does not tell its format. Pass --format",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_do_not_go_together_are_refused(places, case):
    options, message = REFUSED[case]
    before = (places / "old.csv").read_bytes()
    line = complaint(call("decide", "new.csv", "--proba", "s", *options.split()))
    assert line.startswith(message)
    assert (places / "old.csv").read_bytes() == before
    assert sorted(os.listdir(places)) == ["new.csv", "old.csv"]


@pytest.mark.parametrize("command", ["expect", "compare", "report"])
def test_other_commands_refuse_the_same(places, command):
    if command == "report":
        pytest.importorskip("vl_convert")
    more = {"expect": ["--pred", "yhat"], "report": ["-o", "r.html"]}.get(command, [])
    line = [command, "new.csv", "--proba", "s", *more, "--calibrate"]
    assert "needs --calibrate-label" in complaint(call(*line, "new.csv"))
    wrong = call(*line, "old.csv", "--calibrate-label", "z")
    assert "has no column 'z'" in complaint(wrong)
    assert sorted(os.listdir(places)) == ["new.csv", "old.csv"]


def test_one_of_the_files_may_be_standard_input_and_not_both(places):
    line = ["decide", "-", "--proba", "s", "--calibrate", "-", "--calibrate-label", "y"]
    assert complaint(call(*line)) == (
        "FILE and --calibrate are both standard input. Pass a file for one of them."
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "old.csv: is empty"),
        ("s,y\n", "old.csv: has no rows. Pass a file with labelled rows."),
        ("s,y\n0.5,1\nNaN,0\n", "column 's', row 2: 'NaN' is not a number. Fill it or"),
        ("s,y\n0.5,1\n,0\n", "column 's', row 2: the value is missing"),
        (
            "s,y\n0.5,1\n-inf,0\n",
            "column 's', row 2: -inf is not a finite number. Fill",
        ),
        (
            "s,y\n0.5,1\n0.4,2\n",
            "column 'y', row 2: '2' is not a label. Pass 0 and 1, or",
        ),
        ("s,y\n0.5,yes\n", "column 'y', row 1: 'yes' is not a label"),
        ("s,y\n0.5,1\n0.4,\n", "column 'y', row 2: the label is missing"),
        ("s,y,y\n0.5,1,1\n", "old.csv: has 2 columns named 'y'. Rename all but one."),
    ],
)
def test_labelled_files_that_are_wrong_are_refused(places, data, message):
    (places / "old.csv").write_text(data, encoding="utf-8")
    line = complaint(call("decide", "new.csv", "--proba", "s", *LABELS, "-o", "o.csv"))
    assert line.startswith("old.csv: ")
    assert message in line
    assert not (places / "o.csv").exists()


@pytest.mark.parametrize("bad", ["NaN", "inf", "", "x"])
def test_new_scores_must_be_finite(places, bad):
    (places / "new.csv").write_text(f"a,s,yhat\n1,0.5,1\n1,{bad},0\n", encoding="utf-8")
    groups = ["decide", "--group-by", "yhat"]
    for command in (["decide"], groups, ["expect", "--pred", "yhat"], ["compare"]):
        name, *more = command
        line = complaint(call(name, "new.csv", "--proba", "s", *more, *LABELS))
        assert line.startswith("new.csv: column 's', row 2: ")
        what = "number" if bad else "the value is missing"
        assert line.endswith(f"{what}. Fill it or delete the row.")


def test_conditions_that_cannot_be_met_are_refused(places):
    options = ["--at-least", "precision=0.99@99%", "--min-positives", "20"]
    line = complaint(call("decide", "new.csv", "--proba", "s", *LABELS, *options))
    assert line.startswith("--at-least cannot be satisfied by any prediction")
    assert "precision of at least 0.99 with probability" in line


# --- conditions with a probability ----------------------------------------------------


@pytest.mark.parametrize("text", ["0.5@95%", "0.5@0.95", "0.5@ 95 %", ".5@95.0%"])
def test_a_condition_may_have_a_probability(folder, text):
    from cli.run import PROBABILITIES

    line = ["decide", "scores.csv", "--proba", "p", "--metric", "recall", "--json"]
    found = json.loads(run(*line, "--at-least", f"precision={text}").stderr)
    sure = bestcut.goals.Certain(0.5, probability=0.95)
    one = bestcut.decide(PROBABILITIES, "recall", at_least={"precision": sure})
    assert found["positive"] == one.n_positive
    loose = bestcut.decide(PROBABILITIES, "recall", at_least={"precision": 0.5})
    assert one.n_positive < loose.n_positive


def test_all_conditions_on_a_metric_hold(folder):
    line = ["decide", "scores.csv", "--proba", "p", "--metric", "recall", "--json"]

    def positive(*texts):
        options = [x for text in texts for x in ("--at-least", f"precision={text}")]
        return json.loads(run(*line, *options).stderr)["positive"]

    conditions = ["0.5@95%", "0.3@90%", "0.6"]
    alone = [positive(each) for each in conditions]
    assert len(set(alone)) > 1
    assert positive(*conditions) == min(alone)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("precision=0.9@95", "got '95'. Write 95% or 0.95."),
        ("precision=0.9@", "must be strictly between 0 and 1; got ''"),
        ("precision=0.9@0%", "in 'precision=0.9@0%' the probability after @ must be"),
        ("precision=0.9@1", "got '1'. Write 95% or 0.95."),
        ("precision=0.9@x%", "got 'x%'"),
        ("precision=@95%", "is not METRIC=NUMBER or METRIC=NUMBER@PROBABILITY"),
        ("precision@95%", "for example precision=0.9 or precision=0.9@95%."),
        ("precizion=0.9@95%", "Did you mean 'precision'"),
    ],
)
def test_a_condition_that_is_not_understood_is_refused(folder, text, message):
    line = complaint(call("decide", "scores.csv", "--proba", "p", "--at-least", text))
    assert "'--at-least'" in line
    assert message in line
