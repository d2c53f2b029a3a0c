"""Where results are kept: one folder for each day, in the evidence of the site."""

import datetime as dt
from pathlib import Path


def folder_of_today() -> Path:
    """Return the folder for the results of today."""
    kept = Path(__file__).parents[1] / "docs" / "evidence" / "results"
    return kept / dt.date.today().isoformat()
