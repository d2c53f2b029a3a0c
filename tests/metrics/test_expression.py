"""Formulas in text mean what they say, and nothing else gets through."""

import pickle
import random
import re
import sys
from contextlib import contextmanager
from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st

import bestcut
from bestcut.metrics import (
    ExpressionError,
    FractionalLinear,
    LinearUtility,
    from_expression,
)
from groups import slow

CELLS = np.array(list(product(range(4), repeat=4)), dtype=float).T
COUNTS = dict(zip(("tp", "fp", "fn", "tn"), CELLS, strict=True))
COUNTS |= {
    "n": CELLS.sum(axis=0),
    "n_pred": CELLS[0] + CELLS[1],
    "n_pos": CELLS[0] + CELLS[2],
}


def scores(metric):
    return metric(**{name: COUNTS[name] for name in ("tp", "n_pred", "n_pos", "n")})


def by_python(text):
    """Evaluate a formula of the test's own as Python does, in floating point."""
    names = {
        "sqrt": np.sqrt,
        "abs": np.abs,
        "min": lambda *values: reduce(np.minimum, values),
        "max": lambda *values: reduce(np.maximum, values),
        "_": np.float64,
        "__builtins__": {},
    }
    floats = re.sub(r"(\d+(\.\d+)?)", r"_(\1)", text)
    with np.errstate(all="ignore"):
        values = eval(floats, names, COUNTS)
    return np.broadcast_to(values, CELLS[0].shape)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("2*tp/(2*tp+fp+fn)", FractionalLinear),
        ("tp / (tp + 0.3*fp + 0.7*fn)", FractionalLinear),
        ("(tp+tn)/n", FractionalLinear),
        ("tp/n_pred", FractionalLinear),
        ("-fp/n - -tp/n", FractionalLinear),
        ("1 * tp / (fn + n_pos) * 3", FractionalLinear),
        ("80*tp - 10*fp", LinearUtility),
        ("(tp - fp) / 2", LinearUtility),
        ("+tp", LinearUtility),
        ("sqrt(tp/(tp+fp) * tp/(tp+fn))", None),
        ("min(tp, fp, fn) + max(tn, 1)", None),
        ("abs(fp - fn)", None),
        ("tp**2 / (n**2 + 1)", None),
        ("tp / (1 + fp)", None),
        ("tp / n_pred + tp / n_pos", None),
        ("tp / (fp / (fn + 1))", None),
        ("(tp / fp) / fn", None),
        ("2 / (1 + tp) - 1", None),
        ("tp * fp", None),
        ("3", None),
        ("tp / 0", None),
    ],
)
def test_a_formula_is_worth_what_python_says(text, family):
    metric = from_expression(text)
    plain = by_python(text)
    plain = np.where(np.isfinite(plain), plain, 0.0)
    np.testing.assert_allclose(scores(metric), plain, rtol=1e-13, atol=1e-13)
    if family is not None:
        assert type(metric) is family
    assert metric.name == text
    assert (
        scores(pickle.loads(pickle.dumps(metric))).tolist() == scores(metric).tolist()
    )


FORMULAS = st.recursive(
    st.sampled_from([*COUNTS, "1", "2", "0.5"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(
            lambda t: f"({t[0]}{t[1]}{t[2]})"
        ),
        inner.map("-{}".format),
        st.tuples(inner, inner).map(lambda t: f"min({t[0]}, {t[1]})"),
        inner.map("sqrt({})".format),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(FORMULAS)
def test_linear_formulas_are_simplified_without_changing_them(text):
    plain = by_python(text)
    known = np.isfinite(plain)
    try:
        found = scores(from_expression(text, zero_division=0.125))
    except ExpressionError:  # it holds sqrt(-1) or the like
        reject()
    np.testing.assert_allclose(found[known], plain[known], rtol=1e-9, atol=1e-12)


def test_zero_division_is_the_value_where_there_is_none():
    for text in ("tp/(tp+fp)", "sqrt(tp/(tp+fp))"):
        metric = from_expression(text, zero_division=0.25)
        assert float(metric(tp=0, n_pred=0, n_pos=1, n=3)) == 0.25


def test_names_may_be_given_and_spaces_do_not_matter():
    assert from_expression(" ( tp\n + tn ) / n ").name == "( tp + tn ) / n"
    assert from_expression("tp", name="hits").name == "hits"


def test_the_optimum_of_a_formula_is_that_of_the_metric():
    p = np.random.default_rng(0).beta(0.5, 2, 60)
    for text, name in {
        "2*tp/(2*tp+fp+fn)": "f1",
        "tp/(tp+fp+fn)": "jaccard",
        "sqrt(tp/(tp+fp)*tp/(tp+fn))": "fowlkes_mallows",
    }.items():
        one, other = bestcut.decide(p, from_expression(text)), bestcut.decide(p, name)
        assert one.n_positive == other.n_positive
        assert one.expected_score == pytest.approx(other.expected_score, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not understood"),
        ("tp +", "is not understood"),
        ("tp fp", "is not understood"),
        ("tq", "holds 'tq', which is not allowed. Use tp, fp"),
        ("tp.real", "holds 'tp.real'"),
        ("tp[0]", r"holds '\['"),
        ("tp if fp else fn", "holds 'tp if fp else fn'"),
        ("tp < fp", "holds '<'"),
        ("lambda: 1", "holds ':'"),
        ("(x := 1)", "holds ':'"),
        ("'tp'", 'holds "\'"'),
        ("tp // fp", "holds 'tp // fp'"),
        ("tp and fp", "holds 'tp and fp'"),
        ("not tp", "holds 'not tp'"),
        ("True", "holds 'True'"),
        ("None", "holds 'None'"),
        ("1j", "holds '1j'"),
        ("(tp, fp)", "holds"),
        ("tp ^ fp", r"holds '\^'"),
        ("\uff54\uff50", "holds"),  # would be tp to Python
        ("print(tp)", r"holds 'print\(tp\)'"),
        ("__import__", "holds '__import__'"),
        ("exec(tp)", r"holds 'exec\(tp\)'"),
        ("sqrt", "holds 'sqrt'"),
        ("sqrt()", "holds"),
        ("sqrt(tp, fp)", r"sqrt\(\) takes one argument; got 2"),
        ("min(tp)", "holds"),
        ("min(*tp)", "holds"),
        ("abs(x=tp)", "holds '='"),
        ("tp(fp)", "holds"),
        ("sqrt(sqrt)(tp)", "holds"),
        ("yield tp", "is not understood|holds"),
        ("await tp", "is not understood|holds"),
        ("1e400", "too large"),
        ("1e299 * 1e299 * tp", "holds .1e299 . 1e299., which is not a finite number"),
        ("1e-299 * 1e-299 * tp", "too large or too small"),
        ("1e155 * tp", "too large or too small"),  # of which the square is, too
        ("1e-155 * tp", "too large or too small"),
        ("9" * 1001, "may have at most 1000 characters; this one has 1001"),
        ("(" * 400 + "tp" + ")" * 400, "is not understood"),
        ("-" * 300 + "tp", "nested too deeply|is not understood"),
        ("tp\x00", "holds"),
        ("\ud800", "holds"),
        ("tp #", "holds"),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        from_expression(text)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_coefficients_whose_squares_are_finite_are_taken():
    metric = from_expression("9e149*tp - 2e-150*fp")
    assert (metric.tp, metric.fp) == (9e149, -2e-150)


def test_only_text_is_a_formula():
    with pytest.raises(TypeError, match="a formula must be text; got int"):
        from_expression(3)


# --- random strings -------------------------------------------------------------------

TOKENS = [
    *COUNTS,
    *'+-*/()., \n\t-:=[]{}<@~!%$#;`j"\\é²\x00\ud800\u2028\uff54',
    *re.findall(r"\S+", "** // 1 2.5 1e3 0x1f 1_0 sqrt( min( max( abs( eval( exec("),
    *re.findall(r"\S+", "open( __import__( print( 'os' .system __class__ lambda if"),
    *re.findall(r"\S+", "else for in or not await yield :="),
    "9" * 30,
    "f'{tp}'",
]
SANE = [
    *COUNTS,
    "1",
    "0.5",
    "3",
    "(tp + fp)",
    "(tp + fn + 1)",
    "sqrt(tp)",
    "max(tp, fp)",
]
FORBIDDEN = ("exec", "open", "os.", "subprocess.", "socket.", "ctypes.", "shutil.")
_watch = {"on": False, "seen": [], "hooked": False}


@contextmanager
def nothing_is_executed():
    """Fail if Python runs code from text, opens a file or starts a process."""

    def hook(event, arguments):
        if _watch["on"] and event.startswith(FORBIDDEN):
            _watch["seen"].append((event, arguments))

    if not _watch["hooked"]:  # it can never be taken away
        sys.addaudithook(hook)
        _watch["hooked"] = True
    _watch["on"] = True
    try:
        yield
    finally:
        _watch["on"] = False
        seen, _watch["seen"] = _watch["seen"], []
    assert not seen


def random_formula(rng):
    if rng.random() < 0.15:
        parts = [rng.choice(SANE)]
        for _ in range(rng.randrange(4)):
            parts += [rng.choice(["+", "-", "*", "/", "**"]), rng.choice(SANE)]
        return "".join(parts)
    if rng.random() < 0.1:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(20)))
    return "".join(rng.choice(TOKENS) for _ in range(rng.randrange(1, 12)))


UNKNOWN = "bestcut: `metric`"  # a text that does not look like a formula


def fuzz(seed, count):
    testing = pytest.importorskip("click.testing")
    pytest.importorskip("polars")
    pytest.importorskip("rich")
    from bestcut.cli._main import cli
    from cli.run import APART

    runner, rng = testing.CliRunner(**APART), random.Random(seed)
    statuses = {0: 0, 1: 0, 2: 0}
    for warm in ("tp", "sqrt(tp)", "fp - tp", "nonsense"):  # imports happen here
        runner.invoke(cli, ["check", warm])
    with nothing_is_executed():
        for _ in range(count):
            text = random_formula(rng)
            run = runner.invoke(cli, ["check", "--", text], catch_exceptions=False)
            statuses[run.exit_code] += 1
            if run.exit_code == 2:
                said = run.stderr.startswith(("bestcut: the formula", UNKNOWN))
                # A formula that is understood, of values that would overflow.
                large = run.stderr.startswith("bestcut: metric ")
                large &= "must lie between -1e+150 and 1e+150" in run.stderr
                assert said or large, text
                assert run.stderr.count("\n") == 1
    return statuses


@pytest.mark.parametrize("count", [200, slow(2000)])
def test_no_random_string_gets_through(count):
    statuses = fuzz(0, count)
    assert min(statuses.values()) > 5  # each verdict, and refusals


@pytest.mark.slow
def test_no_random_string_gets_through_a_hundred_thousand_times():
    statuses = fuzz(1, 100_000)
    assert min(statuses.values()) > 1000


def test_what_is_executed_would_be_noticed():
    def run():
        with nothing_is_executed():
            eval("1 + 1")

    with pytest.raises(AssertionError):
        run()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sqrt(tp/(tp+fn) * tn/(tn+fp))", "gmean"),
        ("(tp*tn - fp*fn) / sqrt((tp+fp)*(tp+fn)*(tn+fp)*(tn+fn))", "mcc"),
        ("1 - ((fn/(tp+fn))**2 + (fp/(tn+fp))**2) / 2", "qmean"),
    ],
)
def test_a_smooth_formula_is_as_good_as_the_metric(text, name):
    p = np.random.default_rng(0).beta(0.3, 3, 20_000)
    formula = bestcut.decide(p, from_expression(text))
    metric = bestcut.decide(p, name)
    assert formula.n_positive == metric.n_positive
    assert formula.expected_score == pytest.approx(metric.expected_score, abs=1e-13)
