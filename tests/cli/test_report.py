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
    assert "'note', row 1: 'plain' is no number" in refused(
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
    (folder / "r.html").write_text("old")
    complaint(call("report", "scores.csv", "--proba", "note", "-o", "r.html"))
    assert (folder / "r.html").read_text() == "old"
