"""Decisions for files that may be larger than memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bestcut._errors import package_missing
from bestcut._validation import check_bounds
from bestcut.files._decision import FileDecision
from bestcut.metrics import Metric, get
from bestcut.solvers import select_solver

if TYPE_CHECKING:
    import polars as pl

    from bestcut.files._source import Source


def decide_file(
    path: str | os.PathLike[str] | pl.LazyFrame,
    output: str | os.PathLike[str],
    *,
    proba: str,
    metric: str | Metric = "f1",
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
        The column of calibrated probabilities.
    metric : str or Metric, default="f1"
        What to maximise; as for `decide`.
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
        ``error``, ``distribution()`` and ``confusion()``.

    Raises
    ------
    FileError
        If a file cannot be read, understood or written. The message names the file,
        and the column and row if there is one.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    ImportError
        If polars is not installed: ``pip install bestcut[files]``.

    Notes
    -----
    The answer is that of `decide` on the whole column, up to ``error``. In CSV, TSV and
    NDJSON every other byte stays as it is; Parquet and IPC are written anew by polars.
    For a callable that cannot be followed all scores must be kept, though not the rows.

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
    try:
        import polars as pl

        from bestcut.files.sources import (
            FrameSource,
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
    return decide_source(
        source,
        target,
        kind,
        proba=proba,
        metric=chosen,
        min_positives=min_positives,
        max_positives=max_positives,
        name=name,
        progress=progress,
        describe=lambda found: found,
    )
