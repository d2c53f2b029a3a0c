"""One decision for each group of rows that are in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._types import BoolArray, CountArray, FloatArray
from bestcut.many import decide_each
from bestcut.metrics import Metric

# What is said of each group, beside its name.
FACTS = ("n", "n_positive", "threshold", "expected_score", "error", "gap")


class Rule(NamedTuple):
    """What to decide by, as it is sent to the workers."""

    column: str
    by: list[str]
    metric: Metric
    min_positives: int
    max_positives: int | None

    def decide(
        self,
        scores: FloatArray,
        group: CountArray,
        keys: Callable[[int], list[Any]],
    ) -> tuple[BoolArray, dict[str, NDArray[Any]]]:
        """Return the labels of some rows, and the facts of each of their groups.

        Parameters
        ----------
        scores : ndarray of shape (m,)
            Probabilities; NaN where they are missing.
        group : ndarray of shape (m,)
            The number of each row's group: 0, 1, ...
        keys : callable
            Returns the values of the columns `by` in a row, for an error.
        """
        good = (scores >= 0.0) & (scores <= 1.0)
        if not good.all():
            i = int(np.argmin(good))
            pairs = zip(self.by, keys(i), strict=True)
            where = f"group {', '.join(f'{k}={v!r}' for k, v in pairs)}"
            what = f"column {self.column!r}"
            raise errors.not_a_probability(what, float(scores[i]), where)
        each = decide_each(
            scores,
            self.metric,
            groups=group,
            min_positives=self.min_positives,
            max_positives=self.max_positives,
        )
        assert each.threshold is not None  # a metric of counts has one
        n = np.bincount(group, minlength=each.n_positive.size)
        facts = (
            n,
            each.n_positive,
            each.threshold,
            each.expected_score,
            each.error,
            each.gap,
        )
        return each.labels, dict(zip(FACTS, facts, strict=True))
