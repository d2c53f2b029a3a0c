"""The decision as the last layer of a model."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import torch

from bestcut import _errors as errors
from bestcut.metrics import Metric, get
from bestcut.torch._masks import check_dims, decide_masks


class BestCutMasks(torch.nn.Module):
    """A last layer that turns probability maps into the best masks.

    Parameters
    ----------
    metric : str or Metric, default="dice"
        What to maximise for each map.
    dims : tuple of int, default=(-2, -1)
        The dimensions of a map.
    output : {"masks", "multiclass"}, default="masks"
        ``"masks"``: a mask for each map. ``"multiclass"``: one class for each pixel, an
        int64 tensor without the dimension of classes. Each class has its own cut in
        each image, and a pixel goes to the class whose probability is largest in
        proportion to its cut. So a pixel that one class claims goes to this class. If
        several classes claim it, or none does, it goes to the class that is farthest
        above its cut, or least below it. A class that claims no pixel in an image gets
        none there.
    classes : int, default=1
        The dimension of classes, for ``"multiclass"``.
    validate : bool, optional
        As for `decide_masks`.

    Raises
    ------
    ValueError
        If `output` or the metric is not known.
    TypeError
        If `dims` or `classes` are not whole numbers.

    See Also
    --------
    bestcut.torch.decide_masks : The same as a function, with expected scores.

    Examples
    --------
    >>> import torch
    >>> from bestcut.torch import BestCutMasks
    >>> layer = BestCutMasks("dice")
    >>> layer(torch.tensor([[[0.4, 0.4], [0.0, 0.3]]])).tolist()
    [[[True, True], [False, True]]]
    >>> several = BestCutMasks("dice", output="multiclass")
    >>> several(torch.tensor([[[[0.6, 0.9, 0.7]], [[0.4, 0.1, 0.3]]]])).tolist()
    [[[1, 0, 0]]]
    """

    def __init__(
        self,
        metric: str | Metric = "dice",
        *,
        dims: tuple[int, ...] = (-2, -1),
        output: str = "masks",
        classes: int = 1,
        validate: bool | None = None,
    ) -> None:
        super().__init__()
        if output not in ("masks", "multiclass"):
            raise errors.not_an_output(output)
        self.metric, self.dims, self.output = get(metric), check_dims(dims), output
        self.classes, self.validate = _check_dimension(classes), validate

    def forward(self, probs: torch.Tensor) -> torch.Tensor:
        """Return masks, or the class of each pixel.

        Parameters
        ----------
        probs : Tensor
            Calibrated probabilities, as for `decide_masks`.

        Returns
        -------
        Tensor
            The masks, of bool; for ``"multiclass"`` the class of each pixel, of int64.

        Raises
        ------
        InvalidProbabilityError
            If a probability is NaN or outside [0, 1], unless `validate` is False.
        ValueError
            If the dimension of classes is missing, empty or one of `dims`.
        """
        found = decide_masks(probs, self.metric, dims=self.dims, validate=self.validate)
        if self.output == "masks":
            return found.masks
        own = sorted(d % probs.ndim for d in self.dims)
        inside = -probs.ndim <= self.classes < probs.ndim
        if not inside or self.classes % probs.ndim in own:
            raise errors.classes_are_pixels(self.classes, self.dims)
        if not probs.shape[self.classes]:
            raise errors.no_classes(tuple(probs.shape), self.classes)
        threshold = found.threshold
        for d in own:
            threshold = threshold.unsqueeze(d)
        # A probability of 0 with a cut of 0 is not a claim.
        ratio = probs.detach().to(torch.float64) / threshold.clamp_min(1e-300)
        return ratio.argmax(dim=self.classes)

    def extra_repr(self) -> str:
        """Return what was chosen, for the repr of the model.

        Returns
        -------
        str
            The metric, the dimensions and the output.
        """
        return f"metric={self.metric.name}, dims={self.dims}, output={self.output}"


def _check_dimension(classes: Any) -> int:
    """Return a whole number, which may count from the end."""
    if isinstance(classes, bool) or not isinstance(classes, Integral):
        raise errors.not_whole(name="classes", value=classes)
    return int(classes)
