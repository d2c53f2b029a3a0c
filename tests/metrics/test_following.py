"""A formula is followed by rules for NumPy's functions, or not at all."""

from itertools import product

import numpy as np
import pytest

from bestcut._errors import NotFollowedError
from bestcut.metrics import Disc, from_counts, get
from bestcut.metrics._enclosure import Enclosure, IntervalTruth
from bestcut.metrics._following import followed, formula_of


def broken(x):
    raise KeyError(x)


def test_whatever_goes_wrong_in_a_formula_is_one_error_with_its_cause():
    with pytest.raises(NotFollowedError) as error:
        followed(broken, float, 3.0)
    assert isinstance(error.value.__cause__, KeyError)


def test_what_cannot_be_read_is_not_followed():
    assert followed(lambda x: x + 1, float, 2.0) == 3.0
    with pytest.raises(NotFollowedError):
        followed(lambda x: "a word", float, 2.0)


def test_the_end_of_a_program_is_not_held_up():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        followed(interrupted, float, 3.0)


def test_the_formula_of_a_callable_is_without_checks():
    metric = from_counts(lambda tp, fp, fn, tn: "nonsense", "nonsense")
    assert formula_of(metric)(1.0, 1.0, 1.0, 1.0) == "nonsense"
    assert formula_of(get("f1"))(3.0, 1.0, 1.0, 5.0) == 0.75


def test_enclosures_and_discs_have_rules_for_the_same_functions():
    assert Enclosure.rules.keys() == Disc.rules.keys()
    assert all(getattr(np, function.__name__) is function for function in Disc.rules)


@pytest.mark.parametrize("x", [Disc(np.ones(2), 0.0), IntervalTruth(True, True)])
def test_a_branch_cannot_be_followed(x):
    with pytest.raises(NotFollowedError):
        bool(x)


def test_truths_combine_as_what_they_stand_for():
    # What is not sure may be either.
    states = {"yes": (True, True), "no": (False, False), "open": (False, True)}
    may_be = {"yes": {True}, "no": {False}, "open": {True, False}}
    for one, other in product(states, repeat=2):
        x, y = IntervalTruth(*states[one]), IntervalTruth(*states[other])
        for found, operation in (
            (x & y, lambda a, b: a and b),
            (x | y, lambda a, b: a or b),
            (~x, lambda a, b: not a),
        ):
            values = {operation(a, b) for a in may_be[one] for b in may_be[other]}
            assert found.surely == all(values)
            assert found.maybe == any(values)
