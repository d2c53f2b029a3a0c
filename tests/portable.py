"""Run the tests as other machines would; `make test-portable` does.

    python tests/portable.py [machine ...] [-- arguments of pytest]

`tests/test_portable.py` checks on each of them that the settings have their effect.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
LOCALES = ROOT / "build" / "locales"
COMMA = "de_DE.UTF-8"

# NumPy and OpenBLAS choose among several codes for one function by what a processor can
# do, and each of them rounds in its own way; so do other numbers of threads. To
# OpenBLAS, Prescott has vectors of 2 numbers, Haswell of 4 and fused products.
OLD = {
    "NPY_DISABLE_CPU_FEATURES": "all",  # `settings` puts their names in
    "OPENBLAS_CORETYPE": "Prescott",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "1",  # the order of sets of strings
    "TZ": "EAST-12:45",
    "LC_ALL": "C",  # text is ASCII unless its encoding is named
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "HOME": "/dev/null",  # where nothing can be kept
}
NEWER = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "2",
    "OMP_NUM_THREADS": "2",
    "PYTHONHASHSEED": "4294967295",
    "TZ": "WEST+09:30",
    "LC_ALL": "C",
    "PYTHONUTF8": "1",
    "HOME": "/dev/null",
}
# The system gives its reasons in English there, too: tests read them in messages.
GERMAN = {"LC_ALL": COMMA, "LOCPATH": str(LOCALES), "LANGUAGE": "C"}
COMMAS = NEWER | GERMAN | {"PYTHONUTF8": "0"}
MACHINES = {"old": OLD, "newer": NEWER, "commas": COMMAS}


def dispatched():
    """Return what NumPy uses of this processor and cannot expect of every one."""
    return np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])


def settings(machine):
    """Return the variables of a machine, as far as they mean something here."""
    found = MACHINES[machine] | {"BESTCUT_PORTABLE": machine}
    if "NPY_DISABLE_CPU_FEATURES" in found:  # NumPy warns of names that are not here
        found["NPY_DISABLE_CPU_FEATURES"] = " ".join(dispatched())
    if platform.machine() not in ("x86_64", "AMD64"):
        del found["OPENBLAS_CORETYPE"]
    return found


def make_locale():
    """Make the locale with a decimal comma, or say what is missing."""
    LOCALES.mkdir(parents=True, exist_ok=True)
    language, charmap = COMMA.split(".")
    command = ["localedef", "-i", language, "-f", charmap, str(LOCALES / COMMA)]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        cure = "On Debian, `apt-get install locales` brings what it is made of."
        sys.exit(f"{COMMA} could not be made: {error} {cure}")


def main(arguments):
    """Run the tests on the machines named; by default, the old one and with commas."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    machines, given = arguments[:end] or ["old", "commas"], arguments[end + 1 :]
    if unknown := [x for x in machines if x not in MACHINES]:
        sys.exit(f"machines are {', '.join(MACHINES)}; not {unknown[0]}")
    if "commas" in machines:
        make_locale()
    failed = []
    for machine in machines:
        variables = settings(machine)
        shown = " ".join(f"{name}={value!r}" for name, value in variables.items())
        sys.stdout.write(f"{shown}\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *given]
        if subprocess.run(command, env=os.environ | variables, cwd=ROOT).returncode:
            failed.append(machine)
    if failed:
        sys.exit(f"failed on: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
