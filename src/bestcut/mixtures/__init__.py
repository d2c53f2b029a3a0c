"""Decisions over draws of the probabilities: every quantity is a mean over draws."""

from bestcut.mixtures._chances import MixtureGoalSearch, cuts_that_reach
from bestcut.mixtures._curve import mean_curve
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.mixtures._search import best_cut_of_draws

__all__ = [
    "MixtureCuts",
    "MixtureGoalSearch",
    "best_cut_of_draws",
    "cuts_that_reach",
    "mean_curve",
]
