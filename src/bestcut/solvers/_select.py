"""Which solver: one table that dispatch, errors and documentation read."""

from __future__ import annotations

from bestcut import _errors as errors
from bestcut._validation import check_option
from bestcut.metrics import Metric, Trait, require_ranking
from bestcut.solvers._base import Solver
from bestcut.solvers._cubic import CubicSolver
from bestcut.solvers._exhaustive import ExhaustiveSolver
from bestcut.solvers._quadratic import QuadraticSolver
from bestcut.solvers._summary import SummarySolver
from bestcut.solvers._sweep import SweepSolver

# In the order in which "auto" prefers them; enumeration is only ever chosen by name.
SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        SummarySolver(),
        SweepSolver(),
        QuadraticSolver(),
        CubicSolver(),
        ExhaustiveSolver(),
    )
}


def select_solver(name: str, metric: Metric, n: int) -> Solver:
    """Return the solver of that name, or the best that fits for ``"auto"``.

    Raises
    ------
    SolverMismatchError
        If the metric or the size lacks what the solver needs.
    """
    check_option(name, [*SOLVERS, "auto"], name="solver")
    if name == "auto":
        fits = [
            solver
            for solver in SOLVERS.values()
            if solver.needs_prp
            and n >= solver.pays_from
            and _mismatch(solver, metric, n) is None
        ]
        solver = fits[0]
    else:
        solver = SOLVERS[name]
    if solver.needs_prp:
        require_ranking(metric, way_out=_way_out(n))
    problem = _mismatch(solver, metric, n)
    if problem is not None:
        require_ranking(metric, way_out=_way_out(n))  # which the others need
        usable = [
            other.name
            for other in SOLVERS.values()
            if _mismatch(other, metric, n) is None
        ]
        raise errors.solver_mismatch(name, problem, usable)
    return solver


def _mismatch(solver: Solver, metric: Metric, n: int) -> str | None:
    missing = sorted(trait.value for trait in solver.requires - metric.traits)
    if missing:
        return (
            f"needs a metric with {missing}, which {metric.name!r} does not have; it "
            "reads floats as what they exactly are, so give its constants as "
            "`fractions.Fraction` where they should be rational"
            if missing == [Trait.RATIONAL_D.value]
            else f"needs a metric with {missing}, which {metric.name!r} does not have"
        )
    if solver.max_n is not None and n > solver.max_n:
        return f"takes at most {solver.max_n} instances; got {n}"
    return None


def _way_out(n: int) -> str:
    """Return what can be done for a metric without the ranking principle."""
    limit = SOLVERS["exhaustive"].max_n or 0
    return (
        f'Use solver="exhaustive", which looks at every label vector (n <= {limit}).'
        if n <= limit
        else f'Only solver="exhaustive" could do it, and only for n <= {limit}; n is '
        f"{n} here."
    )
