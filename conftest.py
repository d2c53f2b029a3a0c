"""Tests and examples that need an engine run where there is one.

Processes that run tests side by side have one thread each for linear algebra: more
would wait for each other, and waiting takes as much of a processor as working.
"""

import doctest
import inspect
import locale
import os
import re
import shutil
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:  # before anything imports NumPy
    for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(_threads, "1")
if "BESTCUT_PORTABLE" in os.environ:  # as a program does that talks to its user
    locale.setlocale(locale.LC_ALL, "")

_ENGINES = {"_passes": "dask", "dask": "dask", "spark": "pyspark"}
collect_ignore = [
    f"src/bestcut/distributed/{module}.py"
    for module, engine in _ENGINES.items()
    if find_spec(engine) is None
]
collect_ignore.append("tests/mutation/record.py")  # a plugin for a marked copy
if find_spec("torch") is None:
    collect_ignore_glob = ["src/bestcut/torch/*.py"]
elif find_spec("triton") is None:
    collect_ignore += [f"src/bestcut/torch/{x}.py" for x in ("_fast", "_kernels")]
_HERE = Path(__file__).parent


def _finds_published_classes():
    """Let doctest look for classes in the files that they are written in."""
    is_from = doctest.DocTestFinder._from_module

    def is_written_in(self, module, thing):
        from bestcut._public import WRITTEN_IN  # not before the settings of threads

        file = WRITTEN_IN.get(thing) if inspect.isclass(thing) else None
        return is_from(self, module, thing) if file is None else file == module.__name__

    doctest.DocTestFinder._from_module = is_written_in


_finds_published_classes()


def pytest_collection_modifyitems(items):
    """Mark the tests on engines, which warn of each other and of what is left open."""
    for item in items:
        if item.path.is_relative_to(_HERE / "tests" / "distributed"):
            item.add_marker(pytest.mark.distributed)
        if item.path.parent.name == "distributed":
            item.add_marker(pytest.mark.filterwarnings("default", "error:::bestcut"))


def _no_java():
    """Return why Spark cannot be started, or None if it can."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(Path(home, "bin", "java") if home else "java")
    if java is None:
        return "there is no java in JAVA_HOME or on the PATH"
    said = subprocess.run(
        [java, "-version"], capture_output=True, encoding="utf-8"
    ).stderr
    found = re.search(r'version "(\d+)', said)
    return None if found and int(found[1]) >= 17 else f"{java} says {said.strip()!r}"


@pytest.fixture(scope="session")
def spark():
    """Return a Spark session on two cores, whose tasks have four attempts each."""
    sql = pytest.importorskip("pyspark.sql")
    if reason := _no_java():
        pytest.skip(f"Spark needs Java 17 or newer: {reason}")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # a quick start
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the set-up warns of is not ours
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # the tests make tasks fail
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _a_session_for_examples(request):
    if request.node.name.startswith("bestcut.distributed.spark"):
        names = request.getfixturevalue("doctest_namespace")
        names["spark"] = request.getfixturevalue("spark")


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test or an example drew: many open figures are warned of."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
