"""Probabilities that are known only as draws, as users pass them in."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._caches import Lean
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut._validation import check_matrix, check_real_array, conversion
from bestcut.uncertain._draws import Draws, ListedDraws, MappedDraws
from bestcut.uncertain._ranked import RankedDraws


class UncertainProbabilities(Lean):
    """Probabilities that are themselves estimates: draws of what they may be.

    Every draw gives all instances a probability. One draw is right for the whole batch,
    but it is not known which, so errors that instances share do not average out.
    `bestcut.decide` and everything else that takes probabilities takes these too, and
    averages over the draws.

    Made by `bestcut.Calibration`, or from your own draws: the members of an ensemble,
    passes with dropout, a posterior.

    Parameters
    ----------
    draws : array-like of shape (n_draws, n)
        A row for each draw, a column for each instance; with ``axis=1`` the other way
        round.
    axis : {0, 1}, default=0
        The axis along which draws follow each other.

        .. versionadded:: 0.3

    Attributes
    ----------
    n_draws : int
        How many draws there are; ``len()`` is the number of instances.
    mean, std : ndarray of shape (n,)
        Mean and standard deviation of the draws, for each instance.
    one_ranking : bool
        Whether all draws rank the instances alike. If they do, some cut of that ranking
        is the best of all predictions. If not, a decision's ``gap`` bounds what may be
        lost.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `draws` is NaN or outside [0, 1].
    ValueError
        If `draws` does not have two dimensions, or there are none, or `axis` is not 0
        or 1.
    TypeError
        If `draws` does not hold numbers.

    See Also
    --------
    bestcut.calibrate : Draws from scores and labels.
    bestcut.decide : Decides with the means over draws.
    bestcut.ScoreDistribution : Its ``std_calibration`` says how much this doubt adds.

    Examples
    --------
    >>> import bestcut
    >>> p = bestcut.UncertainProbabilities([[0.9, 0.5, 0.2], [0.7, 0.3, 0.2]])
    >>> p
    UncertainProbabilities(3 instances, 2 draws, one ranking)
    >>> p.mean.round(2).tolist()
    [0.8, 0.4, 0.2]
    >>> bestcut.decide(p, "f1").labels.tolist()
    [True, True, False]
    """

    def __init__(self, draws: Any, *, axis: int = 0) -> None:
        if axis not in (0, 1):
            raise errors.not_an_axis_of_draws(axis)
        shape = check_real_array(
            draws, name="draws", cure=conversion(draws, "draws"), booleans=False
        ).shape
        if len(shape) != 2:
            raise errors.not_draws_by_instance(shape)
        table = check_matrix(draws, name="draws")
        if table.shape[axis] == 0:
            raise errors.no_rows_of_draws()
        by_instance = table.T if axis == 0 else table
        self._draws: Draws = ListedDraws(np.array(by_instance, order="C"))

    @classmethod
    def _of(cls, draws: Draws) -> UncertainProbabilities:
        """Return the same for draws that are not all listed."""
        made = cls.__new__(cls)
        made._draws = draws
        return made

    def __len__(self) -> int:
        return self._draws.n

    @property
    def n_draws(self) -> int:
        """How many draws there are."""
        return self._draws.n_draws

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of the draws, for each instance."""
        return _read_only(self._draws.mean())

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation of the draws, for each instance."""
        return _read_only(self._draws.std())

    def draws(self, first: int = 0, last: int | None = None) -> FloatArray:
        """Return the draws of instances `first` to `last` - 1.

        All instances together have ``n_draws`` numbers each: take a large batch in
        blocks.

        Parameters
        ----------
        first, last : int, optional
            Which instances, as in a slice; all of them by default.

        Returns
        -------
        ndarray of shape (n_draws, last - first)
            A row for each draw.

        Examples
        --------
        >>> import bestcut
        >>> p = bestcut.UncertainProbabilities([[0.9, 0.5, 0.2], [0.7, 0.3, 0.2]])
        >>> p.draws(1, 3).tolist()
        [[0.5, 0.2], [0.3, 0.2]]
        """
        start, stop, _ = slice(first, last).indices(len(self))
        return self._draws.rows(start, max(stop, start)).T.copy()

    @cached_property
    def _ranked(self) -> Draws:
        """The draws of the instances from the most probable down."""
        return self._draws.ranked()

    @cached_property
    def _cuts(self) -> RankedDraws:
        """The cuts of these, with what is known of them from one metric to the next."""
        return RankedDraws(self._ranked)

    @cached_property
    def one_ranking(self) -> bool:
        """Whether all draws rank the instances alike."""
        return self._ranked.is_ranked()

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        raise errors.not_a_column()

    def __repr__(self) -> str:
        alike = "one ranking" if self.one_ranking else "several rankings"
        n = "1 instance" if len(self) == 1 else f"{len(self)} instances"
        draws = "1 draw" if self.n_draws == 1 else f"{self.n_draws} draws"
        return f"UncertainProbabilities({n}, {draws}, {alike})"


def mapped(place: FloatArray, values: FloatArray) -> UncertainProbabilities:
    """Return the probabilities of scores, by maps that share their knots.

    See `MappedDraws`.
    """
    return UncertainProbabilities._of(MappedDraws(place, values))


def interleaved(
    columns: list[UncertainProbabilities], joint: IndexArray
) -> UncertainProbabilities:
    """Return the first instance of each column, the second of each, and so on.

    `joint` has a row for each draw of them all: which draw of each column is in it.
    """
    each = [column._draws for column in columns]
    maps = [one for one in each if isinstance(one, MappedDraws)]
    if len(maps) == len(each) and all(
        np.array_equal(one.values[:, b], maps[0].values[:, joint[:, 0]])
        for one, b in zip(maps, joint.T, strict=True)
    ):
        place = np.stack([one.place for one in maps], axis=1).ravel()
        return mapped(place, maps[0].values[:, joint[:, 0]])
    n = each[0].n
    table = np.empty((n, len(each), joint.shape[0]))
    for j, (one, b) in enumerate(zip(each, joint.T, strict=True)):
        table[:, j] = one.rows(0, n)[:, b]
    return UncertainProbabilities._of(ListedDraws(table.reshape(-1, joint.shape[0])))


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array


def draws_of(p: UncertainProbabilities) -> Draws:
    """Return the draws behind probabilities, in the order of the instances."""
    return p._draws


def ranked_draws_of(p: UncertainProbabilities) -> RankedDraws:
    """Return the cuts of the instances, from the most probable down."""
    return p._cuts


def some_of(
    p: UncertainProbabilities, rows: IndexArray | BoolArray | slice
) -> UncertainProbabilities:
    """Return the probabilities of some instances, in the order given."""
    return UncertainProbabilities._of(p._draws.taken(rows))
