"""How the tests run the command: by its real entry point, or in this process."""

import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("polars")
click_testing = pytest.importorskip("click.testing")
pytest.importorskip("rich")

from bestcut.cli._main import cli  # noqa: E402  (needs the packages above)

BIN = Path(sys.executable).parent
# click 8.1 mixes both streams unless it is told not to; 8.2 cannot be told.
_OPTIONS = inspect.signature(click_testing.CliRunner).parameters
APART = {"mix_stderr": False} if "mix_stderr" in _OPTIONS else {}

# Ten hits of two queries, with what CSV writers do to dates, zeros, quotes and unicode.
SCORES = '''\
id,query,p,note,yhat,label
001,a,0.91,plain,1,1
002,a,0.40,"a, comma",1,1
003,b,0.73,"a ""quote""",1,0
004,b,0.05,,0,0
005,a,0.32,2024-02-29,0,1
006,b,0.08,Zürich ☃,0,0
007,b,0.47,1e5,0,1
008,a,0.12,"two
lines",0,0
009,b,0.02,NULL,0,0
010,a,0.21,-0.0,0,0
'''
PROBABILITIES = [0.91, 0.40, 0.73, 0.05, 0.32, 0.08, 0.47, 0.12, 0.02, 0.21]
QUERIES = list("aabbabbaba")

# One column for each class; the last row was rounded.
ANIMALS = """\
id,cat,dog,owl
001,0.60,0.30,0.10
002,0.50,0.20,0.30
003,0.50,0.40,0.10
004,0.90,0.10,0.00
005,0.33,0.33,0.33
"""
# One row for each label that a document may have.
TAGS = """\
document,tag,p
d1,law,0.8
d1,tax,0.5
d1,art,0.1
d2,law,0.7
d2,sea,0.3
d3,art,0.4
d3,tax,0.6
d3,law,0.2
"""


def environment(**changes):
    """Return an environment in which only `changes` colour or narrow the output."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE")
        and not name.startswith("_BESTCUT")
    }
    path = os.pathsep.join([str(BIN), kept.get("PATH", "")])
    return kept | {"PATH": path, "PYTHONIOENCODING": "utf-8"} | changes


def shell(line, folder, **changes):
    """Run a line in a shell where `bestcut` is the installed entry point."""
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def call(*arguments, stdin=b""):
    """Run the command in this process; an exception that escapes is a failure."""
    run = click_testing.CliRunner(**APART).invoke(
        cli, [str(argument) for argument in arguments], input=stdin, prog_name="bestcut"
    )
    if run.exception is not None and not isinstance(run.exception, SystemExit):
        raise run.exception
    return run


def quickly(line, folder):
    """Run a line as `shell` does, but the command in this process, if that may be.

    A process of its own takes the better part of a second to begin.
    """
    command, _, rest = line.partition("; ")
    if not command.startswith("bestcut ") or re.search("[|<>]", command):
        return shell(line, folder)
    run = call(*shlex.split(command)[1:])
    status, out, err = run.exit_code, run.stdout_bytes, run.stderr_bytes
    if rest:
        after = shell(f"(exit {status}); {rest}", folder)
        status, out, err = after.returncode, out + after.stdout, err + after.stderr
    return subprocess.CompletedProcess(line, status, out, err)


def complaint(run):
    """Return the one line a failed run wrote; nothing else may have been written."""
    assert run.exit_code == 2, run.output
    assert run.stdout_bytes == b""
    (line,) = run.stderr.splitlines()
    assert line.startswith("bestcut: ")
    return line.removeprefix("bestcut: ")


# Scores are right to about 1e-13, and errors and gaps are as small: what is beyond, the
# machine decides. Other numbers are printed with few digits, which must be the same.
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-\d+)?")
_HAS_LAST_DIGITS = re.compile(r"\d\.\d{10,}.*|.*e-1\d")
_ROUNDING = 1e-12


def assert_written(found, expected):
    """Check that a text is the expected one, but for the last digits of its numbers."""
    assert _NUMBER.sub("#", found) == _NUMBER.sub("#", expected)
    for a, b in zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True):
        decided = any(_HAS_LAST_DIGITS.fullmatch(x) for x in (a, b))
        same = a == b or (decided and abs(float(a) - float(b)) <= _ROUNDING)
        assert same, f"{a} is written instead of {b}"
