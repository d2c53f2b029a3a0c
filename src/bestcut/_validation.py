"""Every check of what a user passes in, and every sentence that refuses it.

A message names the argument, the rule, the first offender and the cure.
Ranges are written positively and negated, so that NaN fails them too.
"""

from __future__ import annotations

from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut._errors import InvalidProbabilityError
from bestcut._types import BoolArray, FloatArray

_LARGEST = 1e150  # so that a product of two is a number, too


def check_real_array(values: Any, *, name: str, cure: str = "") -> FloatArray:
    """Return `values` as float64, refusing what is not made of real numbers."""
    if isinstance(values, np.ma.MaskedArray):
        msg = (
            f"`{name}` must not be a masked array; "
            f"fill it or pass `{name}.compressed()`."
        )
        raise TypeError(msg)
    try:
        array = np.asarray(values)
    except ValueError as exc:
        msg = f"`{name}` must be a flat sequence of numbers; got ragged rows."
        raise ValueError(msg) from exc
    if array.size == 0 and array.dtype == object:
        array = array.astype(np.float64)
    if array.dtype.kind not in "buif":
        first = array.ravel()[:1].tolist()[0] if array.size else values
        msg = (
            f"`{name}` must hold real numbers; got dtype {array.dtype} "
            f"(first entry {first!r}). {cure}".rstrip()
        )
        raise TypeError(msg)
    return array.astype(np.float64, copy=False)


def _check_column(values: Any, *, name: str) -> FloatArray:
    """Return `values` as a 1-D float64 array."""
    array = check_real_array(
        values,
        name=name,
        cure=f"Convert it first, for example with `{name}.astype(float)`.",
    )
    if array.ndim != 1:
        cure = (
            f"Take the positive class's column: `{name}[:, 1]`."
            if array.ndim == 2 and array.shape[1] == 2
            else f"Flatten it with `np.ravel({name})` if it is one problem."
        )
        msg = f"`{name}` must be 1-D; got shape {array.shape}. {cure}"
        raise ValueError(msg)
    return array


def check_scores(values: Any, *, name: str = "y_score") -> FloatArray:
    """Return `values` as a 1-D float64 array without NaN."""
    array = _check_column(values, name=name)
    bad = np.isnan(array)
    if bad.any():
        msg = (
            f"`{name}` must not hold NaN; got {name}[{int(np.argmax(bad))}] = nan "
            f"({int(bad.sum())} of {array.size} entries). Drop or fill them first."
        )
        raise ValueError(msg)
    return array


def check_probabilities(values: Any, *, name: str = "y_proba") -> FloatArray:
    """Return `values` as a 1-D float64 array of probabilities."""
    array = _check_column(values, name=name)
    if array.size and not (array.min() >= 0.0 and array.max() <= 1.0):  # NaN fails too
        bad = ~((array >= 0.0) & (array <= 1.0))
        i = int(np.argmax(bad))
        cure = (
            "Drop or fill the missing entries first."
            if np.isnan(array[i])
            else "Pass probabilities, not scores or logits."
        )
        msg = (
            f"`{name}` must lie in [0, 1]; got {name}[{i}] = {float(array[i])} "
            f"({int(bad.sum())} of {array.size} entries are out of range). {cure}"
        )
        raise InvalidProbabilityError(msg)
    return array


def check_matrix(values: Any, *, name: str = "y_proba") -> FloatArray:
    """Return `values` as a 2-D float64 array of probabilities."""
    array = check_real_array(
        values,
        name=name,
        cure=f"Convert it first, for example with `{name}.astype(float)`.",
    )
    if array.ndim != 2:
        msg = (
            f"`{name}` must be 2-D, a problem in each row; got shape {array.shape}. "
            "For problems of different sizes pass a flat array and `groups`."
        )
        raise ValueError(msg)
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        i, j = np.unravel_index(int(np.argmax(bad)), array.shape)
        msg = (
            f"`{name}` must lie in [0, 1]; got {name}[{i}, {j}] = "
            f"{float(array[i, j])} ({int(bad.sum())} of {array.size} entries are out "
            "of range). Pass probabilities, not scores or logits, and fill what is "
            "missing."
        )
        raise InvalidProbabilityError(msg)
    return array


def check_groups(values: Any, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the different groups, sorted, and which of them each instance is in."""
    array = np.asarray(values)
    if array.shape != (n,):
        msg = (
            f"`groups` must name a group for each entry of `y_proba`, shape ({n},); "
            f"got shape {array.shape}."
        )
        raise ValueError(msg)
    if array.dtype.kind == "f" and np.isnan(array).any():
        i = int(np.argmax(np.isnan(array)))
        msg = f"`groups` must not hold NaN; got groups[{i}] = nan. Fill it first."
        raise ValueError(msg)
    try:
        names, member_of = np.unique(array, return_inverse=True)
    except TypeError as exc:
        msg = (
            "`groups` must hold values that can be sorted, all numbers or all strings; "
            f"got dtype {array.dtype}."
        )
        raise TypeError(msg) from exc
    return names, member_of.reshape(-1)


def check_labels(
    values: Any, n: int, *, name: str = "y_pred", of: str = "y_proba"
) -> BoolArray:
    """Return `values` as n labels, True where positive."""
    is_bool = type(values) is np.ndarray and values.dtype == np.bool_
    array = (
        values
        if is_bool
        else check_real_array(
            values, name=name, cure="Pass 0 and 1, for example `labels == positive`."
        )
    )
    if array.shape != (n,):
        msg = (
            f"`{name}` must hold one label for each entry of `{of}`, shape ({n},); "
            f"got shape {array.shape}."
        )
        raise ValueError(msg)
    if is_bool:
        return np.asarray(array)
    bad = ~((array == 0) | (array == 1))
    if bad.any():
        i = int(np.argmax(bad))
        msg = (
            f"`{name}` must hold only 0 and 1; got {name}[{i}] = {float(array[i])} "
            f"({int(bad.sum())} of {n} entries are neither). Compare with the positive "
            "class, or threshold, first."
        )
        raise ValueError(msg)
    return array.astype(np.bool_)


def check_label_matrix(
    values: Any, shape: tuple[int, ...] | None, *, name: str = "Y_pred"
) -> BoolArray:
    """Return `values` as a matrix of labels, of this shape if one is given."""
    array = check_real_array(values, name=name, cure="Pass 0 and 1.")
    if array.ndim != 2 or (shape is not None and array.shape != shape):
        wanted = "2-D" if shape is None else f"of shape {shape}, like the probabilities"
        msg = f"`{name}` must be {wanted}; got shape {array.shape}."
        raise ValueError(msg)
    bad = ~((array == 0) | (array == 1))
    if bad.any():
        i, j = np.unravel_index(int(np.argmax(bad)), array.shape)
        msg = (
            f"`{name}` must hold only 0 and 1; got {name}[{i}, {j}] = "
            f"{float(array[i, j])}. Threshold it, or compare it, first."
        )
        raise ValueError(msg)
    return array.astype(np.bool_)


def check_weights(values: Any, n: int, *, name: str = "sample_weight") -> FloatArray:
    """Return n weights, 1 if there are none."""
    if values is None:
        return np.ones(n)
    array = check_real_array(values, name=name)
    if array.shape != (n,):
        msg = f"`{name}` must have shape ({n},); got shape {array.shape}."
        raise ValueError(msg)
    bad = ~((array >= 0.0) & (array < np.inf))
    if bad.any():
        i = int(np.argmax(bad))
        msg = (
            f"`{name}` must hold finite numbers that are not negative; got "
            f"{name}[{i}] = {float(array[i])}."
        )
        raise ValueError(msg)
    return array


def check_multiplicities(values: Any, n: int) -> NDArray[np.int64]:
    """Return how often each of n scores occurs, once if nothing is said."""
    if values is None:
        return np.ones(n, dtype=np.int64)
    array = check_real_array(values, name="counts")
    if array.shape != (n,):
        msg = f"`counts` must have shape ({n},); got shape {array.shape}."
        raise ValueError(msg)
    bad = ~((array >= 1.0) & (array <= 2.0**53) & (array == np.rint(array)))
    if bad.any():
        i = int(np.argmax(bad))
        msg = (
            f"`counts` must hold whole numbers from 1 on; got counts[{i}] = "
            f"{float(array[i])}."
        )
        raise ValueError(msg)
    return array.astype(np.int64)


def check_counts(
    tp: Any, n_pred: Any, n_pos: Any, n: Any
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the counts of a confusion matrix as broadcast float64 arrays."""
    names = ("tp", "n_pred", "n_pos", "n")
    arrays = [
        check_real_array(value, name=name, cure="Pass counts.")
        for value, name in zip((tp, n_pred, n_pos, n), names, strict=True)
    ]
    try:
        tp, n_pred, n_pos, n = np.broadcast_arrays(*arrays)
    except ValueError as exc:
        shapes = ", ".join(f"{k} {a.shape}" for k, a in zip(names, arrays, strict=True))
        msg = f"`tp`, `n_pred`, `n_pos`, `n` must broadcast; got shapes {shapes}."
        raise ValueError(msg) from exc
    with np.errstate(invalid="ignore"):  # inf - inf, which no comparison accepts
        reachable = (
            (n < np.inf)
            & (n_pred >= 0)
            & (n_pos >= 0)
            & (tp >= np.maximum(0, n_pred + n_pos - n))
            & (tp <= np.minimum(n_pred, n_pos))
        )
    if not reachable.all():
        i = np.unravel_index(int(np.argmin(reachable)), reachable.shape)
        got = ", ".join(
            f"{k}={a[i]:g}" for k, a in zip(names, (tp, n_pred, n_pos, n), strict=True)
        )
        msg = (
            "counts must satisfy max(0, n_pred + n_pos - n) <= tp <= "
            f"min(n_pred, n_pos); got {got}. Check the order of the arguments: "
            "(tp, n_pred, n_pos, n)."
        )
        raise ValueError(msg)
    return tp, n_pred, n_pos, n


def check_finite_real(value: Any, *, name: str) -> None:
    """Refuse what is not a finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        msg = f"`{name}` must be a real number; got {value!r}."
        raise TypeError(msg)
    try:
        finite = abs(float(value)) < np.inf
    except OverflowError:  # an int or a Fraction beyond every float
        finite = False
    if not finite:
        msg = f"`{name}` must be finite; got {value!r}."
        raise ValueError(msg)


def check_size(value: Any, *, name: str) -> None:
    """Refuse what is not a real number, or one whose products would overflow."""
    check_finite_real(value, name=name)
    if abs(float(value)) > _LARGEST:
        msg = (
            f"`{name}` must be at most {_LARGEST:g} in size; got {value!r}. Sums over "
            "instances would overflow. Choose a larger unit."
        )
        raise ValueError(msg)


def plain_number(value: Any) -> Any:
    """Return an int, a Fraction or a float for any checked real number.

    NumPy's small integers would wrap around when squared.
    """
    if isinstance(value, Integral):
        return int(value)
    return value if isinstance(value, Rational) else float(value)


def check_whole_number(value: Any, *, name: str) -> int:
    """Return a whole number that is not negative."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        msg = f"`{name}` must be a whole number; got {value!r}."
        raise TypeError(msg)
    if value < 0:
        msg = f"`{name}` must not be negative; got {value}."
        raise ValueError(msg)
    return int(value)


def check_rate(value: Any, *, name: str) -> None:
    """Refuse what is not a number from 0 to 1."""
    check_finite_real(value, name=name)
    if not 0 <= value <= 1:
        msg = f"`{name}` stands for a rate and must lie in [0, 1]; got {value!r}."
        raise ValueError(msg)


def check_share(value: Any, *, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    check_finite_real(value, name=name)
    if not 0 < value < 1:
        msg = f"`{name}` must lie strictly between 0 and 1; got {value!r}."
        raise ValueError(msg)
    return float(value)


def check_coefficients(values: Any, *, name: str) -> None:
    """Refuse what is not a tuple of four finite real numbers."""
    if not isinstance(values, tuple) or len(values) != 4:
        msg = f"`{name}` must be a tuple of four numbers; got {values!r}."
        raise ValueError(msg)
    for i, value in enumerate(values):
        check_size(value, name=f"{name}[{i}]")


def check_callable(function: Any, *, name: str) -> None:
    """Refuse what cannot be called."""
    if not callable(function):
        msg = f"`{name}` must be callable; got {function!r}."
        raise TypeError(msg)


def _refuse_large(array: FloatArray, *, name: str) -> None:
    """Refuse finite values whose sums would overflow."""
    with np.errstate(invalid="ignore"):
        large = np.isfinite(array) & (np.abs(array) > _LARGEST)
    if large.any():
        msg = (
            f"metric {name!r} must be at most {_LARGEST:g} in size; its callable "
            f"returned {float(array[large][0])}. Expected values would overflow. "
            "Choose a larger unit."
        )
        raise ValueError(msg)


def check_custom_values(
    values: Any,
    shape: tuple[int, ...],
    *,
    name: str,
    arguments: dict[str, FloatArray],
    undefined: float | None,
) -> FloatArray:
    """Return what a custom metric computed, refusing a wrong shape, NaN or inf.

    `undefined` takes the place of NaN and inf, unless it is None.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "buif":
        msg = (
            f"metric {name!r} must return real numbers; its callable returned "
            f"{type(values).__name__} with dtype {array.dtype}."
        )
        raise TypeError(msg)
    if array.shape != shape:
        # A constant is still a metric; a sum over what it was given is a mistake.
        if type(values) in (bool, int, float):
            array = np.broadcast_to(array, shape)
        else:
            msg = (
                f"metric {name!r} must return one value per confusion matrix; its "
                f"callable returned shape {array.shape} for inputs of shape {shape}. "
                "Write it with NumPy operations that work elementwise."
            )
            raise ValueError(msg)
    array = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(array)
    _refuse_large(array, name=name)
    if undefined is not None:
        array = np.where(bad, undefined, array)
    elif bad.any():
        i = np.unravel_index(int(np.argmax(bad)), shape)
        at = ", ".join(f"{k}={float(a[i]):g}" for k, a in arguments.items())
        msg = (
            f"metric {name!r} must be finite on every reachable confusion matrix; its "
            f"callable returned {float(array[i])} at {at}. Handle that case in the "
            "callable or pass `zero_division=`, the value where it divides by 0."
        )
        raise ValueError(msg)
    return array


def check_bounds(
    min_positives: Any, max_positives: Any, n: int, *, n_name: str = "y_proba"
) -> tuple[int, int]:
    """Return the allowed range of the number of predicted positives."""
    for value, name in (
        (min_positives, "min_positives"),
        (max_positives, "max_positives"),
    ):
        if name == "max_positives" and value is None:
            continue
        check_whole_number(value, name=name)
    low = int(min_positives)
    high = n if max_positives is None else int(max_positives)
    if low > high and max_positives is not None:
        msg = (
            f"`max_positives` must be at least `min_positives`; got "
            f"max_positives={high} < min_positives={low}."
        )
        raise ValueError(msg)
    if low > n:
        msg = (
            f"`min_positives` must be at most the number of instances; got "
            f"{low} with {n} entries in `{n_name}`."
        )
        raise ValueError(msg)
    return low, min(high, n)
