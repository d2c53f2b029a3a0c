"""A copy that does not come to its end leaves the old file."""

import os
import subprocess
import sys

import numpy as np
import pytest

from files.tables import EACH_WAY, table, write

INTERRUPTED = """
import os, signal, sys, time
import polars
import bestcut, bestcut.files.sources

bestcut.files._text.PIECE = bestcut.files._frames.ROWS = 64
signals = iter([signal.SIGINT])

def interrupted(self, scores, tied_before=0):
    for number in signals:
        os.kill(os.getpid(), number)
    time.sleep(0.2)  # long enough for the main thread to notice
    return scores > 0.3

bestcut.streams.Cut.predict = interrupted
try:
    bestcut.decide_file(sys.argv[1], sys.argv[2], y_proba="p")
except KeyboardInterrupt:
    polars.LazyFrame({"a": [1]}).collect()  # polars has got over it
    print("interrupted")
"""


@pytest.mark.parametrize("name", EACH_WAY)
def test_an_interrupted_copy_leaves_the_old_file(tmp_path, name):
    source = write(table([0.5, 0.25] * 300), tmp_path / f"x.{name}")
    output = tmp_path / f"y.{name}"
    output.write_text("old", encoding="utf-8")
    command = [sys.executable, "-c", INTERRUPTED, str(source), str(output)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert (run.stdout, run.stderr) == ("interrupted\n", "")
    assert sorted(os.listdir(tmp_path)) == [f"x.{name}", f"y.{name}"]
    assert output.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("name", EACH_WAY)
def test_a_full_disk_leaves_the_old_file(tmp_path, name):
    source = write(table(np.tile([0.5, 0.25], 20_000)), tmp_path / f"x.{name}")
    (tmp_path / f"y.{name}").write_text("old", encoding="utf-8")
    code = (
        "import resource, sys, bestcut\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: bestcut.decide_file(sys.argv[1], sys.argv[2], y_proba='p')\n"
        "except bestcut.FileError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(source), str(tmp_path / f"y.{name}")]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert f"y.{name}: could not be written (" in run.stdout
    assert "No file was written. Choose another place." in run.stdout
    assert sorted(os.listdir(tmp_path)) == [f"x.{name}", f"y.{name}"]
    assert (tmp_path / f"y.{name}").read_text(encoding="utf-8") == "old"
