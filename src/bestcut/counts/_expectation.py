"""The expected score of one prediction: a sum over two independent counts.

Among the instances predicted positive there are TP positives, among the others FN. Each
of the two distributions is a quadrature rule where that is proved to be right for this
metric (`bestcut.counts._proof`), and every value with its probability elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray
from bestcut.counts._moments import rule_of_sums
from bestcut.counts._proof import SideRange, is_on_trust, plan_rules
from bestcut.counts._rules import NODE_COUNTS
from bestcut.counts._side import Side, error_of_sums, is_from_sums
from bestcut.counts._window import Law, dropped, law_error
from bestcut.metrics import Linear, Metric, Trait, is_linear

EVALUATIONS = 60_000  # of the metric at a time: temporaries stay in cache
WORTHLESS = 1e-19  # a value of this probability is not worth an evaluation
TOLERANCE = 1e-13  # what a rule may leave, of the size of the metric
# Lemma 8: sums of a block are added in pairs, running sums as in the other curves, and
# the four products and their sum round once each.
ROUNDING = 16.0 * EPS


def linear_value(metric: Linear, cells: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the expected worth at expected cells, and a bound on its error."""
    return metric.score_cells(*cells), ROUNDING * metric.absolute().score_cells(*cells)


_PAIRS = 1 << 23  # of counts that a single cut may take
_FEW_PAIRS = 1 << 15  # that are looked at sooner than rules are proved


MOST_NODES = NODE_COUNTS[-1]


class Rule(NamedTuple):
    """E g(S) = sum_q weights[q] g(nodes[q]), a column for each cut or one for all."""

    nodes: FloatArray
    weights: FloatArray


def rule_of_law(law: Law) -> Rule:
    """Return every value with its probability."""
    return Rule(law.counts[:, None], law.pmf[:, None])


def rule_of_mean(mean: FloatArray) -> Rule:
    """Return the rule of one node, for what is affine in the count."""
    return Rule(mean[None, :], np.ones((1, 1)))


def expectation(
    metric: Metric, cuts: FloatArray, n: int, above: Rule, below: Rule
) -> tuple[FloatArray, float]:
    """Return E f at each cut, and a bound on the expected absolute score of any.

    Some cuts at a time, and of a cut with many values some of those above it: what the
    metric computes on the way stays in the cache, and is not large enough for the
    system to be asked for memory each time.
    """
    shape_1, shape_2 = ((x.nodes.shape[0], cuts.size) for x in (above, below))
    tp, w1 = (np.broadcast_to(x, shape_1) for x in above)
    fn, w2 = (np.broadcast_to(x, shape_2) for x in below)
    rows = max(EVALUATIONS // shape_2[0], 1)
    step = max(rows // shape_1[0], 1)
    out, least, most = np.zeros(cuts.size), np.inf, -np.inf
    for i in range(0, cuts.size, step):
        here = slice(i, i + step)
        for j in range(0, shape_1[0], rows):
            some = slice(j, j + rows)
            score = _scores(metric, cuts[here], n, tp[some, here], fn[:, here])
            inner = np.matmul(score, w2[:, here].T[:, :, None])[:, :, 0]
            out[here] += np.einsum("ka,ak->k", inner, w1[some, here])
            least, most = min(least, score.min()), max(most, score.max())
    scale = float(out.max()) if least >= 0.0 else float(max(most, -least))
    return out, scale


def _scores(
    metric: Metric, cuts: FloatArray, n: int, tp: FloatArray, fn: FloatArray
) -> FloatArray:
    """Return the metric at all pairs of counts: a matrix for each cut."""
    # Taken before the sum over both sides: whole numbers stay whole.
    caught = [x.T[:, :, None] for x in (tp, cuts - tp)]
    missed = [x.T[:, None] for x in (fn, n - cuts - fn)]
    shape = (cuts.size, tp.shape[0], fn.shape[0])
    return np.broadcast_to(metric.score_cells(*caught, *missed), shape)


def are_short(above: Side, below: Side, pairs: int = _PAIRS) -> bool:
    """Return whether the exact distributions of both sides have few pairs of values."""
    widths = [24.0 + 20.0 * math.sqrt(side.variance) for side in (above, below)]
    return widths[0] * widths[1] <= pairs


def rules_of_cut(
    metric: Metric, largest: float, above: Side, below: Side, *, mean_above: bool
) -> tuple[Rule, Rule, float, int]:
    """Return the rules of a single cut, what they are wrong by, and their width.

    The width is the number of values that are taken one by one.
    """
    first, second = (
        SideRange(
            *((np.array([x]),) * 2 for x in (s.positives, s.negatives, s.variance))
        )
        for s in (above, below)
    )
    # A promise is only believed where the truth would take too long.
    worth = not are_short(above, below, _PAIRS if is_on_trust(metric) else _FEW_PAIRS)
    plan = plan_rules(
        metric,
        first,
        second,
        largest,
        TOLERANCE,
        mean_above=mean_above,
        worth=(worth, worth),
    )
    rules, width = [], 0
    error = float(plan.error[0]) + 64 * EPS * float(plan.size[0])
    for side, nodes in zip((above, below), plan.nodes, strict=True):
        m = int(nodes[0])
        if m:
            rules.append(Rule(*rule_of_sums(side.sums(MOST_NODES)[:, None], m)))
        elif mean_above and side is above:
            rules.append(rule_of_mean(np.array([side.positives])))
        else:
            rules.append(rule_of_law(side.law))
            width += side.law.pmf.size
            error += error_of_sides(side) * largest
    return rules[0], rules[1], error, width


def value_of_cut(
    metric: Metric, largest: float, above: Side, below: Side
) -> tuple[float, float]:
    """Return the expected score of a single cut, and a bound on its error."""
    if is_linear(metric):
        cells = (above.positives, above.negatives, below.positives, below.negatives)
        value, error = linear_value(metric, cells)
        return float(value), float(error)
    mean_above = Trait.FACTORISED in metric.traits
    if Trait.LINEAR_AT_CUT in metric.traits:
        first, second = (rule_of_mean(np.array([x.positives])) for x in (above, below))
        error, width = 0.0, 0
    else:
        first, second, error, width = rules_of_cut(
            metric, largest, above, below, mean_above=mean_above
        )
    cuts, n = np.array([float(above.n)]), above.n + below.n
    value, scale = expectation(metric, cuts, n, first, second)
    error += exact_error(width, n, scale, largest)
    return float(value[0]), error


def error_of_sides(*sides: Side) -> float:
    """Bound what laws from sums of features are wrong by, for scores of size 1."""
    variances = np.array([x.variance if is_from_sums(x) else 0.0 for x in sides])
    return float(error_of_sums(variances).sum())


def exact_error(width: int, n: int, scale: float, largest: float) -> float:
    """Bound what values that are taken one by one leave out, and all rounding."""
    error = (law_error(width, n) if width else 64 * EPS) * scale
    lost = width * WORTHLESS + dropped(n)
    return error + (lost * largest if n and width else 0.0)
