"""What a threshold costs: to find in `fit`, and to use for one row.

    python -m benchmarks.rowwise

Prints the processor time of `fit`, of five-fold cross-validation beside scikit-learn's
`TunedThresholdClassifierCV` with the same folds, with what the models' own fits take
out of both, and of one served row. Run it on another version of bestcut by setting
PYTHONPATH. Needs bestcut[sklearn].
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from typing import Any

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score

from bestcut.estimators import ExpectedMetricClassifier


def least(task: Callable[[], Any], repeats: int) -> float:
    """Return the least processor time of some runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def main() -> None:
    """Print the times."""
    X, y = make_classification(
        1200, n_features=12, n_informative=4, weights=[0.9], random_state=0
    )
    inner = LogisticRegression()
    ours = ExpectedMetricClassifier(inner, scope="fixed")
    theirs = TunedThresholdClassifierCV(inner, scoring="f1", cv=5)
    fit = least(lambda: inner.fit(X, y), 5)
    every = (
        ("ours", ours, 10 * fit),
        ("TunedThresholdClassifierCV", theirs, 6 * fit),
    )
    for name, model, fits in every:
        one = least(lambda model=model: model.fit(X, y), 3)
        print(f"fit, 1,200 rows, {name}: {one:.0f} ms, of which models {fits:.0f}")
    own, other = (
        least(lambda m=model: cross_val_score(m, X, y, scoring="f1", cv=5), 1)
        for model in (ours, theirs)
    )
    of_own, of_other = 50 * fit, 30 * fit
    print(f"five-fold cross_val_score: {own:.0f} ms, theirs {other:.0f},")
    print(f"of which models {of_own:.0f} and {of_other:.0f}")
    print(
        f"without the models' fits: {(own - of_own) / (other - of_other):.2f} of theirs"
    )
    fitted = ours.fit(X, y)
    alone = least(
        lambda: [model.predict_proba(X[:1]) for model in fitted.estimators_], 200
    )
    served = least(lambda: fitted.predict(X[:1]), 200)
    print(f"one row: {served:.2f} ms, of which predict_proba of the models {alone:.2f}")


if __name__ == "__main__":
    main()
