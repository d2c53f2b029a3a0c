"""Draws of probabilities, and what every prediction is worth under them, by hand."""

import itertools

import numpy as np

import bestcut
from bestcut.uncertain import mapped


def all_labels(n):
    """Return all label vectors of n instances, a row each."""
    return np.array(list(itertools.product([False, True], repeat=n))).reshape(-1, n)


def chances(draws):
    """Return the probability of every label vector, over the draws."""
    draws = np.asarray(draws, dtype=float)
    labels = all_labels(draws.shape[1])
    each = [np.prod(np.where(labels, p, 1 - p), axis=1) for p in draws]
    return np.mean(each, axis=0)


def scores(metric, n):
    """Return the metric of every prediction (rows) with every label vector."""
    labels = all_labels(n).astype(float)
    tp, size = labels @ labels.T, labels.sum(axis=1)
    return metric(tp, size[:, None], size[None], n)


def position(labels):
    """Return which row of `all_labels` some labels are."""
    return int("".join("01"[int(x)] for x in labels), 2)


def quantile(values, chance, q):
    """Return the smallest value that is not exceeded with probability q."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(chance[order]) >= q - 1e-12
    return values[order][np.argmax(reached)]


def ranked_draws(seed, n, n_draws, *, ties=False):
    """Return draws that rank alike."""
    rng = np.random.default_rng(seed)
    table = np.sort(rng.random((n_draws, n)), axis=1)
    return np.round(table, 1) if ties else table


def smooth(seed, n, n_draws=40, knots=60, shift=-2.0):
    """Return many instances with maps as a calibration has them."""
    rng = np.random.default_rng(seed)
    base = np.linspace(-5, 5, knots)[:, None] + shift
    slopes = np.exp(rng.normal(0, 0.1, n_draws))
    values = 1 / (1 + np.exp(-(rng.normal(0, 0.3, n_draws) + base * slopes)))
    return mapped(rng.beta(1, 1.5, n) * (knots - 1), values)


METRICS = [
    bestcut.metrics.get(name)
    for name in bestcut.metrics.names(aliases=False)
    if bestcut.check_metric(name).prp
]


def laws_of_scores(draws, cuts, *metrics):
    """Return, by cut, the scores of the first so many and their probabilities.

    One instance after the other is added to the laws of both counts in every draw.
    There is an array of scores for each metric, and one of probabilities at the end.
    """
    draws = np.asarray(draws)
    n, last = draws.shape[1], max(cuts, default=0)
    above = [list(itertools.accumulate(p[:last], with_one, initial=ONE)) for p in draws]
    below = [list(itertools.accumulate(p[::-1], with_one, initial=ONE)) for p in draws]
    laws = {}
    for k in cuts:
        each = [np.outer(tp[k], fn[n - k]) for tp, fn in zip(above, below, strict=True)]
        caught, missed = np.ogrid[: k + 1, : n - k + 1]
        counts = caught, k, caught + missed, n
        scores = [metric(*counts).ravel() for metric in metrics]
        laws[k] = *scores, np.mean(each, axis=0).ravel()
    return laws


def with_one(law, x):
    """Return the law of a count with one instance more."""
    return np.convolve(law, [1 - x, x])


ONE = np.ones(1)
