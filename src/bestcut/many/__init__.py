"""Many problems at once: rows, groups, multi-label, draws of labels."""

from bestcut.many._decisions import Decisions
from bestcut.many._each import decide_each
from bestcut.many._samples import SampledDecision, decide_samples

__all__ = [
    "Decisions",
    "SampledDecision",
    "decide_each",
    "decide_samples",
]
