"""The expected score of every cut."""

from bestcut._types import FloatArray
from bestcut.counts import NOBODY, Side
from bestcut.curve._affine import AffineCurve
from bestcut.curve._blocks import BlockCurve, CurveOfNobody, running_totals
from bestcut.curve._general import GeneralCurve
from bestcut.curve._linear import LinearCurve
from bestcut.metrics import Metric, is_affine, is_linear, largest_score

__all__ = ["BlockCurve", "curve_of", "running_totals"]


def curve_of(
    eta: FloatArray,
    metric: Metric,
    before: Side = NOBODY,
    after: Side = NOBODY,
    worth: tuple[bool, bool] = (True, True),
) -> BlockCurve:
    """Return the curve of sorted probabilities that fits the metric's structure.

    `before` and `after` are what is above them in the ranking and below. `worth` says
    on which sides rules are worth a try.
    """
    beside = before.n + after.n
    if not eta.size + beside:
        return CurveOfNobody(metric)
    if is_linear(metric):
        return LinearCurve(eta, metric, before, after)
    largest = largest_score(metric, eta.size + beside)
    if is_affine(metric) and not beside:
        return AffineCurve(eta, metric, largest)
    return GeneralCurve(eta, metric, largest, before, after, worth)
