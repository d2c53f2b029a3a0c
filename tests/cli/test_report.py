"""`bestcut report` writes a page, or says in one line why not."""

import os
import sys

import pytest

pytest.importorskip("vl_convert")

from bestcut.report import make_report
from cli.run import PROBABILITIES, SCORES, call, complaint, shell


def test_the_page_is_written_and_summed_up(folder):
    run = shell("bestcut report scores.csv --proba p -o report.html", folder)
    assert (run.returncode, run.stdout) == (0, b"")
    assert run.stderr.decode() == (
        "report.html: 4 of 10 flagged, expected F1 0.67, 90% between 0.33 and 1.00\n"
    )
    made = make_report(PROBABILITIES, source="scores.csv, column p")
    assert (folder / "report.html").read_bytes() == made.html().encode()
    assert sorted(os.listdir(folder)) == ["report.html", "scores.csv"]


def test_metrics_and_title_are_those_given(folder):
    formula = "tp / (tp + max(0.3*fp, 0.7*fn))"
    run = call(
        *("report", "scores.csv", "--proba", "p", "--metric", formula),
        *("--also", "mcc,f2", "--title", "A & B", "-o", "-"),
    )
    assert run.exit_code == 0
    assert run.stderr.startswith("standard output: ")
    page = run.stdout_bytes.decode()
    assert "<title>A &amp; B</title>" in page
    assert page.count("<option") == 3


def test_labels_show_what_came(folder):
    run = call(*("report", "scores.csv", "--proba", "p"), "--label", "label", "-o", "r")
    assert run.exit_code == 0, run.output
    assert run.stderr == (
        "r: 4 of 10 flagged, expected F1 0.67, 90% between 0.33 and 1.00; realised "
        "0.75\n"
    )
    page = (folder / "r").read_text(encoding="utf-8")
    labels = [
        int(line.rpartition(",")[2])
        for line in SCORES.splitlines()[1:]
        if line[-2:] in (",0", ",1")
    ]
    made = make_report(PROBABILITIES, source="scores.csv, column p", y_true=labels)
    assert page == made.html()


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (
            "none",
            "scores.csv: has no column 'none'. Name a column with --label; the columns "
            "are: ",
        ),
        (
            "id",
            "scores.csv: column 'id', row 2: '002' is not a label. Pass 0 and 1, or ",
        ),
        (
            "note",
            "scores.csv: column 'note', row 1: 'plain' is not a label. Pass 0 and 1",
        ),
    ],
)
def test_what_is_no_column_of_labels_is_refused(folder, label, message):
    arguments = ("--proba", "p", "--label", label, "-o", "r.html")
    assert complaint(call("report", "scores.csv", *arguments)).startswith(message)
    assert not (folder / "r.html").exists()


def test_labels_that_are_all_the_same_are_doubted(folder):
    rows = "".join(f"{p},1\n" for p in PROBABILITIES)
    (folder / "ones.csv").write_text(f"p,y\n{rows}", encoding="utf-8")
    run = call("report", "ones.csv", "--proba", "p", "--label", "y", "-o", "r.html")
    assert run.exit_code == 0, run.output
    assert run.stderr.startswith(
        "bestcut: warning: ones.csv: all 10 labels in column 'y' are 1. Check the "
        "column.\n"
    )


def test_conditions_and_worths_are_those_given(folder):
    base = ("report", "scores.csv", "--proba", "p", "-o", "r.html")
    run = call(*base, "--max-positives", 2, "--at-least", "precision=0.6")
    assert run.stderr.startswith("r.html: 2 of 10 flagged, expected F1 ")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "At most 2 cases may be flagged. The expected Precision must be" in page
    run = call(*base, "--worth", "80*tp - 10*fp")  # what is decided for
    assert "expected 80*tp - 10*fp " in run.stderr
    run = call(*base, "--worth", "80*tp - 10*fp", "--metric", "f1")
    assert "expected F1 " in run.stderr
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<dt>Expected 80*tp - 10*fp</dt>" in page


def test_conditions_and_worths_that_make_no_sense_are_refused(folder):
    def refused(*arguments):
        base = ("report", "scores.csv", "--proba", "p", "-o", "r.html")
        return complaint(call(*base, *arguments))

    said = refused("--at-least", "precision=0.99")
    assert said.startswith("--at-least cannot be satisfied by any prediction")
    assert "holds no count" in refused("--worth", "f1")
    assert "not a sum of counts" in refused("--worth", "tp / fp")
    assert "use `bestcut decide --worth`" in refused("--worth", "amount*tp")
    assert "ranking principle" in refused("--worth", "fp - tp")
    assert "Invalid value for '--max-positives'" in refused("--max-positives", "-1")
    assert not (folder / "r.html").exists()


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal(folder):  # and elsewhere not: see above
    pytest.importorskip("pty")
    line = "bestcut report scores.csv --proba p --also mcc -o r.html"
    spawn = f"{sys.executable} -c 'import pty; pty.spawn({line.split()})'"
    spawn = spawn.replace("['", '["').replace("']", '"]').replace("', '", '", "')
    shown = shell(spawn, folder, TERM="xterm", COLUMNS="60").stdout.decode()
    assert "Writing the page" in shown
    assert "4 of 10 flagged" in shown


def test_a_name_cannot_break_the_page(folder):
    (folder / "<").mkdir()  # the slash of a closing tag needs a folder before it
    name = "</script><b>$x.csv"
    (folder / name).write_text(SCORES.replace("p,", "<i>,", 1), encoding="utf-8")
    run = call("report", name, "--proba", "<i>", "-o", "r.html")
    assert run.exit_code == 0, run.output
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "script&gt;&lt;b&gt;$x.csv, column &lt;i&gt;</p>" in page
    assert "<b>$x" not in page


def test_what_goes_wrong_is_one_line(folder):
    def refused(*arguments):
        return complaint(call("report", "scores.csv", *arguments))

    assert "has no column 'q'" in refused("--proba", "q", "-o", "r.html")
    assert "Missing option '-o' / '--output'" in refused("--proba", "p")
    assert "is the input itself" in refused("--proba", "p", "-o", "scores.csv")
    assert "could not be written" in refused("--proba", "p", "-o", "no/r.html")
    assert "ranking principle" in refused(
        "--proba", "p", "--also", "fp - tp", "-o", "r.html"
    )
    assert "'note', row 1: 'plain' is not a number" in refused(
        "--proba", "note", "-o", "r.html"
    )
    assert not (folder / "r.html").exists()


def test_a_missing_package_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for name in [name for name in sys.modules if name.startswith("bestcut.report")]:
        monkeypatch.delitem(sys.modules, name)
    said = complaint(call("report", "scores.csv", "--proba", "p", "-o", "r.html"))
    assert said == (
        "bestcut.report needs vl-convert-python: pip install 'bestcut[report]'."
    )


def test_the_last_report_stays_if_a_new_one_fails(folder):
    (folder / "r.html").write_text("old", encoding="utf-8")
    complaint(call("report", "scores.csv", "--proba", "note", "-o", "r.html"))
    assert (folder / "r.html").read_text(encoding="utf-8") == "old"
