"""What a solver is: a way to the best cut, with its needs declared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bestcut._types import EPS, TINY, FloatArray, IndexArray
from bestcut.metrics import Metric, Trait
from bestcut.scores import Prediction
from bestcut.search import Allowed


@dataclass(frozen=True)
class Curve:
    """Expected score of every cut, k = 0..n, and bounds on its error.

    `error` bounds the error of every entry.
    """

    expected_score: FloatArray
    error: float


@dataclass(frozen=True)
class Solution:
    """The best prediction a solver found.

    Attributes
    ----------
    prediction : Prediction
        What is predicted positive, and the rest.
    threshold : float
        The smallest probability that is predicted positive; inf if none is.
    expected_score, error : float
        Its expected score, and a bound on the numerical error of that.
    gap : float
        Bound on what any other cut could gain beyond `error`.
    members : ndarray of int or None
        The positions, in descending order of probability, that are predicted positive;
        None stands for the first of them.
    solver : str
        How it was found by "auto": ``"search"``, or ``"curve"`` of all cuts.
    """

    prediction: Prediction
    threshold: float
    expected_score: float
    error: float
    gap: float = 0.0
    members: IndexArray | None = None
    solver: str = "curve"

    @classmethod
    def at(
        cls, eta: FloatArray, k: int, expected_score: float, error: float, gap: float
    ) -> Solution:
        """Return the cut of the first k, where `eta` is sorted descending."""
        threshold = float(eta[k - 1]) if k else np.inf
        return cls(Prediction.of_cut(eta, k), threshold, expected_score, error, gap)

    @property
    def is_cut(self) -> bool:
        """Whether the most probable are predicted positive, and no others."""
        members = self.members
        return members is None or not members.size or members[-1] == members.size - 1

    @property
    def n_positive(self) -> int:
        """How many are predicted positive."""
        return self.prediction.n_pred


class Solver(ABC):
    """A way to find the best prediction.

    Attributes
    ----------
    name : str
        What `decide` takes as `solver`; "auto" may take several.
    requires : frozenset of Trait
        Traits that a metric must declare.
    needs_prp : bool
        Whether only cuts of the ranking are considered.
    needs_order : bool
        Whether `solve` wants the probabilities sorted.
    max_n : int or None
        The largest number of instances that is accepted.
    """

    name: str = "auto"
    requires: frozenset[Trait] = frozenset()
    needs_prp: bool = True
    needs_order: bool = True
    max_n: int | None = None

    @abstractmethod
    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut of `eta`, sorted descending."""

    def solve(self, eta: FloatArray, metric: Metric, allowed: Allowed) -> Solution:
        """Return the best prediction with a number of positives that is allowed."""
        curve = self.curve(eta, metric)
        utility = metric.sign * curve.expected_score
        utility[~allowed.mask(0, eta.size)] = -np.inf
        k = int(np.argmax(utility))
        return Solution.at(eta, k, float(curve.expected_score[k]), curve.error, 0.0)


def summation_error(n: int, scale: float) -> float:
    """Bound the rounding error of a sum of products of two exact laws and scores.

    The laws' entries carry 2 n eps together (see `bestcut.counts`); a score, the
    products and a sum of at most n + 1 terms along each axis add another 2 n + 16.
    `scale` bounds the expected absolute score. Below the smallest normal number
    rounding is absolute, once for each of (n + 1)² terms.
    """
    scale = float(scale)
    return (4 * n + 16) * EPS * scale + (n + 1) ** 2 * TINY * max(scale, 1.0)
