"""Checks of what a user passes in.

The sentences are in `_errors.py`. Each check negates the allowed range, so that NaN
fails it too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray

_MOST = int(np.iinfo(np.int64).max)  # instances that a problem may have
_UNKNOWN = 1 << 53  # no batch has so many instances: their number is not known yet
_NUMBERS = (Real, Decimal, np.bool_)  # as objects
_LARGEST = 1e150  # so that a product of two is still finite
_SUM_OF_TWO = 1e-5  # two classes in float32 sum to 1 within this
SUM_IS_1 = 1e-6  # sums this close to 1 are taken as they are
_UNITS = 16  # in the last place, by which models may round

#: The sentence that refuses an array that is not a matrix.
NotTwoDimensional: TypeAlias = Callable[[str, tuple[int, ...]], ValueError]


def as_numpy(values: Any) -> Any:
    """Return a PyTorch tensor as an array, and anything else as it is.

    NumPy does not take tensors on another device, tensors with gradients, or bfloat16,
    which arrays of jax have, too.
    """
    if str(getattr(values, "dtype", "")) == "bfloat16":
        return values.astype("float32")
    if not (hasattr(values, "detach") and hasattr(values, "cpu")):
        return values
    tensor = values.detach().cpu()
    return (
        tensor.float() if str(tensor.dtype).endswith("bfloat16") else tensor
    ).numpy()


def check_real_array(
    values: Any, *, name: str, cure: str = "", booleans: bool = True
) -> FloatArray:
    """Return `values` as float64, refusing values that are not real numbers.

    `booleans` says whether these are numbers, or labels in the place of probabilities.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise errors.masked(name)
    try:
        array = np.asarray(as_numpy(values))
    except ValueError as exc:
        raise errors.ragged(name) from exc
    if array.dtype == object and array.ndim == 0:
        raise errors.not_a_sequence(name, values)
    if array.dtype == object:
        array = _from_objects(array, name, cure, booleans=booleans)
    if array.dtype.kind not in "buif":
        first = array.ravel()[:1].tolist()[0] if array.size else values
        raise errors.not_real_numbers(name, array.dtype, first, cure)
    if array.dtype.kind == "b" and not booleans:
        raise errors.booleans_as_probabilities(name)
    return array.astype(np.float64, copy=False)


def _from_objects(
    array: Any, name: str, cure: str, *, booleans: bool
) -> FloatArray | BoolArray:
    """Return objects that are all numbers, such as those of `decimal`, as float64."""
    flat = array.ravel().tolist()
    for at, one in enumerate(flat):
        if not isinstance(one, _NUMBERS):
            place = np.unravel_index(at, array.shape)
            raise errors.not_a_number(name, [int(i) for i in place], one, cure)
    if not booleans and any(isinstance(one, bool | np.bool_) for one in flat):
        return np.ones(array.shape, dtype=np.bool_)  # which is refused as booleans are
    return np.array([float(one) for one in flat], np.float64).reshape(array.shape)


def conversion(values: Any, name: str) -> str:
    """Return how the library that made `values` turns them into numbers."""
    library = type(values).__module__.partition(".")[0]
    call = {
        "numpy": f"{name}.astype(float)",
        "pandas": f"{name}.astype(float)",
        "polars": f"{name}.cast(pl.Float64)",
        "pyarrow": f"{name}.cast('float64')",
    }.get(library, f"np.asarray({name}, dtype=float)")
    return f"Convert it first, for example with `{call}`."


def _check_column(values: Any, *, name: str, booleans: bool = True) -> FloatArray:
    """Return `values` as a 1-D float64 array."""
    array = check_real_array(
        values,
        name=name,
        cure=conversion(values, name),
        booleans=booleans,
    )
    if array.ndim != 1:
        raise errors.not_one_dimensional(name, array.shape)
    return array


def check_scores(values: Any, *, name: str = "scores") -> FloatArray:
    """Return `values` as a 1-D float64 array without NaN."""
    array = _check_column(values, name=name)
    bad = np.isnan(array)
    if bad.any():
        raise errors.holds_nan(name, array, bad)
    return array


def check_finite_scores(values: Any, *, name: str) -> FloatArray:
    """Return `values` as a 1-D float64 array of finite numbers, with -0.0 as 0.0."""
    array = check_scores(values, name=name)
    bad = np.isinf(array)
    if bad.any():
        raise errors.holds_infinity(name, array, bad)
    return array + 0.0


def check_probabilities(values: Any, *, name: str = "y_proba") -> FloatArray:
    """Return `values` as a 1-D float64 array of probabilities."""
    array = _check_column(values, name=name, booleans=False)
    return _between_0_and_1(array, values, name=name)


def _between_0_and_1(array: FloatArray, given: Any, *, name: str) -> FloatArray:
    """Return probabilities, refusing what rounding in the type given cannot explain."""
    if not array.size or (array.min() >= 0.0 and array.max() <= 1.0):  # NaN fails
        return array
    inside = np.clip(array, 0.0, 1.0)
    bad = ~(np.abs(array - inside) <= rounding_of(given))
    if bad.any():
        raise errors.not_probabilities(name, array, bad)
    return inside


def rounding_of(given: Any) -> float:
    """Return how far from 1 rounding may take a probability, or the sum of some.

    It is that of the type in which they were given. If each of some numbers that sum to
    1 is off by so many of its own units, then so is their sum.
    """
    if str(getattr(given, "dtype", "")).endswith("bfloat16"):
        return _UNITS * 2.0**-7
    dtype = np.asarray(as_numpy(given)).dtype
    return float(_UNITS * np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


def with_sums_of_1(array: FloatArray, given: Any) -> FloatArray:
    """Return rows divided by their sum, where rounding explains that it is not 1."""
    total = array.sum(axis=1)
    off = np.abs(total - 1.0)
    rounded = (off > SUM_IS_1) & (off <= rounding_of(given))
    if not rounded.any():
        return array
    out = array.copy()
    out[rounded] /= total[rounded, None]
    return out


def check_matrix(
    values: Any,
    *,
    name: str = "y_proba",
    refusal: NotTwoDimensional = errors.not_two_dimensional,
) -> FloatArray:
    """Return `values` as a 2-D float64 array of probabilities."""
    array = check_real_array(
        values,
        name=name,
        cure=conversion(values, name),
        booleans=False,
    )
    if array.ndim != 2:
        raise refusal(name, array.shape)
    return _between_0_and_1(array, values, name=name)


def positive_columns(values: Any, *, name: str = "y_proba") -> Any:
    """Return the matrix for a list that has an array of two classes for each label.

    Such a list comes from the MultiOutputClassifier of scikit-learn. Anything else is
    returned as it is.
    """
    if not isinstance(values, list | tuple):
        return values
    if not any(getattr(one, "ndim", 0) == 2 for one in values):
        return values
    columns = []
    for j, one in enumerate(values):
        array = check_real_array(one, name=f"{name}[{j}]")
        if array.shape != (len(values[0]), 2):
            raise errors.not_two_classes_each(j, array.shape)
        total = array.sum(axis=1)
        off = ~(np.abs(total - 1.0) <= max(_SUM_OF_TWO, rounding_of(one)))
        if off.any():
            row = int(np.argmax(off))
            raise errors.no_two_classes(j, row, float(total[row]))
        columns.append(array[:, 1])
    return np.stack(columns, axis=1)


def check_groups(values: Any, n: int) -> tuple[NDArray[Any], IndexArray]:
    """Return the different groups, sorted, and the group of each instance."""
    array = np.asarray(values)
    if array.shape != (n,):
        raise errors.not_one_group_each(n, array.shape)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise errors.holds_nan(name="groups", array=array, bad=np.isnan(array))
    try:
        names, member_of = np.unique(array, return_inverse=True)
    except TypeError as exc:
        raise errors.not_sortable(array.dtype) from exc
    return names, member_of.reshape(-1)


def check_labels(
    values: Any,
    n: int,
    *,
    name: str = "y_pred",
    of: str = "y_proba",
    draws: int | None = None,
    beside: FloatArray | None = None,
) -> BoolArray:
    """Return `values` as n labels, True where positive.

    `draws` is the number of draws, if the probabilities are draws. `beside` are the
    scores that come after the labels, in case that the two were exchanged.
    """
    is_bool = type(values) is np.ndarray and values.dtype == np.bool_
    array = (
        values
        if is_bool
        else check_real_array(
            values, name=name, cure="Pass 0 and 1, for example `labels == positive`."
        )
    )
    if array.shape != (n,):
        raise errors.not_one_label_each(name, of, n, array.shape, draws)
    if is_bool:
        return np.asarray(array)
    bad = ~((array == 0) | (array == 1))
    if bad.any():
        exchanged = beside is not None and bool(np.isin(beside, (0.0, 1.0)).all())
        raise errors.not_labels(name, array, bad, of if exchanged else None)
    return array.astype(np.bool_)


def check_outcomes(y_true: Any, y_pred: Any) -> tuple[BoolArray, BoolArray]:
    """Return what n instances turned out to be, and what was predicted for them."""
    n = np.shape(y_true)[0] if np.ndim(y_true) else 1
    truth = check_labels(y_true, n, name="y_true", of="y_true")
    return truth, check_labels(y_pred, n, of="y_true")


def check_label_matrix(
    values: Any, shape: tuple[int, ...] | None, *, name: str = "y_pred"
) -> BoolArray:
    """Return `values` as a matrix of labels, of this shape if one is given."""
    array = check_real_array(values, name=name, cure="Pass 0 and 1.")
    if array.ndim != 2 or (shape is not None and array.shape != shape):
        raise errors.not_a_label_matrix(name, shape, array.shape)
    bad = ~((array == 0) | (array == 1))
    if bad.any():
        raise errors.not_labels(name, array, bad)
    return array.astype(np.bool_)


def check_weights(values: Any, n: int, *, name: str = "sample_weight") -> FloatArray:
    """Return n weights, 1 if there are none."""
    if values is None:
        return np.ones(n)
    array = check_real_array(values, name=name)
    if array.shape != (n,):
        raise errors.wrong_length(name, n, array.shape)
    bad = ~((array >= 0.0) & (array < np.inf))
    if bad.any():
        raise errors.not_weights(name, array, bad)
    return array


def check_multiplicities(values: Any, n: int, *, name: str = "counts") -> CountArray:
    """Return how often each of n scores occurs; once by default."""
    if values is None:
        return np.ones(n, dtype=np.int64)
    array = check_real_array(values, name=name)
    if array.shape != (n,):
        raise errors.wrong_length(name, n, array.shape)
    bad = ~((array >= 1.0) & (array <= 2.0**53) & (array == np.rint(array)))
    if bad.any():
        raise errors.not_multiplicities(name, array, bad)
    return array.astype(np.int64)


def check_counts(
    tp: Any, n_pred: Any, n_pos: Any, n: Any
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the counts of a confusion matrix as broadcast float64 arrays.

    Expected counts are sums, which round: where `tp` is beyond a limit by no more than
    that, it is the limit. A sum of cells is off by less than 4 eps of the largest.
    """
    given = {"tp": tp, "n_pred": n_pred, "n_pos": n_pos, "n": n}
    arrays = {
        name: check_real_array(value, name=name, cure="Pass counts.")
        for name, value in given.items()
    }
    try:
        tp, n_pred, n_pos, n = np.broadcast_arrays(*arrays.values())
    except ValueError as exc:
        shapes = {name: array.shape for name, array in arrays.items()}
        raise errors.not_broadcast(shapes) from exc
    with np.errstate(invalid="ignore"):  # inf - inf, which no comparison accepts
        # In the order in which metrics take away: what is left of TN is exactly 0.
        least = np.maximum(0, n_pos - (n - n_pred))
        most = np.minimum(n_pred, n_pos)
        reachable = (
            (n < np.inf)
            & (most >= 0)
            & (tp >= 0)
            & (tp >= least - 8 * EPS * n)
            & (tp <= most * (1 + 8 * EPS))
        )
    if not reachable.all():
        i = np.unravel_index(int(np.argmin(reachable)), reachable.shape)
        counts = (float(array[i]) for array in (tp, n_pred, n_pos, n))
        raise errors.no_confusion_matrix(dict(zip(given, counts, strict=True)))
    return np.minimum(np.maximum(tp, least), most), n_pred, n_pos, n


def check_finite_real(value: Any, *, name: str, cure: str = "") -> None:
    """Refuse a value that is not a finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise errors.not_real(name, value, cure)
    try:
        finite = abs(float(value)) < np.inf
    except OverflowError:  # an int or a Fraction beyond every float
        finite = False
    if not finite:
        raise errors.not_finite(name, value)


def check_floor(value: Any, *, name: str, bound: float | None) -> None:
    """Refuse a least value of a metric that is not finite, or beyond its bound."""
    check_finite_real(value, name=name)
    # What is beyond it by rounding only may be a score of the metric.
    if bound is not None and value > bound * (1.0 + 1e-9):
        raise errors.beyond_bound(name, value, bound)


def check_size(value: Any, *, name: str) -> None:
    """Refuse a value that is not a real number, or whose products would overflow."""
    check_finite_real(value, name=name)
    if abs(float(value)) > _LARGEST:
        raise errors.too_large(name, value, _LARGEST)


def check_amounts(values: Any, *, name: str) -> float | FloatArray:
    """Return one number, or a read-only copy of numbers, whose sums do not overflow."""
    if isinstance(values, Real):
        check_size(values, name=name)
        return float(values)
    array = check_real_array(values, name=name, cure="Pass numbers.")
    if not array.ndim:
        return check_amounts(array.item(), name=name)
    for bad, refusal in (
        (np.isnan(array), errors.holds_nan),
        (np.isinf(array), errors.holds_infinity),
        (np.abs(array) > _LARGEST, errors.holds_too_large),
    ):
        if bad.any():
            raise refusal(name, array, bad)
    array = array.copy()
    array.flags.writeable = False
    return array


def plain_number(value: Any) -> Any:
    """Return an int, a Fraction or a float for any checked real number.

    NumPy's small integers would wrap around when squared.
    """
    if isinstance(value, Integral):
        return int(value)
    return value if isinstance(value, Rational) else float(value)


def check_whole_number(value: Any, *, name: str, least: int = 0, cure: str = "") -> int:
    """Return a whole number that is not negative, or not below another least."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise errors.not_whole(name, value)
    if value < least:
        raise errors.too_small(name, value, least, cure)
    return int(value)


def check_rate(value: Any, *, name: str) -> None:
    """Refuse a value that is not a number from 0 to 1."""
    check_finite_real(value, name=name)
    if not 0 <= value <= 1:
        raise errors.not_a_rate(name, value)


def check_share(value: Any, *, name: str, cure: str = "") -> float:
    """Return a number strictly between 0 and 1."""
    check_finite_real(value, name=name)
    if not 0 < value < 1:
        raise errors.not_within(name, "strictly between 0 and 1", value, cure)
    return float(value)


def check_tail(value: Any, *, name: str = "tail") -> float:
    """Return a mass that may be left out: at least 0 and below 1."""
    check_finite_real(value, name=name)
    if not 0 <= value < 1:
        raise errors.not_within(name, "in [0, 1)", value)
    return float(value)


def check_levels(values: Any, *, name: str = "q") -> FloatArray:
    """Return the levels of quantiles, in any shape."""
    array = check_real_array(values, name=name)
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        first = float(array[bad].ravel()[0])
        raise errors.not_within(name, "in [0, 1]", first, "Pass 0.05 for 5%.")
    return array


def check_coefficients(values: Any, *, name: str) -> None:
    """Refuse a value that is not a tuple of four finite real numbers."""
    if not isinstance(values, tuple) or len(values) != 4:
        raise errors.not_four_numbers(name, values)
    for i, value in enumerate(values):
        check_size(value, name=f"{name}[{i}]")


def check_option(value: Any, known: Collection[str], *, name: str) -> str:
    """Return a known option, refusing others with the most similar known ones."""
    if not isinstance(value, str) or value not in known:
        raise errors.unknown_name(name, value, known)
    return value


def check_kind(value: Any, kind: Any, *, name: str, called: str) -> None:
    """Refuse a value of another type than `kind`, which the message calls `called`."""
    if not isinstance(value, kind):
        raise errors.wrong_kind(name, called, value)


def check_printable(value: Any, *, name: str) -> None:
    """Refuse a name that would break a line of a message, or that terminals obey."""
    check_kind(value, str, name=name, called="a string")
    if not value.isprintable():
        raise errors.not_printable(name, value)


def check_positive_class(pos_label: Any, classes: NDArray[Any]) -> None:
    """Refuse a positive class that is not one of the classes."""
    if not np.any(classes == pos_label):
        raise errors.not_a_class(pos_label, classes.tolist())


def positive_class(pos_label: Any, classes: NDArray[Any]) -> Any:
    """Return the positive one of two classes.

    If it is not given, the classes must tell: 0 and 1, -1 and 1, or False and True.
    """
    if pos_label is None:
        if classes.tolist() not in ([0, 1], [-1, 1]):
            raise errors.which_is_positive(classes.tolist())
        return classes[1]
    check_positive_class(pos_label, classes)
    return pos_label


def check_callable(function: Any, *, name: str) -> None:
    """Refuse a value that cannot be called."""
    if not callable(function):
        raise errors.not_callable(name, function)


def check_arguments(function: Any, names: Collection[str]) -> None:
    """Refuse a callable that does not take these arguments, as far as it tells.

    They are passed by position: other names are fine, these names in another order not.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some that are written in C
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise errors.not_these_arguments(function, list(names)) from error
    own = list(signature.parameters)[: len(names)]
    if own != list(names) and set(own) == set(names):
        raise errors.arguments_in_another_order(function, own, list(names))


def _refuse_large(array: FloatArray, *, name: str) -> None:
    """Refuse finite values whose sums would overflow."""
    with np.errstate(invalid="ignore"):
        large = np.isfinite(array) & (np.abs(array) > _LARGEST)
    if large.any():
        raise errors.returns_too_large(name, float(array[large][0]), _LARGEST)


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
        raise errors.returns_no_numbers(name, values, array.dtype)
    if array.shape != shape:
        # A constant is still a metric, but a sum over the given arrays is a mistake.
        if type(values) not in (bool, int, float):
            raise errors.returns_other_shape(name, array.shape, shape)
        array = np.broadcast_to(array, shape)
    array = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(array)
    _refuse_large(array, name=name)
    if undefined is not None:
        array = np.where(bad, undefined, array)
    elif bad.any():
        i = np.unravel_index(int(np.argmax(bad)), shape)
        at = {key: float(argument[i]) for key, argument in arguments.items()}
        raise errors.returns_not_finite(name, float(array[i]), at)
    return array


def _check_number_of_rows(value: Any, n: int | None, *, name: str) -> int:
    """Return a number of rows, refusing a share of them with the number that it is."""
    is_share = isinstance(value, Real) and 0.0 < float(value) < 1.0
    if is_share:
        raise errors.share_as_number(name, float(value), n)
    return check_whole_number(value, name=name)


def check_random_state(random_state: Any) -> np.random.Generator:
    """Return what random numbers come from: None is a seed that nobody knows."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, bool | np.bool_) or not isinstance(
        random_state, Integral
    ):
        raise errors.not_a_random_state(random_state)
    seed = check_whole_number(random_state, name="random_state")
    return np.random.default_rng(seed)


def check_bounds(
    min_positives: Any, max_positives: Any, n: int, *, n_name: str = "y_proba"
) -> tuple[int, int]:
    """Return the allowed range of the number of predicted positives."""
    rows = None if n >= _UNKNOWN else n
    low, high = _check_number_of_rows(min_positives, rows, name="min_positives"), n
    if max_positives is not None:
        high = _check_number_of_rows(max_positives, rows, name="max_positives")
    if low > high and max_positives is not None:
        raise errors.bounds_cross(low, high)
    if low > n:
        raise errors.too_few_instances(low, n, n_name)
    return low, min(high, n)


def check_bounds_of_each(
    min_positives: Any, max_positives: Any, count: int
) -> tuple[CountArray, CountArray]:
    """Return the allowed numbers of positives of each of some problems.

    Either may be one number for all, or an array with one for each. Problems may have
    fewer instances than they must take: all of these are taken.
    """
    if np.ndim(min_positives) == 0 and np.ndim(max_positives) == 0:
        low, high = check_bounds(min_positives, max_positives, _MOST)
        return np.full(count, low), np.full(count, high)
    given = (min_positives, _MOST if max_positives is None else max_positives)
    names = ("min_positives", "max_positives")
    lows, highs = (
        _check_numbers(value, count, name=name)
        for value, name in zip(given, names, strict=True)
    )
    crossed = lows > highs
    if np.any(crossed):
        at = int(np.argmax(crossed))
        raise errors.bounds_cross_at(at, int(lows[at]), int(highs[at]))
    return lows, highs


def _check_numbers(values: Any, count: int, *, name: str) -> CountArray:
    """Return whole numbers, not negative: one for each of some problems."""
    if np.ndim(values) == 0:
        return np.full(count, _check_number_of_rows(values, None, name=name))
    array = check_real_array(values, name=name)
    if array.shape != (count,):
        raise errors.wrong_length(name, count, array.shape)
    bad = ~((array >= 0.0) & (array <= 2.0**53) & (array == np.rint(array)))
    if bad.any():
        raise errors.not_counts_from_0(name, array, bad)
    return array.astype(np.int64)
