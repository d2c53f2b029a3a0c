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
