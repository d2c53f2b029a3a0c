"""Probabilities that are themselves estimates: draws, and the laws of their counts."""

from bestcut.uncertain._draws import Draws, ListedDraws, MappedDraws
from bestcut.uncertain._law import (
    AlignedLaws,
    DrawnLaw,
    convolved_laws,
    joined_draws,
    laws_from_sums,
    laws_of,
    nothing,
    with_instances,
)
from bestcut.uncertain._probabilities import (
    UncertainProbabilities,
    draws_of,
    interleaved,
    mapped,
    ranked_draws_of,
    some_of,
)
from bestcut.uncertain._ranked import RankedDraws
from bestcut.uncertain._side import DrawnSide

__all__ = [
    "AlignedLaws",
    "DrawnLaw",
    "DrawnSide",
    "Draws",
    "ListedDraws",
    "MappedDraws",
    "RankedDraws",
    "UncertainProbabilities",
    "convolved_laws",
    "draws_of",
    "interleaved",
    "joined_draws",
    "laws_from_sums",
    "laws_of",
    "mapped",
    "nothing",
    "ranked_draws_of",
    "some_of",
    "with_instances",
]
