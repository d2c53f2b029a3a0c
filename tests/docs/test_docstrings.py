"""Public docstrings are complete, and the check of them notices what is missing."""

from functools import cached_property

import pytest

pytest.importorskip("numpydoc", reason="numpydoc is not installed")

import docstrings

# --- the docstrings of the package ---------------------------------------------------


def test_no_public_docstring_has_a_fault():
    assert docstrings.all_faults() == []


def test_public_names_are_the_shortest_and_no_modules():
    names = set(docstrings.public_names())
    assert {
        "bestcut.check_metric",
        "bestcut.decide",
        "bestcut.displays.DecisionDisplay",
        "bestcut.distributed.spark.decide",
        "bestcut.metrics.FBeta",
        "bestcut.torch.decide_masks",
    } <= names
    assert not {"bestcut.metrics", "bestcut.metrics.check_metric"} & names
    assert len(names) > 100


@pytest.mark.parametrize(
    ("path", "there", "missing"),
    [
        # From a class that is not public; an attribute that is listed; private.
        ("bestcut.Decision", ["distribution", "plot"], ["curve", "_eta"]),
        ("bestcut.Calibration", ["__call__", "from_bytes"], ["n_draws", "__repr__"]),
        ("bestcut.streams.Cut", ["predict", "confusion", "to_dict"], ["n_tied"]),
        # What only solvers call.
        ("bestcut.metrics.FBeta", [], ["coefficients", "affine", "score"]),
        ("bestcut.goals.Quantile", [], ["question", "gap", "describe"]),
        # What scikit-learn hides from some models, what it adds, and what is its own.
        (
            "bestcut.estimators.PluginThresholdClassifier",
            ["fit", "predict", "predict_proba"],
            ["classes_", "set_score_request", "get_params"],
        ),
        ("bestcut.torch.MaskDecision", ["threshold", "check"], ["masks"]),
        ("bestcut.decide", [], ["__call__"]),
    ],
)
def test_members_are_what_belongs_on_the_page(path, there, missing):
    found = docstrings.members(docstrings.public_names()[path])
    assert set(there) <= set(found)
    assert not set(missing) & set(found)
    assert len(set(found)) == len(found)


# --- a fault is noticed --------------------------------------------------------------

SECTIONS = {
    "": "Return a number.\n",
    "Parameters": "x : float\n    The number.\n",
    "Returns": "float\n    The same.\n",
    "Raises": "ValueError\n    Never.\n",
    "See Also": "bestcut.decide : Something else.\n",
    "Notes": "Found by others [1]_.\n",
    "References": ".. [1] Somebody. Something. 2015.\n",
    "Examples": ">>> 1 + 1\n2\n",
}


def written(sections):
    """Return a docstring with these sections, in their order."""
    parts = (
        f"{title}\n{'-' * len(title)}\n{text}" if title else text
        for title, text in sections.items()
    )
    return "\n".join(parts)


def function(**changes):
    """Return a function with a good docstring but for some sections; None drops one."""
    sections = SECTIONS | {name.replace("_", " "): x for name, x in changes.items()}

    def same(x):
        return x

    same.__doc__ = written({k: v for k, v in sections.items() if v is not None})
    return same


def codes(thing, path="bestcut.same"):
    return {code for code, _ in docstrings.faults(path, thing)}


def test_a_good_docstring_has_no_faults():
    assert codes(function()) == set()


@pytest.mark.parametrize(
    ("section", "code"),
    [
        ("Parameters", "PR01"),
        ("Returns", "RT01"),
        ("Raises", "BC01"),
        ("See_Also", "SA01"),
        ("References", "BC02"),
        ("Notes", "BC03"),
        ("Examples", "EX01"),
    ],
)
def test_a_missing_section_is_noticed(section, code):
    assert codes(function(**{section: None})) == {code}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Parameters": "y : float\n    Another.\n"}, "PR02"),
        ({"Parameters": "x\n    The number.\n"}, "PR04"),
        ({"Returns": "float\n"}, "RT03"),
        ({"See_Also": "bestcut.decide : something else.\n"}, "SA03"),
        ({"Notes": "Found by others [1]_ and [2]_.\n"}, "BC02"),
    ],
)
def test_a_poor_section_is_noticed(changes, code):
    assert code in codes(function(**changes))


def test_the_order_of_sections_is_noticed():
    turned = function()
    turned.__doc__ = written({"": SECTIONS[""], **dict(reversed(SECTIONS.items()))})
    assert codes(turned) == {"GL07"}


def test_an_index_in_code_is_no_citation():
    assert codes(function(Notes="As in [1]_, ``x[2]_``.\n")) == set()


def test_a_function_that_refuses_nothing_is_listed():
    (path, *_) = docstrings.RAISE_NOTHING
    assert codes(function(Raises=None), path) == set()


def test_a_link_that_leads_nowhere_is_noticed():
    other = function(See_Also="bestcut.decided : Gone.\nnumpy.sort : Of others.\n")
    found = list(docstrings.faults_of_links(other, {"bestcut.decide"}))
    assert found == [
        ("BC04", "See Also has bestcut.decided, which is not a public name")
    ]
    assert not list(docstrings.faults_of_links(function(), {"bestcut.decide"}))


class Result:
    """What was found.

    Attributes
    ----------
    size : int
        How much it is.

    See Also
    --------
    bestcut.decide : Finds it.

    Examples
    --------
    >>> 1 + 1
    2
    """

    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        return x

    @classmethod
    def made(cls, size):
        """Make it.

        Parameters
        ----------
        size : int
            How much it is.
        """
        return cls(size)

    @property
    def half(self):
        return self.size / 2

    @cached_property
    def twice(self):
        """Twice the size."""
        return 2 * self.size

    def _own(self):
        return self.size


def test_a_result_is_not_asked_for_parameters():
    assert codes(Result) == set()


def test_a_class_without_see_also_is_noticed():
    class Lonely(Result):
        __doc__ = Result.__doc__.replace("See Also\n    --------", "Notes\n    -----")

    assert codes(Lonely) == {"SA01"}


def test_a_class_with_parameters_says_what_it_raises():
    class Made(Result):
        __doc__ = Result.__doc__.replace("Attributes", "Parameters")

    assert codes(Made) == {"BC01"}


def test_members_are_methods_and_properties():
    assert docstrings.members(Result) == ["__call__", "made", "half", "twice"]
    assert docstrings.members(function()) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__call__", {"GL08"}),  # no docstring
        ("made", {"RT01"}),  # neither an example nor See Also is asked for
        ("half", {"GL08"}),
        ("twice", set()),
    ],
)
def test_a_fault_of_a_member_is_noticed(name, expected):
    found = docstrings.faults_of_member(Result, name)
    assert {code for code, _ in found} == expected


def test_properties_do_not_make_a_class_a_result():
    class Half:
        __doc__ = written({k: v for k, v in SECTIONS.items() if k != "Parameters"})

        def __init__(self, x):
            self.x = x

        @property
        def half(self):
            """Half of it."""
            return self.x / 2

    assert codes(Half) == {"PR01"}


@pytest.mark.parametrize(
    ("example", "missing"),
    [
        (">>> decide([0.5])\n", ["decide"]),
        (">>> from bestcut import decide\n>>> decide([0.5])\n", []),
        (">>> import bestcut.metrics\n>>> bestcut.decide([0.5])\n", []),
        (">>> import numpy as np\n>>> numpy.ones(np.int64(x=1))\n", ["numpy"]),
        (">>> f = lambda tp, fp: tp - fp\n>>> sorted(f(x, 1) for x in range(2))\n", []),
        (">>> try:\n...     0\n... except OSError as e:\n...     print(e, a)\n", ["a"]),
        (">>> spark.createDataFrame([])\n", []),
    ],
)
def test_an_example_that_cannot_be_copied_is_noticed(example, missing):
    found = list(docstrings.faults_of_examples(function(Examples=example)))
    assert found == [
        ("BC05", f"Examples use {name}, which is not imported") for name in missing
    ]
    assert ("BC05" in codes(function(Examples=example))) == bool(missing)
