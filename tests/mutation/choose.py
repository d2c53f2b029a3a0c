"""A plugin of pytest: runs the tests named in a file, in the order of that file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep the tests that are named, first things first."""
    names = Path(os.environ["BESTCUT_CHOSEN"]).read_text(encoding="utf-8").splitlines()
    place = {name: i for i, name in enumerate(names)}
    chosen = [item for item in items if item.nodeid in place]
    config.hook.pytest_deselected(items=[x for x in items if x.nodeid not in place])
    items[:] = sorted(chosen, key=lambda item: place[item.nodeid])
