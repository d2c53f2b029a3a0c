"""What the gap of an assignment of rows to columns was proved for."""

from __future__ import annotations

import numpy as np

from bestcut.metrics import Metric, is_affine, is_concave
from bestcut.search import gap_scope


def assignment_scope(metric: Metric, instances: int, *, by_ranking: bool) -> str:
    """Return whether a gap holds for all predictions, or only for cuts.

    Parameters
    ----------
    metric : Metric
        The metric of a column.
    instances : int
        How many instances each column has.
    by_ranking : bool
        Whether the most probable entries of each row are taken because more hits are
        better. Bounds of affine and of concave metrics do not need the metric never to
        fall when TP rises; this does, and so do the bounds of other metrics.
    """
    if not by_ranking and (is_affine(metric) or is_concave(metric)):
        return "predictions"
    return gap_scope(np.array([instances]), metric)
