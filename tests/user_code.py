"""Code as users write it, with what a type checker must know of it.

A line that ends in ``type: ignore`` is a mistake that a checker must find: it reports
the comment itself where there is none. In the brackets is what mypy calls it.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from typing import TYPE_CHECKING, assert_type

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import bestcut
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier

X = np.random.default_rng(0).normal(size=(60, 2))
y = X[:, 0] > 0.5

# --- classifiers ---------------------------------------------------------------------

m = ExpectedMetricClassifier(LogisticRegression(), "f1", calibration=None).fit(X, y)
assert_type(m, ExpectedMetricClassifier)
d = m.decide(X)
flagged: int = d.n_positive
cut: float = d.threshold
interval: tuple[float, float] = d.distribution().interval(0.9)
tuned = PluginThresholdClassifier(LogisticRegression(), "mcc").fit(X, y)
assert_type(tuned, PluginThresholdClassifier)

# --- decisions -----------------------------------------------------------------------

p = np.random.default_rng(0).random(60)
found = bestcut.decide(p, "f1", at_least={"recall": 0.5}, max_positives=40)
assert_type(found.threshold, float)
assert_type(found.labels, NDArray[np.bool_])
in_polars = bestcut.decide(pl.Series("p", p))
assert_type(in_polars.labels, pl.Series)
assert_type(in_polars.threshold, float)

worth = bestcut.RowUtility(tp=np.ones(60), fp=-1.0)
assert_type(bestcut.decide(p, worth, max_positives=3).threshold, None)
assert_type(bestcut.decide(pl.Series(p), worth).labels, pl.Series)
assert_type(bestcut.decide(p[:9], "f1", solver="exhaustive").threshold, float | None)


def share(decision: bestcut.Decision) -> float:
    """Take any decision."""
    return decision.n_positive / decision.n


assert_type(share(found) + share(bestcut.decide(p, worth)), float)

# --- parts that are loaded on first use ----------------------------------------------

bestcut.displays.DecisionDisplay.from_decision(found)
bestcut.scorers.make_expected_scorer("f1")(m, X)
bestcut.estimators.PluginThresholdClassifier(LogisticRegression())

# --- mistakes ------------------------------------------------------------------------

if TYPE_CHECKING:
    bestcut.decide(p, solver="swep")  # type: ignore[call-overload]
    bestcut.decide(p, worth).threshold + 1.0  # type: ignore[operator]
    bestcut.decide(p, treshold=0.5)  # type: ignore[call-overload]
    unknown = bestcut.decide(p).treshold  # type: ignore[attr-defined]
    missing = bestcut.nothing  # type: ignore[attr-defined]
    ExpectedMetricClassifier(m, scope="fix")  # type: ignore[arg-type]
    ExpectedMetricClassifier(m, calibration="no")  # type: ignore[arg-type]
