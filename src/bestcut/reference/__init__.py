"""The paper's algorithms and enumeration: taught and tested, taken only by name."""

from bestcut.reference._named import ALGORITHMS, select_solver

__all__ = ["ALGORITHMS", "select_solver"]
