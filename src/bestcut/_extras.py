"""Parts of the package that need more than NumPy, loaded on first use."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Each with the module that it cannot be loaded without.
NEEDS = {
    "displays": "matplotlib",
    "distributed": "numpy",  # dask and Spark are loaded by its own modules
    "estimators": "sklearn",
    "report": "vl_convert",
    "scorers": "numpy",  # whoever has a classifier has scikit-learn
    "torch": "torch",
}

# What they list, so that it can be found without loading them.
NAMES = {
    "displays": (
        "CalibrationCheckDisplay",
        "CalibrationMapDisplay",
        "ClassConfusionDisplay",
        "ClassScoresDisplay",
        "DecisionDisplay",
        "ExpectedScoreDisplay",
        "ScoreDistributionDisplay",
    ),
    "estimators": (
        "ExpectedMetricClassifier",
        "ExpectedMetricMultilabelClassifier",
        "PluginThresholdClassifier",
    ),
    "report": ("Report", "make_report"),
    "scorers": ("make_expected_scorer", "make_scorer"),
    "torch": (
        "BestCutMasks",
        "MaskDecision",
        "decide_dataset",
        "decide_masks",
    ),
}


def load(name: str) -> Any:
    """Return a part; if what it needs is not installed, that is an ImportError."""
    return import_module(f"bestcut.{name}")


def installed() -> list[str]:
    """Return the parts that can be loaded here, without loading them."""
    return [name for name, needed in NEEDS.items() if find_spec(needed) is not None]
