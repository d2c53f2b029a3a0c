"""How much work a decision may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bestcut import _errors as errors
from bestcut._validation import check_whole_number


class _Work:
    """How many values may be computed, and how many have been."""

    def __init__(self, most: int) -> None:
        self.most, self.done = most, 0


_WORK: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def work_limit(values: int) -> Iterator[None]:
    """Limit how often a formula or a callable is evaluated, for metrics from strangers.

    The time that a decision takes depends on the metric: where a formula jumps or is
    hard to bound, cuts are computed one by one. A service that takes formulas from
    its users can end such a decision with an error.

    .. versionadded:: 0.3

    Parameters
    ----------
    values : int
        How many values of metrics made by `from_expression` or of a callable may be
        computed inside the ``with`` block, in all. A million takes some tenths of a
        second; most decisions for 10^5 instances need fewer than 10^5. Metrics with a
        name and sums of counts are not counted.

    Yields
    ------
    None
        The limit holds for the thread, or the asynchronous task, that entered it.

    Raises
    ------
    WorkLimitError
        Inside the block, when more values are needed.

    See Also
    --------
    bestcut.metrics.from_expression : A metric from a formula, which may be anyone's.

    Examples
    --------
    >>> import bestcut
    >>> from bestcut.metrics import from_expression, work_limit
    >>> metric = from_expression("sqrt(tp) / (1 + fp + fn)")
    >>> with work_limit(10**8):
    ...     bestcut.decide([0.9, 0.4, 0.2], metric).n_positive
    2
    >>> try:
    ...     with work_limit(10):
    ...         bestcut.decide([0.9, 0.4, 0.2], metric)
    ... except bestcut.metrics.WorkLimitError as error:
    ...     print(str(error).partition(".")[0])
    more than 10 values of metric 'sqrt(tp) / (1 + fp + fn)' are needed
    """
    most = check_whole_number(values, name="values", least=1)
    token = _WORK.set(_Work(most))
    try:
        yield
    finally:
        _WORK.reset(token)


def spend(values: int, metric: str) -> None:
    """Count some values of a metric that are about to be computed."""
    work = _WORK.get()
    if work is None:
        return
    work.done += values
    if work.done > work.most:
        raise errors.too_much_work(metric, work.most)
