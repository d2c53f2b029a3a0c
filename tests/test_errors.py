"""The rule of sentences: what refuses something is written in `_errors.py`."""

import ast
import builtins
import pickle

import numpy as np
import pytest

import bestcut
from bestcut import _errors, multilabel
from layers import SRC

# Files and folders that write sentences of their own, and why.
EXCEPTIONS = {
    "_errors.py": "it owns the sentences",
    "metrics/_expression.py": "the parser's sentences show the place in the formula",
    "files/_copy.py": "an error of the system, with the system's own words",
    "files/_errors.py": "a file's error names its place, in a class of its own",
    "cli": "what is wrong with a command line is said in options, by click",
}
SENTENCES = sorted(
    name
    for name, thing in vars(_errors).items()
    if not name.startswith("_") and getattr(thing, "__module__", "") == _errors.__name__
)


def is_exempt(path):
    place = path.relative_to(SRC)
    return str(place) in EXCEPTIONS or place.parts[0] in EXCEPTIONS


FILES = [path for path in sorted(SRC.rglob("*.py")) if not is_exempt(path)]


def is_exception(function):
    """Return whether what is called is an exception, by its name."""
    name = getattr(function, "attr", getattr(function, "id", ""))
    known = getattr(builtins, name, getattr(_errors, name, None))
    if known is None:
        return name.endswith(("Error", "Exception"))
    return isinstance(known, type) and issubclass(known, BaseException)


def is_text(node):
    """Return whether an expression is, or holds, a text that is written out."""
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def own_sentences(source):
    """Return the lines that make an exception with a sentence, or write one as `msg`.

    An exception without arguments says nothing, and may be raised anywhere.
    """
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            wrong = is_exception(node.func) and (node.args or node.keywords)
        elif isinstance(node, ast.Assign):
            names = {getattr(target, "id", "") for target in node.targets}
            wrong = names & {"msg", "message"} and is_text(node.value)
        else:
            wrong = False
        if wrong:
            lines.append(node.lineno)
    return sorted(lines)


def names_in(source):
    """Return every name and attribute that a file uses."""
    nodes = list(ast.walk(ast.parse(source)))
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return used | {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_module_leaves_its_sentences_to_errors(path):
    assert own_sentences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("place", EXCEPTIONS)
def test_an_exception_to_the_rule_is_needed(place):
    where = SRC / place
    files = [where] if where.is_file() else where.rglob("*.py")
    assert any(own_sentences(path.read_text(encoding="utf-8")) for path in files)


def test_every_sentence_is_used():
    used = set().union(
        *(names_in(path.read_text(encoding="utf-8")) for path in SRC.rglob("*.py"))
    )
    assert set(SENTENCES) <= used
    assert len(SENTENCES) > 50


def test_a_sentence_elsewhere_is_found():
    bad = """
import errors
def f(x):
    if x == 1:
        raise ValueError("must not be 1")
    if x == 2:
        msg = f"must not be {x}"
        raise TypeError(msg)
    if x == 3:
        error = errors.InfeasibleError(f"{x}")
        raise error
    if x == 4:
        return Problem.of(x), OtherError(text="no")
    if x == 5:
        msg = ("a " + str(x))
    name, count = str(x), dict(a="b")
    raise errors.not_whole(name, x) from None
def g(x):
    try:
        raise NotImplementedError
    except ValueError:
        raise TypeError() from None
"""
    assert own_sentences(bad) == [5, 7, 8, 10, 13, 15]


# --- refusals in parts ----------------------------------------------------------------


def test_a_refusal_in_parts_is_one_sentence_and_its_cure():
    found = _errors.bad_value("k", "must be odd", "Pass 3.", value=[2])
    assert isinstance(found, ValueError)
    assert str(found) == "`k` must be odd; got [2]. Pass 3."
    assert (found.argument, found.rule) == ("k", "must be odd")
    assert (found.got, found.cure) == ("[2]", "Pass 3.")
    again = pickle.loads(pickle.dumps(found))
    assert (type(again), str(again)) == (type(found), str(found))
    found = _errors.bad_kind("k", "must be a list", got="None, which is nothing")
    assert isinstance(found, TypeError)
    assert str(found) == "`k` must be a list; got None, which is nothing."
    assert str(_errors.bad_kind("k", "is missing")) == "`k` is missing."


def test_arguments_are_given_other_names_and_nothing_else_is():
    said = "`k` must be 1, not k; see `kk`, `k.p` and `decide(k)`."
    assert _errors.worded(said, {"k": "--k", "p": "--p"}) == (
        "--k must be 1, not k; see `kk`, `k.p` and `decide(k)`."
    )


def test_what_is_refused_of_many_problems_is_known_in_parts():
    with pytest.raises(bestcut.InfeasibleError) as caught:
        bestcut.decide_each([[0.9, 0.2], [0.5, 0.3]], at_least={"precision": 0.8})
    error = caught.value
    assert (error.problem, error.unmet, error.count) == (1, 1, 2)
    assert str(error).startswith(f"row 1: {error.refusal} This happens in 1 of 2 ")


# --- one refusal of a metric that ranking may not maximise ---------------------------

UPSIDE_DOWN = bestcut.metrics.from_counts(
    lambda tp, fp, fn, tn: fp - tp, name="upside down"
)
EACH = 'Decide one problem after the other, with `bestcut.decide(solver="exhaustive")`.'
WAYS_OUT = {
    "few instances": (
        lambda: bestcut.decide([0.5], UPSIDE_DOWN),
        'Use solver="exhaustive", which looks at every label vector (n <= 20).',
    ),
    "many instances": (
        lambda: bestcut.decide(np.full(30, 0.5), UPSIDE_DOWN),
        'Only solver="exhaustive" could do it, and only for n <= 20; n is 30 here.',
    ),
    "constraint": (
        lambda: bestcut.decide([0.5], at_least={UPSIDE_DOWN: 0.1}),
        "Leave it out: a prediction that is not a cut of the ranking may be needed to "
        "satisfy it.",
    ),
    "summary": (
        lambda: bestcut.streams.ScoreSummary().bracket(UPSIDE_DOWN),
        'See `bestcut.decide(solver="exhaustive")`.',
    ),
    "rows": (lambda: bestcut.decide_each([[0.5]], UPSIDE_DOWN), EACH),
    "multi-label": (
        lambda: multilabel.decide([[0.5]], UPSIDE_DOWN, average="micro"),
        EACH,
    ),
}


@pytest.mark.parametrize("place", WAYS_OUT)
def test_a_metric_without_the_principle_is_refused_in_one_sentence(place):
    call, way_out = WAYS_OUT[place]
    with pytest.raises(bestcut.SolverMismatchError) as caught:
        call()
    role = "`at_least` metric" if place == "constraint" else "metric"
    reason = bestcut.check_metric(UPSIDE_DOWN).reason
    assert str(caught.value) == (
        f"{role} 'upside down' is not known to satisfy the probability ranking "
        f"principle, so ranking and cutting may miss its optimum. {reason} {way_out}"
    )


# --- percentages where shares are asked for ------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: bestcut.decide([0.9, 0.2], at_least={"recall": x}),
        lambda x: bestcut.decide([0.9], at_least={"recall": bestcut.goals.Certain(x)}),
        lambda x: bestcut.decide_each([[0.9, 0.2]], at_least={"recall": [0.1, x]}),
        lambda x: bestcut.guarantee([1, 0], [0.9, 0.2], [0.5], {"recall": x}),
    ],
    ids=["decide", "Certain", "decide_each", "guarantee"],
)
def test_a_percentage_is_told_to_be_a_share(call):
    sentence = r"`at_least\['recall'\]` must be at most 1, the largest value of the "
    with pytest.raises(ValueError, match=f"{sentence}metric; got 80. Pass 0.8 for 80%"):
        call(80)
    with pytest.raises(ValueError, match=f"{sentence}metric; got 101.0. Ask for less"):
        call(101.0)


def test_a_metric_without_a_bound_may_be_asked_for_80():
    hits = bestcut.metrics.from_expression("tp")
    assert bestcut.decide(np.ones(90), at_least={hits: 80}).n_positive == 90
    rounded = 1.0 + 2.0**-52  # as an expected score may be
    assert bestcut.decide([1.0], at_least={"recall": rounded}).n_positive == 1


# --- values in sentences -------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.5, "1.5"),
        ([1, 2], "[1, 2]"),
        (np.arange(2.0), "array([0., 1.])"),
        (np.array(3), "array(3)"),
        ([[1], [1, 2]], "[[1], [1, 2]]"),
        ("", "''"),
        ({}, "{}"),
        (list(range(1000)), "list of length 1000"),
        (np.zeros(1000), "ndarray of shape (1000,)"),
        (np.zeros((30, 2)), "ndarray of shape (30, 2)"),
        (["x" * 200], "list of length 1"),
        ("x" * 200, "'" + "x" * 99 + "..."),
    ],
)
def test_a_long_value_is_described_and_a_short_one_shown(value, shown):
    assert _errors._shown(value) == shown


@pytest.mark.parametrize(
    "call",
    [
        lambda x: bestcut.decide(x, max_positives=x),
        lambda x: bestcut.decide(x, goal=x),
        lambda x: bestcut.decide(x, at_least=x),
        lambda x: bestcut.decide(x, solver=x),
        lambda x: bestcut.decide_each(x, groups=x, n_jobs=x),
        lambda x: bestcut.decide_each(x[None], min_positives=x + 0.5),
        lambda x: bestcut.decide_each(x[None], axis=x.tolist()),
        lambda x: bestcut.goals.Quantile(x),
        lambda x: bestcut.metrics.LinearUtility(tp=x),
        lambda x: bestcut.score_distribution(x, x > 0.5).prob_at_least(x),
        lambda x: multilabel.decide(x[None], average="macro", per_row=x.tolist()),
    ],
)
def test_no_sentence_shows_a_thousand_numbers(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(np.linspace(0.0, 1.0, 1000))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("value", "other", "shown"),
    [
        (0.25, 0.5, ("0.25", "0.5")),
        (0.9 - 1e-9, 0.9, ("0.899999999", "0.9")),
        (0.1 + 0.2, 0.3, ("0.30000000000000004", "0.29999999999999999")),
        (0.5, 0.5, ("0.5", "0.5")),
    ],
)
def test_numbers_that_differ_are_shown_to_differ(value, other, shown):
    assert _errors._apart(value, other) == shown
