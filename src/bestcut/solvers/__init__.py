"""Ways to the best cut: curves and the proved search, the paper's, enumeration."""

from bestcut.solvers._base import Curve, Solution, Solver, cuts_between
from bestcut.solvers._select import SOLVERS, select_solver

__all__ = ["SOLVERS", "Curve", "Solution", "Solver", "cuts_between", "select_solver"]
