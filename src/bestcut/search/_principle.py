"""What the search rests on: ranking and cutting reach the optimum of the metric."""

from __future__ import annotations

from bestcut import _errors as errors
from bestcut.metrics import Metric, check_metric


def require_ranking(metric: Metric, *, way_out: str, role: str = "metric") -> None:
    """Refuse a metric that is not known to satisfy the ranking principle.

    Parameters
    ----------
    metric : Metric
        What is to be maximised.
    way_out : str
        What to do instead, in a sentence that fits the place.
    role : str, default="metric"
        What the metric is called there.
    """
    check = check_metric(metric)
    if not check.prp:
        raise errors.without_principle(metric.name, check.reason, way_out, role)
