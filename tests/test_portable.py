"""`make test-portable`: its settings have their effect; a failure makes it fail."""

import json
import locale
import os
import subprocess
import sys
import time

import pytest

import portable

HERE = os.environ.get("BESTCUT_PORTABLE")
only_there = pytest.mark.skipif(HERE is None, reason="run by `make test-portable`")
GIVEN = portable.settings(HERE) if HERE else {}
# OpenBLAS knows one code by two names.
CORES = {"Prescott": {"Prescott", "Katmai"}, "Haswell": {"Haswell"}}


@only_there
def test_numpy_does_without_what_is_switched_off():
    off = GIVEN.get("NPY_DISABLE_CPU_FEATURES", "").split()
    assert not set(off) & set(portable.dispatched())


@only_there
def test_linear_algebra_runs_the_code_of_the_machine():
    pytest.importorskip("threadpoolctl")
    # In a process of its own, because other tests limit the threads of this one.
    code = (
        "import json, numpy, threadpoolctl as t; print(json.dumps(t.threadpool_info()))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    found = [x for x in json.loads(run.stdout) if x["internal_api"] == "openblas"]
    for library in found:
        assert str(library["num_threads"]) == GIVEN["OPENBLAS_NUM_THREADS"]
        if "OPENBLAS_CORETYPE" in GIVEN:
            assert library["architecture"] in CORES[GIVEN["OPENBLAS_CORETYPE"]]


@only_there
def test_the_locale_is_the_one_of_the_machine():
    point = "," if GIVEN["LC_ALL"] == portable.COMMA else "."
    assert locale.localeconv()["decimal_point"] == point
    assert f"{0.5:n}" == f"0{point}5"
    encoding = "ascii" if HERE == "old" else "utf-8"
    code = "import sys; print(sys.stdout.encoding)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert run.stdout.decode().strip() == encoding


@only_there
def test_the_clock_is_not_that_of_greenwich():
    assert time.timezone == {"EAST-12:45": -45900, "WEST+09:30": 34200}[GIVEN["TZ"]]


def test_machines_differ_in_all_that_both_have():
    same = {k for k in portable.OLD if portable.OLD[k] == portable.COMMAS.get(k)}
    assert same == {"PYTHONUTF8", "HOME"}


def test_a_machine_that_is_not_known_is_refused():
    with pytest.raises(SystemExit, match="machines are old, newer, commas; not odd"):
        portable.main(["old", "odd"])


def test_a_locale_that_cannot_be_made_is_no_success(monkeypatch, tmp_path):
    monkeypatch.setattr(portable, "LOCALES", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"de_DE\.UTF-8 could not be made: .* locales"):
        portable.main(["commas"])


def test_a_failing_machine_is_named(monkeypatch, capsys):
    ran = []

    def run(command, env, cwd):
        ran.append((command[command.index("-q") + 1 :], env["OPENBLAS_NUM_THREADS"]))
        return subprocess.CompletedProcess(command, env["BESTCUT_PORTABLE"] == "newer")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(SystemExit, match="failed on: newer"):
        portable.main(["old", "newer", "--", "tests/cli"])
    assert ran == [(["tests/cli"], "1"), (["tests/cli"], "2")]
    assert "TZ='EAST-12:45'" in capsys.readouterr().out
