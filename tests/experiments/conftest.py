"""The data sets of the paper, if they are there, and an empty cache."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # `experiments` is not installed

NEEDED = ("joblib", "matplotlib", "scipy", "sklearn", "threadpoolctl")
collect_ignore_glob = [] if all(map(find_spec, NEEDED)) else ["test_*.py"]


@pytest.fixture(scope="session")
def folder():
    from experiments import data

    found = data.find_folder()
    try:
        data.verify(found)
    except data.DataError:
        pytest.skip(f"the data sets are not in {found}")
    return found


@pytest.fixture
def session(folder, tmp_path):
    from experiments.cache import Session

    return Session(folder, tmp_path / "cache")
