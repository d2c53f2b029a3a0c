"""Text is read and written in an encoding that is named, not in that of the machine.

The linter has such a rule, but it sees only what it knows to be a path.
"""

import ast
import re

import pytest

from helpers import ROOT

FOLDERS = (".ci", "benchmarks", "docs", "examples", "experiments", "src", "tests")
SCRIPTS = [*ROOT.glob("*.py"), *(x for f in FOLDERS for x in (ROOT / f).rglob("*.py"))]
HINT = re.compile(r"open\(|_text\(|text=|universal_newlines|TextIOWrapper|[Tt]emp")


def is_text(call, name):
    """Return whether a call reads or writes text, as far as its own words tell."""
    given = {k.arg: k.value for k in call.keywords}
    if {"text", "universal_newlines"} & set(given) or name == "TextIOWrapper":
        return True
    if name == "read_text":
        return not call.args
    if name == "write_text":
        return len(call.args) == 1
    modes = [x.value for x in (*call.args[:2], given.get("mode")) if is_mode(x)]
    if name in ("NamedTemporaryFile", "TemporaryFile", "SpooledTemporaryFile"):
        return any("b" not in mode for mode in modes)
    if name not in ("open", "fdopen"):
        return False
    path_comes_first = isinstance(call.func, ast.Name) or name == "fdopen"
    if modes or (call.args and not path_comes_first):
        return any("b" not in mode for mode in modes)
    return path_comes_first or not call.args


def is_mode(node):
    """Return whether an expression is a string that may be the mode of a file."""
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and bool(re.fullmatch(r"[rwax+bt]{1,4}", node.value))
    )


def unnamed(code):
    """Return the lines of code on which text has the encoding of the machine."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and not {k.arg for k in node.keywords} & {
            "encoding",
            None,
        }:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if is_text(node, name):
                found.append(node.lineno)
    return found


def test_every_file_is_opened_with_its_encoding_named():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SCRIPTS
        if HINT.search(code := path.read_text(encoding="utf-8"))
        for line in unnamed(code)
    ]
    assert not found
    assert len(SCRIPTS) > 400


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        "open(path, newline='')",
        "open(path, 'w')",
        "path.open()",
        "path.open('a')",
        "path.open(mode='r+')",
        "gzip.open(path, 'rt')",
        "os.fdopen(handle, 'w')",
        "(folder / 'x.csv').read_text()",
        "path.write_text('é')",
        "io.TextIOWrapper(raw)",
        "tempfile.NamedTemporaryFile('w+')",
        "subprocess.run(command, text=True)",
        "Popen(command, universal_newlines=True)",
    ],
)
def test_an_encoding_that_is_not_named_is_noticed(code):
    assert unnamed(f"x = 1\n{code}") == [2]


@pytest.mark.parametrize(
    "code",
    [
        "open(path, 'rb')",
        "open(path, encoding='utf-8')",
        "path.open('xb', opener=mine)",
        "os.open(path, os.O_RDONLY)",
        "webbrowser.open(address)",
        "FORMATS[kind].open(source)",
        "path.read_text('utf-8')",
        "path.write_text('é', encoding='utf-8')",
        "path.write_bytes(b'')",
        "tempfile.NamedTemporaryFile(prefix='x-')",
        "subprocess.run(command, encoding='utf-8')",
        "subprocess.run(command, **settings)",
    ],
)
def test_bytes_and_named_encodings_pass(code):
    assert unnamed(code) == []
