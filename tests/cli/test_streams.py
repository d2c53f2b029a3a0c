"""Standard input and output: any format comes in, and nothing ends in a traceback."""

import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from cli.run import BIN, call, complaint, environment, shell
from layers import SRC

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame({"id": [1, 2, 3], "p": [0.9, 0.1, 0.4]})
COMMAND = [sys.executable, "-c", "from bestcut_command import main; main()"]


@pytest.fixture
def place(tmp_path):
    FRAME.write_csv(tmp_path / "x.csv")
    FRAME.write_parquet(tmp_path / "x.parquet")
    FRAME.write_ipc(tmp_path / "x.arrow")
    FRAME.write_ndjson(tmp_path / "x.ndjson")
    return tmp_path


# --- formats -------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("x.parquet", pl.read_parquet),
        ("x.arrow", pl.read_ipc),
        ("x.ndjson", pl.read_ndjson),
        ("x.csv", pl.read_csv),
    ],
)
def test_standard_input_is_known_by_its_first_bytes(place, name, read, packed):
    data = (place / name).read_bytes()
    given = gzip.compress(data) if packed else data
    run = call("decide", "-", "--proba", "p", stdin=given)
    assert run.exit_code == 0, run.stderr
    # What comes out has the same format.
    assert read(io.BytesIO(run.stdout_bytes))["decision"].to_list() == [1, 0, 0]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"p":0.5}', "ndjson"),
        (b' {"p":0.5} \r\n{"p":0.5}\r\n', "ndjson"),
        (b"{p},q\n0.5,1\n", None),
        (b"{p}\n0.5\n", "ndjson"),
    ],
)
def test_what_looks_like_an_object_is_one(data, kind):
    run = call("decide", "-", "--proba", "p", stdin=data)
    if kind is None:
        assert "the columns are: {p}, q." in complaint(run)
    elif data.startswith(b"{p"):
        assert "standard input: cannot be read as ndjson" in complaint(run)
        run = call("decide", "-", "--proba", "{p}", "--format", "csv", stdin=data)
        assert run.stdout == "{p},decision\n0.5,1\n"
    else:
        assert b'"decision":1' in run.stdout_bytes


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_may_be_separated_otherwise_and_stays_so(tmp_path, mark, end):
    lines = [f"id{mark}p{mark}note", f"1{mark}0.9{mark}", f'2{mark}0.1{mark}"a{mark}b"']
    (tmp_path / "x.csv").write_bytes(end.join(lines).encode())
    run = call("decide", tmp_path / "x.csv", "--proba", "p")
    wanted = [f"{line}{mark}{x}" for line, x in zip(lines, "d10", strict=True)]
    wanted[0] += "ecision"
    assert run.stdout_bytes.decode() == end.join(wanted)
    call("decide", tmp_path / "x.csv", "--proba", "p", "-o", tmp_path / "y.parquet")
    assert pl.read_parquet(tmp_path / "y.parquet").columns[:2] == ["id", "p"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b,p\n1,0.5\n", ["a;b", "p"]),  # the comma is the usual one
        ("p;q\n0.5\n", ["p;q"]),  # the next row holds no semicolon
        ('"p;q"\n0.5\n', ["p;q"]),  # nor does this header, outside of quotes
        ("p;q\n", ["p", "q"]),
        ("p;q|r\n1;2|3\n", ["p", "q|r"]),  # the first of as many
        ("p;q|r|s\n0.5;2|3|4\n", ["p;q", "r", "s"]),  # the most
    ],
)
def test_the_comma_is_given_up_only_where_it_is_not_meant(tmp_path, text, columns):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    run = call("decide", tmp_path / "x.csv", "--proba", "no")
    assert f"the columns are: {', '.join(columns)}." in complaint(run)


def test_one_column_in_the_place_of_several_is_noticed(place):
    line = ["decide", place / "x.csv", "--format", "tsv", "--proba", "p"]
    message = (
        "the columns are: id,p. This is one column: if it should be several, pass "
        "another --format."
    )
    assert message in complaint(call(*line))


def test_a_decimal_comma_is_named(tmp_path):
    (tmp_path / "x.csv").write_text("id;p\n1;0,5\n", encoding="utf-8")
    run = call("decide", tmp_path / "x.csv", "--proba", "p")
    assert "'0,5' is not a number. Write decimals with a point." in complaint(run)


@pytest.mark.parametrize("key", ["p", "é", 'a "b"', "a\\b"])
def test_a_key_that_occurs_twice_is_refused(tmp_path, key):
    both = [json.dumps(key), json.dumps(key, ensure_ascii=False)]
    odd = "".join(f"\\u{ord(mark):04x}" for mark in key)
    good = [f'{{{name}:0.5,"x":{{{name}:1}}}}' for name in both]
    (tmp_path / "x.ndjson").write_text("\n".join(good), encoding="utf-8")
    line = ["decide", tmp_path / "x.ndjson", "--proba", key]
    assert call(*line).exit_code == 0  # within another object it does not matter
    for name in (*both, f'"{odd}"'):
        bad = f"{good[0]}\n\n{{{both[0]}:0.5,{name}:0.25}}\n"
        (tmp_path / "x.ndjson").write_text(bad, encoding="utf-8")
        assert f"row 2 has the key {key!r} more than once" in complaint(call(*line))


def test_a_key_that_is_not_used_may_occur_twice_unless_rows_are_converted(tmp_path):
    (tmp_path / "x.ndjson").write_text('{"p":0.5,"a":1,"a":2}\n', encoding="utf-8")
    line = ["decide", tmp_path / "x.ndjson", "--proba", "p"]
    assert call(*line).stdout == '{"p":0.5,"a":1,"a":2,"decision":1}\n'
    run = call(*line, "-o", tmp_path / "y.csv")
    assert "row 1 has the key 'a' more than once" in complaint(run)


# --- the file that is read ------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("bestcut decide - --proba p -o x.csv < x.csv", "x.csv"),
        ("bestcut decide x.csv --proba p >> x.csv", "standard output"),
        ("bestcut report - --proba p -o x.csv < x.csv", "x.csv"),
    ],
)
def test_the_input_is_not_written_over_through_a_redirection(place, line, name):
    before = (place / "x.csv").read_bytes()
    run = shell(line, place)
    message = f"bestcut: {name}: is the input itself. Write to another file.\n"
    assert (run.returncode, run.stderr.decode()) == (2, message)
    assert (place / "x.csv").read_bytes() == before


def test_a_device_may_be_both(place):
    run = shell("bestcut decide - --proba p < /dev/null > /dev/null", place)
    assert b"standard input: is empty" in run.stderr


# --- terminals -----------------------------------------------------------------------


def on_terminal(line, folder):
    """Return the status of a command on a terminal, and all that it shows."""
    reader, terminal = pty.openpty()
    with subprocess.Popen(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=environment(TERM="xterm"),
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # so ends a terminal
                break
            if not part:
                break
            shown += part
        os.close(reader)
    return process.returncode, shown.replace(b"\r\n", b"\n").decode()


def test_a_terminal_is_not_filled_with_bytes(place):
    assert on_terminal("bestcut decide - --proba p < x.parquet", place) == (
        2,
        "bestcut: standard output: is a terminal, and parquet is not text. Name a file "
        "with -o.\n",
    )


def test_rows_on_a_terminal_have_no_bar_among_them(place):
    status, shown = on_terminal("bestcut decide x.csv --proba p", place)
    assert status == 0
    assert shown.startswith("id,p,decision\n1,0.9,1\n2,0.1,0\n3,0.4,0\nmetric: ")


# --- streams that are closed, and places that are none --------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "decide x.csv --proba p",
        "decide x.csv --proba p --summary-only",
        "compare x.csv --proba p --metric f1",
    ],
)
def test_a_closed_standard_output_is_named(place, command):
    (place / "x.csv").write_text("id,p\n1,0.9\n0,0.1\n", encoding="utf-8")
    run = shell(f"bestcut {command} >&-", place)
    assert run.returncode == 2
    assert run.stderr.decode() == (
        "bestcut: standard output: is closed. Redirect it to a file.\n"
    )


@pytest.mark.parametrize(
    ("closed", "options"), [(">&-", ""), (">&- 2>&-", "--group-by id")]
)
def test_a_stream_that_is_not_needed_may_be_closed(place, closed, options):
    line = f"bestcut decide x.csv --proba p {options} -o y.csv {closed}"
    run = shell(line, place)
    assert run.returncode == 0
    assert b"Traceback" not in run.stderr
    assert pl.read_csv(place / "y.csv").height == 3


def test_a_link_to_itself_is_no_file(place):
    (place / "a.csv").symlink_to("b.csv")
    (place / "b.csv").symlink_to("a.csv")
    reason = "(Too many levels of symbolic links)"
    run = call("decide", place / "a.csv", "--proba", "p")
    assert f"a.csv: cannot be read {reason}" in complaint(run)
    run = call("decide", place / "x.csv", "--proba", "p", "-o", place / "a.csv")
    assert f"a.csv: could not be written {reason}" in complaint(run)
    assert (place / "a.csv").is_symlink()


def test_no_name_is_no_file(place):
    run = call("decide", place / "x.csv", "--proba", "p", "-o", "")
    assert "has a name that does not tell its format" in complaint(run)


def test_a_reader_that_stops_early_sees_no_traceback(place):
    rows = "".join(f"{i},0.5\n" for i in range(30_000))
    (place / "big.csv").write_text("id,p\n" + rows, encoding="utf-8")
    command = "bestcut decide big.csv --proba p --group-by id --collect id"
    run = shell(f"{command} | head -n 1", place)
    assert run.stdout.count(b"\n") == 1
    assert b"Traceback" not in run.stderr
    assert b"Exception" not in run.stderr


# --- Ctrl-C while the command is loaded -----------------------------------------------


PLAIN = "os.kill(os.getpid(), signal.SIGINT)"
# As NumPy does: an interruption becomes an error of another kind.
CONVERTED = (
    f"try:\n    {PLAIN}\nexcept KeyboardInterrupt:\n    raise ImportError('broken')"
)


@pytest.mark.parametrize(
    ("package", "statement"),
    [("numpy", PLAIN), ("numpy", CONVERTED), ("polars", CONVERTED)],
    ids=["first", "first, converted", "later, converted"],
)
def test_ctrl_c_while_packages_are_loaded_is_one_line(tmp_path, package, statement):
    (tmp_path / f"{package}.py").write_text(
        f"import os, signal\n{statement}\n", encoding="utf-8"
    )
    run = subprocess.run(
        [*COMMAND, "metrics"],
        env=environment(PYTHONPATH=os.pathsep.join([str(tmp_path), str(SRC.parent)])),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 130
    assert run.stderr == "bestcut: interrupted; no file was written.\n"


# Before its first line has run, no command can do anything about Ctrl-C.
STARTED = """
import bestcut_command
print("started", flush=True)
bestcut_command.main()
"""


def test_ctrl_c_at_any_moment_shows_no_traceback(place):
    line = ["decide", "x.csv", "--proba", "p", "-o", "y.csv"]
    for delay in (0.15, 0.4):
        with subprocess.Popen(
            [sys.executable, "-c", STARTED, *line],
            cwd=place,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout.readline() == "started\n"
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        assert not [name for name in os.listdir(place) if name.endswith(".part")]


LATE = """
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGTERM)  # while Python ends
from bestcut.cli import main
main()
"""


def test_a_signal_while_python_ends_shows_no_traceback(place):
    run = subprocess.run(
        [sys.executable, "-c", LATE, "decide", "x.csv", "--proba", "p", "-o", "y.csv"],
        cwd=place,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (place / "y.csv").exists()
    assert "Traceback" not in run.stderr


AFTER = """
import os, signal
replace = os.replace
def replace_and_interrupt(*paths):
    replace(*paths)
    os.kill(os.getpid(), signal.SIGINT)
os.replace = replace_and_interrupt
from bestcut.cli import main
main()
"""


def test_an_interruption_after_the_file_is_there_does_not_deny_it(place):
    run = subprocess.run(
        [sys.executable, "-c", AFTER, "decide", "x.csv", "--proba", "p", "-o", "y.csv"],
        cwd=place,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (place / "y.csv").exists()
    assert "no file was written" not in run.stderr


def test_the_script_runs_what_the_tests_run():
    text = (SRC.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'bestcut = "bestcut_command:main"' in text
    assert (BIN / "bestcut").exists()
