"""Multi-label decisions and expectations; `bestcut.many.multilabel` has the code."""

from bestcut._public import publish
from bestcut.many.multilabel import (
    MultilabelDecision,
    decide,
    expected_score,
    score_distribution,
)

__all__ = [
    "MultilabelDecision",
    "decide",
    "expected_score",
    "score_distribution",
]

publish(__name__, globals())
