"""`--worth`: what rows are worth, with amounts from columns of the file."""

import json

import numpy as np
import pytest

import bestcut
from bestcut import RowUtility
from cli.run import call, complaint

PAYMENTS = """\
id,card,p,amount,held,fraud,my fee
1,a,0.02,1900.00,1,0,5
2,a,0.40,8.50,1,1,4
3,b,0.10,120.00,0,0,3
4,b,0.03,15.00,0,0,2
5,b,0.60,3.00,1,1,1
"""
P = [0.02, 0.40, 0.10, 0.03, 0.60]
AMOUNT = [1900.0, 8.5, 120.0, 15.0, 3.0]
HELD, FRAUD = [1, 1, 0, 0, 1], [0, 1, 0, 0, 1]
FORMULA = "amount*tp - 5*fp"
UTILITY = RowUtility(tp=AMOUNT, fp=-5.0, name=FORMULA)


@pytest.fixture
def payments(tmp_path, monkeypatch):
    (tmp_path / "payments.csv").write_text(PAYMENTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def marks_of(text):
    return [bool(int(line[-1])) for line in text.splitlines()[1:]]


def decide(*options):
    return call("decide", "payments.csv", "--proba", "p", "--worth", *options)


@pytest.mark.parametrize("most", [None, 2])
def test_decisions_are_those_of_the_library(payments, most):
    limit = [] if most is None else ["--max-positives", most]
    run = decide(FORMULA, "--json", *limit)
    assert run.exit_code == 0, run.stderr
    one = bestcut.decide(P, UTILITY, max_positives=most)
    assert marks_of(run.stdout) == one.labels.tolist()
    assert json.loads(run.stderr) == {
        "metric": FORMULA,
        "rows": 5,
        "positive": one.n_positive,
        "ranked_by": "expected gain",
        "expected_score": one.expected_score,
        "error": one.error,
        "gap": 0.0,
        "gap_scope": "predictions",
        "interval_90": list(one.distribution().interval(0.9)),
        **({} if most is None else {"max_positives": most}),
    }


def test_each_group_is_decided_by_itself(payments):
    run = decide("amount*tp - [my fee]*n_pred", "--group-by", "card", "--json")
    fee = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    utility = RowUtility(tp=np.array(AMOUNT) - fee, fp=-fee)
    many = bestcut.decide_each(P, utility, groups=list("aabbb"))
    assert marks_of(run.stdout) == many.labels.tolist()
    facts = json.loads(run.stderr)
    assert facts["mean_expected_score"] == many.expected_score.mean()


def test_predictions_are_told_what_they_are_worth(payments):
    arguments = ["payments.csv", "--proba", "p", "--pred", "held", "--worth", FORMULA]
    run = call("expect", *arguments, "--label", "fraud", "--metric", "f1", "--json")
    f1, worth = json.loads(run.stdout)["scores"]
    score = bestcut.score_distribution(P, HELD, UTILITY)
    assert f1["metric"] == "f1"
    assert worth["metric"] == FORMULA
    assert worth["expected"] == score.mean
    assert (worth["low"], worth["high"]) == score.interval(0.9)
    assert worth["realised"] == UTILITY.realised(FRAUD, HELD) == 6.5
    alone = json.loads(call("expect", *arguments, "--json").stdout)["scores"]
    assert [row["metric"] for row in alone] == [FORMULA]


@pytest.mark.parametrize("metrics", [[], ["--metric", "f1"], ["--metric", "f1,mcc"]])
def test_the_table_shows_the_worth_as_money_beside_any_metrics(payments, metrics):
    arguments = ["payments.csv", "--proba", "p", "--pred", "held", "--worth", FORMULA]
    run = call("expect", *arguments, *metrics)
    score = bestcut.score_distribution(P, HELD, UTILITY)
    money = [f"{x:,.2f}" for x in (score.mean, *score.interval(0.9))]
    assert run.stdout.splitlines()[-1].split()[-3:] == money


def test_scores_may_be_calibrated_first(payments):
    rng = np.random.default_rng(0)
    score = rng.random(300)
    label = (rng.random(300) < score).astype(int)
    lines = [f"{s},{y}" for s, y in zip(score, label, strict=True)]
    (payments / "old.csv").write_text("\n".join(["p,y", *lines]), encoding="utf-8")
    labels = ["--calibrate", "old.csv", "--calibrate-label", "y"]
    run = decide(FORMULA, "--json", *labels)
    facts = json.loads(run.stderr)
    p = bestcut.calibrate(label, score)(P)
    one = bestcut.decide(p, UTILITY)
    assert marks_of(run.stdout) == one.labels.tolist()
    assert facts["expected_score"] == one.expected_score
    assert facts["std_calibration"] == one.distribution().std_calibration


def test_people_read_what_the_rows_are_ranked_by(payments):
    run = decide(FORMULA, "-o", "out.csv")
    assert "ranked by:             expected gain" in run.stderr
    assert "threshold" not in run.stderr


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("amout*tp", "payments.csv: has no column 'amout'. Name a column with --worth"),
        ("card*tp", "column 'card', row 1: 'a' is not a number"),
        ("tp/(amount - 3)", "is not finite in row 5"),
        ("amount*tp - 5", "Invalid value for '--worth': the formula"),
        ("1e200*amount*tp", "`tp` must hold numbers between -1e+150 and 1e+150"),
    ],
)
def test_a_formula_that_does_not_work_is_named(payments, formula, words):
    assert words in complaint(decide(formula, "-o", "out.csv"))
    assert not (payments / "out.csv").exists()


@pytest.mark.parametrize("bad", ["", "inf", "nan", "12,5"])
def test_an_amount_that_is_no_finite_number_is_named(payments, bad):
    text = PAYMENTS.replace("120.00", f'"{bad}"')
    (payments / "payments.csv").write_text(text, encoding="utf-8")
    line = complaint(decide(FORMULA))
    assert line.startswith("payments.csv: column 'amount', row 3: ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--metric", "f1"], "--worth and --metric cannot be used together"),
        (["--goal", "quantile=0.1"], "--goal must be left out with a RowUtility"),
        (["--at-least", "precision=0.9"], "--at-least must be left out"),
    ],
)
def test_options_that_do_not_go_with_it_are_refused(payments, options, words):
    assert words in complaint(decide(FORMULA, *options))


def test_classes_take_no_worth(payments):
    run = call("decide", "payments.csv", "--classes", "p,amount", "--worth", FORMULA)
    assert complaint(run) == "--classes cannot be used with --worth."
