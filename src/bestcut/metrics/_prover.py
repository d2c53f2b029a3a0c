"""Does a metric ever fall when labels get better? One question, and one prover.

That cuts of the ranking are enough rests on the metric never falling when TP rises, at
the n that is asked about (Lemma 4 in docs/how-it-works/lemmas.md); bisection of a
distribution rests on its never falling when one more label is right. There are three
ways to prove it, from cheap to dear:

1. Algebra, see `_algebra_proof`: exact, and for every n at once.
2. A look at every confusion matrix, if n is small.
3. Enclosures of boxes of confusion matrices, see `_box_proof`.
"""

from __future__ import annotations

from functools import lru_cache

from bestcut._errors import NotFollowedError
from bestcut.metrics._algebra_proof import left_by_algebra
from bestcut.metrics._base import Metric, remembered
from bestcut.metrics._box_proof import Search, proved_by_boxes
from bestcut.metrics._following import followed
from bestcut.metrics._moves import LESS_TP, MORE_AGREEMENT, MORE_TP, Lattice, Move

# The lattice of n = 80 has 91,881 confusion matrices, found among (n + 1)^3 triples of
# counts; for a short formula looking at them takes 0.07 seconds.
_LATTICE_N = 80
# A box costs 3 to 4 microseconds for a formula of five operations, and more in
# proportion: a search is given up after 0.15 seconds, or 0.3 for ten operations.
_MOST_BOXES = 40_000


def never_hurts(metric: Metric, moves: tuple[Move, ...], n: int | None = None) -> bool:
    """Say whether it is proved that none of some moves ever lowers the utility.

    The utility is the score, or minus the score of a loss. Algebra is exact. Elsewhere
    a fall of less than 64 units in the last place of the largest utility seen counts as
    rounding, as it does in `check_metric`.

    Parameters
    ----------
    metric : Metric
        The metric.
    moves : tuple of Move
        Such as `MORE_TP`, which is what ranking needs, or `MORE_AGREEMENT`; with
        ``MORE_TP + LESS_TP`` it is proved that TP does not matter.
    n : int, optional
        Number of instances. Without it, the question is about every n.

    Returns
    -------
    bool
        True if it is proved, from every confusion matrix of n instances that can make
        the move. False says that no proof was found, which may be because the formula
        could not be followed or the search was given up; never that the opposite was
        proved.
    """
    return bool(remembered(_proved, metric, moves, None if n is None else int(n)))


@lru_cache(maxsize=512)
def _proved(metric: Metric, moves: tuple[Move, ...], n: int | None) -> bool:
    left = [remembered(left_by_algebra, metric, move) for move in moves]
    if n is None or not any(left):
        return not any(left)
    try:
        if n <= _LATTICE_N:
            lattice: Lattice = followed(Lattice, lambda x: x, metric, n)
            return lattice.never_falls(moves)
        budget = _MOST_BOXES // len(moves)
        return all(
            proved_by_boxes(Search(metric, float(n), move, budget), kinds)
            for move, kinds in zip(moves, left, strict=True)
        )
    except NotFollowedError:
        return False


def tp_never_hurts(metric: Metric, n: int) -> bool:
    """Say whether `never_hurts` is so of more TP, for this n."""
    return never_hurts(metric, MORE_TP, n)


def tp_never_hurts_for_any_n(metric: Metric) -> bool:
    """Say whether `never_hurts` is so of more TP, for every n."""
    return never_hurts(metric, MORE_TP)


def tp_never_matters(metric: Metric, n: int) -> bool:
    """Say whether `never_hurts` is so of more and of less TP, for this n."""
    return never_hurts(metric, MORE_TP + LESS_TP, n)


def agreement_never_hurts(metric: Metric, n: int) -> bool:
    """Say whether `never_hurts` is so of one more right label, for this n."""
    return never_hurts(metric, MORE_AGREEMENT, n)
