"""A plugin of pytest: runs the tests named in a file, in the order of that file.

The file says, as JSON, how many seconds each test may take. The process ends where one
takes longer, and names it in a file beside the first.
"""

from __future__ import annotations

import faulthandler
import json
import os
from functools import cache
from pathlib import Path

import pytest


@cache
def _chosen() -> tuple[Path, dict[str, float]]:
    path = Path(os.environ["BESTCUT_CHOSEN"])
    return path, json.loads(path.read_text(encoding="utf-8"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep the tests that are named, first things first."""
    place = {name: i for i, name in enumerate(_chosen()[1])}
    chosen = [item for item in items if item.nodeid in place]
    config.hook.pytest_deselected(items=[x for x in items if x.nodeid not in place])
    items[:] = sorted(chosen, key=lambda item: place[item.nodeid])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """End the process if a test takes too long, in compiled code too."""
    path, seconds = _chosen()
    running = path.with_suffix(".running")
    running.write_text(item.nodeid, encoding="utf-8")
    with open(path.with_suffix(".trace"), "w", encoding="utf-8") as trace:
        faulthandler.dump_traceback_later(seconds[item.nodeid], exit=True, file=trace)
        yield
        faulthandler.cancel_dump_traceback_later()
    running.unlink()
