"""Random formulas: the value and the gap of every decision hold."""

import pytest

from groups import slow
from search.formulas import check_formula

QUICK = 6
LONG, LONG_GROUPS = 25, 84


@pytest.mark.parametrize("group", [0, 2, slow(1), slow(3)])
def test_formulas(group):
    decided = sum(
        check_formula((1, group, i), 600, 200_000) is not None for i in range(QUICK)
    )
    assert decided > QUICK / 2


@pytest.mark.slow
@pytest.mark.parametrize("group", range(6))
def test_formulas_with_more_instances(group):
    decided = sum(
        check_formula((1, group, i), 1500, 1_000_000) is not None for i in range(QUICK)
    )
    assert decided > QUICK / 2


@pytest.mark.slow
@pytest.mark.parametrize("group", range(LONG_GROUPS))
def test_more_formulas(group):
    most_n = 20_000 if group % 6 == 0 else 1000
    decided, seed = 0, 0
    while decided < LONG:
        decided += check_formula((2, group, seed), most_n, 8_000_000) is not None
        seed += 1
        assert seed < 4 * LONG
