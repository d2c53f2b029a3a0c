"""The distribution of the number of positives, for users."""

from __future__ import annotations

from typing import Any

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut._validation import check_finite_real, check_probabilities, check_tail
from bestcut.counts import _exact
from bestcut.counts._exact import WindowedLaw


def poisson_binomial(y_proba: Any) -> FloatArray:
    """Return the distribution of the number of positives.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        Probability of each instance to be positive; instances are independent.

    Returns
    -------
    ndarray of shape (n + 1,)
        Entry s is the probability of exactly s positives.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].

    See Also
    --------
    bestcut.counts.poisson_binomial_window : The counts that matter, which is faster.
    bestcut.counts.remove : The distribution without one instance.

    Notes
    -----
    Takes O(n²) time and O(n) memory, one instance after the other [1]_. Each entry has
    a relative error of at most ``2 * n`` machine epsilons, short of underflow.

    References
    ----------
    .. [1] R. E. Barlow and K. D. Heidtmann. Computing k-out-of-n system reliability.
       *IEEE Transactions on Reliability* 33, 322-323, 1984.

    Examples
    --------
    >>> from bestcut.counts import poisson_binomial
    >>> poisson_binomial([0.5, 0.25]).tolist()
    [0.375, 0.5, 0.125]
    """
    return _exact.law_of_count(check_probabilities(y_proba))


def poisson_binomial_window(y_proba: Any, tail: float = 1e-20) -> WindowedLaw:
    """Return the distribution of the number of positives where it matters.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        Probability of each instance to be positive.
    tail : float, default=1e-20
        How much mass may be dropped in all, at least 0 and below 1.

    Returns
    -------
    WindowedLaw
        With ``start``, ``pmf`` and the mass that was ``dropped``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If `tail` is not at least 0 and below 1.

    See Also
    --------
    bestcut.counts.poisson_binomial : The whole distribution.
    bestcut.counts.WindowedLaw : What is returned.

    Examples
    --------
    >>> from bestcut.counts import poisson_binomial_window
    >>> law = poisson_binomial_window([0.5] * 400)
    >>> law.pmf.size < 200, law.dropped <= 1e-20
    (True, True)
    """
    dropped = check_tail(tail)
    return _exact.windowed_law(check_probabilities(y_proba), dropped)


def remove(law: Any, probability: float) -> FloatArray:
    """Return the distribution of the count without one instance.

    Parameters
    ----------
    law : array-like of shape (n + 1,)
        Distribution of n instances, as `poisson_binomial` returns it.
    probability : float
        Probability of the instance to take out; it must be one of the n.

    Returns
    -------
    ndarray of shape (n,)
        Entry s is the probability of exactly s positives among the others.

    Raises
    ------
    InvalidProbabilityError
        If `probability` or an entry of `law` is NaN or outside [0, 1].
    ValueError
        If `law` has fewer than two entries.

    See Also
    --------
    bestcut.counts.poisson_binomial : The distribution of all instances.

    Notes
    -----
    The recursion runs from the end from which errors do not grow, whatever the
    probability, 0 and 1 included; its absolute error is a few ``n`` machine epsilons.
    That holds for one removal. Do not chain them: errors grow from one to the next.

    Examples
    --------
    >>> from bestcut.counts import remove
    >>> remove([0.375, 0.5, 0.125], 0.25).tolist()
    [0.5, 0.5]
    """
    array = check_probabilities(law, name="law")
    if array.size < 2:
        raise errors.too_short_to_remove(array.size)
    check_finite_real(probability, name="probability")
    check_probabilities([probability], name="probability")
    return _exact.remove_instance(array, float(probability))
