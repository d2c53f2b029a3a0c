"""Decisions for files that may be larger than memory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bestcut._validation import check_bounds
from bestcut.files._error import FileError
from bestcut.metrics import Metric, get
from bestcut.scores import ConfusionDistribution, ScoreDistribution
from bestcut.search import gap_in_words
from bestcut.solvers import select_solver
from bestcut.summary import Cut

if TYPE_CHECKING:
    import polars as pl

    from bestcut.files._source import Source


@dataclass(frozen=True, repr=False, eq=False)
class FileDecision:
    """What was decided for the rows of a file.

    Attributes
    ----------
    rows : int
        How many rows there are.
    n_positive : int
        How many are positive.
    threshold : float
        Smallest probability predicted positive; inf when none is.
    n_tied : int
        How many of the rows whose probability is the threshold are positive: the
        earliest.
    expected_score : float
        Expected metric of the decisions.
    error : float
        Bound on the numerical error of `expected_score`.
    gap : float
        Every allowed prediction's expected score is at most this one's plus `error`
        plus `gap`, proved for this n (a loss: at least this one's less both). 0 where
        every cut was looked at.
    gap_scope : str
        ``"predictions"``: the gap holds for all allowed predictions. ``"cuts"``: the
        metric could not be shown never to fall when TP rises, for this n, and the gap
        holds for the cuts of the ranking.
    metric : Metric
        What was maximised (a loss: minimised).
    output : str
        The file with the decisions.
    """

    rows: int
    n_positive: int
    threshold: float
    n_tied: int
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    metric: Metric
    output: str
    _cut: Cut = field(repr=False)

    @classmethod
    def _of(cls, cut: Cut, output: str) -> FileDecision:
        return cls(
            rows=cut.n,
            n_positive=cut.n_positive,
            threshold=cut.threshold,
            n_tied=cut.n_tied,
            expected_score=cut.expected_score,
            error=cut.error,
            gap=cut.gap,
            gap_scope=cut.gap_scope,
            metric=cut.metric,
            output=output,
            _cut=cut,
        )

    def distribution(self, metric: str | Metric | None = None) -> ScoreDistribution:
        """Return the law of the score of these decisions.

        Parameters
        ----------
        metric : str or Metric, optional
            Another metric than the one the decision was made for.

        Returns
        -------
        ScoreDistribution
            With ``mean``, ``std``, ``quantile``, ``interval``, ``prob_at_least``.
        """
        return self._cut.distribution(metric)

    def confusion(self) -> ConfusionDistribution:
        """Return the law of the confusion matrix of these decisions.

        Returns
        -------
        ConfusionDistribution
            With ``mean``, ``std``, ``interval`` and ``matrix``.
        """
        return self._cut.confusion()

    def __repr__(self) -> str:
        return (
            f"FileDecision({self.metric.name}: {self.n_positive} of {self.rows} "
            f"positive, threshold {self.threshold:.6g}, expected score "
            f"{self.expected_score:.6g} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
        )


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
        from bestcut.files._progress import steps
        from bestcut.files._source import format_of
        from bestcut.files._stream import find_cut, write_cut
    except ImportError as error:
        if error.name is None or error.name.startswith("bestcut"):
            raise
        msg = f"decide_file needs {error.name}: pip install 'bestcut[files]'"
        raise ImportError(msg, name=error.name) from None
    target = os.fspath(output)
    kind = format_of(target, format)
    source = _source(path, target, format)
    source.check_new(name)
    with steps(progress) as step:
        cut = find_cut(source, proba, chosen, min_positives, max_positives, step)
        write_cut(source, cut, proba, target, kind, name, step)
    return FileDecision._of(cut, target)


def _source(path: Any, target: str, format: str | None) -> Source:
    import polars as pl

    from bestcut.files._input import Input
    from bestcut.files._output import is_same
    from bestcut.files._source import FrameSource, format_of, open_source

    if isinstance(path, pl.LazyFrame):
        return FrameSource.of_scan(path, "the scan", kind="")
    given = os.fspath(path)
    if is_same(given, target):
        raise FileError.of(target, "is the input itself", "Write to another file.")
    return open_source(Input(given), format_of(given, format))
