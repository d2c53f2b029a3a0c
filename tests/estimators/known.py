"""A model whose probabilities are given, and data to go with it."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification

X, Y = make_classification(
    n_samples=240, n_features=5, weights=[0.7], flip_y=0.1, random_state=0
)
NAMES = [f"x{i}" for i in range(5)]


class KnownModel(ClassifierMixin, BaseEstimator):
    """The probability of the second class is the first column; nothing is learnt."""

    def __init__(self, dtype=np.float64):
        self.dtype = dtype

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.asarray(X, dtype=self.dtype)[:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]
