"""Every exception, and every sentence that refuses something.

A sentence names the argument, the rule, the first offender and the cure.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class InvalidProbabilityError(ValueError):
    """An entry that should be a probability is NaN or outside [0, 1]."""


class SolverMismatchError(ValueError):
    """The metric or the size lacks something the chosen solver relies on."""


class InfeasibleError(ValueError):
    """No prediction satisfies the constraints."""


def without_principle(name: str, reason: str, way_out: str) -> SolverMismatchError:
    """Return the refusal of a metric that may need more than ranking and cutting."""
    return SolverMismatchError(
        f"metric {name!r} is not known to satisfy the probability ranking principle, "
        f"so ranking and cutting may miss its optimum. {reason} {way_out}"
    )


def other_scores(low: float, high: float, expected: int, given: int) -> ValueError:
    """Return the refusal of scores that are not those of a summary."""
    return ValueError(
        f"`y_proba` must hold the scores that were summed up; between {low:.6g} and "
        f"{high:.6g} there were {expected} of them, and {given} were given. Pass what "
        "`select` returns for all of them, each once."
    )


def unreadable_summary(reason: str) -> ValueError:
    """Return the refusal of bytes that are not a summary."""
    return ValueError(
        f"`data` is not a score summary: {reason}. Pass what `ScoreSummary.to_bytes` "
        "returned."
    )


def unknown_name(
    kind: str, given: Any, known: Iterable[str], hints: dict[str, str] | None = None
) -> ValueError:
    """Build the error for a name nobody knows, with the nearest ones."""
    names = sorted(known)
    near: list[str] = []
    if isinstance(given, str):
        key = given.strip().lower().replace("-", "_").replace(" ", "_")
        if key in names:
            near = [key]
        elif hints and key in hints:
            near = [hints[key]]
        else:
            near = difflib.get_close_matches(key, names, n=3, cutoff=0.5)
    mean = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ValueError(
        f"`{kind}` {given!r} is not known.{mean} Known: {', '.join(names)}."
    )


# --- metrics ---


class ExpressionError(ValueError):
    """A formula that is not understood."""


class NotFollowedError(TypeError):
    """A formula does something for which there is no rule; users never see it."""


def not_affine(name: str, d1: Any) -> SolverMismatchError:
    """Return the refusal to split a fraction whose denominator depends on TP."""
    return SolverMismatchError(
        f"metric {name!r} is not affine in TP: its denominator depends on TP "
        f"(d1 = {d1})."
    )


def n_max_too_small(given: Any) -> ValueError:
    """Return the refusal of a lattice without two instances."""
    return ValueError(f"`n_max` must be a whole number of at least 2; got {given!r}.")


def beta_out_of_range(given: Any) -> ValueError:
    """Return the refusal of a beta whose square is no positive number."""
    return ValueError(f"`beta` must be positive and of sane size; got {given!r}.")


def class_for_metric(given: type) -> TypeError:
    """Return the refusal of a class in the place of a metric."""
    return TypeError(
        f"`metric` must be a metric, not its class; pass {given.__name__}()."
    )


def no_metric(given: Any) -> TypeError:
    """Return the refusal of what is neither a name nor a metric."""
    return TypeError(
        f"`metric` must be a name or a bestcut metric; got {type(given).__name__}. "
        "Wrap a callable with `bestcut.metrics.from_counts(function, name=...)`."
    )
