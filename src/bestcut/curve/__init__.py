"""The expected score of every cut."""

from bestcut._validation import FloatArray
from bestcut.curve._affine import AffineCurve
from bestcut.curve._blocks import BlockCurve
from bestcut.curve._general import GeneralCurve
from bestcut.curve._search import best_cut
from bestcut.metrics import Metric

__all__ = ["BlockCurve", "best_cut", "curve_of"]


def curve_of(eta: FloatArray, metric: Metric) -> BlockCurve:
    """Return the curve that fits the metric's declared structure.

    `eta` is sorted descending and not empty.
    """
    if {"affine", "smooth"} <= metric.traits:
        return AffineCurve(eta, metric)
    return GeneralCurve(eta, metric)
