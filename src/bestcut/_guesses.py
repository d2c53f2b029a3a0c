"""Arguments and attributes that people try first, and what to write instead."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from bestcut import _errors as errors, metrics

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

# Arguments by other names, where a function has one of those on the right.
_MEANT = {
    **dict.fromkeys(("y", "labels", "targets"), ("y_true",)),
    **dict.fromkeys(("p", "proba", "probabilities", "y_score"), ("y_proba", "scores")),
    **dict.fromkeys(("k", "top_k"), ("per_row",)),
    **dict.fromkeys(("by", "group", "group_by"), ("groups",)),
}

_BUDGETS = ("budget", "capacity", "limit", "k", "top_k", "n_positive")
_WORTH = (
    "What outcomes are worth is the metric: "
    "`bestcut.metrics.LinearUtility(tp=80, fp=-10)`, or where each row has an amount "
    "`bestcut.RowUtility(tp=amounts, fp=-5)`."
)
_TRUTH = (
    "Labels come later: `decision.realised(y_true)` is the score then, and "
    "`bestcut.calibrate(y_true, scores)` learns from labels of other rows."
)
_GROUPS = "`bestcut.decide_each` takes `groups`, and decides for each."
_CURES = {
    **dict.fromkeys(_BUDGETS, "`bestcut.decide` has a budget, `max_positives`."),
    **dict.fromkeys(("amount", "amounts", "cost", "costs", "cost_matrix"), _WORTH),
    **dict.fromkeys(("sample_weight", "weights"), _WORTH),
    **dict.fromkeys(("y_true", "y", "labels"), _TRUTH),
    **dict.fromkeys(("groups", "group", "group_by", "by"), _GROUPS),
    "average": "`bestcut.multiclass.decide` (one class for each row) and "
    "`bestcut.multilabel.decide` (a set of labels) take `average`.",
    "beta": "Pass it with the metric: `metric='f2'` for beta = 2.",
    "scoring": "The metric is `metric='f1'`.",
    "threshold": "The threshold is found. What yours would score is "
    "`bestcut.score_distribution(y_proba, y_proba >= threshold)`.",
    "zero_division": "It belongs to the metric: "
    "`bestcut.metrics.FBeta(zero_division=1.0)`.",
}

# Attributes of results; what is no name of an attribute is never asked for.
_ATTRIBUTES = {
    "to_json": "`json.dumps(result.to_dict())` writes it as JSON.",
    **{
        name: f"`decision.distribution().{name}` is there."
        for name in ("interval", "ppf", "prob_at_least", "std", "surprise")
    },
}


def hinted(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Let a function that is given an argument it does not have say what to write."""
    known = inspect.signature(function).parameters.keys()

    @wraps(function)
    def called(*given: _Given.args, **named: _Given.kwargs) -> _Found:
        for name, value in named.items():
            if name not in known:
                cure = _cure(name, value, known)
                raise errors.unknown_argument(function.__name__, name, cure)
        return function(*given, **named)

    return called


def _cure(name: str, value: Any, known: Collection[str]) -> str:
    """Return what to write instead of an argument that a function does not have."""
    meant = next((other for other in _MEANT.get(name, ()) if other in known), None)
    if meant is None and name in _BUDGETS and "max_positives" in known:
        most = value if isinstance(value, int) else 200
        return f"A budget is `max_positives={most}`."
    cure = _as_condition(name, value, known) or _CURES.get(name)
    if meant is None and cure is not None:
        return cure
    near = difflib.get_close_matches(name, known, n=1)
    if meant is not None or near:
        return f"Did you mean `{meant or near[0]}`?"
    return f"It takes {', '.join(f'`{other}`' for other in known)}."


def _as_condition(name: str, value: Any, known: Collection[str]) -> str | None:
    """Return a metric with a bound, such as ``min_precision=0.9``, as a condition."""
    metric = name.removeprefix("min_").removeprefix("max_")
    if metric not in metrics.names(aliases=True) or not isinstance(value, int | float):
        return None
    loss = not metrics.get(metric).greater_is_better
    argument = "at_most" if loss else "at_least"
    if argument not in known:
        return f"`bestcut.decide` has conditions, `{argument}`."
    return f"A condition is `{argument}={{{metric!r}: {value!r}}}`."


def no_attribute(result: object, name: str) -> AttributeError:
    """Return the refusal of an attribute that results do not have, with the cure."""
    return errors.no_attribute(result, name, _ATTRIBUTES.get(name))
