"""`bestcut decide` for several classes: what the library decides, in every format."""

import csv
import json
import sys

import numpy as np
import polars as pl
import pytest

from bestcut import multiclass, multilabel
from cli.run import ANIMALS, TAGS, call, complaint

NAMES = ["cat", "dog", "owl"]
CLASSES = ["--classes", "cat,dog,owl"]
LABELS = ["--proba", "p", "--group-by", "document", "--average-by", "tag"]
P = np.array(
    [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0], [1 / 3] * 3]
)


@pytest.fixture
def files(folder):
    (folder / "animals.csv").write_text(ANIMALS, encoding="utf-8")
    (folder / "tags.csv").write_text(TAGS, encoding="utf-8")
    return folder


def decided(file, *options):
    run = call("decide", file, *options, "-o", "out.csv", "--json")
    assert run.exit_code == 0, run.stderr
    return pl.read_csv("out.csv", infer_schema=False), json.loads(run.stdout)


@pytest.mark.parametrize("metric", ["f1", "recall", "mcc", "gmean"])
def test_classes_are_those_of_the_library(files, metric):
    table, facts = decided("animals.csv", *CLASSES, "--metric", metric)
    found = multiclass.decide(P, metric, classes=NAMES)
    assert table["decision"].to_list() == found.labels.tolist()
    assert facts["expected_score"] == pytest.approx(found.expected_score, abs=1e-12)
    assert facts["rows"], facts["classes"] == (5, 3)
    assert facts["rows_rescaled"] == 1
    assert [line["class"] for line in facts["each"]] == NAMES
    predicted = [line["predicted"] for line in facts["each"]]
    assert predicted == found.n_positive.tolist()
    scores = [line["expected_score"] for line in facts["each"]]
    assert scores == pytest.approx(found.each, abs=1e-12)
    low, high = facts["interval_90"]
    assert low <= facts["expected_score"] <= high


@pytest.mark.parametrize(("text", "budget"), [("1", 1), ("2", 2), ("0-2", (0, 2))])
def test_labels_are_those_of_the_library(files, text, budget):
    table, facts = decided("tags.csv", *LABELS, "--per-group", text)
    matrix = np.array([[0.1, 0.8, 0, 0.5], [0, 0.7, 0.3, 0], [0.4, 0.2, 0, 0.6]])
    found = multilabel.decide(matrix, average="macro", per_row=budget)
    documents, tags = sorted({*table["document"]}), sorted({*table["tag"]})
    assert [line["label"] for line in facts["each"]] == tags
    for document, tag, mark in table.select("document", "tag", "decision").rows():
        place = documents.index(document), tags.index(tag)
        assert mark == f"{found.labels[place]:d}"
    assert facts["expected_score"] == pytest.approx(found.expected_score, abs=1e-12)
    assert facts["positive"] == found.labels.sum()
    predicted = [line["predicted"] for line in facts["each"]]
    assert predicted == found.labels.sum(axis=0).tolist()


def test_labels_need_no_scipy(files, monkeypatch):
    table, facts = decided("tags.csv", *LABELS, "--per-group", "2")
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    same, others = decided("tags.csv", *LABELS, "--per-group", "2")
    assert table.equals(same)
    assert facts.keys() == others.keys()
    monkeypatch.setattr("bestcut.cli._several._DENSE", 11)
    run = call("decide", "tags.csv", *LABELS, "--per-group", "2")
    assert complaint(run) == "3 groups of 4 labels need scipy. Run pip install scipy."


@pytest.mark.parametrize("target", ["csv", "tsv", "parquet", "arrow", "ndjson"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "ndjson"])
def test_every_format_holds_the_classes(files, kind, target):
    table = pl.read_csv("animals.csv").rename({"dog": 'a "dog", big'})

    def read_text(path, **settings):  # polars leaves quotes of names as they are
        with open(path, newline="", encoding="utf-8") as file:
            return pl.DataFrame(list(csv.DictReader(file, **settings)))

    write = {
        "csv": pl.DataFrame.write_csv,
        "tsv": lambda x, path: x.write_csv(path, separator="\t"),
        "parquet": pl.DataFrame.write_parquet,
        "arrow": pl.DataFrame.write_ipc,
        "ndjson": pl.DataFrame.write_ndjson,
    }
    read = {
        "csv": read_text,
        "tsv": lambda path: read_text(path, delimiter="\t"),
        "parquet": pl.read_parquet,
        "arrow": pl.read_ipc,
        "ndjson": pl.read_ndjson,
    }
    write[kind](table, f"in.{kind}")
    classes = 'cat,"a ""dog"", big",owl'
    out = f"out.{target}"
    run = call("decide", f"in.{kind}", "--classes", classes, "-o", out)
    assert run.exit_code == 0, run.stderr
    made = read[target](out)
    assert made.columns == [*table.columns, "decision"]
    best = ["cat", "owl", 'a "dog", big', "cat", "owl"]
    assert made["decision"].to_list() == best
    np.testing.assert_array_equal(made["cat"].cast(pl.Float64), table["cat"])


def test_all_other_bytes_stay(files):
    run = call("decide", "animals.csv", *CLASSES)
    lines = run.stdout.splitlines()
    assert [line.rpartition(",")[0] for line in lines] == ANIMALS.splitlines()


@pytest.mark.parametrize("options", [CLASSES, [*LABELS, "--per-group", "1"]])
def test_a_file_without_rows_stays_without_rows(files, options):
    text = ANIMALS if options is CLASSES else TAGS
    head = text.splitlines()[0]
    run = call("decide", "-", *options, stdin=head.encode())
    assert run.exit_code == 0, run.stderr
    assert run.stdout == f"{head},decision"
    assert "expected score:        none" in run.stderr


def test_people_are_shown_some_classes_and_machines_all(files):
    names = [f"c{i}" for i in range(32)]
    row = ",".join(["0.03125"] * 32)
    file = files / "many.csv"
    file.write_text(",".join(names) + f"\n{row}\n{row}\n", encoding="utf-8")
    run = call("decide", file, "--classes", ",".join(names))
    assert run.stderr.splitlines()[-2].split()[0] == "c29"
    assert run.stderr.endswith("and 2 more; --json prints all\n")
    _, facts = decided(file, "--classes", ",".join(names))
    assert len(facts["each"]) == 32


@pytest.mark.parametrize("columns", ["40", "60"])
def test_the_table_fits_a_narrow_window(files, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    run = call("decide", "animals.csv", *CLASSES, "-o", "out.csv")
    assert max(map(len, run.stderr.splitlines())) <= int(columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--classes", "cat,dog"],
            "row 1: the probabilities of the classes sum to 0.9, not to 1 (4 of 5 rows "
            "do",
        ),
        (["--classes", "cat,dog,cow"], "no column 'cow'. Name a column with --classes"),
        (["--classes", "cat,dog,id"], "column 'id', row 2: 2 is not a probability"),
        (["--classes", "cat,dog,cat"], "the column 'cat' is named more than once."),
        (["--classes", "cat"], "'cat' is one column"),
        ([*CLASSES, "--proba", "cat"], "--classes cannot be used with --proba"),
        ([*CLASSES, "--group-by", "id"], "--classes cannot be used with --group-by"),
        ([*CLASSES, "--per-group", "1"], "--classes cannot be used with --per-group"),
        (
            [*CLASSES, "--max-positives", "1"],
            "--classes cannot be used with --max-positives",
        ),
        ([*CLASSES, "--goal", "reach=1"], "--classes cannot be used with --goal"),
        ([*CLASSES, "--at-least", "f1=0"], "--classes cannot be used with --at-least"),
        (
            [*CLASSES, "--calibrate", "x.csv"],
            "--classes cannot be used with --calibrate",
        ),
        (["--calibrate", "x.csv"], "--calibrate needs --proba"),
        ([*CLASSES, "--name", "id"], "already has a column 'id'"),
        ([*CLASSES, "--metric", "fp-tp"], "More true positives can be worse"),
        (["--proba", "cat", "--per-group", "1"], "--per-group needs --average-by. For"),
        (["--average-by", "id"], "--average-by needs --proba"),
        (["--proba", "cat", "--average-by", "id"], "--average-by needs --group-by"),
        (
            [*LABELS, "--min-positives", "1"],
            "--average-by cannot be used with --min-positives",
        ),
        (LABELS, "--average-by needs --per-group"),
        (
            [*LABELS, "--per-group", "2-1"],
            "'2-1' is neither a number, such as 3, nor a range",
        ),
        (
            [*LABELS, "--per-group", "-1"],
            "'-1' is neither a number, such as 3, nor a range",
        ),
        (
            [*LABELS, "--per-group", "two"],
            "'two' is neither a number, such as 3, nor a range",
        ),
        ([*LABELS, "--per-group", "1"], "no column 'p'. Name a column with --proba"),
    ],
)
def test_wrong_options_are_one_line_on_standard_error(files, options, message):
    assert message in complaint(call("decide", "animals.csv", *options))


def test_one_label_twice_is_refused(files):
    text = f"{TAGS}d1,law,0.3\n"
    run = call("decide", "-", *LABELS, "--per-group", "2", stdin=text.encode())
    assert complaint(run) == (
        "standard input: row 9 is a second row for document 'd1' and tag 'law'. "
        "Keep one of these rows."
    )
