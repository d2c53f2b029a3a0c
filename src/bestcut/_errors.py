"""Every exception, and every sentence of an error.

A sentence names the argument, the rule, the first offender and the cure. A sentence
that several places need is a function that returns the exception, and the code that
finds the rule broken raises it: ``raise errors.not_whole(name, value)``. What is raised
at one place stands there, in parts: ``raise errors.bad_value(argument, rule, cure)``.
The sentences about files are in `files/_errors.py`, and those about formulas are in the
parser, because they also name a place in the file or in the formula.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bestcut._types import BoolArray

# --- exceptions ----------------------------------------------------------------------


class Refusal(Exception):
    """What is wrong with an argument, in parts that others can word for themselves.

    Attributes
    ----------
    argument : str
        What the argument is called.
    rule : str
        What must hold of it.
    cure : str
        What to do instead; may be empty.
    got : str
        What was passed; may be empty.
    """

    def __init__(self, argument: str, rule: str, cure: str, got: str) -> None:
        super().__init__(argument, rule, cure, got)  # what a pickle passes again
        self.argument, self.rule, self.cure, self.got = argument, rule, cure, got

    def __str__(self) -> str:
        got = f"; got {self.got}" if self.got else ""
        return _joined(f"`{self.argument}` {self.rule}{got}.", self.cure)


class WrongValue(Refusal, ValueError):
    """An argument has a value that it must not have."""


class WrongKind(Refusal, TypeError):
    """An argument is of a kind that it must not be of."""


class InvalidProbabilityError(ValueError):
    """An entry that should be a probability is NaN or outside [0, 1].

    See Also
    --------
    bestcut.decide : Raises this error for probabilities that are NaN or outside [0, 1].
    bestcut.calibrate : Turns scores of any kind into probabilities.

    Examples
    --------
    >>> import bestcut
    >>> try:
    ...     bestcut.decide([0.7, 1.5])
    ... except bestcut.InvalidProbabilityError as error:
    ...     print(str(error).partition(" (")[0])
    `y_proba` must lie in [0, 1]; got y_proba[1] = 1.5
    """


class SolverMismatchError(ValueError):
    """The chosen solver needs something that the metric or the size does not have.

    It is also raised if a metric does not satisfy the ranking principle, and no solver
    that was allowed can do without it.

    See Also
    --------
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.
    bestcut.decide : Raises this error; ``solver="exhaustive"`` takes any metric.

    Examples
    --------
    >>> import bestcut
    >>> wrong = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    >>> try:
    ...     bestcut.decide([0.7, 0.4], wrong)
    ... except bestcut.SolverMismatchError:
    ...     print(bestcut.decide([0.7, 0.4], wrong, solver="exhaustive").n_positive)
    1
    """


class InfeasibleError(ValueError):
    """No prediction satisfies the constraints.

    Attributes
    ----------
    problem : int or None
        The first problem without such a prediction, where many are decided together.
    refusal : str
        What is said of this problem alone.
    unmet, count : int
        How many problems have no such prediction, and how many there are.

        .. versionadded:: 0.3
            `refusal`, `unmet` and `count`.

    See Also
    --------
    bestcut.decide : Raises this error if nothing satisfies `at_least`.
    bestcut.decide_each : Raises this error, with the first such problem.

    Examples
    --------
    >>> import bestcut
    >>> try:
    ...     bestcut.decide_each([[0.9, 0.2], [0.5, 0.3]], at_least={"precision": 0.8})
    ... except bestcut.InfeasibleError as error:
    ...     print(error.problem)
    1
    """

    problem: int | None = None
    refusal: str = ""
    unmet: int = 1
    count: int = 1


class FileError(ValueError):
    """A file cannot be read, understood or written.

    The message names the file, what is wrong and where, and the cure.

    See Also
    --------
    bestcut.decide_file : Raises this error.

    Examples
    --------
    >>> import bestcut
    >>> try:
    ...     bestcut.decide_file("missing.csv", "decided.csv", y_proba="p")
    ... except bestcut.FileError as error:
    ...     print(error)
    missing.csv: cannot be read (No such file or directory). Check the file.
    """


class NotFollowedError(TypeError):
    """A formula does something for which there is no rule. Users never see this."""


class WorkLimitError(RuntimeError):
    """A decision needs more work than `bestcut.metrics.work_limit` allows.

    .. versionadded:: 0.3

    See Also
    --------
    bestcut.metrics.work_limit : Sets the limit.

    Examples
    --------
    >>> from bestcut.metrics import WorkLimitError, from_expression, work_limit
    >>> metric = from_expression("sqrt(tp) / (1 + fp + fn)")
    >>> try:
    ...     with work_limit(2):
    ...         metric(tp=[1, 2, 3], n_pred=3, n_pos=4, n=9)
    ... except WorkLimitError as error:
    ...     print(str(error).partition(".")[0])
    more than 2 values of metric 'sqrt(tp) / (1 + fp + fn)' are needed
    """


class ExpressionError(ValueError):
    """A formula cannot be understood.

    See Also
    --------
    bestcut.metrics.from_expression : Raises this error, and says what a formula may
        hold.

    Examples
    --------
    >>> import bestcut
    >>> try:
    ...     bestcut.metrics.from_expression("tp / exp(fp)")
    ... except bestcut.metrics.ExpressionError as error:
    ...     print(str(error).partition(".")[0])
    the formula 'tp / exp(fp)' holds 'exp(fp)', which is not allowed
    """


# --- phrases that sentences share ----------------------------------------------------

_LONGEST, _MOST_SHOWN = 100, 20  # characters, and entries, of a value in a sentence


def _first(name: str, array: Any, bad: BoolArray) -> str:
    """Return the first bad entry as code would write it: ``y_proba[3] = 1.5``."""
    at = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return f"{name}[{', '.join(map(str, at))}] = {float(array[at])}"


def _shown(value: Any) -> str:
    """Return a value as code would write it, or its kind and size if that is long."""
    try:
        size = 0 if isinstance(value, str | bytes) else len(value)
    except TypeError:  # the value has no length
        size = 0
    text = "" if size > _MOST_SHOWN else " ".join(repr(value).split())
    if text and (len(text) <= _LONGEST or not size):
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    kind, shape = type(value).__name__, getattr(value, "shape", None)
    return f"{kind} of {f'length {size}' if shape is None else f'shape {shape}'}"


def _apart(value: float, other: float) -> tuple[str, str]:
    """Return two numbers with the digits that tell them apart, at least six."""
    for digits in range(6, 18):
        shown = f"{value:.{digits}g}", f"{other:.{digits}g}"
        if shown[0] != shown[1]:
            return shown
    return f"{value:.6g}", f"{other:.6g}"


def _how_many(bad: BoolArray) -> str:
    return f"{int(bad.sum())} of {bad.size} entries"


def _as_keywords(values: Mapping[str, float]) -> str:
    """Return numbers as a call would write them: ``tp=3, n_pred=2``."""
    return ", ".join(f"{name}={value:.17g}" for name, value in values.items())


def _joined(*sentences: str) -> str:
    """Return the sentences one after the other; a cure may be empty."""
    return " ".join(filter(None, sentences))


def worded(sentence: str, names: Mapping[str, str]) -> str:
    """Return a sentence with other names for arguments, which it has in backticks."""
    return re.sub(r"`(\w+)`", lambda x: names.get(x[1], x[0]), sentence)


# --- one argument, in parts ----------------------------------------------------------

_NOT_PASSED = object()


def bad_value(
    argument: str, rule: str, cure: str = "", *, got: str = "", value: Any = _NOT_PASSED
) -> WrongValue:
    """Return the refusal of a value; `got` says what was passed, or `value` is it."""
    return WrongValue(argument, rule, cure, _described(got, value))


def bad_kind(
    argument: str, rule: str, cure: str = "", *, got: str = "", value: Any = _NOT_PASSED
) -> WrongKind:
    """Return the same for a value of a kind that an argument must not be of."""
    return WrongKind(argument, rule, cure, _described(got, value))


def _described(got: str, value: Any) -> str:
    return got if value is _NOT_PASSED else _shown(value)


# --- names, kinds and packages -------------------------------------------------------


def unknown_attribute(
    name: str, module: str = "bestcut", place: str | None = None
) -> AttributeError:
    """Return the refusal of a name that a module does not have, and where it is."""
    text = f"module {module!r} has no attribute {name!r}"
    return AttributeError(text if place is None else f"{text}; it is `{place}.{name}`.")


def no_attribute(result: object, name: str, cure: str | None) -> AttributeError:
    """Return the refusal of an attribute that a result does not have."""
    text = f"{type(result).__name__!r} object has no attribute {name!r}"
    text = text if cure is None else f"{text}. {cure}"
    return AttributeError(text, name=name, obj=result)


def unknown_argument(function: str, name: str, cure: str) -> TypeError:
    """Return the refusal of an argument that a function does not have."""
    return TypeError(
        f"{function}() got an unexpected keyword argument {name!r}. {cure}"
    )


def spelled_plainly(name: str) -> str:
    """Return a name as names of options are written: small letters, no hyphens."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def unknown_name(
    kind: str, given: Any, known: Iterable[str], hints: dict[str, str] | None = None
) -> ValueError:
    """Return the refusal of an unknown name, with the most similar known ones."""
    names = sorted(known)
    near: list[str] = []
    if isinstance(given, str):
        key = spelled_plainly(given)
        if key in names:
            near = [key]
        elif hints and key in hints:
            near = [hints[key]]
        else:
            near = difflib.get_close_matches(key, names, n=3, cutoff=0.5)
    mean = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ValueError(
        f"`{kind}` {_shown(given)} is not known.{mean} Known: {', '.join(names)}."
    )


def wrong_kind(name: str, kind: str, value: Any, cure: str = "") -> TypeError:
    """Return the refusal of a value that is of another kind."""
    got = type(value).__name__
    return TypeError(_joined(f"`{name}` must be {kind}; got {got}.", cure))


def not_a_progress(value: Any) -> TypeError:
    """Return the refusal of what cannot be told how far a computation is."""
    return TypeError(
        "`progress` must be True, or a callable that takes how many parts are done and "
        f"how many there are; got {_shown(value)}."
    )


def not_callable(name: str, function: Any) -> TypeError:
    """Return the refusal of a value that cannot be called."""
    return TypeError(f"`{name}` must be callable; got {_shown(function)}.")


def frame_for_path(column: str) -> TypeError:
    """Return the refusal of a table in memory where a file is wanted."""
    return TypeError(
        "`path` must be a file, a folder or a polars.LazyFrame; got a DataFrame. Pass "
        f"`path[{column!r}]` to `bestcut.decide`, which returns the labels as a column."
    )


def package_missing(needed_by: str, package: str, extra: str) -> ImportError:
    """Return the refusal to work without an optional package."""
    msg = f"{needed_by} needs {package}: pip install 'bestcut[{extra}]'"
    return ImportError(msg, name=package)


def no_library_of_frames() -> ImportError:
    """Return the refusal to make a frame where nothing knows frames."""
    return ImportError(
        "`to_frame` needs pandas or polars: pip install pandas", name="pandas"
    )


# --- single numbers ------------------------------------------------------------------


def not_real(name: str, value: Any, cure: str = "") -> TypeError:
    """Return the refusal of a value that is not a real number."""
    sentence = f"`{name}` must be a real number; got {_shown(value)}."
    return TypeError(_joined(sentence, cure))


def not_finite(name: str, value: Any) -> ValueError:
    """Return the refusal of NaN and infinity."""
    return ValueError(f"`{name}` must be finite; got {_shown(value)}.")


def too_large(name: str, value: Any, largest: float) -> ValueError:
    """Return the refusal of a number whose products would overflow."""
    return ValueError(
        f"`{name}` must lie between -{largest:g} and {largest:g}; got {_shown(value)}. "
        "Otherwise sums over instances would overflow. Choose a larger unit."
    )


def not_whole(name: str, value: Any, cure: str = "") -> TypeError:
    """Return the refusal of a value that is not a whole number."""
    return TypeError(
        _joined(f"`{name}` must be a whole number; got {_shown(value)}.", cure)
    )


def share_as_number(name: str, value: float, n: int | None) -> TypeError:
    """Return the refusal of a share of the rows where a number of rows is wanted."""
    share = f"{100 * value:g}%"
    if n is None:
        cure = f"Pass int({value:g} * n) for {share} of n rows."
    else:
        which = f"int({value:g} * {n}), which is {int(value * n)},"
        cure = f"Pass {which} for {share} of the rows."
    return not_whole(name, value, cure)


def too_small(name: str, value: Any, least: int, cure: str = "") -> ValueError:
    """Return the refusal of a whole number below the least that is allowed."""
    rule = f"be at least {least}" if least else "not be negative"
    return ValueError(_joined(f"`{name}` must {rule}; got {value}.", cure))


def not_within(name: str, interval: str, value: Any, cure: str = "") -> ValueError:
    """Return the refusal of a number outside an interval."""
    return ValueError(
        _joined(f"`{name}` must lie {interval}; got {_shown(value)}.", cure)
    )


def not_a_rate(name: str, value: Any) -> ValueError:
    """Return the refusal of a number that cannot be a rate."""
    return ValueError(
        f"`{name}` stands for a rate and must lie in [0, 1]; got {_shown(value)}."
    )


def not_four_numbers(name: str, values: Any) -> ValueError:
    """Return the refusal of more or fewer than four coefficients."""
    return ValueError(
        f"`{name}` must be a tuple of four numbers; got {_shown(values)}."
    )


# --- arrays --------------------------------------------------------------------------


def masked(name: str) -> TypeError:
    """Return the refusal of a masked array."""
    return TypeError(
        f"`{name}` must not be a masked array; fill it or pass `{name}.compressed()`."
    )


def problems_differ_in_size(sizes: list[int]) -> ValueError:
    """Return the refusal of a list of problems that make no matrix."""
    shown = ", ".join(map(str, sizes[:6])) + (", ..." if sizes[6:] else "")
    counts = f"[{shown}]" if not sizes[6:] else "list(map(len, y_proba))"
    return ValueError(
        "`y_proba` must be a matrix, or one column with `groups`; got a list of arrays "
        f"of {shown} entries. Pass np.concatenate(y_proba) with "
        f"groups=np.repeat(range({len(sizes)}), {counts})."
    )


def average_in_a_name(given: str, metric: str, average: str) -> ValueError:
    """Return the refusal of a name that says which average of a metric is meant."""
    how = (
        "the shares of the classes as weights"
        if average == "weighted"
        else f"average={average!r}"
    )
    return ValueError(
        f"`metric` {given!r} is not known, because the average is an argument of its "
        f"own. Pass metric={metric!r} and {how} to `bestcut.multiclass.decide`, "
        "`bestcut.multilabel.decide` or an estimator."
    )


def not_a_random_state(value: Any) -> TypeError:
    """Return the refusal of what random numbers cannot come from."""
    old = type(value).__name__ == "RandomState"
    return TypeError(
        _joined(
            "`random_state` must be None, a whole number or a numpy Generator; got "
            f"{type(value).__name__}.",
            "Pass np.random.default_rng(seed)." if old else "",
        )
    )


def ragged(name: str) -> ValueError:
    """Return the refusal of rows of different lengths."""
    return ValueError(f"`{name}` must be a flat sequence of numbers; got ragged rows.")


def not_a_sequence(name: str, values: Any) -> TypeError:
    """Return the refusal of what holds no numbers, as far as NumPy can tell."""
    cure = ""
    if isinstance(values, Mapping):
        cure = f"Pass `list({name}.values())`."
    elif hasattr(values, "tocsr"):
        cure = f"Pass `{name}.toarray()`."
    elif hasattr(values, "collect"):
        cure = f"Collect it first, `{name}.collect()`, and pass a column of that."
    elif isinstance(values, Iterable):
        cure = f"Pass `list({name})`."
    got = type(values).__name__
    return TypeError(_joined(f"`{name}` must hold real numbers; got {got}.", cure))


def not_real_numbers(name: str, dtype: Any, first: Any, cure: str = "") -> TypeError:
    """Return the refusal of an array that does not hold real numbers."""
    return TypeError(
        _joined(
            f"`{name}` must hold real numbers; got dtype {dtype} "
            f"(first entry {_shown(first)}).",
            cure,
        )
    )


def not_a_number(name: str, place: list[int], value: Any, cure: str) -> TypeError:
    """Return the refusal of an object among objects that is no real number."""
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    at = ", ".join(map(str, place))
    return TypeError(
        _joined(
            f"`{name}` must hold real numbers; got dtype object, with {name}[{at}] = "
            f"{_shown(value)}.",
            "Drop or fill such entries first." if missing else cure,
        )
    )


def booleans_as_probabilities(name: str) -> TypeError:
    """Return the refusal of booleans in the place of probabilities."""
    return TypeError(
        f"`{name}` must hold probabilities; got booleans, which are labels. Pass what "
        "the model's `predict_proba` returns for the positive class; for what is known "
        f"for sure, `{name}.astype(float)`."
    )


def in_another_order(
    other: str, first: str, what: str, at: int, names: tuple[Any, Any]
) -> ValueError:
    """Return the refusal of tables with the same rows, or columns, mixed up.

    `names` are what they call the row, or the column, at position `at`.
    """
    index, cure = "columns", f"{other}[{first}.columns]"
    if what == "rows":
        index, cure = "index", f"{other}.loc[{first}.index]"
    mine, theirs = map(_shown, names)
    return ValueError(
        f"`{other}` and `{first}` must have their {what} in one order, because they "
        f"are matched by position; they have the same {index} in another order, first "
        f"at position {at} ({mine} and {theirs}). Pass `{cure}`."
    )


def not_one_dimensional(name: str, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of an array that is not one column."""
    if not shape:
        cure = f"Pass a list, even for one number: `[{name}]`."
    elif len(shape) == 2 and shape[1] == 2:
        cure = f"Pass the column of the positive class: `np.asarray({name})[:, 1]`."
    elif name.endswith("scores") and len(shape) == 2 and shape[1] > 2:
        cure = (
            "Take one class at a time, against the rest: for class j the labels "
            f"`y_true == j` and the scores `{name}[:, j]`. "
            "`bestcut.estimators.ExpectedMetricClassifier` does so for all classes."
        )
    elif name == "y_proba" and len(shape) == 2 and shape[0] != 1 and shape[1] > 2:
        cure = (
            "For one class per row call `bestcut.multiclass.decide`. For a set of "
            "labels per row call `bestcut.multilabel.decide`. If each row is a problem "
            "of its own, call `bestcut.decide_each`."
        )
    elif name == "y_proba" and len(shape) > 2:
        cure = (
            "For a mask of each map call `bestcut.torch.decide_masks` with a tensor, "
            f"or `bestcut.decide_each(np.reshape({name}, (-1, height * width)))`. "
            f"Flatten it with `np.ravel({name})` if it is one problem."
        )
    else:
        cure = f"If it is one problem, flatten it with `np.ravel({name})`."
    return ValueError(f"`{name}` must be 1-D; got shape {shape}. {cure}")


def not_draws_by_instance(shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of draws that are not a matrix."""
    cure = ""
    if len(shape) == 1:
        cure = "For a single draw pass `[draws]`."
    elif len(shape) == 3:
        cure = "Draws are of one positive class: for class j pass `draws[:, :, j]`."
    return ValueError(
        _joined(
            "`draws` must be 2-D, with a row for each draw and a column for each "
            f"instance; got shape {shape}.",
            cure,
        )
    )


def not_a_column() -> TypeError:
    """Return the refusal of draws where known probabilities are needed."""
    return TypeError(
        "UncertainProbabilities hold many draws, but one number for each instance is "
        "needed here. Pass `.mean` to treat the mean probabilities as exactly right."
    )


def no_rows_of_draws() -> ValueError:
    """Return the refusal of probabilities without a single draw."""
    return ValueError(
        "`draws` must have at least one row, which is one draw of all probabilities; "
        "it has none."
    )


def not_two_dimensional(name: str, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of an array that is not a matrix of rows and labels."""
    cure = f"For one row pass `[{name}]`. For one label call `bestcut.decide`."
    if len(shape) == 3:
        cure = (
            "If its first axis is for draws, pass a list of `bestcut."
            f"UncertainProbabilities({name}[:, :, j])`, one for each label j. If it is "
            f"for images, pass `np.reshape({name}, (-1, height * width))`."
        )
    return _not_a_matrix(name, shape, cure)


def not_many_problems(name: str, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of an array that is not a matrix of problems."""
    cure = (
        "For problems of different sizes pass a flat array and `groups`. For one "
        "problem call `bestcut.decide`."
    )
    if len(shape) > 2:
        cure = (
            f"For a mask of each map pass `np.reshape({name}, (-1, height * width))`, "
            "or call `bestcut.torch.decide_masks` with a tensor."
        )
    return _not_a_matrix(name, shape, cure)


def _not_a_matrix(name: str, shape: tuple[int, ...], cure: str) -> ValueError:
    return ValueError(
        f"`{name}` must be 2-D, with one problem in each row; got shape {shape}. {cure}"
    )


def wrong_length(name: str, n: int, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of an array that does not have n entries."""
    return ValueError(f"`{name}` must have shape ({n},); got shape {shape}.")


def holds_nan(name: str, array: Any, bad: BoolArray) -> ValueError:
    """Return the refusal of NaN where it has no meaning."""
    return ValueError(
        f"`{name}` must not hold NaN; got {_first(name, array, bad)} "
        f"({_how_many(bad)}). Drop or fill these entries first."
    )


def holds_infinity(name: str, array: Any, bad: BoolArray) -> ValueError:
    """Return the refusal of infinity where it has no meaning."""
    return ValueError(
        f"`{name}` must be finite; got {_first(name, array, bad)} "
        f"({_how_many(bad)}). Drop these entries, or clip them to a large number."
    )


def holds_too_large(name: str, array: Any, bad: BoolArray) -> ValueError:
    """Return the refusal of numbers whose products would overflow."""
    return ValueError(
        f"`{name}` must hold numbers between -1e+150 and 1e+150; got "
        f"{_first(name, array, bad)} ({_how_many(bad)}). Choose a larger unit."
    )


def not_weights(name: str, array: Any, bad: BoolArray) -> ValueError:
    """Return the refusal of values that cannot be weights."""
    return ValueError(
        f"`{name}` must hold finite numbers that are not negative; got "
        f"{_first(name, array, bad)}."
    )


def not_counts_from_0(name: str, array: Any, bad: BoolArray) -> ValueError:
    """Return the refusal of values that are not counts."""
    return ValueError(
        f"`{name}` must hold whole numbers of at least 0; got "
        f"{_first(name, array, bad)}."
    )


def not_multiplicities(name: str, array: Any, bad: BoolArray) -> ValueError:
    """Return the refusal of values that cannot say how often something occurs."""
    return ValueError(
        f"`{name}` must hold whole numbers of at least 1; got "
        f"{_first(name, array, bad)}."
    )


# --- probabilities, labels and groups ------------------------------------------------


def not_probabilities(name: str, array: Any, bad: BoolArray) -> InvalidProbabilityError:
    """Return the refusal of entries that are not probabilities."""
    value = float(array[np.unravel_index(int(np.argmax(bad)), bad.shape)])
    got = f"{_first(name, array, bad)} ({_how_many(bad)} are out of range)"
    return _no_probability(f"`{name}`", got, value)


def not_a_probability(what: str, value: float, where: str) -> InvalidProbabilityError:
    """Return the refusal of one entry whose place is known."""
    got = f"{'null or NaN' if math.isnan(value) else value} in {where}"
    return _no_probability(what, got, value)


def _no_probability(what: str, got: str, value: float) -> InvalidProbabilityError:
    cure = (
        "Drop or fill the missing entries first."
        if math.isnan(value)
        else "Pass probabilities, not scores or logits."
    )
    return InvalidProbabilityError(f"{what} must lie in [0, 1]; got {got}. {cure}")


def not_one_label_each(
    name: str, of: str, n: int, shape: tuple[int, ...], draws: int | None = None
) -> ValueError:
    """Return the refusal of more or fewer labels than instances.

    `draws` is the number of draws, if the probabilities are draws.
    """
    cure = (
        f"As many are the {draws} draws of each instance: were the rows of the draws "
        "instances? Pass axis=1 to UncertainProbabilities."
    )
    return ValueError(
        _joined(
            f"`{name}` must hold one label for each entry of `{of}`, shape ({n},); "
            f"got shape {shape}.",
            cure if shape == (draws,) else "",
        )
    )


def not_a_label_matrix(
    name: str, wanted: tuple[int, ...] | None, shape: tuple[int, ...]
) -> ValueError:
    """Return the refusal of labels of another shape than the probabilities."""
    rule = "2-D" if wanted is None else f"of shape {wanted}, like the probabilities"
    return ValueError(f"`{name}` must be {rule}; got shape {shape}.")


def not_labels(
    name: str, array: Any, bad: BoolArray, exchanged: str | None = None
) -> ValueError:
    """Return the refusal of entries that are neither 0 nor 1.

    `exchanged` is the argument that holds the labels instead.
    """
    cure = (
        f"Turn labels into 0 and 1 with `{name} == positive_class`, and scores with "
        f"`{name} >= threshold`."
    )
    if exchanged is not None:
        cure = f"`{exchanged}` holds only 0 and 1: pass the labels first."
    return ValueError(
        f"`{name}` must hold only 0 and 1; got {_first(name, array, bad)} "
        f"({_how_many(bad)} are neither). {cure}"
    )


def not_one_group_each(n: int, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of more or fewer groups than instances."""
    return ValueError(
        f"`groups` must name a group for each entry of `y_proba`, shape ({n},); "
        f"got shape {shape}."
    )


def not_sortable(dtype: Any) -> TypeError:
    """Return the refusal of groups that have no order."""
    return TypeError(
        "`groups` must hold values that can be sorted, all numbers or all strings; "
        f"got dtype {dtype}."
    )


# --- confusion matrices, and what a metric makes of them -----------------------------


def not_broadcast(shapes: Mapping[str, tuple[int, ...]]) -> ValueError:
    """Return the refusal of counts whose shapes do not fit together."""
    got = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    return ValueError(
        f"`tp`, `n_pred`, `n_pos` and `n` must broadcast together; got shapes {got}."
    )


def no_confusion_matrix(counts: Mapping[str, float]) -> ValueError:
    """Return the refusal of counts that no confusion matrix can have."""
    return ValueError(
        "counts must satisfy max(0, n_pred + n_pos - n) <= tp <= "
        f"min(n_pred, n_pos); got {_as_keywords(counts)}. "
        "Check the order of the arguments: (tp, n_pred, n_pos, n)."
    )


def returns_no_numbers(metric: str, values: Any, dtype: Any) -> TypeError:
    """Return the refusal of a callable that does not return numbers."""
    return TypeError(
        f"metric {metric!r} must return real numbers; its callable returned "
        f"{type(values).__name__} with dtype {dtype}."
    )


def returns_other_shape(
    metric: str, shape: tuple[int, ...], wanted: tuple[int, ...]
) -> ValueError:
    """Return the refusal of a callable that does not work elementwise."""
    return ValueError(
        f"metric {metric!r} must return one value per confusion matrix; its callable "
        f"returned shape {shape} for inputs of shape {wanted}. Write it with NumPy "
        "operations that work elementwise. It cannot see rows: for amounts of each row "
        "use `bestcut.RowUtility`."
    )


def not_these_arguments(function: Any, names: Sequence[str]) -> TypeError:
    """Return the refusal of a callable that does not take what a metric is given."""
    called = getattr(function, "__name__", type(function).__name__)
    return TypeError(
        f"`function` must take the {len(names)} arguments ({', '.join(names)}); "
        f"{called!r} does not. Write `lambda {', '.join(names)}: ...`. A metric of "
        "labels, such as scikit-learn's, has a name here: see "
        "`bestcut.metrics.names()`."
    )


def arguments_in_another_order(
    function: Any, own: Sequence[str], names: Sequence[str]
) -> ValueError:
    """Return the refusal of a callable that would take one count for another."""
    called = getattr(function, "__name__", type(function).__name__)
    pairs = zip(names, own, strict=True)
    passed, taken = next((a, b) for a, b in pairs if a != b)
    return ValueError(
        f"`function` is called with ({', '.join(names)}), by position; {called!r} has "
        f"({', '.join(own)}), and would take {passed!r} for {taken!r}. Put its "
        "parameters in the order of the call."
    )


def works_on_numbers_only(metric: str, problem: Exception) -> TypeError:
    """Return the refusal of a callable that branches, or else takes one number."""
    return TypeError(
        f"metric {metric!r} must work elementwise on arrays; its callable works on "
        f"single numbers only ({problem}). Write `np.where(test, x, y)` for an `if`, "
        "`np.maximum` and `np.minimum` for `max` and `min`, `&` for `and`, `np.sqrt` "
        "for `math.sqrt`. Or pass `np.vectorize(function, otypes=[float])`, which is "
        "slow."
    )


def returns_too_large(metric: str, value: float, largest: float) -> ValueError:
    """Return the refusal of scores whose sums would overflow."""
    return ValueError(
        f"metric {metric!r} must lie between -{largest:g} and {largest:g}; its "
        f"callable returned {value}. Otherwise expected values would overflow. Choose "
        "a larger unit."
    )


def returns_not_finite(
    metric: str, value: float, arguments: Mapping[str, float]
) -> ValueError:
    """Return the refusal of a callable that is undefined somewhere."""
    return ValueError(
        f"metric {metric!r} must be finite on every reachable confusion matrix; its "
        f"callable returned {value} at {_as_keywords(arguments)}. Handle that case in "
        "the callable, or pass `zero_division=`, the value to take where the callable "
        "divides by 0."
    )


# --- bounds on the number of positives -----------------------------------------------


def bounds_cross(low: int, high: int) -> ValueError:
    """Return the refusal of bounds that allow no number."""
    return ValueError(
        "`max_positives` must be at least `min_positives`; got "
        f"max_positives={high} < min_positives={low}."
    )


def bounds_cross_at(at: int, low: int, high: int) -> ValueError:
    """Return the refusal of bounds that allow no number for one problem."""
    return ValueError(
        "`max_positives` must be at least `min_positives` in each problem; problem "
        f"{at} has max_positives={high} < min_positives={low}."
    )


def too_few_instances(low: int, n: int, of: str) -> ValueError:
    """Return the refusal of more positives than there are instances."""
    return ValueError(
        "`min_positives` must be at most the number of instances; got "
        f"{low} with {n} entries in `{of}`."
    )


# --- solvers and the ranking principle -----------------------------------------------


def without_principle(
    name: str, reason: str, way_out: str, role: str = "metric"
) -> SolverMismatchError:
    """Return the refusal of a metric that may need more than ranking and cutting."""
    return SolverMismatchError(
        f"{role} {name!r} is not known to satisfy the probability ranking principle, "
        f"so ranking and cutting may miss its optimum. {reason} {way_out}"
    )


def solver_not_chosen(solver: str, usable: Iterable[str]) -> ValueError:
    """Return the refusal of a name for what "auto" does by itself."""
    others = ", ".join(f'"{x}"' for x in usable)
    return ValueError(
        f"`solver` {solver!r} cannot be chosen. Leave it out: `decide` takes the "
        "proved search or the curve of all cuts, with or without a sort, whichever is "
        f"faster. By name there are the reference algorithms: {others}."
    )


def solver_mismatch(
    solver: str, problem: str, usable: Iterable[str]
) -> SolverMismatchError:
    """Return the refusal of a solver that the metric or the size does not fit."""
    return SolverMismatchError(
        f"solver {solver!r} {problem}. Solvers that accept it: {', '.join(usable)}."
    )


def mean_only(solver: str) -> SolverMismatchError:
    """Return the refusal of a goal or of constraints that a solver would ignore."""
    return SolverMismatchError(
        f"solver {solver!r} uses the expected score only and ignores `goal` and "
        '`at_least`. Use solver="auto".'
    )


# --- goals and constraints -----------------------------------------------------------


def not_its_class(goal: type) -> TypeError:
    """Return the refusal of a class in the place of a goal."""
    name = goal.__name__
    return TypeError(f"`goal` must be a goal, not its class; pass {name}(...).")


def not_a_goal(goal: Any) -> TypeError:
    """Return the refusal of a value that is not a goal."""
    return TypeError(
        f"`goal` must be one of `bestcut.goals`; got {_shown(goal)}. Pass, for "
        "example, bestcut.goals.Quantile(0.1)."
    )


def condition_as_goal(condition: Any) -> TypeError:
    """Return the refusal of a condition where a goal is wanted."""
    return TypeError(
        f"`goal` must be one of `bestcut.goals`; got {condition!r}, which is a "
        f"condition. Pass at_least={{metric: {condition!r}}}; for the largest "
        f"probability of that score, goal=bestcut.goals.ProbAtLeast({condition.score})."
    )


def goal_as_condition(argument: str, metric: str, goal: Any) -> TypeError:
    """Return the refusal of a goal where a condition is wanted."""
    score = getattr(goal, "score", 0.9)
    return TypeError(
        f"`{argument}[{metric!r}]` must be a number or a `bestcut.goals.Certain`; got "
        f"{goal!r}, which is a goal. Pass "
        f"bestcut.goals.Certain({score}, probability=0.95) "
        "for a score that is reached with a probability; a goal is passed as `goal`."
    )


def not_constraints(argument: str, value: Any) -> TypeError:
    """Return the refusal of a value that does not map metrics to values."""
    which, example = {
        "at_least": ("metrics to their least", {"precision": 0.9}),
        "at_most": ("losses to their largest", {"false_positive_rate": 0.05}),
    }[argument]
    return TypeError(
        f"`{argument}` must map {which} expected values, or to a "
        f"`bestcut.goals.Certain`; got {_shown(value)}. Pass, for example, "
        f"{example}. Pass a goal as `goal`."
    )


def constrained_otherwise(argument: str, metric: str, wanted: Any) -> ValueError:
    """Return the refusal of a least value for a loss, or a largest for a score."""
    kinds = "scores", "losses"
    if argument == "at_most":
        kinds = kinds[::-1]
    kind, other = kinds
    better, right = (
        ("larger", "at_most") if argument == "at_least" else ("smaller", "at_least")
    )
    singular = {"scores": "score", "losses": "loss"}[other]
    return ValueError(
        f"`{argument}` must hold {kind}, which are better when {better}; {metric!r} is "
        f"a {singular}. Pass {right}={{{metric!r}: {_shown(wanted)}}}."
    )


def too_many_conditions(count: int, most: int) -> ValueError:
    """Return the refusal of more conditions than anybody needs."""
    return ValueError(
        f"There may be at most {most} conditions; got {count}. Of several for "
        "one metric, pass the strictest."
    )


def beyond_bound(name: str, value: Any, bound: float) -> ValueError:
    """Return the refusal of a least value that a metric never has."""
    percent = bound == 1.0 and value <= 100.0
    return ValueError(
        f"`{name}` must be at most {bound:g}, the largest value of the metric; got "
        f"{_shown(value)}. "
        + (f"Pass {value / 100:g} for {value:g}%." if percent else "Ask for less.")
    )


def infeasible(
    low: int, high: int, reach: Sequence[tuple[Any, float, Any, int]], each: bool
) -> InfeasibleError:
    """Return the refusal of constraints that no prediction satisfies.

    For each condition, `reach` holds the metric, the best it can reach, what was asked
    for, and the number of positives at which it reaches the best. What was asked for is
    a number or a `Certain`; with a `Certain`, the best is a probability. `each` says
    whether each condition can be satisfied by itself.
    """
    better = [metric.greater_is_better for metric, *_ in reach]
    arguments = ["`at_least`"] * any(better) + ["`at_most`"] * (not all(better))
    phrases = []
    for metric, best, asked, k in reach:
        if isinstance(asked, float):
            most, wanted = _apart(best, asked)
            reached = f"{metric.name} {most} (asked: {wanted})"
            phrases.append(f"{reached}, with {k} positive")
        else:
            most, wanted = _apart(best, asked.probability)
            least = "at least" if metric.greater_is_better else "at most"
            phrases.append(
                f"{metric.name} of {least} {float(asked.score)} with probability "
                f"{most} (asked: {wanted}), with {k} positive"
            )
    return InfeasibleError(
        f"{' and '.join(arguments)} cannot be satisfied by any prediction with {low} "
        f"to {high} positive. The {'most' if all(better) else 'best'} that each metric "
        f"can reach: {'; '.join(phrases)}. "
        f"{'Each can be reached alone, but not all together. ' if each else ''}"
        "Ask for less, or change the bounds on the number of positives."
    )


def infeasible_problem(
    called: str, problem: int, refusal: Exception, unmet: int, count: int
) -> InfeasibleError:
    """Return the refusal of constraints that some of many problems cannot satisfy."""
    cure = (
        " To allow no positives in these problems, count 0/0 as 1 in the metrics of "
        "`at_least`, for example {bestcut.metrics.Precision(zero_division=1.0): 0.9}."
    )
    error = InfeasibleError(
        f"{called}: {refusal} This happens in {unmet} of {count} problems."
        f"{cure if '`at_least`' in str(refusal) else ''}"
    )
    error.problem, error.refusal = problem, str(refusal)
    error.unmet, error.count = unmet, count
    return error


def infeasible_cut(refusal: str) -> InfeasibleError:
    """Return the refusal where draws rank differently and only cuts were tried."""
    told = refusal.replace(
        "by any prediction with", "by any cut of the ranking by mean probability with"
    )
    return InfeasibleError(
        f"{told} The draws rank the instances differently, so it is not known whether "
        "another prediction does."
    )


def solver_of_draws(solver: str) -> SolverMismatchError:
    """Return the refusal of a solver for draws of probabilities."""
    return SolverMismatchError(
        f"`solver` {solver!r} takes known probabilities, not draws of them. Leave it "
        "out, or pass `y_proba.mean`."
    )


# --- guarantees ----------------------------------------------------------------------


def guaranteed_loss(metric: str) -> ValueError:
    """Return the refusal of a promise for a loss."""
    cure = {
        "false_positive_rate": "Ask for a specificity of at least 1 minus it.",
        "false_negative_rate": "Ask for a recall of at least 1 minus it.",
    }
    own = "Constrain its negative, made with `bestcut.metrics.from_counts`."
    return ValueError(
        f"`at_least` must hold scores, which are better when larger; {metric!r} is a "
        f"loss. {cure.get(metric, own)}"
    )


def not_conditions(at_least: Any) -> TypeError:
    """Return the refusal of a value that maps no metric to a value."""
    return TypeError(
        "`at_least` must map one or more metrics to the least value that this batch "
        f"must have; got {_shown(at_least)}. Pass, for example, {{'precision': 0.9}}."
    )


def not_monotone(metric: str, n: int) -> SolverMismatchError:
    """Return the refusal of a metric that bounds on TP and FN do not bound."""
    return SolverMismatchError(
        f"`at_least` metric {metric!r} might fall, with {n} new rows, when one more "
        "flagged row is positive or one more of the other rows is negative. Bounds on "
        "TP and FN would then not bound it. Use another metric, such as precision, "
        "recall, f1 or accuracy."
    )


# --- distributions of counts and scores ----------------------------------------------


def too_short_to_remove(size: int) -> ValueError:
    """Return the refusal of a distribution of no instances."""
    return ValueError(f"`law` must have at least two entries; got {size}.")


def same_name_twice(metric: str, given: Any) -> ValueError:
    """Return the refusal of metrics that would have the same name in the answer."""
    alias = isinstance(given, str) and given != metric
    return ValueError(
        f"`metric` must hold metrics of different names; got {metric!r} twice"
        + (f"; {given!r} is another name of it." if alias else ".")
    )


def too_much_work(metric: str, most: int) -> WorkLimitError:
    """Return the error for a decision that needs more values than are allowed."""
    return WorkLimitError(
        f"more than {most} values of metric {quoted(metric)} are needed. Allow more "
        "with `work_limit`, or simplify the formula."
    )


# --- summaries -----------------------------------------------------------------------


def other_scores(low: float, high: float, expected: int, given: int) -> ValueError:
    """Return the refusal of scores that are not those of a summary."""
    return ValueError(
        f"`y_proba` must hold the scores that were summed up. Between {low:.6g} and "
        f"{high:.6g} there were {expected} scores then, and {given} are given now. "
        "Pass the result of `select` for all scores, each exactly once."
    )


def full_summary(there: int, more: int) -> ValueError:
    """Return the refusal of more scores than floats can count."""
    return ValueError(
        f"a summary holds at most 2^53 scores; it has {there} and {more} more are "
        "added. Decide for fewer at a time."
    )


def unreadable_summary(reason: str) -> ValueError:
    """Return the refusal of bytes that are not a summary."""
    return ValueError(
        f"`data` is not a score summary: {reason}. Pass what `ScoreSummary.to_bytes` "
        "returned."
    )


# --- calibration ---------------------------------------------------------------------


def no_labels() -> ValueError:
    """Return the refusal to learn from nothing."""
    return ValueError(
        "`y_true` must hold at least one label; got none. Pass scores with labels that "
        "the model was not fitted on."
    )


def too_many_draws(n_draws: int, most: int) -> ValueError:
    """Return the refusal of more draws than anyone needs."""
    return ValueError(
        f"`n_draws` must be at most {most}; got {n_draws}. Pass 200: more draws hardly "
        "change an interval."
    )


def unreadable_calibration(reason: str) -> ValueError:
    """Return the refusal of bytes that are not a calibration."""
    return ValueError(
        f"`data` is not a calibration: {reason}. Pass what `Calibration.to_bytes` "
        "returned."
    )


# --- many problems -------------------------------------------------------------------


def not_an_axis_of_draws(axis: Any) -> ValueError:
    """Return the refusal of an axis along which no draws can follow each other."""
    return ValueError(
        "`axis` must be 0 (a row for each draw) or 1 (a column for each draw); got "
        f"{_shown(axis)}."
    )


def one_problem_of_draws() -> ValueError:
    """Return the refusal of draws without groups, which are one problem."""
    return ValueError(
        "`y_proba` holds draws of one column of probabilities. Pass `groups`, or call "
        "`bestcut.decide` if the column is one problem."
    )


def list_of_draws() -> TypeError:
    """Return the refusal of several columns of draws where one is needed."""
    return TypeError(
        "`y_proba` must be one UncertainProbabilities, with `groups`; got several. For "
        "the columns of a multi-label problem call `bestcut.multilabel.decide`."
    )


def draws_not_shared(at: int, n_draws: int, first: int) -> ValueError:
    """Return the refusal to share draws between columns with different numbers."""
    return ValueError(
        "`shared_draws=True` takes draw b of all columns together, so all columns must "
        f"have the same number of draws; y_proba[0] has {first} and y_proba[{at}] has "
        f"{n_draws}."
    )


def nothing_to_average(shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of a matrix without problems."""
    return ValueError(
        "`y_proba` must not be empty: there is nothing to average over; got shape "
        f"{shape}."
    )


def no_problems() -> ValueError:
    """Return the refusal of a mean over no problems."""
    return ValueError("there are no problems, so they have no mean score.")


def not_two_classes_each(at: int, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of a list with an entry that does not have two classes."""
    cure = (
        "The model has seen only one class of this label: leave the label out."
        if shape[1:] == (1,)
        else "Pass a matrix with a column for each label."
    )
    return ValueError(
        "a list must hold, for each label, an array of shape (rows, 2) with the "
        "probabilities of two classes, as `MultiOutputClassifier.predict_proba` "
        f"returns; entry {at} has shape {shape}. {cure}"
    )


def no_two_classes(at: int, row: int, total: float) -> InvalidProbabilityError:
    """Return the refusal of probabilities of two classes that do not sum to 1."""
    return InvalidProbabilityError(
        "a list of arrays with two columns must hold the probabilities of two classes, "
        f"which sum to 1; in entry {at}, row {row}, they sum to {total}. Pass a matrix "
        "with a column for each label."
    )


def no_columns(name: str, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of a matrix without columns."""
    return ValueError(f"`{name}` must have at least one column; got shape {shape}.")


def not_a_column_per_class(name: str, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of an array that does not have a column for each class."""
    cure = (
        f"If its first axis is for draws, pass their means: `{name}.mean(axis=0)`. If "
        f"the other axes are for rows, pass `{name}.reshape(-1, n_classes)`."
    )
    if len(shape) == 1:
        cure = (
            "If it holds the probability of one class, call `bestcut.decide`, or pass "
            f"both classes: `np.column_stack([1 - {name}, {name}])`."
        )
    return ValueError(
        f"`{name}` must be 2-D, with a column for each class; got shape {shape}. {cure}"
    )


def rows_do_not_sum_to_one(name: str, sums: Any, off: BoolArray) -> ValueError:
    """Return the refusal of rows that are not a distribution over classes."""
    at = int(np.argmax(off))
    return ValueError(
        f"Each row of `{name}` must sum to 1, because the classes exclude each other; "
        f"row {at} sums to {float(sums[at]):.6g}. Divide each row by its sum, "
        f"`{name} / {name}.sum(axis=1, keepdims=True)`. If a row may have several "
        "labels, call `bestcut.multilabel.decide` with `per_row` instead."
    )


def same_names(names: Any) -> ValueError:
    """Return the refusal of two classes with the same name."""
    listed = names.tolist()
    first = next(x for i, x in enumerate(listed) if x in listed[:i])
    return ValueError(
        f"`classes` must hold different names; {_shown(first)} occurs more than once."
    )


def classes_in_another_order(columns: list[Any], classes: list[Any]) -> ValueError:
    """Return the refusal of names that contradict those of the columns."""
    at = next(
        i
        for i, pair in enumerate(zip(columns, classes, strict=True))
        if pair[0] != pair[1]
    )
    return ValueError(
        "`classes` must be in the order of the columns of `y_proba`; column "
        f"{at} is called {_shown(columns[at])}, and classes[{at}] is "
        f"{_shown(classes[at])}. Leave `classes` out: the columns have names."
    )


def unknown_class(name: str, labels: Any, unknown: BoolArray, names: Any) -> ValueError:
    """Return the refusal of a prediction or a label that is not a class."""
    at = int(np.argmax(unknown))
    first = labels.tolist()[at]
    known = ", ".join(repr(x) for x in names[:6].tolist())
    more = ", ..." if names.size > 6 else ""
    return ValueError(
        f"`{name}` must hold classes; {name}[{at}] = {_shown(first)} is not one of "
        f"{known}{more}. Pass the names of the classes as `classes`, or column indices "
        f"as `{name}`."
    )


def names_or_indices(least: int, most: int, count: int) -> ValueError:
    """Return the refusal of classes that may be names from 1 or indices from 0."""
    names, indices = [*range(1, count + 1)], [*range(count)]
    return ValueError(
        f"`y_pred` holds {least} to {most}, and fits `P` better as names of classes "
        "that begin with 1 than as indices, which begin with 0. Pass `classes`, in the "
        f"order of the columns: `classes={names}` if they are names, "
        f"`classes={indices}` if they are indices."
    )


def only_for_macro(name: str) -> ValueError:
    """Return the refusal of an option that is only for a mean over columns."""
    return ValueError(
        f"`{name}` is only for average='macro', the mean over columns. Leave it out."
    )


def sparse_predictions(kind: str) -> TypeError:
    """Return the refusal to score predictions with sparse probabilities."""
    return TypeError(
        "To score predictions, `y_proba` must be a dense matrix, or draws of each "
        f"column; got a {kind}. Pass `y_proba.toarray()`."
    )


def no_rule() -> ValueError:
    """Return the refusal of a rule for rows where columns were decided one by one."""
    return ValueError(
        "Only a decision with `per_row` has a rule for new rows. Here, each column was "
        "decided by itself. The rule of one column is `bestcut.decide(...).threshold`."
    )


def nothing_proved(metric: str, gap: float) -> ArithmeticError:
    """Return the refusal of a decision about which nothing could be proved."""
    return ArithmeticError(
        f"no bound could be computed on what other predictions are worth by {metric!r} "
        f"(gap {gap}). If its scores are very large, divide them by a constant; "
        "otherwise please report this."
    )


def does_not_split(name: str) -> ValueError:
    """Return the refusal of a metric that is not a mean over classes."""
    return ValueError(
        f"With several classes, {name!r} is one number for the whole confusion matrix, "
        "not a mean over classes, so no class can be scored by itself. For the mean "
        "of each class's score against the rest, pass average='macro'. Or draw labels "
        "from `y_proba`, and compare some predictions by their mean score."
    )


def no_scores_of_classes(average: str) -> ValueError:
    """Return the refusal to show scores of classes that were not computed."""
    return ValueError(
        f"the decision is for average={average!r}, one score for all classes together. "
        "Decide with average='macro', or pass the predictions to `from_predictions`."
    )


def not_affine_in_tp(metric: str, usable: Iterable[str]) -> SolverMismatchError:
    """Return the refusal of a metric that is not affine in TP."""
    return SolverMismatchError(
        f"`metric` must be affine in TP here; {metric!r} is not. Metrics that are: "
        f"{', '.join(usable)}."
    )


# --- scikit-learn --------------------------------------------------------------------


def several_labels(classifier: str, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of a label matrix where one label is decided."""
    return ValueError(
        f"{classifier} takes one label per row; got y of shape {shape}. Use "
        "ExpectedMetricMultilabelClassifier, or decide each column by itself with "
        "sklearn.multioutput.MultiOutputClassifier."
    )


def not_binary(kind: str, *, many: bool) -> ValueError:
    """Return the refusal of another target, in the words scikit-learn looks for."""
    if many:
        return ValueError(
            f"`y` must hold classes; it is {kind}. If these numbers are classes, "
            f"convert them to integers or strings. (Unknown label type: {kind}.)"
        )
    return ValueError(
        f"Only binary classification is supported. The type of the target is {kind}. "
        "ExpectedMetricClassifier takes more than two classes. You can also decide "
        "about one class, `y == label`, or about each class with "
        "sklearn.multioutput.MultiOutputClassifier on "
        "sklearn.preprocessing.label_binarize(y, classes=...). "
        f"(Unknown label type: {kind}.)"
    )


def only_for_two_classes(names: Sequence[str], n_classes: int) -> ValueError:
    """Return the refusal of options about the positive class where there is none."""
    listed = ", ".join(f"`{name}`" for name in names)
    return ValueError(
        f"With more than two classes there is no positive class, so {listed} must be "
        f"left at the default; `y` has {n_classes} classes. To decide about one class, "
        "fit on `y == label`."
    )


def not_multilabel(kind: str) -> ValueError:
    """Return the refusal of a target that is not a matrix of labels."""
    return ValueError(
        "ExpectedMetricMultilabelClassifier takes a matrix of 0 and 1 with a column "
        f"for each label; got a {kind} target. For one label use "
        "ExpectedMetricClassifier. Turn lists of labels into a matrix with "
        "sklearn.preprocessing.MultiLabelBinarizer."
    )


def too_few_classes(classifier: str, classes: Sequence[Any], n: int) -> ValueError:
    """Return the refusal of a target that does not vary."""
    return ValueError(
        f"{classifier} needs instances of two classes; got {len(classes)} class(es) "
        f"{classes} in {n} sample(s)."
    )


def which_is_positive(classes: Sequence[Any]) -> ValueError:
    """Return the refusal to guess which class is the positive one."""
    names = [_shown(label) for label in classes[:4]]
    return ValueError(
        f"`pos_label` must say which class is positive: {' or '.join(names)}. Only 0 "
        "and 1, -1 and 1, or False and True need no `pos_label`. Pass "
        f"{' or '.join(f'pos_label={name}' for name in names)}."
    )


def amounts_of_a_metric(metric: str, names: Sequence[str]) -> TypeError:
    """Return the refusal of amounts of rows where a metric counts them."""
    listed = ", ".join(f"`{name}`" for name in names)
    return TypeError(
        f"{listed} would be ignored: {metric} counts rows. Amounts are for "
        "make_scorer(bestcut.RowUtility(...))."
    )


def no_average_of_rows(average: str) -> ValueError:
    """Return the refusal of an average over classes of what rows are worth."""
    return ValueError(
        f"a RowUtility has no average={average!r} over classes: its amounts are about "
        "one positive class. Leave `average` out."
    )


def not_a_class(pos_label: Any, classes: Sequence[Any]) -> ValueError:
    """Return the refusal of a positive class that does not occur."""
    return ValueError(
        f"`pos_label` must be one of the classes {_shown(classes)}; got "
        f"{_shown(pos_label)}."
    )


def without_response(
    classifier: str, responses: Iterable[str], model: str, cure: str
) -> AttributeError:
    """Return the refusal of a model that does not score rows."""
    return AttributeError(
        f"{classifier} needs a model with {' or '.join(responses)}; {model} has none. "
        f"{cure}"
    )


def without_classes(classifier: str, model: str) -> AttributeError:
    """Return the refusal of a model that does not say what its columns are."""
    return AttributeError(
        f"{classifier} needs a model that has `classes_` once it is fitted, which say "
        f"what the columns of its scores are about; {model} has none. Set "
        "`self.classes_ = np.unique(y)` in its `fit`."
    )


def other_classes(
    classifier: str, classes: Sequence[Any], fitted_on: Sequence[Any]
) -> ValueError:
    """Return the refusal of a model that was fitted on other classes."""
    return ValueError(
        f"{classifier} needs a model of the classes {classes}; the model was fitted on "
        f"{fitted_on}. Pass a model that is fitted on rows of all classes of `y`."
    )


def class_not_in_fold(
    classifier: str, label: Any, n_rows: int, fold: int, n_folds: int
) -> ValueError:
    """Return the refusal of a training fold in which a class does not occur."""
    cure = (
        "Pass a number of folds as `cv`, which are then stratified."
        if n_rows > 1
        else "Label more rows of that class, or pass a model that is already fitted, "
        "as sklearn.frozen.FrozenEstimator(model)."
    )
    return ValueError(
        f"{classifier} must find every class in the training rows of every fold; those "
        f"of fold {fold} of {n_folds} have none of class {label!r}, of which `y` has "
        f"{n_rows}. {cure}"
    )


def nothing_to_fit(classifier: str, names: Sequence[str]) -> ValueError:
    """Return the refusal of arguments that no `fit` would receive."""
    listed = ", ".join(f"`{name}`" for name in names)
    return ValueError(
        f"{classifier} fits no model here, because the given model is already fitted, "
        f"and its calibration gives every row the same weight: {listed} would be "
        "ignored. Leave it out."
    )


#: In the form of `sklearn.utils.validation.check_is_fitted`.
NOT_FITTED_BEFORE = (
    "cv='prefit' needs a fitted model, and this %(name)s is not fitted. Searches and "
    "cross-validation clone it, which forgets a fit: pass the model as "
    "sklearn.frozen.FrozenEstimator(model), and leave `cv` out."
)


def bounds_of_a_batch() -> ValueError:
    """Return the refusal of numbers of rows where batches may have any size."""
    return ValueError(
        "`min_positives` and `max_positives` count the rows of one batch, which one "
        "threshold for batches of all sizes cannot keep. Pass scope='batch', which "
        "decides for each batch as a whole."
    )


def no_score_threshold() -> AttributeError:
    """Return the refusal of a threshold where none decides."""
    return AttributeError(
        "there is no `score_threshold_`: it needs a classifier of two classes that was "
        "fitted with scope='fixed'."
    )


def several_models(name: str, n_models: int) -> AttributeError:
    """Return the refusal of what only one model has."""
    return AttributeError(
        f"there is no `{name}`, because {n_models} models are averaged. Pass "
        "ensemble=False for one model of all rows."
    )


def one_model_only(given: str) -> ValueError:
    """Return the refusal of an ensemble where there is one model."""
    return ValueError(
        f"`ensemble` is True, but there is only one model with {given}. Leave "
        "`ensemble` out, or pass False."
    )


def other_name_of_threshold(classifier: str) -> AttributeError:
    """Return the hint to the names of thresholds."""
    return AttributeError(
        f"{classifier} has no `best_threshold_`. `threshold_` cuts what its own "
        "`predict_proba` returns; `score_threshold_` of ExpectedMetricClassifier cuts "
        "the scores of the inner model."
    )


def infeasible_threshold(tied: float) -> InfeasibleError:
    """Return the refusal of constraints that need a tie to be split."""
    return InfeasibleError(
        "no threshold satisfies the constraints on the training data, because several "
        f"rows have the probability {tied:.6g} and no threshold can separate them. Ask "
        "for less, or use scope='batch'."
    )


def no_probabilities(model: str) -> AttributeError:
    """Return the refusal of an expected score without probabilities."""
    return AttributeError(
        f"an expected score needs probabilities; {model} has no predict_proba. "
        "Calibrate it, for example with sklearn.calibration.CalibratedClassifierCV."
    )


def not_a_scorer(metric: str) -> TypeError:
    """Return the refusal of a metric that is called with labels or as a scorer."""
    return TypeError(
        f"{metric} is called with four counts: tp, n_pred, n_pos, n. Of labels it is "
        "`metric.realised(y_true, y_pred)`; for `scoring` of scikit-learn pass "
        "`bestcut.scorers.make_scorer(metric)`."
    )


def not_two_classes(classes: Sequence[Any]) -> ValueError:
    """Return the refusal of an expected score of more or fewer than two classes."""
    cure = " Pass average='macro' for the mean over classes." if classes[2:] else ""
    return ValueError(
        f"an expected score needs two classes; got {_shown(classes)}.{cure}"
    )


def no_positive_class(average: str, pos_label: Any) -> ValueError:
    """Return the refusal of a positive class where each class is positive in turn."""
    return ValueError(
        f"`pos_label` must be None with average={average!r}, which scores each class "
        f"against the rest; got {_shown(pos_label)}. Leave one of the two out."
    )


def no_calibration_to_show(model: str, several: bool) -> ValueError:
    """Return the refusal to draw a calibration that there is not, or one of many."""
    got = "has one for each class" if several else "has none"
    cure = (
        "Pass one of them, `estimator.calibration_[i]`, to `from_calibration`."
        if several
        else "Fit an `ExpectedMetricClassifier` with calibration='posterior', or pass "
        "labels and scores to `from_predictions`."
    )
    return ValueError(
        f"`estimator` must have one calibration, `calibration_`; {model} {got}. {cure}"
    )


# --- reports -------------------------------------------------------------------------


def _length(value: Any) -> str:
    return str(len(value)) if hasattr(value, "__len__") else "none"


# --- files that are written -----------------------------------------------------------


def closed_output() -> FileError:
    """Return the refusal to write to a standard output that is not open."""
    msg = "standard output: is closed. Redirect it to a file."
    return FileError(msg)


_LONG = 500  # characters of a name from outside that a message shows


def readable(name: str) -> str:
    """Return a name as a message shows it, which may be what a stranger made up.

    A name that holds line ends or what terminals obey is shown by its repr.
    """
    name = _short(name)
    return name if name.isprintable() else repr(name)


def plain(text: str) -> str:
    """Return a text with escapes in the place of all that a terminal might obey."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() else repr(x)[1:-1] for x in text)


def quoted(value: Any) -> str:
    """Return the repr of something from outside, which may be long."""
    return repr(_short(value)) if isinstance(value, str) else _short(repr(value))


def _short(text: str) -> str:
    """Return the beginning and the end of a long text."""
    half = _LONG // 2
    return text if len(text) <= _LONG else f"{text[:half]} ... {text[-half:]}"


def not_printable(name: str, value: str) -> ValueError:
    """Return the refusal of a name that cannot be shown as it is."""
    return ValueError(
        f"`{name}` must be printable, because messages show it; got {quoted(value)}. "
        "Leave out line ends and control characters."
    )


def unwritten(path: str, error: OSError) -> FileError:
    """Return the error for a file that the system did not let us write."""
    reason = error.strerror or str(error).partition("\n")[0]
    msg = (
        f"{readable(path)}: could not be written ({reason}). No file was written. "
        "Choose another place."
    )
    return FileError(msg)


def foreign_link(path: str) -> FileError:
    """Return the refusal to follow a link that a stranger may have put there."""
    msg = (
        f"{readable(path)}: is a link that another user made, in a folder where others "
        "may write. No file was written. Name the file that it leads to itself, if "
        "that is what you want."
    )
    return FileError(msg)


# --- collections on engines ----------------------------------------------------------


def wrong_collection(collection: Any, wanted: str, instead: str) -> TypeError:
    """Return the refusal of a collection that is not one of the engine's."""
    cure = f"For data in memory use `bestcut.{instead}`."
    return wrong_kind("collection", wanted, collection, cure)


def only_in_memory(name: str, decide: str) -> TypeError:
    """Return the refusal of an argument that decisions on engines do not have."""
    cure = {
        "decide": "Decide with it for a random sample of the rows, which fits there; "
        "all rows that reach the `threshold` of this decision are to be positive.",
        "decide_each": "Decide with it for some groups at a time, each with all its "
        "rows.",
    }[decide]
    if name in ("groups", "axis"):
        cure = "Here a column says which rows belong together: name it as `by`."
    return TypeError(
        f"`{name}` is not there for the data of an engine; `bestcut.{decide}` has it, "
        f"for rows in memory. {cure}"
    )


def column_of_no_frame(column: Any, collection: Any) -> TypeError:
    """Return the refusal of a column name for a collection without columns."""
    return TypeError(
        f"`y_proba` is for DataFrames; got {_shown(column)} with a dask "
        f"{type(collection).__name__}. Leave it out. Pass a metric as `metric=`."
    )


def not_numbers(column: Any, dtype: str, cure: str) -> TypeError:
    """Return the refusal of a column that does not hold numbers."""
    return TypeError(
        f"column {_shown(column)} must hold numbers; it holds {dtype}. {cure}"
    )


def not_column_names(by: Any) -> TypeError:
    """Return the refusal of a value that does not name the columns of groups."""
    return TypeError(
        f"`by` must be the name of a column, or a list of names; got {_shown(by)}."
    )


def column_of_facts(column: str) -> ValueError:
    """Return the refusal to group by a column whose name the answer needs."""
    return ValueError(
        f"`by` must not hold {_shown(column)}: the returned frame has a column of that "
        "name. Rename the column first."
    )


def column_taken(name: str) -> ValueError:
    """Return the refusal to write over a column."""
    return ValueError(
        f"`name` {name!r} is already a column, and columns are never overwritten. "
        "Choose another name, or drop that column first."
    )


def too_many_scores(metric: str, wanted: int, most: int) -> ValueError:
    """Return the refusal to bring the data to the driver."""
    return ValueError(
        f"metric {metric!r} needs {wanted} scores on the driver, of which more than "
        f"{most} differ, because its formula gives no bounds that would rule cuts out. "
        "Write it with arithmetic, roots and `np.where`, or round the scores."
    )


def changed_between(keep: str) -> RuntimeError:
    """Return the refusal of data that change between the passes."""
    return RuntimeError(
        "the rows must not change while they are decided on; the scores near the cut "
        "differ between the first and the second pass. Keep the rows with "
        f"`{keep}` first."
    )


# --- metrics ---


def denominator_with_tp(name: str, d1: Any) -> SolverMismatchError:
    """Return the refusal to split a fraction whose denominator depends on TP."""
    return SolverMismatchError(
        f"metric {name!r} is not affine in TP: its denominator depends on TP "
        f"(d1 = {d1})."
    )


def n_max_too_small(given: Any) -> ValueError:
    """Return the refusal of a lattice with fewer than two instances."""
    return ValueError(
        f"`n_max` must be a whole number of at least 2; got {_shown(given)}."
    )


def beta_out_of_range(given: Any) -> ValueError:
    """Return the refusal of a beta whose square is not a positive number."""
    return ValueError(
        "`beta` must be positive, and neither extremely small nor extremely large; got "
        f"{_shown(given)}."
    )


def amount_of_each_row(name: str, given: Any) -> TypeError:
    """Return the refusal of many amounts where one number is for all rows."""
    return TypeError(
        f"`{name}` must be one number for all rows; got {type(given).__name__}. If "
        "each row has its own amount, use `bestcut.RowUtility`."
    )


def amounts_differ(shapes: Mapping[str, tuple[int, ...]]) -> ValueError:
    """Return the refusal of amounts for different numbers of rows."""
    each = ", ".join(f"`{cell}` {shape}" for cell, shape in shapes.items())
    return ValueError(
        f"The amounts of a RowUtility must be for the same rows; got shapes {each}. "
        "Pass one amount for each row, or one number for all."
    )


def not_one_amount_each(
    cell: str, of: str, shape: tuple[int, ...], given: tuple[int, ...]
) -> ValueError:
    """Return the refusal of amounts that do not fit the rows."""
    return ValueError(
        f"`{cell}` of a RowUtility must have the shape of `{of}`, {shape}; got "
        f"{given}. Pass one amount for each row, or one number for all."
    )


def utility_of_rows() -> TypeError:
    """Return the refusal of amounts per row where counts must determine the score."""
    return TypeError(
        "`metric` must be a metric of the confusion matrix here; got a RowUtility, "
        "whose total depends on which rows are counted. `bestcut.decide`, "
        "`decide_each`, `expected_score` and `score_distribution` take a RowUtility. "
        "Here, pass a `bestcut.metrics.LinearUtility` of mean amounts."
    )


def no_law_kept() -> ValueError:
    """Return the refusal of a distribution of what was read from plain Python."""
    return ValueError(
        "A cut from `from_dict` predicts, but does not know the laws of its counts. "
        "Pickle the cut instead, or pass its labels to `bestcut.score_distribution`."
    )


def no_law_of_weights() -> ValueError:
    """Return the refusal of a distribution that is not computed."""
    return ValueError(
        "The distribution of a weighted mean, and of labels in a sparse matrix, is not "
        "computed. Decide without `weights`, with a dense matrix, or draw labels."
    )


def no_page_of(what: str, cure: str) -> ValueError:
    """Return the refusal of a report about a decision that it cannot show."""
    return ValueError(
        f"A report shows the best expected score of every cut; {what}. {cure}"
    )


def no_threshold(metric: str) -> ValueError:
    """Return the refusal to decide by a threshold where rows have amounts."""
    return ValueError(
        f"The rows were decided for {metric!r} by their own amounts, not by a "
        "threshold. Pass the new rows to `bestcut.decide`, with their amounts."
    )


def not_in_dict(name: str, kind: str) -> ValueError:
    """Return the refusal of plain Python that is not what `to_dict` returned."""
    return ValueError(
        f"`data` must hold what `{kind}.to_dict()` returned; it has no {name!r}."
    )


def rows_not_kept() -> ValueError:
    """Return the refusal of amounts for a prediction that is kept only as counts."""
    return ValueError(
        "`metric` must be a metric of the confusion matrix, not a RowUtility, because "
        "this prediction is kept as counts, not row by row. Use "
        "`bestcut.score_distribution(y_proba, labels, metric)`."
    )


def only_mean_of_rows(argument: str) -> SolverMismatchError:
    """Return the refusal of goals and conditions where rows have their own amounts."""
    way = ""
    if argument == "at_least":
        way = (
            " For more recall, add the same amount to `tp` of all rows until "
            "`bestcut.expected_score(y_proba, labels, 'recall')` is enough."
        )
    return SolverMismatchError(
        f"`{argument}` must be left out with a RowUtility. The rows with the largest "
        "expected gains are proved to be best for the expected total only. A "
        "`bestcut.metrics.LinearUtility` of mean amounts takes goals and conditions."
        f"{way}"
    )


def total_of_many() -> SolverMismatchError:
    """Return the refusal of a mean over problems whose totals are added instead."""
    return SolverMismatchError(
        "`metric` must be a metric of the confusion matrix, not a RowUtility, because "
        "totals of problems are added, not averaged. Use `bestcut.score_distribution` "
        "with the probabilities, labels and amounts of all rows."
    )


def solver_of_rows(solver: str) -> SolverMismatchError:
    """Return the refusal of a solver where rows have their own amounts."""
    return SolverMismatchError(
        f"`solver` {solver!r} takes metrics of the confusion matrix, not a RowUtility. "
        "Leave it out."
    )


def no_cut_to_show() -> ValueError:
    """Return the refusal to draw a cut where there is none."""
    return ValueError(
        "`decision` must be a cut of the probabilities; with a RowUtility it is a cut "
        "of the expected gains. Draw `decision.curve.plot()`, or the total with "
        "`ScoreDistributionDisplay.from_distribution(decision.distribution())`."
    )


def class_for_metric(given: type) -> TypeError:
    """Return the refusal of a class in the place of a metric."""
    return TypeError(
        f"`metric` must be a metric, not its class; pass {given.__name__}()."
    )


def no_metric(given: Any, named: str | None) -> TypeError:
    """Return the refusal of a value that is neither a name nor a metric.

    `named` is the metric that a function computes, going by the function's name.
    """
    if named is not None:
        cure = f"Pass its name, {named!r}."
    elif callable(given):
        cure = "Wrap a callable with `bestcut.metrics.from_counts(function, name=...)`."
    elif hasattr(given, "__len__"):
        cure = (
            "For amounts or weights of each row pass a `bestcut.RowUtility`. Pass one "
            "metric at a time."
        )
    else:
        cure = "Known names: `bestcut.metrics.names()`."
    return TypeError(
        f"`metric` must be a name or a bestcut metric; got {type(given).__name__}. "
        f"{cure}"
    )


# --- tensors -------------------------------------------------------------------------


def not_a_tensor(value: Any) -> TypeError:
    """Return the refusal of a value that is not a tensor."""
    return TypeError(
        f"Probabilities must be a torch.Tensor; got {type(value).__name__}. For arrays "
        "use bestcut.decide_each, with one map in each row."
    )


def not_a_float_tensor(dtype: Any) -> TypeError:
    """Return the refusal of a tensor that does not hold floating-point numbers."""
    return TypeError(
        "Probabilities must be float32, float16, bfloat16 or float64; got "
        f"{dtype}. Turn logits into probabilities with torch.sigmoid or softmax. "
        "Labels are not probabilities."
    )


def dims_not_whole(dims: Any) -> TypeError:
    """Return the refusal of dimensions that are no tuple of whole numbers."""
    return TypeError(
        f"`dims` must be a tuple of whole numbers; got {dims!r}. For (batch, channel, "
        "height, width) it is (-2, -1), for volumes (-3, -2, -1), for rows (-1,)."
    )


def not_dimensions(dims: Any, ndim: int) -> ValueError:
    """Return the refusal of dimensions that a tensor does not have."""
    return ValueError(
        f"`dims` must name different dimensions of a tensor of {ndim} dimensions; got "
        f"{_shown(dims)}. For (batch, channel, height, width) pass (-2, -1), and for "
        "volumes (-3, -2, -1)."
    )


def maps_without_pixels(shape: tuple[int, ...], dims: Any) -> ValueError:
    """Return the refusal of maps that have no pixel."""
    return ValueError(
        f"Maps must have at least one pixel; a tensor of shape {shape} has none in "
        f"`dims` {_shown(dims)}."
    )


def maps_not_probabilities(
    count: int, first: tuple[int, ...]
) -> InvalidProbabilityError:
    """Return the refusal of maps with entries that are not probabilities.

    `first` is the index of the first such map, () if there is only one map.
    """
    if not first:
        which = "this map breaks this rule"
    elif count == 1:
        which = f"the map at index {first} breaks this rule"
    else:
        which = f"{count} maps break this rule, first the one at index {first}"
    return InvalidProbabilityError(
        f"Probabilities must be between 0 and 1, and not NaN; {which}. Turn logits "
        "into probabilities with torch.sigmoid or softmax."
    )


def not_in_a_graph(metric: str) -> RuntimeError:
    """Return the refusal to go through the CPU while a CUDA graph is captured."""
    return RuntimeError(
        "Inside a CUDA graph, masks can be decided only for Dice, F-beta (beta from "
        "0.5 to 2) and Jaccard, and with Triton installed; here, "
        f"{metric} would need the CPU. Decide outside the graph."
    )


def batches_only_once() -> TypeError:
    """Return the refusal of an iterator, which can be read only once."""
    return TypeError(
        "`batches` must be something that can be iterated over twice, such as a list "
        "or a loader; got an iterator. Put its tensors into a list."
    )


def not_batches(value: Any) -> TypeError:
    """Return the refusal of what cannot be gone through."""
    return wrong_kind(
        "batches", "a list or a loader of tensors", value, "For one tensor pass `[it]`."
    )


def batch_not_a_tensor(at: int, batch: Any) -> TypeError:
    """Return the refusal of a batch that is not just probabilities."""
    cure = "Put tensors of probabilities into a list."
    if isinstance(batch, list | tuple | Mapping):
        cure = (
            "A loader also gives targets: pass what the model makes of its images, "
            "`[model(images).sigmoid() for images, _ in loader]`."
        )
    got = type(batch).__name__
    return TypeError(
        f"`batches` must hold tensors of probabilities; batch {at} is a {got}. {cure}"
    )


def batches_changed() -> ValueError:
    """Return the refusal of batches that are others when they come again."""
    return ValueError(
        "`batches` must give the same probabilities whenever they are gone through; "
        "the second time they were others. Call `model.eval()`, leave out random "
        "augmentation, or put the tensors into a list."
    )


def not_an_output(output: Any) -> ValueError:
    """Return the refusal of an unknown output."""
    return ValueError(
        f"`output` must be 'masks' or 'multiclass'; got {_shown(output)}."
    )


def no_classes(shape: tuple[int, ...], classes: int) -> ValueError:
    """Return the refusal to choose a class where there is none."""
    return ValueError(
        f"Maps must be of at least one class; a tensor of shape {shape} has none in "
        f"dimension {classes}, `classes`."
    )


def classes_are_pixels(classes: int, dims: Any) -> ValueError:
    """Return the refusal of a dimension that cannot be the one of the classes."""
    return ValueError(
        f"`classes` must be a dimension of the tensor that is not in `dims`; got "
        f"{classes} and `dims` {_shown(dims)}."
    )
