"""A plugin of pytest: writes down which functions of the marked copy each test runs."""

from __future__ import annotations

import time

import bestcut_reached
import pytest

_failed: set[str] = set()


@pytest.hookimpl(trylast=True)
def pytest_collectreport(report):
    """What a test module runs while it is imported belongs to all its tests."""
    bestcut_reached.write(report.nodeid.split("::")[0])


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """What a shared fixture runs belongs to all tests of the file that asks for it."""
    if fixturedef.scope == "function":
        yield
        return
    before = set(bestcut_reached.functions)
    bestcut_reached.functions.clear()
    yield
    bestcut_reached.write(request.node.nodeid.split("::")[0])
    bestcut_reached.functions.update(before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Write down one test."""
    bestcut_reached.functions.clear()
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    failed = item.nodeid in _failed
    bestcut_reached.write(item.nodeid, seconds=seconds, failed=failed)


def pytest_runtest_logreport(report):
    """Remember which tests fail, for they can say nothing of a mutant."""
    if report.failed:
        _failed.add(report.nodeid)
