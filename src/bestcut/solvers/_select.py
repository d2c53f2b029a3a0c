"""Which way `solver="auto"` takes."""

from __future__ import annotations

from bestcut.solvers._base import Solver
from bestcut.solvers._summary import SummarySolver
from bestcut.solvers._sweep import SweepSolver

# From so many instances on, a summary takes less time than a sort.
PAYS_FROM = 1 << 19


def auto_solver(n: int) -> Solver:
    """Return what takes any metric that satisfies the ranking principle."""
    return SummarySolver() if n >= PAYS_FROM else SweepSolver()
