"""What an algorithm of the paper is: a way to the best cut, with its needs declared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from bestcut._types import EPS, TINY, FloatArray
from bestcut.metrics import Metric, Trait
from bestcut.search import Allowed, BestCut, best_of_values


@dataclass(frozen=True)
class Curve:
    """Expected score of every cut, k = 0..n, and bounds on its error.

    `error` bounds the error of every entry.
    """

    expected_score: FloatArray
    error: float


class Solver(ABC):
    """A way to find the best prediction.

    Attributes
    ----------
    name : str
        What `decide` takes as `solver`.
    requires : frozenset of Trait
        Traits that a metric must declare.
    needs_prp : bool
        Whether only cuts of the ranking are considered.
    max_n : int or None
        The largest number of instances that is accepted.
    """

    name: str
    requires: frozenset[Trait] = frozenset()
    needs_prp: bool = True
    max_n: int | None = None

    @abstractmethod
    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut of `eta`, sorted descending."""

    def solve(self, eta: FloatArray, metric: Metric, allowed: Allowed) -> BestCut:
        """Return the best prediction with a number of positives that is allowed."""
        curve = self.curve(eta, metric)
        errors = np.full(eta.size + 1, curve.error)
        best = best_of_values(curve.expected_score, errors, metric, 0, allowed)
        assert best is not None
        return replace(best, solver=self.name)


def summation_error(n: int, scale: float) -> float:
    """Bound the rounding error of a sum of products of two exact laws and scores.

    The laws' entries carry 2 n eps together (see `bestcut.counts`); a score, the
    products and a sum of at most n + 1 terms along each axis add another 2 n + 16.
    `scale` bounds the expected absolute score. Below the smallest normal number
    rounding is absolute, once for each of (n + 1)² terms.
    """
    scale = float(scale)
    return (4 * n + 16) * EPS * scale + (n + 1) ** 2 * TINY * max(scale, 1.0)
