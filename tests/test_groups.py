"""What is left to the slow group is the same test, with more of it."""

import pytest
from hypothesis import given, strategies as st

from groups import few_and_many, one_in, slow


def test_what_is_slow_is_marked_and_the_same():
    few, many = slow(3), slow("mcc", 10, id="many")
    assert (few.values, few.marks) == ((3,), (pytest.mark.slow,))
    assert (many.values, many.id) == (("mcc", 10), "many")


def test_one_in_some_combinations_is_fast_and_all_values_are():
    mark = one_in(3, "a, b, c", "xy", {"one": 1, "two": 2, "three": 3}, [0.5, 2.5, 4])
    names, params = mark.args
    assert names == "a, b, c"
    assert len({param.values for param in params}) == len(params) == 2 * 3 * 3
    fast = [param for param in params if not param.marks]
    assert all(x.marks == (pytest.mark.slow,) for x in params if x.marks)
    assert [x.id for x in fast] == [
        *("x-one-0.5", "x-two-4", "x-three-2.5"),
        *("y-one-4", "y-two-2.5", "y-three-0.5"),
    ]
    assert fast[0].values == ("x", 1, 0.5)


def test_there_are_few_examples_or_many_of_one_check():
    seen = []

    @few_and_many(5, 50, given(x=st.integers()))
    def test_of_numbers(x):
        """Numbers are numbers."""
        seen.append(x)

    assert test_of_numbers.__name__ == "test_of_numbers"
    assert test_of_numbers.__doc__ == "Numbers are numbers."
    (mark,) = test_of_numbers.pytestmark
    assert mark.args[0] == "examples"
    fast, many = mark.args[1]
    assert (fast, many.values, many.marks) == (5, (50,), (pytest.mark.slow,))
    for examples in (fast, *many.values):
        seen.clear()
        test_of_numbers(examples)
        assert len(seen) == examples


def test_an_example_that_fails_is_a_failure():
    @few_and_many(30, 50, given(x=st.integers(0, 9)))
    def test_of_small_numbers(x):
        assert x < 9

    with pytest.raises(AssertionError):
        test_of_small_numbers(30)
