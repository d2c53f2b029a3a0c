"""Decisions for files that may be larger than memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bestcut._errors import package_missing
from bestcut._validation import check_bounds, check_kind
from bestcut.calibration import Calibration
from bestcut.files._decision import FileDecision
from bestcut.goals import Certain, Goal, Mean, check_goal
from bestcut.metrics import Metric, get
from bestcut.solvers import select_solver

if TYPE_CHECKING:
    import polars as pl

    from bestcut.files._source import Source

_MEAN = Mean()
_Floor = float | Certain


def decide_file(
    path: str | os.PathLike[str] | pl.LazyFrame,
    output: str | os.PathLike[str],
    *,
    proba: str,
    metric: str | Metric = "f1",
    calibration: Calibration | None = None,
    goal: Goal = _MEAN,
    at_least: Mapping[str | Metric, _Floor | Sequence[_Floor]] | None = None,
    min_positives: int = 0,
    max_positives: int | None = None,
    name: str = "decision",
    format: str | None = None,
    progress: bool | None = None,
) -> FileDecision:
    r"""Add the decisions with the best expected metric to a file of any size.

    The rows are read in batches and never held all at once: the scores twice, to find
    the cut, then everything, to copy it with one more column of 0 and 1.

    Parameters
    ----------
    path : str, path or polars.LazyFrame
        The file to read, which may be compressed by gzip; or a scan of one or many
        files that gives the same rows in the same order each time.
    output : str or path
        The file to write. It appears, or replaces what was there, when all is done.
    proba : str
        The column of calibrated probabilities; of scores, if there is a calibration.
    metric : str or Metric, default="f1"
        What to maximise; as for `decide`.
    calibration : Calibration, optional
        Makes probabilities of the scores, which may be any finite numbers then; from
        `bestcut.calibrate`. The decision averages over its draws.
    goal, at_least
        As for `decide`.
    min_positives, max_positives : int, optional
        Bounds on how many rows may be predicted positive.
    name : str, default="decision"
        What the new column is called.
    format : {"csv", "tsv", "parquet", "ipc", "ndjson"}, optional
        The format of files whose names do not say it.
    progress : bool, optional
        Whether to show a bar on standard error; if not given, on a terminal only.

    Returns
    -------
    FileDecision
        With ``rows``, ``n_positive``, ``threshold``, ``n_tied``, ``expected_score``,
        ``error``, ``score_threshold``, ``distribution()`` and ``confusion()``.

    Raises
    ------
    FileError
        If a file cannot be read, understood or written. The message names the file,
        and the column and row if there is one.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    InfeasibleError
        If no prediction satisfies `at_least`.
    ImportError
        If polars is not installed: ``pip install 'bestcut[files]'``.

    Warns
    -----
    UserWarning
        If scores are outside the range of those that `calibration` has labels for.

    Notes
    -----
    The answer is that of `decide` on the whole column, up to ``error``. In CSV, TSV and
    NDJSON every other byte stays as it is; Parquet and IPC are written anew by polars.
    For a callable that cannot be followed all scores must be kept, though not the rows.
    So must they with `goal` or `at_least`, in some 70 bytes a row, and with
    `calibration`, in some 450 where there are 200 draws.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bestcut
    >>> folder = tempfile.TemporaryDirectory()
    >>> scores, decided = Path(folder.name, "in.csv"), Path(folder.name, "out.csv")
    >>> _ = scores.write_text("id,p\n001,0.7\n002,0.1\n003,0.4\n004,0.35\n")
    >>> bestcut.decide_file(scores, decided, proba="p").n_positive
    3
    >>> print(decided.read_text(), end="")
    id,p,decision
    001,0.7,1
    002,0.1,0
    003,0.4,1
    004,0.35,1
    >>> folder.cleanup()
    """
    chosen = get(metric)
    select_solver("auto", chosen, 0)  # refuses a metric without the ranking principle
    check_bounds(min_positives, max_positives, n=2**63 - 1)
    check_goal(goal)
    if calibration is not None:
        check_kind(calibration, Calibration, name="calibration", called="a Calibration")
    try:
        import polars as pl

        from bestcut.files.sources import (
            FrameSource,
            decide_held,
            decide_source,
            format_of,
            open_source,
            refuse_input_as_output,
        )
    except ImportError as error:
        if error.name is None or error.name.startswith("bestcut"):
            raise
        raise package_missing(
            needed_by="decide_file", package=error.name, extra="files"
        ) from None
    target = os.fspath(output)
    kind = format_of(target, format)
    source: Source
    if isinstance(path, pl.LazyFrame):
        source = FrameSource.of_scan(path, "the scan", kind="")
    else:
        given = os.fspath(path)
        refuse_input_as_output(given, target)
        source = open_source(given, format_of(given, format))
    settings: dict[str, Any] = {
        "proba": proba,
        "metric": chosen,
        "min_positives": min_positives,
        "max_positives": max_positives,
        "name": name,
        "progress": progress,
    }
    notes: list[str] = []
    if calibration is None and not at_least and goal == _MEAN:
        made = decide_source(source, target, kind, describe=_itself, **settings)
    else:
        made = decide_held(
            source,
            target,
            kind,
            describe=_itself,
            calibration=calibration,
            warn=notes.append,
            goal=goal,
            at_least=at_least or {},
            **settings,
        )
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return made


def _itself(found: FileDecision) -> FileDecision:
    return found
