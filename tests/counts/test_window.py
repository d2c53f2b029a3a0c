"""Laws of many instances, made together, are those built one by one."""

import numpy as np
import pytest

from bestcut._types import EPS
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


RUNS = {
    "rows": np.linspace(0.2, 0.6, 300),
    "columns": np.full(2000, 1e-7),
    "columns, varied": np.random.default_rng(1).beta(0.02, 20, size=2000),
    "columns, from above": 1.0 - np.random.default_rng(2).beta(0.02, 20, size=2000),
    "both ends": np.concatenate([np.full(700, 1.0 - 2.0**-30), np.full(700, 1e-9)]),
    "subnormal": np.full(1500, 5e-324),
}


@pytest.mark.parametrize("kind", RUNS)
def test_running_laws_are_as_good_as_stated(kind):
    eta = RUNS[kind]
    start = window.law_of(INPUTS["few"])
    _, origin, table = window.running_laws(start, eta)
    law = np.zeros(eta.size + start.pmf.size + start.start, dtype=np.longdouble)
    law[start.start : start.start + start.pmf.size] = start.pmf
    worst, left_out = 0.0, 0.0
    for i in range(eta.size + 1):
        first, skip = max(int(origin[i]), 0), max(-int(origin[i]), 0)
        assert not table[i, :skip].any()
        got = np.zeros(law.size)
        row = table[i, skip:][: law.size - first]
        got[first : first + row.size] = row
        seen = got > 1e-290
        apart = np.abs(got[seen] - law[seen]) / got[seen]
        # Next to what is left out the last columns lack what would come from there.
        apart[got[seen] < 1e-20] = 0.0
        worst = max(worst, float(apart.max()))
        left_out = max(left_out, float(np.abs(got - law)[~seen].max(initial=0.0)))
        if i < eta.size:
            p = np.longdouble(eta[i])
            law[1:] = law[1:] * (1 - p) + law[:-1] * p
            law[0] *= 1 - p
    assert worst <= 2 * eta.size * EPS
    assert left_out <= 1e-24


def test_instances_that_are_certain_cost_nothing_but_their_rows(monkeypatch):
    calls = []
    monkeypatch.setattr(window, "add_instance", lambda *args: calls.append(args))
    eta = np.concatenate([np.ones(500), np.zeros(500)])
    last, origin, table = window.running_laws(window.NOTHING, eta)
    assert not calls
    assert (last.start, last.pmf.tolist()) == (500, [1.0])
    assert table.shape == (1001, 1)
    np.testing.assert_array_equal(origin, np.minimum(np.arange(1001), 500))


def test_a_law_has_only_the_columns_that_can_be_reached():
    for p in (1e-7, 0.05, 1.0 - 1e-7):
        table = window.running_laws(window.NOTHING, np.full(2000, p))[2]
        assert table.shape[1] <= 1 + 2000 * min(p, 1 - p) + 17 * np.sqrt(100) + 30
        np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_the_law_given_a_positive_is_that_of_the_others_and_one():
    eta = descending(np.concatenate([RNG.random(30), [0.0, 0.5, 1.0]]))
    law = window.law_of(eta)
    table = window.given_positive(law, eta)
    full = poisson_binomial(eta)
    for column, p in zip(table.T, eta, strict=True):
        others = np.concatenate([[0.0], remove(full, p)])
        want = others[law.start : law.start + law.pmf.size]
        np.testing.assert_allclose(column, want, rtol=0, atol=1e-14)
