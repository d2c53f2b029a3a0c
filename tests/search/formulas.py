"""Random formulas that never fall when TP rises, and random probabilities."""

from __future__ import annotations

import numpy as np

import bestcut
from bestcut.metrics import from_counts, from_expression
from helpers import descending
from search.known import ExactCuts, assert_promise

ZERO_DIVISIONS = (0.0, 0.0, 1.0, -1.0, 3.0)


def number(x) -> str:
    return f"{float(x):.6g}"


def place(rng, n) -> float:
    """Return a count, anywhere or near an end, seldom beyond."""
    return float(
        rng.choice(
            [rng.uniform(0, n), rng.uniform(0, n), 10 ** rng.uniform(0, np.log10(n))]
        )
    )


def width(rng, n) -> float:
    """Return how wide a bump is: from less than a count to the whole range."""
    return float(10 ** rng.uniform(-1, np.log10(n)))


def rising(rng, n) -> str:
    """Return a term that never falls when tp rises, n_pred and n_pos being fixed."""
    c, w = number(place(rng, n)), number(width(rng, n))
    power = number(rng.choice([0.03, 0.1, 0.3, 0.5, 0.9, 1.5, 2, 3]))
    small = number(10 ** rng.uniform(-2, 2))
    return rng.choice(
        [
            "tp/n_pos",
            "tp/n_pred",
            "2*tp/(n_pred + n_pos)",
            "tp/(n_pred + n_pos - tp)",
            f"-(fn/n_pos)**{power}",
            f"-(fp/n_pred)**{power}",
            f"(tp/n)**{power}",
            "sqrt(tp/n_pos*tn/(n - n_pos))",
            f"min(tp, {c})/{c}",
            f"max(0, min(1, (tp - {c})/{w}))",
            f"(tp - {c})/({w} + abs(tp - {c}))",
            f"tp/(tp + {small})",
            f"-1/(tp + {small})",
            f"-1/(1 + (tp/{w})**2)",
            f"tp/n_pos/(1 + ((n_pred - {c})/{w})**2)",
            f"tp/n_pred*max(0, 1 - abs(n_pos - {c})/{w})",
            "min(tp/n_pos, tn/(n - n_pos))",
            f"min(tp/n_pred, {number(rng.uniform(0.1, 0.9))})",
        ]
    )


def free(rng, n) -> str:
    """Return any function of n_pred and n_pos."""
    c, w = place(rng, n), number(width(rng, n))
    x = rng.choice(["n_pred", "n_pred", "n_pred", "n_pos", "(n_pred - n_pos)"])
    if x == "(n_pred - n_pos)":
        c = rng.choice([0.0, rng.uniform(-n / 4, n / 4)])
    other = number(place(rng, n))
    c = number(c)
    small = number(10 ** rng.uniform(-2, 2))
    power = number(rng.choice([0.03, 0.1, 0.3, 0.7]))
    away = number(rng.choice([1.0005, 1.01, 1.3]))
    return rng.choice(
        [
            f"1/(1 + (({x} - {c})/{w})**2)",
            f"1/(1 + (({x} - {c})/{w})**2)",
            f"1/(1 + (({x} - {c})/{w})**4)",
            f"1/(1 + (({x} - {c})*({x} - {other})/{w})**2)",
            f"1/(1 + (({x} - {c})/{w})**2) + 1/(1 + (({x} - {other})/{w})**2)",
            f"max(0, 1 - abs({x} - {c})/{w})",
            f"max(0, min(1, ({x} - {c})/{w}))",
            f"min(max(abs({x} - {c}), {w}), {other})/n",
            f"1/(n_pred + {small})",
            f"1/({away}*n - n_pred)",
            f"1/({away}*n - n_pos)",
            f"(n_pred/n)**{power}",
            f"(1 - n_pred/n)**{power}",
            f"-(abs({x} - {c})/n)**{power}",
            f"n_pred*(n - n_pred)/n**2/(1 + (({x} - {c})/{w})**2)",
        ]
    )


def coefficient(rng) -> str:
    return number(rng.choice([1.0, rng.uniform(0.05, 1), 10 ** rng.uniform(-3, 3)]))


def formula(rng, n) -> str:
    """Return the text of a formula."""
    terms = [
        f"{coefficient(rng)}*({rising(rng, n)})" for _ in range(rng.integers(1, 3))
    ]
    for _ in range(rng.integers(0, 3)):
        sign = rng.choice(["+", "+", "-"])
        terms.append(f"{sign}{coefficient(rng)}*({free(rng, n)})")
    return " ".join(
        t if t[0] in "+-" or i == 0 else f"+{t}" for i, t in enumerate(terms)
    )


def steps(rng, n):
    """Return a callable with jumps, and its name."""
    c, other = (np.floor(place(rng, n)) for _ in range(2))
    high, low = rng.uniform(0, 1, 2)
    kind = int(rng.integers(4))

    def function(tp, fp, fn, tn):
        n_pred, n_pos = tp + fp, tp + fn
        f1 = 2 * tp / np.maximum(n_pred + n_pos, 1.0)
        if kind == 0:
            return f1 + np.where(n_pred >= c, high, low)
        if kind == 1:
            return f1 + np.where((n_pred == c) | (n_pos > other), high, 0.0)
        if kind == 2:
            return np.where(tp >= c, 1.0 + f1, f1 * np.minimum(low, 1.0))
        return np.where(n_pred > c, f1, high * f1) + np.where(n_pos < other, 0.1, 0.0)

    return from_counts(function, name=f"steps {kind} {c} {other} {high} {low}")


def random_metric(rng, n):
    kind = rng.random()
    if kind < 0.12:
        return steps(rng, n)
    zero_division = float(rng.choice(ZERO_DIVISIONS))
    metric = from_expression(formula(rng, n), zero_division=zero_division)
    if kind < 0.2:  # as a loss

        def loss(tp, fp, fn, tn):
            return -metric._unchecked(tp, fp, fn, tn)

        if hasattr(metric, "_unchecked"):
            return from_counts(
                loss,
                name=f"loss of {metric.name}",
                zero_division=-zero_division,
                greater_is_better=False,
            )
    return metric


def random_probabilities(rng, n) -> np.ndarray:
    """Return probabilities from one of many laws."""
    few = rng.random(int(rng.integers(1, 6)))
    kinds = [
        lambda: rng.beta(2, 2, n),
        lambda: rng.beta(0.5, 2, n),
        lambda: rng.beta(0.3, 3, n),
        lambda: rng.beta(0.1, 0.4, n),
        lambda: rng.beta(3, 0.3, n),
        lambda: rng.beta(0.3, 3, n) * min(1.0, 60 / n),
        lambda: 1 - rng.beta(0.3, 3, n) * min(1.0, 10 / n),
        lambda: rng.choice(few, n),
        lambda: np.round(rng.beta(1, 2, n), 1),
        lambda: np.where(rng.random(n) < 0.5, rng.choice([0.0, 1.0], n), rng.random(n)),
        lambda: np.full(n, rng.random()),
        lambda: rng.random(n) * 1e-9,
        lambda: 10.0 ** rng.uniform(-300, 0, n),
        lambda: rng.choice([0.0, 1.0], n),
        lambda: np.concatenate([[0.5, 0.25], np.zeros(n - 2)]),
        lambda: np.concatenate([rng.random(n // 20 + 1), np.ones(n - n // 20 - 1)]),
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def worth_a_look(rng, eta, metric, decision, bounds, some) -> np.ndarray:
    """Return cuts that may be better, by the score at expected counts, and others."""
    n, k = eta.size, np.arange(eta.size + 1.0)
    tp = np.concatenate([[0.0], np.cumsum(eta)])
    tp = np.minimum(tp, k)
    fn = np.minimum(np.maximum(tp[-1] - tp, 0.0), n - k)
    sign = 1.0 if metric.greater_is_better else -1.0
    rough = sign * metric.score_cells(tp, k - tp, fn, n - k - fn)
    rough = rough[bounds[0] : bounds[1] + 1]
    best = bounds[0] + np.argsort(rough)[-8:]
    up = np.diff(rough) > 0
    turns = bounds[0] + 1 + np.flatnonzero(up[:-1] & ~up[1:])
    cuts = np.concatenate(
        [
            decision.n_positive + np.arange(-4, 5),
            best,
            rng.choice(turns, min(turns.size, 10), replace=False),
            rng.integers(bounds[0], bounds[1] + 1, some),
            np.array(bounds),
        ]
    )
    return np.unique(np.clip(cuts, *bounds)).astype(int)


def check_formula(seed, most_n, evaluations):
    """Decide for one random formula; return None, if it was refused, or a decision."""
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(50), np.log(most_n))))
    metric = random_metric(rng, n)
    if bestcut.metrics.check_metric(metric).prp is not True:
        return None
    p = random_probabilities(rng, n)
    low, high = 0, n
    if rng.random() < 0.2:
        low, high = sorted(rng.integers(0, n + 1, 2).tolist())
    decision = bestcut.decide(p, metric, min_positives=low, max_positives=high)
    assert low <= decision.n_positive <= high
    assert np.isfinite(decision.gap)
    assert np.isfinite(decision.error)
    eta = descending(p)
    if n <= 400:
        cuts = ExactCuts(eta, np.arange(low, high + 1))
        if cuts.evaluations() <= evaluations:
            assert_promise(decision, cuts, metric)
            return decision
    some = 30
    while True:
        chosen = worth_a_look(rng, eta, metric, decision, (low, high), some)
        cuts = ExactCuts(eta, chosen)
        if some < 4 or cuts.evaluations() <= evaluations:
            break
        some //= 2
    assert_promise(decision, cuts, metric)
    return decision
