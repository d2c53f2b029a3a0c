"""From probabilities to the decision with the best expected score."""

from bestcut.decision._conditions import Wanted, as_arguments, check_floors
from bestcut.decision._decide import allowed_cuts, decide
from bestcut.decision._decision import (
    Decision,
    ExpectedScoreCurve,
    probabilities_behind,
    ranked_draws_behind,
    ranking_of,
)
from bestcut.decision._gains import ROUNDING, at_stake, gains

__all__ = [
    "ROUNDING",
    "Decision",
    "ExpectedScoreCurve",
    "Wanted",
    "allowed_cuts",
    "as_arguments",
    "at_stake",
    "check_floors",
    "decide",
    "gains",
    "probabilities_behind",
    "ranked_draws_behind",
    "ranking_of",
]
