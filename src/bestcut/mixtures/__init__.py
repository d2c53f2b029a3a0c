"""Decisions over draws of the probabilities: every quantity is a mean over draws."""

from bestcut.mixtures._cuts import MixtureCuts
from bestcut.mixtures._search import MixtureSearch

__all__ = ["MixtureCuts", "MixtureSearch"]
