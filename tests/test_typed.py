"""Type checkers know what users get: mypy and pyright find nothing wrong with a page.

pyright is installed where the tools of docs/how-to/with-your-tools.md are.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent / "user_code.py"
CHECKERS = {
    # scikit-learn has no types.
    "mypy": [
        "mypy",
        "--strict",
        "--disable-error-code=import-untyped",
        "--config-file=",
        "--cache-dir={cache}",
    ],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}


def complaints(checker, page, cache):
    """Return what a type checker says about a page; nothing if it finds no mistake."""
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    command = [part.format(cache=cache) for part in CHECKERS[checker]]
    run = subprocess.run(
        [sys.executable, "-m", *command, str(page)],
        capture_output=True,
        encoding="utf-8",
        cwd=PAGE.parent,
    )
    assert run.returncode in (0, 1), run.stderr  # 2 and more: it could not check
    return run.stdout if run.returncode else ""


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_code_of_users_has_the_types_that_it_should(checker, tmp_path):
    assert complaints(checker, PAGE, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_wrong_type_and_a_mistake_that_is_none_are_noticed(checker, tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        f"{text}\nassert_type(found.threshold, str)\nfound.gap  # type: ignore\n",
        encoding="utf-8",
    )
    said = complaints(checker, wrong, tmp_path)
    first = len(text.splitlines()) + 2
    assert f"wrong.py:{first}:" in said
    assert f"wrong.py:{first + 1}:" in said
    assert said.count("wrong.py:") == 2
