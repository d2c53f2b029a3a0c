"""What a metric is: what it declares, and its three forms."""

from dataclasses import replace
from pathlib import Path

import pytest

import bestcut
from bestcut import SolverMismatchError
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    Trait,
    from_counts,
    get,
    is_affine,
    names,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("metric", "traits"),
    [
        (LinearUtility(tp=1), {Trait.LINEAR, Trait.AFFINE}),
        (get("cohen_kappa"), {Trait.AFFINE}),
        (get("mcc"), {Trait.AFFINE, Trait.SEPARABLE}),
        (get("gmean"), set()),
        (get("f1"), {*Trait} - {Trait.LINEAR, Trait.SEPARABLE, Trait.FACTORISED}),
        (get("jaccard"), {*Trait} - {Trait.LINEAR, Trait.AFFINE, Trait.SEPARABLE}),
        (
            FractionalLinear(c=(0, 1, 0, 1), d=(0, 0, 1, -0.1)),
            {Trait.FRACTIONAL_LINEAR, Trait.AFFINE},
        ),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_a_metric_declares_its_traits(metric, traits):
    assert metric.traits == traits


@pytest.mark.parametrize("metric", [*map(get, names()), LinearUtility(tp=2, fp=-1)])
def test_an_affine_metric_is_what_its_parts_say(metric):
    if not is_affine(metric):
        return
    n_pred, n_pos, n = 4.0, 5.0, 10.0
    alpha, beta, delta = metric.affine(n_pred, n_pos, n)
    for tp in range(5):
        # Counts and coefficients are dyadic: only the division rounds.
        assert (alpha * tp + beta) / delta == metric(tp, n_pred, n_pos, n)


def test_the_parts_of_what_is_not_affine_in_tp_are_refused():
    message = (
        r"^metric 'jaccard' is not affine in TP: its denominator depends on TP "
        r"\(d1 = -1\)\.$"
    )
    with pytest.raises(SolverMismatchError, match=message):
        get("jaccard").affine(4.0, 5.0, 10.0)


@pytest.mark.parametrize(
    ("name", "sign"), [("f1", 1.0), ("gmean", 1.0), ("squared_count_error", -1.0)]
)
def test_the_sign_is_that_of_the_utility(name, sign):
    metric = get(name)
    assert metric.sign == sign
    counts = (2.0, 4.0, 5.0, 10.0)
    assert metric.utility(*counts) == sign * metric(*counts)


def test_a_custom_loss_has_the_sign_of_a_loss():
    loss = from_counts(lambda tp, fp, fn, tn: fp + fn, greater_is_better=False)
    assert loss.sign == -1.0
    assert replace(loss, greater_is_better=True).sign == 1.0


def test_what_a_solver_requires_are_traits():
    for solver in bestcut.solvers.SOLVERS.values():
        assert all(isinstance(trait, Trait) for trait in solver.requires)


def test_the_page_for_contributors_lists_the_traits():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    assert [trait.name for trait in Trait if f"`{trait.name}`" not in page] == []
