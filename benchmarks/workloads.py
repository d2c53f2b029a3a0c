"""What is decided on: probabilities from balanced to rare, by name."""

from __future__ import annotations

import numpy as np

RARE_POSITIVES = 20  # expected positives of the "rare" law, whatever n


def balanced(rng: np.random.Generator, n: int) -> np.ndarray:
    """Beta(2, 2): half of the instances positive, few of them certain."""
    return rng.beta(2, 2, size=n)


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Beta(0.3, 3): one in eleven positive, most instances clearly negative."""
    return rng.beta(0.3, 3, size=n)


def confident(rng: np.random.Generator, n: int) -> np.ndarray:
    """Beta(0.1, 0.4): one in five positive, nearly everything close to 0 or 1."""
    return rng.beta(0.1, 0.4, size=n)


def rare(rng: np.random.Generator, n: int) -> np.ndarray:
    """Beta(0.3, 3) scaled down to 20 expected positives, whatever n."""
    p = rng.beta(0.3, 3, size=n)
    return np.minimum(p * (RARE_POSITIVES / p.sum()), 1.0) if n > 200 else p


LAWS = {f.__name__: f for f in (balanced, skewed, confident, rare)}


def probabilities(law: str, n: int, seed: int = 0) -> np.ndarray:
    """Return n probabilities of that law, unsorted."""
    return LAWS[law](np.random.default_rng([seed, n]), n)


def isotonic(p: np.ndarray, levels: int = 6) -> np.ndarray:
    """Return `p` with few distinct values, as after isotonic calibration."""
    bins = np.digitize(p, np.quantile(p, np.linspace(0, 1, levels + 1)[1:-1]))
    sums = np.bincount(bins, weights=p, minlength=levels)
    return (sums / np.maximum(np.bincount(bins, minlength=levels), 1))[bins]
