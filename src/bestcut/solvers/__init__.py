"""Ways to the best cut: curves and the proved search, the paper's, enumeration."""

from bestcut.solvers._base import Curve, Solution, Solver, cuts_between
from bestcut.solvers._gains import ROUNDING, Gains, at_stake, gains
from bestcut.solvers._select import SOLVERS, select_solver

__all__ = [
    "ROUNDING",
    "SOLVERS",
    "Curve",
    "Gains",
    "Solution",
    "Solver",
    "at_stake",
    "cuts_between",
    "gains",
    "select_solver",
]
