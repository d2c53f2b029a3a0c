"""Names from files and from users are text: nothing in them is interpreted."""

import json
import os
import unicodedata

import pytest

from bestcut import FileError, decide_file
from cli.run import call

HOSTILE = {
    "end of markup": "[/x]",
    "markup": "[bold red]a[/]",
    "link": "[link=https://example.org]a[/link]",
    "colour": "\x1b[31mred",
    "title": "\x1b]0;owned\x07",
    "8-bit": "\x9b31m",
    "html": "<script>alert(1)</script>",
    "newline": "a\nbestcut: all is well",
    "return": "a\rbestcut: all is well",
    "right to left": "\u202egnp.exe",
    "zero width": "a\u200bb",
    "long": "x" * 100_000,
}
each_name = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def assert_plain(text, name=None):
    """Check that a terminal shows a text as it is, and that a name is in it."""
    odd = {x for x in text if unicodedata.category(x)[0] == "C" and x not in "\r\n"}
    assert not odd
    lines = text.splitlines()
    assert not any(line.startswith("bestcut: all is well") for line in lines)
    assert len(text) < 20_000
    if name is not None:
        assert name in "".join(text.split())


def classes_file(folder, name):
    head = ",".join(["id", quoted(name), "b"])
    path = folder / "x.csv"
    path.write_text(f"{head}\n1,.75,.25\n2,.25,.75\n", encoding="utf-8", newline="")
    return path


@each_name
def test_names_of_classes_in_tables(tmp_path, name):
    path = classes_file(tmp_path, name)
    classes = f"{quoted(name)},b"
    run = call("decide", path, "--classes", classes, "--summary-only")
    assert run.exit_code == 0, run.output
    shown = name if name.startswith(("[", "<")) else None
    assert_plain(run.stdout + run.stderr, shown and "".join(shown.split()))


@each_name
def test_names_of_columns_in_errors(tmp_path, name):
    path = classes_file(tmp_path, name)
    labelled = ["--calibrate", path, "--calibrate-label", name]
    for line in (
        ["decide", path, "--proba", "no"],  # lists the columns
        ["decide", path, "--proba", name[:1000] + "?"],
        ["decide", path, "--proba", "b", "--name", name],
        ["decide", path, "--proba", "id"],
        ["expect", path, "--proba", "b", "--pred", name],
        ["compare", path, "--proba", "b", *labelled],
        ["report", path, "--proba", name, "-o", tmp_path / "x.html"],
        ["check", name],
    ):
        run = call(*line)
        assert_plain(run.stdout + run.stderr)
        assert len(run.stderr.splitlines()) <= 1


@each_name
def test_names_of_files(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = name[:100].replace("/", "|") + ".csv"
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        pytest.skip("no file can have this name here")
    for line in (
        ["decide", name, "--proba", "p"],
        ["report", name, "--proba", "p", "-o", "x.html"],
        ["compare", name, "--proba", "p"],
    ):
        run = call(*line)
        assert run.exit_code == 2
        assert_plain(run.stderr)
        assert len(run.stderr.splitlines()) == 1
    with open(name, "w", encoding="utf-8") as file:
        file.write("p,y\n.5,1\n.25,1\n")
    labelled = ["--calibrate", name, "--calibrate-label", "y"]
    for line in (
        ["decide", name, "--proba", "p", "--summary-only", *labelled],
        ["compare", name, "--proba", "p", *labelled],
        ["expect", name, "--proba", "p", "--pred", "y", *labelled],
        ["report", name, "--proba", "p", "-o", "x.html", *labelled],
    ):
        run = call(*line)
        assert run.exit_code == 0, run.output
        assert_plain(run.stdout + run.stderr)
    run = call("decide", name, "--proba", "p", "--summary-only", "--json", *labelled)
    assert json.loads(run.stdout)["calibrated"]["file"] == name
    with pytest.raises(FileError) as caught:
        decide_file(name, "out.csv", y_proba="no")
    assert_plain(str(caught.value))
    with pytest.raises(FileError) as caught:
        decide_file(name, f"no/{name}", y_proba="p")
    assert_plain(str(caught.value))


def test_names_that_spreadsheets_would_run_can_be_escaped(tmp_path):
    path = classes_file(tmp_path, "=1+1")
    line = ["decide", path, "--classes", "=1+1,b"]
    assert call(*line).stdout.splitlines()[1] == "1,.75,.25,=1+1"
    escaped = call(*line, "--escape-formulas").stdout.splitlines()
    assert escaped[1:] == ["1,.75,.25,'=1+1", "2,.25,.75,b"]
    path.write_text("-q,p,id\n@g,.9,+x\n@g,.8,y\nh,.7,-z\n", encoding="utf-8")
    line = ["decide", path, "--proba", "p", "--group-by", "-q", "--collect", "id"]
    rows = call(*line, "--escape-formulas").stdout.splitlines()
    assert rows == ["'-q,decision", "'@g,'+x y", "h,'-z"]


@pytest.mark.parametrize("given", ["row", "row=", "row=-1", "row=0", "rows=5"])
def test_limits_that_are_none_are_refused(tmp_path, given):
    path = classes_file(tmp_path, "a")
    run = call("decide", path, "--proba", "b", "--limit", given)
    assert run.exit_code == 2
    assert "Invalid value for '--limit'" in run.stderr
