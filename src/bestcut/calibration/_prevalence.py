"""Probabilities for a population in which positives are more or less frequent.

Suppose that the share of positives differs between the data a model was fitted on and
the data at hand, but positives and negatives each look the same in both. Then Bayes'
rule says how the probabilities change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut._tables import like
from bestcut._types import EPS
from bestcut._validation import check_probabilities, check_share
from bestcut.uncertain import UncertainProbabilities

_ROUNDING = 8 * EPS  # of the two ratios below, which are near 1


def adjust_prevalence(y_proba: Any, old: float, new: float | None = None) -> Any:
    """Return probabilities as they are at another prevalence.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probabilities where the share of positives is `old`, or draws of
        them.
    old : float
        The share of positives the model was fitted on, strictly between 0 and 1.
    new : float, optional
        The share of positives in the data at hand; estimated from `y_proba` by
        `estimate_prevalence` if None.

    Returns
    -------
    ndarray of shape (n,), Series or UncertainProbabilities
        The probabilities where the share of positives is `new`. A Series of pandas or
        polars gives one, with its index and its name. Draws give draws, each adjusted
        by itself: ``n_draws`` numbers for each instance.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If `old` or `new` is not strictly between 0 and 1.

    See Also
    --------
    bestcut.calibration.estimate_prevalence : The share of positives in unlabelled data.
    bestcut.calibrate : Probabilities from labels of the new data, if there are some.

    Notes
    -----
    It is Bayes' rule, if only the share of positives differs between the data:
    positives look the same in both, and so do negatives [1]_. Shares are taken as they
    are: draws keep the doubt about the probabilities, but there is none about `new`.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker. Adjusting the outputs of a
       classifier to new a priori probabilities: a simple procedure. *Neural
       Computation* 14(1), 21-41, 2002.

    Examples
    --------
    >>> from bestcut import calibration
    >>> calibration.adjust_prevalence([0.5, 0.9], old=0.5, new=0.1).round(3).tolist()
    [0.1, 0.5]
    """
    drawn = isinstance(y_proba, UncertainProbabilities)
    p = y_proba.draws() if drawn else check_probabilities(y_proba)
    before = check_share(old, name="old")
    after = (
        estimate_prevalence(y_proba, before)
        if new is None
        else check_share(new, name="new")
    )
    yes, no = p * (after / before), (1.0 - p) * ((1.0 - after) / (1.0 - before))
    # Each step keeps the order of the probabilities, whatever is rounded.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds_against = no / yes
        tiny = np.isinf(odds_against)
        adjusted = np.where(tiny, yes / no, 1.0 / (1.0 + odds_against))
    adjusted[yes == 0.0] = 0.0
    return UncertainProbabilities(adjusted) if drawn else like(y_proba, adjusted)


def estimate_prevalence(y_proba: Any, old: float) -> float:
    """Estimate the share of positives in unlabelled data.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Probabilities calibrated where the share of positives is `old`. Draws count by
        their means.
    old : float
        That share, strictly between 0 and 1.

    Returns
    -------
    float
        From 0 to 1. It is `old` if there is nothing to estimate from: no probabilities,
        or none that differ from `old`.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If `old` is not strictly between 0 and 1.

    See Also
    --------
    bestcut.calibration.adjust_prevalence : Probabilities for that share.
    bestcut.check_calibration : Check them, once there are labels.

    Notes
    -----
    This is the maximum-likelihood estimate of Saerens, Latinne and Decaestecker [1]_.
    They find it by EM; the likelihood is concave, so halving an interval finds it too.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker. Adjusting the outputs of a
       classifier to new a priori probabilities: a simple procedure. *Neural
       Computation* 14(1), 21-41, 2002.

    Examples
    --------
    >>> from bestcut import calibration
    >>> round(calibration.estimate_prevalence([0.9, 0.9, 0.2, 0.1, 0.1], old=0.5), 3)
    0.398
    """
    drawn = isinstance(y_proba, UncertainProbabilities)
    p = y_proba.mean if drawn else check_probabilities(y_proba)
    before = check_share(old, name="old")
    yes, no = p / before, (1.0 - p) / (1.0 - before)
    if np.all(np.abs(yes - no) <= _ROUNDING):
        return before
    low, high = 0.0, 1.0
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high or high - low < 1e-15:
            return middle
        slope = np.sum((yes - no) / (middle * yes + (1.0 - middle) * no))
        low, high = (middle, high) if slope > 0.0 else (low, middle)
