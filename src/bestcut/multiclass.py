"""One class for each row; `bestcut.many.multiclass` has the code."""

from bestcut._public import publish
from bestcut.many.multiclass import (
    MulticlassDecision,
    decide,
    expected_score,
    score_distribution,
)

__all__ = [
    "MulticlassDecision",
    "decide",
    "expected_score",
    "score_distribution",
]

publish(__name__, globals())
