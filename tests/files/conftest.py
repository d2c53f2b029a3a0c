"""Batches so small that every test sees many of them."""

import pytest


@pytest.fixture
def small_batches(monkeypatch):
    """Make batches of a few rows, each read anew in every pass."""
    monkeypatch.setattr("bestcut.files._text.PIECE", 64)
    monkeypatch.setattr("bestcut.files._frames.ROWS", 7)
    monkeypatch.setattr("bestcut.files._frames.SCORES", 11)
    monkeypatch.setattr("bestcut.files._text._KEPT", -1)
    monkeypatch.setattr("bestcut.files._decide_source._KEPT", 0)
