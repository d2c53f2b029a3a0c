"""A folder to run commands in."""

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    from cli import run  # here, as it skips tests where a package is missing

    (tmp_path / "scores.csv").write_text(run.SCORES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
