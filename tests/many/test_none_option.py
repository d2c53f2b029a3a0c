"""The recipe for None beside other products is the best of all lists."""

import itertools

import numpy as np
import pytest

import bestcut
from bestcut.metrics import from_counts

BASKETS = [[0.83, 0.41, 0.12], [0.07, 0.11, 0.0], [0.0] * 3, [0.35, 0.31, 0.05]]


def contest_score(listed, none, bought, beta):
    """Return F-beta of sets in which None stands for nothing."""
    said = listed | ({"None"} if none else set())
    truth = bought or {"None"}
    hits = len(said & truth)
    return (1 + beta**2) * hits / (beta**2 * len(truth) + len(said))


def best_in_contest(p, beta):
    """Return the best expected score over all lists, with None and without."""
    products = range(len(p))
    subsets = [
        set(x) for k in range(len(p) + 1) for x in itertools.combinations(products, k)
    ]

    def expected(listed, none):
        total = 0.0
        for bought in subsets:
            chance = np.prod([p[i] if i in bought else 1 - p[i] for i in products])
            total += chance * contest_score(listed, none, bought, beta)
        return total

    return max(
        expected(listed, none)
        for listed in subsets
        for none in (False, True)
        if listed or none
    )


@pytest.mark.parametrize("beta", [1, 2, 0.5])
def test_the_better_of_two_lists_is_the_best_of_all(beta):
    def beside_none(tp, fp, fn, tn):
        empty = tp + fn == 0
        hits, there = np.where(empty, 1, tp), np.where(empty, 1, tp + fn)
        return (1 + beta**2) * hits / (beta**2 * there + tp + fp + 1)

    alone = bestcut.decide_each(BASKETS, f"f{beta}", min_positives=1)
    beside = bestcut.decide_each(BASKETS, from_counts(beside_none, "beside None"))
    found = np.maximum(alone.expected_score, beside.expected_score)
    best = [best_in_contest(p, beta) for p in BASKETS]
    np.testing.assert_allclose(found, best, rtol=1e-12)
