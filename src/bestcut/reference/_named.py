"""What `solver=` names: one table that dispatch and errors read."""

from __future__ import annotations

from bestcut import _errors as errors
from bestcut._validation import check_option
from bestcut.metrics import Metric, Trait, require_ranking
from bestcut.reference._cubic import CubicSolver
from bestcut.reference._exhaustive import ExhaustiveSolver
from bestcut.reference._quadratic import QuadraticSolver
from bestcut.reference._solver import Solver

ALGORITHMS: dict[str, Solver] = {
    solver.name: solver
    for solver in (QuadraticSolver(), CubicSolver(), ExhaustiveSolver())
}
# What "auto" takes, and what it was called.
_NOT_CHOSEN = ("search", "curve", "sweep", "summary", "mixture")


def select_solver(name: str, metric: Metric, n: int) -> Solver | None:
    """Return the solver of that name; None stands for "auto".

    Raises
    ------
    SolverMismatchError
        If the metric or the size lacks what the solver needs.
    """
    if name in _NOT_CHOSEN:
        raise errors.solver_not_chosen(name, ALGORITHMS)
    check_option(name, [*ALGORITHMS, "auto"], name="solver")
    solver = ALGORITHMS.get(name)
    if solver is None or solver.needs_prp:
        require_ranking(metric, way_out=_way_out(n))
    if solver is None:
        return None
    problem = _mismatch(solver, metric, n)
    if problem is not None:
        require_ranking(metric, way_out=_way_out(n))  # which the others need
        others = [x for x, y in ALGORITHMS.items() if not _mismatch(y, metric, n)]
        raise errors.solver_mismatch(name, problem, ["auto", *others])
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
    limit = ALGORITHMS["exhaustive"].max_n or 0
    return (
        f'Use solver="exhaustive", which looks at every label vector (n <= {limit}).'
        if n <= limit
        else f'Only solver="exhaustive" could do it, and only for n <= {limit}; n is '
        f"{n} here."
    )
