"""NannyML's estimate of F1, in a process of the Python that has NannyML.

    PYTHON experiments/outside/monitors.py

answers one line after the other. NannyML's versions of other packages are not those of
the trial, so it has an environment of its own, and this file imports neither.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

WHERE = "BESTCUT_NANNYML"  # names the Python that has it


@cache
def _process(python: str) -> subprocess.Popen[str]:
    """Return a process that answers; it ends when this one does."""
    return subprocess.Popen(
        [python, str(Path(__file__).resolve())],
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


@cache
def available() -> bool:
    """Return whether a Python that has NannyML was named."""
    python = os.environ.get(WHERE)
    look = "import importlib.util as u, sys; sys.exit(u.find_spec('nannyml') is None)"
    return bool(python) and not subprocess.run([python, "-c", look]).returncode


def version() -> str:
    """Return the version of NannyML, or that there is none."""
    return str(_asked({})["version"]) if available() else "absent"


def estimate(known: dict[str, Any], new: dict[str, Any]) -> tuple[float, float]:
    """Return the estimated F1 of labels, and its sampling error; NaN if there is none.

    `known` has columns "p", "label" and "y", `new` the first two.
    """
    found = _asked(
        {
            name: {column: list(map(float, values)) for column, values in rows.items()}
            for name, rows in (("known", known), ("new", new))
        }
    )
    return found["value"], found["error"]


def _asked(question: dict[str, Any]) -> Any:
    process = _process(os.environ[WHERE])
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        msg = f"{os.environ[WHERE]} has ended; its error is above."
        raise RuntimeError(msg)
    return json.loads(answer)


def _answer() -> None:
    os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    import nannyml
    import pandas as pd

    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        question = json.loads(line)
        if not question:
            found = {"version": nannyml.__version__}
        else:
            known, new = (
                pd.DataFrame(question[name]).astype(
                    {k: int for k in question[name] if k != "p"}
                )
                for name in ("known", "new")
            )
            estimator = nannyml.CBPE(
                y_pred_proba="p",
                y_pred="label",
                y_true="y",
                problem_type="classification_binary",
                metrics=["f1"],
                chunk_size=len(new),
            )
            result = estimator.fit(known).estimate(new)
            row = result.filter(period="analysis").to_df()["f1"].iloc[0]
            found = {"value": row["value"], "error": row["sampling_error"]}
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    _answer()
