"""Laws of many instances, made together, are those built one by one."""

import numpy as np
import pytest

from bestcut.counts import _window as window, poisson_binomial, remove
from helpers import descending

RNG = np.random.default_rng(0)
INPUTS = {
    "none": np.zeros(0),
    "one": np.array([0.3]),
    "few": RNG.random(40),
    "rare": RNG.beta(0.3, 20, size=3000),
    "confident": RNG.beta(20, 0.3, size=3000),
    "both": np.concatenate([RNG.beta(0.3, 20, 900), RNG.beta(20, 0.3, 900)]),
    "middling": RNG.beta(3, 3, size=1500),
    "constant": np.full(2000, 0.05),
    "certain": RNG.choice([0.0, 1.0], size=1000),
    "tiny": np.full(700, 1e-300),
    "many small": np.full(6000, 0.09),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_a_law_of_many_equals_the_law_built_one_by_one(kind):
    eta = INPUTS[kind]
    law = window.law_of(eta)
    full = poisson_binomial(eta)
    assert law.start >= 0
    assert law.start + law.pmf.size <= full.size
    inside = full[law.start : law.start + law.pmf.size]
    # The recursion that is compared with drifts by n epsilons for equal probabilities.
    np.testing.assert_allclose(law.pmf, inside, rtol=0, atol=2e-13 * inside.max())
    assert law.pmf.sum() == pytest.approx(1.0, abs=1e-14)
    outside = full[: law.start].sum() + full[law.start + law.pmf.size :].sum()
    assert outside <= 100 * window.NEGLIGIBLE


def test_an_all_but_certain_count_keeps_its_neighbours():
    law = window.law_of(np.array([1e-300, 1.0]))
    assert law.start == 1
    assert law.pmf.tolist() == [1.0, 1e-300]
    law = window.law_of(np.full(2, 1.0 - 2.0**-53))  # on the other side, too
    assert law.start == 0
    assert law.pmf[0] == pytest.approx(2.0**-106, rel=1e-14)


def test_running_laws_add_one_instance_a_row():
    start = window.law_of(INPUTS["few"])
    eta = np.array([0.2, 0.0, 1.0, 0.7])
    last, origin, table = window.running_laws(start, eta)
    for i in range(5):
        want = poisson_binomial(np.concatenate([INPUTS["few"], eta[:i]]))
        got = np.zeros(want.size)
        for count, mass in enumerate(table[i], start=origin[i]):
            if mass > 0:
                got[count] = mass
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-15)
    assert last.pmf.sum() == pytest.approx(1.0, abs=1e-14)


def test_the_law_given_a_positive_is_that_of_the_others_and_one():
    eta = descending(np.concatenate([RNG.random(30), [0.0, 0.5, 1.0]]))
    law = window.law_of(eta)
    table = window.given_positive(law, eta)
    full = poisson_binomial(eta)
    for column, p in zip(table.T, eta, strict=True):
        others = np.concatenate([[0.0], remove(full, p)])
        want = others[law.start : law.start + law.pmf.size]
        np.testing.assert_allclose(column, want, rtol=0, atol=1e-14)
