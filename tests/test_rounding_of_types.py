"""Probabilities may be off by the rounding of the type they are given in, not more."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut import multiclass, multilabel

EPS = {kind: float(np.finfo(kind).eps) for kind in (np.float16, np.float32, np.float64)}
each_type = pytest.mark.parametrize("kind", EPS)


def softmax(kind, classes=7, rows=200):
    """Return probabilities computed in a type, as networks do."""
    logits = np.random.default_rng(0).normal(size=(rows, classes)).astype(kind)
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True, dtype=kind)


@each_type
def test_one_and_a_bit_is_one(kind):
    p = np.array([1.0 + EPS[kind], 0.5, -EPS[kind], 1.0], dtype=kind)
    clean = bestcut.decide([1.0, 0.5, 0.0, 1.0])
    found = bestcut.decide(p)
    assert found.expected_score == clean.expected_score
    assert found.labels.tolist() == clean.labels.tolist()
    assert p[0] > 1  # what was given stays as it is


@each_type
def test_more_than_rounding_is_refused(kind):
    p = np.array([0.5, 1.0 + 40 * EPS[kind]], dtype=kind)
    with pytest.raises(bestcut.InvalidProbabilityError, match=re.escape("[1] = 1.")):
        bestcut.decide(p)
    with pytest.raises(bestcut.InvalidProbabilityError):
        multilabel.decide(p[:, None])


@pytest.mark.parametrize("wrap", [pd.Series, pl.Series])
def test_columns_have_their_own_type(wrap):
    p = np.array([1.0000001, 0.25], dtype=np.float32)
    assert p[0] > 1
    assert (
        bestcut.decide(wrap(p)).expected_score
        == bestcut.decide([1, 0.25]).expected_score
    )
    with pytest.raises(bestcut.InvalidProbabilityError):
        bestcut.decide(wrap(p.astype(np.float64)))


@each_type
@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame])
def test_rows_of_a_softmax_sum_to_1(kind, wrap):
    p = softmax(kind)
    decision = multiclass.decide(wrap(p), "f1")
    exact = p.astype(np.float64)
    exact /= exact.sum(axis=1, keepdims=True)
    wanted = multiclass.decide(exact, "f1")
    # Rows within 1e-6 are taken as they are: that moves the macro F1 by no more.
    assert decision.expected_score == pytest.approx(wanted.expected_score, abs=2e-6)


def test_sums_that_rounding_does_not_explain_are_refused():
    p = softmax(np.float16)
    p[3] *= np.float16(1.1)
    with pytest.raises(ValueError, match=r"row 3|\[3\]"):
        multiclass.decide(p)
    with pytest.raises(ValueError, match="sum"):  # in double precision, nothing is
        multiclass.decide(softmax(np.float16).astype(np.float64))
