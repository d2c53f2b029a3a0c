"""What a metric is: what it declares, and its three forms."""

from pathlib import Path

import pytest

import bestcut
from bestcut.metrics import FractionalLinear, LinearUtility, Trait, get

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


def test_what_a_solver_requires_are_traits():
    for solver in bestcut.solvers.SOLVERS.values():
        assert all(isinstance(trait, Trait) for trait in solver.requires)


def test_the_page_for_contributors_lists_the_traits():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    assert [trait.name for trait in Trait if f"`{trait.name}`" not in page] == []
