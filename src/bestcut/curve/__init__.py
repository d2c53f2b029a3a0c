"""The expected score of every cut."""

from bestcut._types import FloatArray
from bestcut.counts import Side
from bestcut.curve._affine import AffineCurve
from bestcut.curve._blocks import BlockCurve, CurveOfNobody, running_totals
from bestcut.curve._general import GeneralCurve
from bestcut.curve._linear import LinearCurve
from bestcut.metrics import Metric, is_affine, is_linear, largest_score

__all__ = ["BlockCurve", "curve_between", "curve_of", "running_totals"]


def curve_of(eta: FloatArray, metric: Metric) -> BlockCurve:
    """Return the curve that fits the metric's declared structure.

    `eta` is sorted descending.
    """
    if not eta.size:
        return CurveOfNobody(metric)
    if is_linear(metric):
        return LinearCurve(eta, metric)
    largest = largest_score(metric, eta.size)
    if is_affine(metric):
        return AffineCurve(eta, metric, largest)
    return GeneralCurve(eta, metric, largest)


def curve_between(
    eta: FloatArray,
    metric: Metric,
    largest: float,
    before: Side,
    after: Side,
    worth: tuple[bool, bool] = (True, True),
) -> BlockCurve:
    """Return the curve of a run of the ranking, with what is above it and below.

    `worth` says on which sides rules are worth a try.
    """
    if is_linear(metric):
        return LinearCurve(eta, metric, before, after)
    return GeneralCurve(eta, metric, largest, before, after, worth)
