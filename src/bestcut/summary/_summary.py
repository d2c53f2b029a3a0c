"""A summary of probabilities that can be merged, stored and sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._stored import Form
from bestcut._validation import check_bounds, check_kind, check_probabilities
from bestcut.metrics import Metric, get, require_ranking
from bestcut.summary._bins import BINS, MOMENTS, count_and_moments
from bestcut.summary._bracket import Bracket
from bestcut.summary._table import BinTable

_FORM = Form(b"bestcut.summary\0", 1, errors.unreadable_summary, counted=True)
_RECORD = np.dtype([("bin", "<u2"), ("count", "<i8"), ("moments", "<f8", (MOMENTS,))])
_MOST = 1 << 53  # instances; counts are exact as floats up to here


class ScoreSummary:
    """What a decision needs to know about any number of scores, in about a megabyte.

    Probabilities go into bins that are 0.4% wide, in p and in 1 - p; a bin keeps its
    count and four moments. Summaries of chunks, files or machines merge, in any order,
    into the summary of everything, up to rounding: counts are exact, and the error of a
    sum of N numbers is a few machine epsilons times the square root of N, in units of
    the bin's width.

    Attributes
    ----------
    n : int
        How many probabilities there are.
    expected_positives : float
        Their sum.

    See Also
    --------
    bestcut.decide : The same for a batch in memory.
    bestcut.decide_file : The same for a file.
    bestcut.streams.Bracket : What ``bracket`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> chunks = np.random.default_rng(0).beta(0.3, 3, size=(10, 1000))
    >>> summary = bestcut.streams.ScoreSummary()
    >>> for chunk in chunks:  # first pass
    ...     summary.update(chunk)
    >>> bracket = summary.bracket("f1")
    >>> inside = np.concatenate([bracket.select(chunk) for chunk in chunks])  # second
    >>> cut = bracket.refine(inside)
    >>> cut.n_positive == bestcut.decide(chunks.ravel(), "f1").n_positive
    True
    """

    def __init__(self) -> None:
        self._count = np.zeros(BINS, dtype=np.int64)
        self._moments = np.zeros((MOMENTS, BINS))

    @classmethod
    def from_scores(cls, y_proba: Any) -> ScoreSummary:
        """Return the summary of some probabilities.

        Parameters
        ----------
        y_proba : array-like of shape (m,)
            Calibrated probabilities.

        Returns
        -------
        ScoreSummary
            A new summary.

        Raises
        ------
        InvalidProbabilityError
            If an entry of `y_proba` is NaN or outside [0, 1].

        Examples
        --------
        >>> import bestcut
        >>> bestcut.streams.ScoreSummary.from_scores([0.5, 0.25]).expected_positives
        0.75
        """
        summary = cls()
        summary.update(y_proba)
        return summary

    @property
    def n(self) -> int:
        """How many probabilities there are."""
        return int(self._count.sum())

    @property
    def expected_positives(self) -> float:
        """The sum of the probabilities."""
        return float(self._table().sums[0].sum()) if self.n else 0.0

    def update(self, y_proba: Any) -> None:
        """Add some probabilities.

        Parameters
        ----------
        y_proba : array-like of shape (m,)
            Calibrated probabilities.

        Raises
        ------
        InvalidProbabilityError
            If an entry of `y_proba` is NaN or outside [0, 1]; nothing is added then.
        ValueError
            If there are more than 2^53 scores.

        Examples
        --------
        >>> import bestcut
        >>> summary = bestcut.streams.ScoreSummary()
        >>> summary.update([0.5, 0.25])
        >>> summary.n
        2
        """
        count, moments = count_and_moments(check_probabilities(y_proba))
        self._check_room(int(count.sum()))
        self._count += count
        self._moments += moments

    def merge(self, other: ScoreSummary) -> ScoreSummary:
        """Return the summary of the probabilities of both.

        Parameters
        ----------
        other : ScoreSummary
            Another summary; neither is changed.

        Returns
        -------
        ScoreSummary
            A new summary.

        Raises
        ------
        TypeError
            If `other` is not a summary.
        ValueError
            If both have more than 2^53 scores together.

        Examples
        --------
        >>> import bestcut
        >>> one = bestcut.streams.ScoreSummary.from_scores([0.5, 0.25])
        >>> one.merge(bestcut.streams.ScoreSummary.from_scores([1.0])).n
        3
        """
        check_kind(other, ScoreSummary, name="other", called="a ScoreSummary")
        self._check_room(other.n)
        out = ScoreSummary()
        out._count = self._count + other._count
        out._moments = self._moments + other._moments
        return out

    def _check_room(self, more: int) -> None:
        if self.n + more > _MOST:
            raise errors.full_summary(self.n, more)

    def bracket(
        self,
        metric: str | Metric = "f1",
        *,
        min_positives: int = 0,
        max_positives: int | None = None,
    ) -> Bracket:
        """Return bounds on the best cut and on its expected score.

        Parameters
        ----------
        metric : str or Metric, default="f1"
            What to maximise; a loss is minimised.
        min_positives, max_positives : int, optional
            Bounds on how many instances may be predicted positive.

        Returns
        -------
        Bracket
            With ``low``, ``high``, ``lower_bound``, ``upper_bound``, ``select()`` and
            ``refine()``.

        Raises
        ------
        SolverMismatchError
            If the metric does not satisfy the ranking principle.

        Examples
        --------
        >>> import numpy as np
        >>> from bestcut.streams import ScoreSummary
        >>> scores = np.random.default_rng(0).beta(0.3, 3, size=100_000)
        >>> ScoreSummary.from_scores(scores).bracket("f1")  # doctest: +ELLIPSIS
        Bracket(f1: best expected score between 0.464894 ... scores wanted)
        """
        chosen = get(metric)
        way_out = 'See `bestcut.decide(solver="exhaustive")`.'
        require_ranking(chosen, way_out=way_out)
        low, high = check_bounds(min_positives, max_positives, self.n)
        return Bracket(self._table(), chosen, low, high)

    def _table(self) -> BinTable:
        return BinTable(self._count, self._moments)

    def to_bytes(self) -> bytes:
        """Return the summary as fewer than 1.4 million bytes.

        Returns
        -------
        bytes
            What `from_bytes` reads; the same on every machine.

        Examples
        --------
        >>> import bestcut
        >>> data = bestcut.streams.ScoreSummary.from_scores([0.5, 0.25]).to_bytes()
        >>> bestcut.streams.ScoreSummary.from_bytes(data).n
        2
        """
        bins = np.flatnonzero(self._count)
        records = np.empty(bins.size, dtype=_RECORD)
        records["bin"], records["count"] = bins, self._count[bins]
        records["moments"] = self._moments[:, bins].T
        return _FORM.packed(records.tobytes(), bins.size)

    @classmethod
    def from_bytes(cls, data: bytes) -> ScoreSummary:
        """Return the summary that `to_bytes` stored. Safe for bytes from anyone.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned, in this or an older version of bestcut.

        Returns
        -------
        ScoreSummary
            The same summary.

        Raises
        ------
        ValueError
            If the bytes are cut off, damaged, of a newer version or something else.

        Examples
        --------
        >>> import bestcut
        >>> data = bestcut.streams.ScoreSummary.from_scores([0.5, 0.25]).to_bytes()
        >>> bestcut.streams.ScoreSummary.from_bytes(data).expected_positives
        0.75
        """
        records = _records(data)
        summary = cls()
        bins = records["bin"].astype(np.intp)
        summary._count[bins] = records["count"]
        summary._moments[:, bins] = records["moments"].T
        return summary

    def __reduce__(self) -> Any:
        return ScoreSummary.from_bytes, (self.to_bytes(),)  # empty bins do not travel

    def __repr__(self) -> str:
        return (
            f"ScoreSummary({self.n} scores, {self.expected_positives:.6g} expected "
            "positives)"
        )


def _records(data: Any) -> Any:
    """Return the records of stored bytes, refusing numbers that no summary can hold."""
    records = np.frombuffer(_FORM.body(data, _wrong_size), dtype=_RECORD)
    if not _is_possible(records):
        raise errors.unreadable_summary(reason="it holds numbers that no scores have")
    return records


def _wrong_size(body: bytes, bins: int) -> str:
    """Say what is wrong with the size of some records, if anything is."""
    if len(body) == bins * _RECORD.itemsize:
        return ""
    return f"it has {len(body)} bytes where {bins} bins should be"


def _is_possible(records: Any) -> bool:
    """Return whether the numbers could be those of scores.

    Offsets lie in [-1, 1], so |s⁴| <= |s²| <= 1 and so on, and the square of a sum is
    at most n times the sum of squares; rounding is given 1e-9.
    """
    bins, count = records["bin"].astype(np.int64), records["count"]
    first, second, third, fourth = records["moments"].T
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(
            np.all(np.diff(bins) > 0)
            and np.all(bins < BINS)
            and np.all((count > 0) & (count <= _MOST))
            and float(count.astype(np.float64).sum()) <= _MOST
            and np.all(np.isfinite(records["moments"]))
            and np.all((second >= 0) & (second <= count))
            and np.all(fourth >= 0)
            and np.all(fourth <= second * (1 + 1e-9))
            and np.all(np.abs(third) <= second * (1 + 1e-9))
            and np.all(np.abs(first) <= count)
            and np.all(first**2 <= count * second * (1 + 1e-9))
        )
