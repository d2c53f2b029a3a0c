"""One threshold for many maps that are judged together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from bestcut import _errors as errors
from bestcut.metrics import Metric
from bestcut.summary import Cut, ScoreSummary


def decide_dataset(
    batches: Iterable[torch.Tensor], metric: str | Metric = "dice"
) -> Cut:
    """Choose the one threshold with the best expected metric over many maps together.

    A score over all pixels of all maps ("micro", "dataset-wise") makes them one
    problem. The batches are read twice, and only one is in memory at a time.

    Parameters
    ----------
    batches : iterable of Tensor
        Calibrated probabilities, in any shapes. It must be possible to iterate over
        them twice, with the same result, as with a list or a loader.
    metric : str or Metric, default="dice"
        What to maximise; as for `bestcut.decide`.

    Returns
    -------
    bestcut.streams.Cut
        Pixels of at least its ``threshold`` are positive. Compare in double precision,
        so that no pixel beside the threshold is rounded on to it.

    Raises
    ------
    InvalidProbabilityError
        If a probability is NaN or outside [0, 1]; the batch and the place are named.
    TypeError
        If `batches` can be read only once, or holds something else than tensors of
        floats.
    ValueError
        If the second pass over the batches finds other probabilities, or the metric is
        not known.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.

    See Also
    --------
    bestcut.torch.decide_masks : A cut of its own for each map.
    bestcut.streams.ScoreSummary : The same for arrays.

    Examples
    --------
    >>> import torch
    >>> from bestcut.torch import decide_dataset
    >>> batches = [torch.tensor([[0.9, 0.1], [0.1, 0.0]]), torch.tensor([[0.8, 0.2]])]
    >>> cut = decide_dataset(batches, "dice")
    >>> (batches[1].double() >= cut.threshold).tolist()
    [[True, False]]
    """
    try:
        once = iter(batches) is batches
    except TypeError as error:
        raise errors.not_batches(batches) from error
    if once:
        raise errors.batches_only_once()
    summary = ScoreSummary()
    for i, batch in enumerate(batches):
        column = _column(i, batch)
        try:
            summary.update(column)
        except errors.InvalidProbabilityError as error:
            raise _where(i, column, tuple(batch.shape)) from error
    bracket = summary.bracket(metric)
    inside = [bracket.select(_column(i, batch)) for i, batch in enumerate(batches)]
    try:
        cut = bracket.refine(np.concatenate([np.empty(0), *inside]))
    except ValueError as error:  # not all of them, or more, are there again
        raise errors.batches_changed() from error
    return cut


def _column(i: int, batch: Any) -> Any:
    if not isinstance(batch, torch.Tensor):
        raise errors.batch_not_a_tensor(i, batch)
    if not batch.is_floating_point():
        raise errors.not_a_float_tensor(batch.dtype)
    return batch.detach().to("cpu", torch.float64).reshape(-1).numpy()


def _where(i: int, column: Any, shape: tuple[int, ...]) -> ValueError:
    """Return the refusal of a batch that says where the first bad pixel is."""
    first = int(np.argmax(~((column >= 0.0) & (column <= 1.0))))
    place = tuple(int(x) for x in np.unravel_index(first, shape))
    return errors.not_a_probability(
        "Probabilities", float(column[first]), f"batch {i} at index {place}"
    )
