"""Decisions for files that may be larger than memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bestcut._errors import frame_for_path, package_missing
from bestcut._tables import library_of
from bestcut._validation import check_bounds, check_kind
from bestcut.calibration import Calibration
from bestcut.goals import Certain, Goal, Mean, check_goal
from bestcut.metrics import Metric, get, require_ranking
from bestcut.summary import Cut

if TYPE_CHECKING:
    import polars as pl

    from bestcut.files._source import Source

_MEAN = Mean()
_Floor = float | Certain


def decide_file(
    path: str | os.PathLike[str] | pl.LazyFrame,
    output: str | os.PathLike[str],
    *,
    y_proba: str,
    metric: str | Metric = "f1",
    calibration: Calibration | None = None,
    goal: Goal = _MEAN,
    at_least: Mapping[str | Metric, _Floor | Sequence[_Floor]] | None = None,
    at_most: Mapping[str | Metric, _Floor | Sequence[_Floor]] | None = None,
    min_positives: int = 0,
    max_positives: int | None = None,
    name: str = "decision",
    format: str | None = None,
    progress: bool | None = None,
    limits: Mapping[str, int] | None = None,
) -> Cut:
    r"""Add the decisions with the best expected metric to a file of any size.

    The rows are read in batches and are never all in memory. The scores are read twice
    to find the cut. Then all rows are copied with one more column of 0 and 1.

    Parameters
    ----------
    path : str, path or polars.LazyFrame
        The file to read, which may be compressed by gzip; a folder of Parquet files, or
        a pattern such as ``"2026-*.parquet"``, which are one batch; or a scan of one or
        many files that gives the same rows in the same order each time.
    output : str or path
        The file to write. It appears, or replaces an existing file, only when all rows
        are written.
    y_proba : str
        The column of calibrated probabilities, or of scores if `calibration` is given.
    metric : str or Metric, default="f1"
        What to maximise; as for `decide`.
    calibration : Calibration, optional
        The result of `bestcut.calibrate`, which turns scores into probabilities. The
        scores may then be any finite numbers. The decision averages over its draws.
    goal : Goal, default=Mean()
        What to maximise; as for `decide`.
    at_least, at_most : mapping of str or Metric to float or Certain, optional
        Conditions on other metrics; as for `decide`.

        .. versionadded:: 0.3
            `at_most`.
    min_positives, max_positives : int, optional
        Bounds on how many rows may be predicted positive.
    name : str, default="decision"
        The name of the new column.
    format : {"csv", "tsv", "parquet", "ipc", "ndjson"}, optional
        The format of the file at `path`, whatever its name says, and of an output
        whose name does not tell its format. By default, names tell formats.
    progress : bool, optional
        Whether to show a bar on standard error; by default, only on a terminal.
    limits : mapping of str to int, optional
        Limits of what the file at `path` may hold, to be raised for a file that you
        trust: ``"columns"`` (16,384), ``"row"``, the bytes of a row of text (2^23),
        ``"unpacked"``, how many times as large it may be as on the disk (200), and
        ``"footer"``, the bytes in which Parquet or Arrow say what they hold (2^24).

        .. versionadded:: 0.3

    Returns
    -------
    Cut
        With ``n``, ``n_positive``, ``threshold``, ``n_tied``, ``expected_score``,
        ``error``, ``score_threshold``, ``distribution()`` and ``confusion()``.

    Raises
    ------
    FileError
        If a file cannot be read, understood or written. The message names the file,
        and the column and the row if they are known.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    InfeasibleError
        If no prediction satisfies `at_least` and `at_most`.
    ImportError
        If polars is not installed: ``pip install 'bestcut[files]'``.

    Warns
    -----
    UserWarning
        If more scores than chance explains lie outside the range of the scores that
        `calibration` learned from.

    See Also
    --------
    bestcut.decide : The same for a batch in memory.
    bestcut.streams.ScoreSummary : The same for a stream, in two passes of your own.
    bestcut.streams.Cut : What is returned.

    Notes
    -----
    The answer is that of `decide` on the whole column, up to ``error``. In CSV, TSV and
    NDJSON every other byte stays as it is; Parquet and IPC are written anew by polars.
    All scores, though not the rows, must be kept in memory for a callable that cannot
    be followed, and also with `goal` or conditions (about 70 bytes a row) and with
    `calibration` (about 450 bytes a row for 200 draws).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bestcut
    >>> folder = tempfile.TemporaryDirectory()
    >>> scores, decided = Path(folder.name, "in.csv"), Path(folder.name, "out.csv")
    >>> table = "id,p\n001,0.7\n002,0.1\n003,0.4\n004,0.35\n"
    >>> _ = scores.write_text(table, encoding="utf-8")
    >>> bestcut.decide_file(scores, decided, y_proba="p").n_positive
    3
    >>> print(decided.read_text(encoding="utf-8"), end="")
    id,p,decision
    001,0.7,1
    002,0.1,0
    003,0.4,1
    004,0.35,1
    >>> folder.cleanup()
    """
    chosen = get(metric)
    require_ranking(chosen, way_out="A file is decided by cuts of its ranking.")
    check_bounds(min_positives, max_positives, n=2**63 - 1)
    check_goal(goal)
    if calibration is not None:
        check_kind(calibration, Calibration, name="calibration", called="a Calibration")
    try:
        import polars as pl

        from bestcut.files.sources import (
            FORMATS,
            FrameSource,
            Limits,
            decide_source,
            format_of_output,
            is_many,
            open_many,
            open_source,
            refuse_input_as_output,
            refuse_terminal,
        )
    except ImportError as error:
        if error.name is None or error.name.startswith("bestcut"):
            raise
        raise package_missing(
            needed_by="decide_file", package=error.name, extra="files"
        ) from None
    target = os.fspath(output)
    source: Source
    if isinstance(path, pl.LazyFrame):
        source = FrameSource.of_scan(path, "the scan", kind="")
    elif library_of(path) is not None:
        raise frame_for_path(y_proba)
    elif is_many(os.fspath(path)):
        source = open_many(os.fspath(path), format, target, limits=Limits.of(limits))
    else:
        given = os.fspath(path)
        refuse_input_as_output(given, target)
        source = open_source(given, format, limits=Limits.of(limits))
    kind = format_of_output(target, source, format)
    refuse_terminal(target, FORMATS[kind])
    notes: list[str] = []
    made = decide_source(
        source,
        target,
        kind,
        proba=y_proba,
        metric=chosen,
        goal=goal,
        at_least=at_least,
        at_most=at_most,
        min_positives=min_positives,
        max_positives=max_positives,
        calibration=calibration,
        warn=notes.append,
        name=name,
        progress=progress,
        describe=_itself,
    )
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return made


def _itself(found: Cut) -> Cut:
    return found
