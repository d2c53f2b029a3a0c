"""What each command prints; what all of them promise.

The golden files hold commands and all they write. BESTCUT_GOLDEN=write makes them anew.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.run import (
    ANIMALS,
    BIN,
    TAGS,
    assert_written,
    call,
    cli,
    complaint,
    environment,
    quickly,
    shell,
)
from groups import slow

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = {
    "decide": [
        "bestcut decide scores.csv --proba p",
        "bestcut decide scores.csv --proba p --group-by query --name best --json",
        "bestcut decide scores.csv --proba p --metric recall --at-least precision=0.7"
        " --max-positives 100 -o out.csv; ls; cat out.csv",
        "bestcut decide scores.csv --proba p --calibrate scores.csv --calibrate-label"
        " label --at-least precision=0.3@90% -o out.csv; tail -n 1 out.csv",
        "bestcut decide scores.csv --proba p --calibrate scores.csv --calibrate-label"
        " label --group-by query -o out.csv; tail -n 1 out.csv",
        "bestcut decide animals.csv --classes cat,dog,owl",
        "bestcut decide animals.csv --classes cat,dog,owl --metric recall --name best"
        " -o out.csv; tail -n 1 out.csv",
        "bestcut decide tags.csv --proba p --group-by document --per-group 1-2"
        " --average-by tag",
        "bestcut decide animals.csv --classes cat,dog",
    ],
    "expect": [
        "bestcut expect scores.csv --proba p --pred yhat --label label --metric f1,mcc",
        "bestcut expect scores.csv --proba p --pred yhat --json",
        "bestcut expect scores.csv --proba p --pred yhat --label label"
        " --calibrate scores.csv --calibrate-label label",
    ],
    "compare": ["bestcut compare scores.csv --proba p"],
    "check": [
        'bestcut check "2*tp/(2*tp+fp+fn)"',
        'bestcut check "fp - tp"; echo $?',
        "bestcut check \"__import__('os').system('touch made')\"; echo $?; ls",
    ],
    "metrics": ["bestcut metrics"],
}


@pytest.mark.parametrize("entry_point", ["of the first line", slow("of all lines")])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_writes_what_its_golden_file_says(
    command, entry_point, folder, monkeypatch
):
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    text = ""
    if command == "decide":
        (folder / "animals.csv").write_text(ANIMALS, encoding="utf-8")
        (folder / "tags.csv").write_text(TAGS, encoding="utf-8")
    for line in COMMANDS[command]:
        real = not text or entry_point == "of all lines"
        run = (shell if real else quickly)(line, folder)
        err = re.sub("^", "2> ", run.stderr.decode().rstrip("\n"), flags=re.MULTILINE)
        text += f"$ {line}\n{run.stdout.decode()}{err if run.stderr else ''}".rstrip()
        text += "\n\n"
    assert "\x1b" not in text  # no colour when piped
    file = GOLDEN / f"{command}.txt"
    if os.environ.get("BESTCUT_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert_written(text, file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("found", "expected", "are_same"),
    [
        (
            '"error": 1.776e-14, "gap": 0.0}',
            '"error": 1.765254609153999e-14, "gap": 3e-16}',
            True,
        ),
        ('{"score": 0.6740149817268206}', '{"score": 0.67401498172682}', True),
        ("001,0.50,1", "001,0.50,1", True),
        ("f1 0.6740", "f1 0.6740", True),
        ("001,0.50,1", "001,0.5,1", False),
        ("001,0.50,1", "1,0.50,1", False),
        ("f1 0.6740", "f1 0.6739", False),
        ("f1 0.6740", "f2 0.6740", False),
        ("gap: 4e-14", "gap: 4e-4", False),
        ("gap: 4e-14", "gap: inf", False),
        ('{"score": 0.6740149817268206}', '{"score": 0.6740149917268206}', False),
        ("one line", "one line\n0.5", False),
    ],
)
def test_only_last_digits_may_differ_from_a_golden_file(found, expected, are_same):
    if are_same:
        assert_written(found, expected)
    else:
        with pytest.raises(AssertionError):
            assert_written(found, expected)


def test_every_command_has_a_golden_file_and_an_example_in_its_help():
    assert {*COMMANDS, "report"} == set(cli.commands)  # a page, tested apart
    for command in cli.commands:
        run = call(command, "--help")
        assert run.exit_code == 0
        if command != "metrics":  # which takes nothing
            assert re.search(rf"Examples?:\n    bestcut {command} ", run.stdout)


ARGUMENTS = {
    "decide": ["scores.csv", "--proba", "p", "-o", "out.csv"],
    "expect": ["scores.csv", "--proba", "p", "--pred", "yhat", "--label", "label"],
    "compare": ["scores.csv", "--proba", "p"],
    "check": ["fp-tp"],
}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_everything_fits_60_columns(name, folder, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    runs = (
        [[name, "--help"], [name, *ARGUMENTS.get(name, [])]] if name else [["--help"]]
    )
    for arguments in runs:  # not by click's runner, which has a width of its own
        cli.main(arguments, standalone_mode=False)
        out, err = capsys.readouterr()
        for line in (out + err).splitlines():
            assert len(line) <= 60
            assert line == line.rstrip()


def test_the_shell_is_told_commands_options_and_metrics(folder):
    from click.shell_completion import BashComplete

    source = shell("_BESTCUT_COMPLETE=bash_source bestcut", folder)
    assert b"complete -o nosort -F _bestcut_completion bestcut" in source.stdout
    for words, found in {
        "bestcut co": "plain,compare",
        "bestcut decide scores.csv --at": "plain,--at-least\nplain,--at-most",
        "bestcut decide scores.csv --metric jac": "plain,jaccard",
        "bestcut expect scores.csv --metric f1,mc": "plain,f1,mcc",
    }.items():
        cword = str(len(words.split()) - 1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COMP_WORDS", words)
            patch.setenv("COMP_CWORD", cword)
            complete = BashComplete(cli, {}, "bestcut", "_BESTCUT_COMPLETE").complete()
        assert complete == found


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_an_interrupted_command_says_so_and_leaves_nothing(folder, number, status):
    # To open the pipe for writing waits until the command has opened it for reading.
    os.mkfifo(folder / "slow.csv")
    line = [BIN / "bestcut", "decide", "slow.csv", "--proba", "p", "-o", "out.csv"]
    with subprocess.Popen(
        line,
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores one
    ) as process:
        # Unbuffered: closing has nothing left to write to a command that has ended.
        with open(folder / "slow.csv", "wb", buffering=0) as file:
            file.write(b"id,p\n1,0.5\n")
            process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert err == "bestcut: interrupted; no file was written.\n"
    assert sorted(os.listdir(folder)) == ["scores.csv", "slow.csv"]


# Native code that does not return, and during which Python handles no signal.
_STUCK = """
import hashlib, sys
import bestcut.cli._decide, bestcut.cli._signals

def stuck(*arguments, **options):
    print("begun", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)

bestcut.cli._decide.open_source = stuck
bestcut.cli._signals.GRACE = 0.2
sys.argv = ["bestcut", "decide", "scores.csv", "--proba", "p"]
bestcut.cli.main()
"""


def test_a_signal_ends_a_command_that_does_not_heed_it(folder):
    with subprocess.Popen(
        [sys.executable, "-c", _STUCK],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        try:
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 143
    assert err == "bestcut: interrupted; no file was written.\n"


def test_unknown_commands_are_one_line_too():
    assert "No such command 'decode'" in complaint(call("decode"))


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (
            "ModuleNotFoundError(name='polars')",
            2,
            "the command needs polars: pip install 'bestcut[cli]'",
        ),
        ("KeyboardInterrupt", 130, "interrupted; no file was written."),
    ],
)
def test_what_happens_while_packages_are_loaded_is_one_line(
    tmp_path, error, status, line
):
    (tmp_path / "polars.py").write_text(f"raise {error}", encoding="utf-8")
    run = shell("bestcut metrics", tmp_path, PYTHONPATH=str(tmp_path))
    assert run.returncode == status
    assert run.stderr.decode() == f"bestcut: {line}\n"
