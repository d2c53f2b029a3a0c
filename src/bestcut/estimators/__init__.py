"""scikit-learn classifiers that decide for a metric.

Needs scikit-learn: ``pip install 'bestcut[sklearn]'``. The paper's three contenders:

- `ExpectedMetricClassifier`: the best labels for the batch at hand (DTA);
- `PluginThresholdClassifier`: one threshold, tuned on labelled data (EUM);
- the baseline at 1/2 is scikit-learn's own ``FixedThresholdClassifier``, or any
  classifier's ``predict``.

`ExpectedMetricMultilabelClassifier` is the first of them for label sets.
"""

from bestcut import _errors

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise _errors.package_missing(
        needed_by="bestcut.estimators", package="scikit-learn", extra="sklearn"
    ) from error

from bestcut.estimators._expected import ExpectedMetricClassifier
from bestcut.estimators._multilabel import ExpectedMetricMultilabelClassifier
from bestcut.estimators._plugin import PluginThresholdClassifier

__all__ = [
    "ExpectedMetricClassifier",
    "ExpectedMetricMultilabelClassifier",
    "PluginThresholdClassifier",
]
