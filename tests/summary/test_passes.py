"""Two passes over scores that are anywhere find the cut, or say what is wrong."""

import pickle

import numpy as np
import pytest

import bestcut
from bestcut.metrics import get
from bestcut.streams import ScoreSummary
from bestcut.summary import find_cut, merged
from bestcut.summary._passes import Gathered
from groups import one_in
from summary.known import KINDS, streamed

CHANGED = RuntimeError("the scores changed")


def over(parts, together=1):
    """Return a runner over partitions, each in chunks, as an engine would be one."""

    def run(asked):
        asked = pickle.loads(pickle.dumps(asked))
        answers = [
            pickle.loads(pickle.dumps(asked(np.array_split(part, 2), i)))
            for i, part in enumerate(parts)
        ]
        return [
            merged(answers[i : i + together]) for i in range(0, len(parts), together)
        ]

    return run


@one_in(3, "kind, name, together", list(KINDS), ["f1", "gmean"], [1, 2, 9])
def test_the_cut_is_that_of_one_summary(kind, name, together):
    p = KINDS[kind](np.random.default_rng(0), 500)
    parts = np.split(p, [0, 100, 101, 400])
    cut = find_cut(
        over(parts, together), get(name), changed=CHANGED, min_positives=3
    ).to_dict()
    _, whole = streamed(p, name, min_positives=3)
    for key, value in whole.to_dict().items():
        assert cut[key] == (
            pytest.approx(value, rel=1e-12, abs=1e-12)
            if isinstance(value, float)
            else value
        )


def test_nothing_at_all_is_a_cut_of_nothing():
    for parts in ([], [np.zeros(0)]):
        cut = find_cut(over(parts), get("f1"), changed=CHANGED)
        assert (cut.n, cut.n_positive, cut.threshold) == (0, 0, np.inf)


@pytest.mark.parametrize("together", [1, 3])
def test_the_first_offender_is_named(together):
    parts = [np.array(x) for x in ([0.5], [0.1, 0.2, 1.5, -1.0], [np.nan])]
    with pytest.raises(
        bestcut.InvalidProbabilityError, match=r"must lie .* 1\.5 in partition 1, row 2"
    ):
        find_cut(over(parts, together), get("f1"), changed=CHANGED)


@pytest.mark.parametrize("together", [1, 3])
def test_more_different_scores_than_allowed_are_refused(together):
    p = np.linspace(0.249, 0.251, 60)
    for most in (0, 1, 5):
        with pytest.raises(ValueError, match=rf"more than {most} differ"):
            find_cut(
                over(np.split(p, 4), together),
                get("f1"),
                changed=CHANGED,
                most=most,
                max_positives=30,
            )
    ties = [np.full(60, 0.5)] * 4  # of any size are one score
    cut = find_cut(over(ties), get("f1"), changed=CHANGED, most=1, max_positives=30)
    assert cut.n_tied == (30, 240)


def test_scores_that_change_between_the_passes_are_noticed():
    passes = iter([[0.5, 0.25], [0.5, 0.3]])

    def run(asked):
        return [asked([np.array(next(passes))])]

    with pytest.raises(RuntimeError, match="the scores changed"):
        find_cut(run, get("f1"), changed=CHANGED)


def test_equal_scores_are_kept_once():
    bracket = ScoreSummary.from_scores([0.5] * 1000).bracket("f1")
    chunks = [np.full(100, 0.5)] * 10
    asked = bestcut.summary.Pass(bracket.window)
    gathered = asked(chunks)
    assert isinstance(gathered, Gathered)
    assert (gathered.values.tolist(), gathered.counts.tolist()) == ([0.5], [1000])


def test_a_summary_travels_without_its_empty_bins():
    summary = ScoreSummary.from_scores([0.5, 0.25])
    assert len(pickle.dumps(summary)) < 1000
    assert pickle.loads(pickle.dumps(summary)).to_bytes() == summary.to_bytes()
