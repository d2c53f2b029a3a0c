"""One threshold for many maps that are judged together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from bestcut import _errors as errors
from bestcut.metrics import Metric
from bestcut.summary import Cut, ScoreSummary


class DatasetCut:
    """One threshold for all maps of a data set.

    Attributes
    ----------
    threshold : float
        Pixels of at least this probability are positive; inf when none is.
    expected_score, error : float
        The expected metric over all pixels of all maps, and a bound on its numerical
        error.
    n_positive, n : int
        How many pixels are positive, and how many there are.
    cut : Cut
        Everything else about the cut; see `bestcut.streams.ScoreSummary`.

    See Also
    --------
    bestcut.torch.decide_dataset : Returns one.
    bestcut.torch.MaskDecision : A mask for each map, with a cut of its own.

    Examples
    --------
    >>> import torch
    >>> from bestcut.torch import decide_dataset
    >>> cut = decide_dataset([torch.tensor([[0.75, 0.0]]), torch.tensor([[0.5, 0.0]])])
    >>> cut.threshold, cut.n_positive, cut.n
    (0.25, 2, 4)
    """

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self.threshold, self.n_positive, self.n = cut.threshold, cut.n_positive, cut.n
        self.expected_score, self.error = cut.expected_score, cut.error

    def __call__(self, probs: torch.Tensor) -> torch.Tensor:
        """Return the masks of some maps; they hold all pixels tied at the threshold.

        Parameters
        ----------
        probs : Tensor
            Probabilities, in any shape.

        Returns
        -------
        Tensor of bool
            The masks, in the shape of the probabilities.

        Raises
        ------
        TypeError
            If `probs` is not a tensor.
        """
        if not isinstance(probs, torch.Tensor):
            raise errors.not_a_tensor(probs)
        return probs.detach().to(torch.float64) >= self.threshold

    def __repr__(self) -> str:
        return (
            f"DatasetCut({self.cut.metric.name}: {self.n_positive} of {self.n} pixels "
            f"from {self.threshold:.6g} on, expected score {self.expected_score:.6g})"
        )


def decide_dataset(
    batches: Iterable[torch.Tensor], metric: str | Metric = "dice"
) -> DatasetCut:
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
    DatasetCut
        With ``threshold``, ``expected_score``, ``error``; called with probabilities it
        returns masks.

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
    >>> cut(batches[1]).tolist()
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
    return DatasetCut(cut)


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
