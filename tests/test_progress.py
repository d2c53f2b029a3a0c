"""Those who wait are told how far a computation is, and others nothing."""

import numpy as np
import pytest

import bestcut
from bestcut import multilabel

RNG = np.random.default_rng(0)
MATRIX = RNG.beta(0.5, 1.5, (3000, 4))
SCORES = RNG.normal(size=200)
Y = RNG.random(200) < 1 / (1 + np.exp(-SCORES))
DRAWS = bestcut.UncertainProbabilities(RNG.beta(1, 2, (3, 60)))
LONG = {
    "rows": lambda **x: bestcut.decide_each(MATRIX, **x),
    "rows in threads": lambda **x: bestcut.decide_each(MATRIX, n_jobs=2, **x),
    "groups": lambda **x: bestcut.decide_each(
        MATRIX[:, 0], groups=np.arange(3000) // 3, **x
    ),
    "groups of draws": lambda **x: bestcut.decide_each(
        DRAWS, groups=np.arange(60) // 6, **x
    ),
    "sets of labels": lambda **x: multilabel.decide(MATRIX, **x),
    "columns of draws": lambda **x: multilabel.decide(
        [DRAWS, DRAWS], average="macro", **x
    ),
    **{
        method: lambda method=method, **x: bestcut.calibrate(
            Y, SCORES, method=method, n_draws=30, **x
        )
        for method in ("auto", "process", "projection", "spline")
    },
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
def test_a_callable_is_told_what_is_done_of_how_much(call, capsys):
    told = []
    call(progress=lambda done, total: told.append((done, total)))
    done, totals = zip(*told, strict=True)
    assert len(set(totals)) == 1
    assert list(done) == sorted(done)
    assert done[-1] == totals[0]
    assert capsys.readouterr() == ("", "")


def test_a_line_on_standard_error_is_written_and_taken_away(capsys):
    bestcut.calibrate(Y, SCORES, n_draws=30, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\rCalibrating: 100%" in err
    assert err.endswith("\r\033[K")
    for silent in (None, False):
        bestcut.calibrate(Y, SCORES, n_draws=30, progress=silent)
    assert capsys.readouterr() == ("", "")


def test_progress_changes_nothing():
    plain, told = (LONG["auto"](progress=x)(SCORES) for x in (None, lambda *_: None))
    np.testing.assert_array_equal(plain.draws(), told.draws())


def test_a_window_without_standard_error_is_no_trouble(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    bestcut.decide_each(MATRIX, progress=True)


@pytest.mark.parametrize("call", [LONG["rows"], LONG["auto"]])
def test_what_cannot_be_told_is_refused(call):
    with pytest.raises(TypeError, match="`progress` must be True, or a callable"):
        call(progress="bar")
