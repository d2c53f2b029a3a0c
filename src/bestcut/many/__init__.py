"""Many small problems at once."""

from bestcut.many._each import Decisions, decide_each

__all__ = ["Decisions", "decide_each"]
