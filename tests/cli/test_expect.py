"""`bestcut expect`, `compare` and `check` say what the library says."""

import json

import numpy as np
import pytest

import bestcut
from cli.run import PROBABILITIES, call, complaint


def test_expect_says_what_the_library_says(folder):
    run = call(
        *["expect", "scores.csv", "--proba", "p", "--pred", "yhat"],
        *["--label", "label", "--metric", "f1, min(tp, fp)/n", "--json"],
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
    check = bestcut.check_calibration(y_true, PROBABILITIES)
    assert found["calibration"] == check.verdict


def test_labels_may_be_words(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("p,y\n0.9,TRUE\n0.2, false\n0.4,1.0\n", encoding="utf-8")
    run = call("expect", file, "--proba", "p", "--pred", "y", "--json")
    (row,) = json.loads(run.stdout)["scores"]
    assert row["expected"] == bestcut.expected_score([0.9, 0.2, 0.4], [1, 0, 1], "f1")
    file.write_text("p,y\n0.9,yes\n", encoding="utf-8")
    run = call("expect", file, "--proba", "p", "--pred", "y")
    assert "column 'y', row 1: 'yes' is not a label" in complaint(run)


def test_compare_has_every_metric_and_the_threshold_of_one_half(folder):
    rows = json.loads(call("compare", "scores.csv", "--proba", "p", "--json").stdout)
    assert {row["metric"] for row in rows} == set(bestcut.metrics.names(aliases=False))
    for row in rows:
        best = bestcut.decide(PROBABILITIES, row["metric"])
        assert row["positive"] == best.n_positive
        assert row["expected"] == best.expected_score
        half = np.array(PROBABILITIES) >= 0.5
        at_half = bestcut.expected_score(PROBABILITIES, half, row["metric"])
        assert row["expected_at_given"] == at_half
        assert (row["given_threshold"], row["given_positive"]) == (0.5, 2)


def test_compare_takes_metrics_and_a_threshold(folder):
    options = ["--metric", "f1.7,mcc,80*tp - 10*fp", "--threshold", "0.4"]
    line = ["compare", "scores.csv", "--proba", "p", *options]
    rows = json.loads(call(*line, "--json").stdout)
    assert [row["metric"] for row in rows] == ["f1.7", "mcc", "80*tp - 10*fp"]
    flagged = np.array(PROBABILITIES) >= 0.4
    metrics = [
        bestcut.metrics.FBeta(1.7),
        "mcc",
        bestcut.metrics.LinearUtility(tp=80, fp=-10),
    ]
    for row, metric in zip(rows, metrics, strict=True):
        best = bestcut.decide(PROBABILITIES, metric)
        assert row["expected"] == best.expected_score
        assert (row["given_threshold"], row["given_positive"]) == (0.4, 4)
        given = bestcut.expected_score(PROBABILITIES, flagged, metric)
        assert row["expected_at_given"] == given
    text = call(*line).stdout
    assert text.splitlines()[0].split()[-2:] == ["at", "0.4"]
    assert text.endswith("10 rows; a threshold of 0.4 flags 4.\n")


def test_scores_of_a_thousand_and_more_have_commas(tmp_path):
    (tmp_path / "sure.csv").write_text("p\n1\n1\n", encoding="utf-8")
    line = ["compare", tmp_path / "sure.csv", "--proba", "p", "--metric"]
    for factor, shown in [(999.5, "999.5"), (1000, "1,000.00"), (5e6, "5,000,000.00")]:
        first = call(*line, f"{factor}*tp/(tp + fp)").stdout.splitlines()[1]
        assert first.split()[-2:] == [shown, shown]


@pytest.mark.parametrize("threshold", ["nan", "-0.1", "1.01", "half", "50%", ""])
def test_a_threshold_is_a_probability(folder, threshold):
    line = ["compare", "scores.csv", "--proba", "p", "--threshold", threshold]
    assert f"{threshold!r} is not a probability" in complaint(call(*line))


def test_zero_division_is_that_of_all_metrics(tmp_path):
    (tmp_path / "x.csv").write_text("p,y\n0.1,0\n0.02,0\n", encoding="utf-8")
    line = [tmp_path / "x.csv", "--proba", "p", "--zero-division"]
    for value in (0.0, 1.0):
        f1 = bestcut.metrics.FBeta(zero_division=value)
        one = bestcut.decide([0.1, 0.02], f1)
        run = call("decide", *line, value, "--summary-only", "--json")
        assert json.loads(run.stdout)["positive"] == one.n_positive
        run = call("compare", *line, value, "--metric", "f1,jaccard", "--json")
        assert json.loads(run.stdout)[0]["expected"] == one.expected_score
        metrics = "2*tp/(2*tp+fp+fn),f1,squared_count_error"
        run = call("expect", *line, value, "--pred", "y", "--metric", metrics, "--json")
        scores = [row["expected"] for row in json.loads(run.stdout)["scores"]]
        empty = bestcut.expected_score([0.1, 0.02], [0, 0], f1)
        assert scores[:2] == pytest.approx([empty, empty], abs=1e-15)


@pytest.mark.parametrize("value", ["nan", "inf", "one"])
def test_zero_division_is_a_number(folder, value):
    line = ["compare", "scores.csv", "--proba", "p", "--zero-division", value]
    assert "'--zero-division'" in complaint(call(*line))


@pytest.mark.parametrize(
    ("formula", "status", "words"),
    [
        ("f1", 0, "Yes."),
        ("tp/(tp+fp)", 0, "Yes."),
        ("-fp/n", 0, "Yes."),  # not taken for options
        ("-tp", 1, "More true positives can be worse: (tp=0, fp=1, fn=1, tn=0)"),
        ("sqrt(tp*tn)", 0, "for every n; strictly increasing in it if n <= 24."),
        ("min(tp, tn)", 0, "for every confusion matrix with n <= 24."),
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


def test_money_is_written_as_people_do(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "79")
    rows = "".join(f"{p},1\n" for p in (0.83, 0.41, 0.12, 0.07, 0.11, 0.35))
    (tmp_path / "x.csv").write_text("p,y\n" + rows, encoding="utf-8")
    line = ["expect", tmp_path / "x.csv", "--proba", "p", "--pred", "y", "--label", "y"]
    metrics = "1250000*tp - 400000*fp,0.001*tp,tp*tp*1000,f1"
    words = call(*line, "--metric", metrics).stdout.split()
    for word in ("718,500.00", "7,500,000.00", "0.00189", "0.006", "36,000.00", "1"):
        assert word in words
    assert not any("e+" in word for word in words)


def test_numbers_are_folded_only_where_there_is_no_room(tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("p,y\n0.5,1\n0.5,0\n", encoding="utf-8")
    line = ["expect", tmp_path / "x.csv", "--proba", "p", "--pred", "y"]
    line += ["--metric", "1250000000*tp - 400000000*fp + 400000000*fn"]
    monkeypatch.setenv("COLUMNS", "64")
    assert "-400,000,000.00" in call(*line).stdout
    monkeypatch.setenv("COLUMNS", "40")
    text = call(*line).stdout
    assert "-400,000,000.00" not in text
    assert max(map(len, text.splitlines())) <= 40
