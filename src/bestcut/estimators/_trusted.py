"""The types that a fitted classifier may hold, for tools that load trusted ones."""

from __future__ import annotations

from bestcut import goals, metrics
from bestcut.assignment import RowRule
from bestcut.calibration import Calibration

# They hold functions, or are no part of a model.
_NOT_STORED = (metrics.CustomMetric, metrics.ExpressionError)


def trusted_types(classifiers: list[type]) -> list[str]:
    """Return the paths of classifiers, and of what they hold besides their models."""
    listed = [vars(part)[name] for part in (goals, metrics) for name in part.__all__]
    held = [x for x in listed if isinstance(x, type) and not issubclass(x, _NOT_STORED)]
    kinds = [*classifiers, *held, Calibration, RowRule]
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
