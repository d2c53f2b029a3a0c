"""The paper's algorithms and enumeration: taught and tested, taken only by name."""

from bestcut.reference._named import ALGORITHMS, select_solver
from bestcut.reference._solver import Solver

__all__ = ["ALGORITHMS", "Solver", "select_solver"]
