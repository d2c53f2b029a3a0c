"""What tests of several folders share."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bestcut import metrics
from bestcut._thresholds import halfway

ROOT = Path(__file__).resolve().parents[1]

#: Every metric of the catalogue, by its own name.
NAMES = metrics.names()


def metric_of(name: str, zero_division: Any) -> metrics.Metric:
    """Return a metric of the catalogue that scores 0 / 0 as told, if it ever has to."""
    metric = metrics.get(name)
    if not hasattr(metric, "zero_division"):
        return metric
    return dataclasses.replace(metric, zero_division=zero_division)


def descending(p: Any) -> np.ndarray:
    """Return probabilities in the order in which solvers take them."""
    return np.ascontiguousarray(np.sort(p)[::-1])


def adversarial(
    rng: np.random.Generator, n: int, weights: Sequence[float] | None = None
) -> list[int]:
    """Return n probabilities of a random kind, as numerators over 64.

    The kinds are all equal, certain, tied, rare, confident, anything, mostly low and
    mostly high, in that order; the weights say how often each is taken.
    """
    kinds = (
        lambda: np.full(n, rng.integers(0, 65)),
        lambda: rng.choice([0, 64], size=n),
        lambda: rng.choice(rng.integers(0, 65, size=2), size=n),
        lambda: rng.choice([0, 1, 2, 64], size=n),
        lambda: rng.choice([0, 62, 63, 64], size=n),
        lambda: rng.integers(0, 65, size=n),
        lambda: np.rint(64 * rng.beta(0.3, 2, size=n)),
        lambda: np.rint(64 * rng.beta(3, 0.5, size=n)),
    )
    chance = None if weights is None else np.divide(weights, sum(weights))
    return [int(x) for x in kinds[rng.choice(len(kinds), p=chance)]()]


def assert_threshold(p: Any, found: Any) -> None:
    """A result with one threshold has it where the rule for thresholds says."""
    ranked = np.sort(p)[::-1]
    k = found.n_positive
    if k == 0:
        wanted = np.inf, (0, 0)
    elif k == ranked.size:
        wanted = ranked[-1], (0, 0)
    elif ranked[k] == ranked[k - 1]:
        there = int(np.sum(ranked == ranked[k]))
        wanted = ranked[k], (k - int(np.sum(ranked > ranked[k])), there)
    else:
        wanted = float(halfway(ranked[k], ranked[k - 1])), (0, 0)
    assert (found.threshold, tuple(found.n_tied)) == wanted


def numbers_in(text: str) -> list[float]:
    """Return the numbers that a sentence tells."""
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def load_script(path: str) -> ModuleType:
    """Return a file of the repository that is no part of a package, as a module."""
    name = path.removesuffix(".py").replace("/", "_") + "_script"
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there for their annotations
    spec.loader.exec_module(module)
    return module
