"""scikit-learn classifiers that decide for a metric.

Needs scikit-learn: ``pip install 'bestcut[sklearn]'``. The paper's three contenders:

- `ExpectedMetricClassifier`: the best labels for the batch at hand (DTA);
- `PluginThresholdClassifier`: one threshold, tuned on labelled data (EUM);
- the baseline at 1/2 is scikit-learn's own ``FixedThresholdClassifier``, or any
  classifier's ``predict``.

`ExpectedMetricMultilabelClassifier` is the first of them for label sets.
"""

from bestcut import _errors
from bestcut._public import publish

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise _errors.package_missing(
        needed_by="bestcut.estimators", package="scikit-learn", extra="sklearn"
    ) from error

from bestcut.estimators._expected import ExpectedMetricClassifier
from bestcut.estimators._multilabel import ExpectedMetricMultilabelClassifier
from bestcut.estimators._plugin import PluginThresholdClassifier
from bestcut.estimators._trusted import trusted_types

__all__ = [
    "ExpectedMetricClassifier",
    "ExpectedMetricMultilabelClassifier",
    "PluginThresholdClassifier",
]

publish(__name__, globals())

#: The types that a fitted classifier may hold besides those of NumPy and of its own
#: model: ``skops.io.load(file, trusted=[*TRUSTED_TYPES, ...])``. A metric of your own
#: is not among them.
TRUSTED_TYPES = trusted_types(
    [
        ExpectedMetricClassifier,
        ExpectedMetricMultilabelClassifier,
        PluginThresholdClassifier,
    ]
)


def __dir__() -> list[str]:
    return [*__all__, "TRUSTED_TYPES"]
