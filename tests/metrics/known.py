"""What the tests of metrics share: boxes of counts, and metrics to be tried."""

import numpy as np

from bestcut.metrics import Box, Interval, from_expression
from bestcut.metrics._moves import Lattice

# More TP never hurts any of these.
FORMULAS = [
    "tp/(tp+0.3*fp+0.7*fn)",
    "tp/(tp+0.3*fp+0.7*fn) - 0.1*(tp+fp)/(tp+fp+fn+tn)",
    "sqrt(tp*tn)/n",
    "2*tp/(n_pred+n_pos) - 0.1*n_pred/n",
    "tp**0.5/(n_pred+1)",
    "min(tp/n_pos, tn/(fp+tn))",
    "max(tp, 30) - fp",
    "min(tp, tn)/max(n_pred, n_pos)",
]


def box_of(t0, t1, k0, k1, s0, s1, n):
    """Return boxes of counts from the ends of tp, n_pred and n_pos."""
    ends = [np.asarray(x, dtype=float) for x in (t0, t1, k0, k1, s0, s1)]
    t0, t1, k0, k1, s0, s1 = ends
    return Box(
        Interval(t0, t1),
        Interval(k0, k1),
        Interval(s0, s1),
        Interval(np.maximum(k0 - t1, 0), k1 - t0),
        Interval(np.maximum(s0 - t1, 0), s1 - t0),
        Interval(np.maximum(n - k1 - s1 + t0, 0), n - k0 - s0 + t1),
    )


def terms(rng):
    """Random parts of formulas, with kinks, steps, roots and divisions by 0."""
    cell = lambda: rng.choice(["tp", "fp", "fn", "tn", "n_pred", "n_pos", "n"])  # noqa: E731
    number = lambda: f"{rng.choice([0.1, 0.5, 1, 2, 7, 20, 33]):g}"  # noqa: E731
    kind = rng.integers(9)
    if kind == 0:
        return f"{number()}*{cell()}/({cell()}+{number()}*{cell()})"
    if kind == 1:
        return f"{cell()}*{cell()}/n"
    if kind == 2:
        return f"sqrt({cell()}*{cell()})"
    if kind == 3:
        return f"min({cell()}, {number()})"
    if kind == 4:
        return f"max({cell()}-{number()}, {cell()}-{number()})"
    if kind == 5:
        return f"abs({cell()}-{number()}*{cell()})"
    if kind == 6:
        return f"{cell()}/max({cell()}-{number()}, 0)"
    if kind == 7:
        return f"sqrt({cell()}-{cell()}-{number()})"
    return f"{number()}*{cell()}"


def random_metric(rng):
    signs = rng.choice(["+", "-"], 3)
    parts = [terms(rng) for _ in range(rng.integers(1, 4))]
    text = "".join(f" {s} {p}" for s, p in zip(signs, parts, strict=False))
    # Some help upwards, so that many of them never fall.
    text += f" + {rng.choice([0, 1, 5])}*tp"
    return from_expression(text, zero_division=float(rng.choice([0.0, -1.0, 3.0])))


def falls(metric, n, moves):
    """Look at every confusion matrix of n instances."""
    return not Lattice(metric, n).never_falls(moves)
