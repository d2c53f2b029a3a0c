"""Ways to the best cut: curves and the proved search, after a sort or without."""

from bestcut.solvers._base import Curve, Solution, Solver, summation_error
from bestcut.solvers._gains import ROUNDING, Gains, at_stake, gains
from bestcut.solvers._select import auto_solver

__all__ = [
    "ROUNDING",
    "Curve",
    "Gains",
    "Solution",
    "Solver",
    "at_stake",
    "auto_solver",
    "gains",
    "summation_error",
]
