"""Stored objects name their classes by the paths by which users import them."""

import importlib
import inspect
import io
import pickle

import numpy as np
import pytest

import bestcut
from bestcut import multiclass

MODULES = [
    "bestcut",
    *(f"bestcut.{name}" for name in ("calibration", "counts", "goals", "metrics")),
    *(f"bestcut.{name}" for name in ("multiclass", "multilabel", "streams", "scorers")),
    *(f"bestcut.{name}" for name in ("displays", "report", "estimators", "torch")),
]


def public_classes():
    for path in MODULES:
        try:
            module = importlib.import_module(path)
        except ImportError:  # what it needs is not installed
            continue
        for name in module.__all__:
            if inspect.isclass(getattr(module, name)):
                yield path, name


@pytest.mark.parametrize(("path", "name"), list(public_classes()))
def test_a_public_class_is_known_by_a_public_path(path, name):
    kind = getattr(importlib.import_module(path), name)
    assert kind.__module__ in MODULES
    assert getattr(importlib.import_module(kind.__module__), kind.__qualname__) is kind


class Names(pickle.Unpickler):
    """Notes the path of every class of ours that a pickle names."""

    def find_class(self, module, name):
        if module.partition(".")[0] == "bestcut":
            self.found.add(f"{module}.{name}")
        return super().find_class(module, name)


def classes_in(thing):
    """Return the paths of the classes of ours that the pickle of a thing names."""
    reader = Names(io.BytesIO(pickle.dumps(thing)))
    reader.found = set()
    reader.load()
    return reader.found


def test_what_is_deployed_holds_public_classes_only():
    p = np.random.default_rng(0).beta(0.5, 2, 50)
    labels = np.arange(50) % 3 == 0
    shares = np.stack([p, 1 - p], axis=1)
    for thing in (
        bestcut.calibrate(labels, p, n_draws=3),
        multiclass.decide(shares).rule(),
        bestcut.RowUtility(tp=1.0),
        bestcut.metrics.FBeta(2.0),
        bestcut.goals.Certain(0.9),
    ):
        ours = classes_in(thing)
        assert ours
        assert not [path for path in ours if "._" in path]


def test_a_fitted_model_holds_only_types_that_are_listed_to_be_trusted():
    pytest.importorskip("sklearn")
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    from bestcut import estimators

    X, y = make_classification(300, n_informative=4, n_classes=3, random_state=0)
    binary = (y > 0).astype(int)
    inner = LogisticRegression()
    careful = {
        "goal": bestcut.goals.Quantile(0.2),
        "at_least": {"recall": bestcut.goals.Certain(0.1, probability=0.9)},
    }
    models = [
        estimators.ExpectedMetricClassifier(inner, "f1").fit(X, binary),
        estimators.ExpectedMetricClassifier(inner, "f1").fit(X, y),
        estimators.ExpectedMetricClassifier(
            inner, bestcut.metrics.MCC(), scope="batch", **careful
        ).fit(X, binary),
        estimators.PluginThresholdClassifier(inner, "f1").fit(X, binary),
    ]
    for model in models:
        assert classes_in(model) <= set(estimators.TRUSTED_TYPES)
    for path in estimators.TRUSTED_TYPES:
        module, name = path.rsplit(".", 1)
        assert getattr(importlib.import_module(module), name).__module__ == module
