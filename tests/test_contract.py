"""Results say the same thing under the same name, and arguments mean the same."""

import dataclasses
import html.parser
import importlib
import inspect
import json
import pickle

import numpy as np
import pytest

import bestcut
from bestcut import multiclass, multilabel
from bestcut.goals import Certain, Quantile

RNG = np.random.default_rng(0)
P = RNG.beta(0.5, 2, 200)
DRAWS = bestcut.UncertainProbabilities(np.sort(RNG.random((9, 60)), axis=1))
MATRIX = RNG.random((6, 5))
SHARES = RNG.dirichlet(np.ones(3), 20)
LABELS = RNG.random(2000) < 0.5
SCORES = RNG.random(2000) + LABELS


def cut_of(p):
    bracket = bestcut.streams.ScoreSummary.from_scores(p).bracket("f1")
    return bracket.refine(bracket.select(p))


MAKE = {
    "Decision": lambda: bestcut.decide(P, "f1", at_least={"precision": 0.4}),
    "Decisions": lambda: bestcut.decide_each(MATRIX, at_least={"precision": 0.3}),
    "MulticlassDecision": lambda: multiclass.decide(SHARES, also={"precision@k": 0.1}),
    "MultilabelDecision": lambda: multilabel.decide(MATRIX),
    "SampledDecision": lambda: bestcut.decide_samples(MATRIX > 0.4),
    "Guarantee": lambda: bestcut.guarantee(
        LABELS[:1500], SCORES[:1500], SCORES[1500:], {"precision": 0.6}
    ),
    "Cut": lambda: cut_of(P),
}
MORE = {
    "draws": lambda: bestcut.decide(DRAWS, goal=Quantile(0.2)),
    "certain": lambda: bestcut.decide(P, at_least={"recall": Certain(0.3)}),
    "amounts": lambda: bestcut.decide(P, bestcut.RowUtility(tp=P, fp=-0.1)),
    "tied": lambda: bestcut.decide([0.4] * 3, "precision", min_positives=2),
    "nothing": lambda: bestcut.decide([]),
    "nowhere": lambda: bestcut.decide([0.2] * 3, "accuracy"),
    "groups": lambda: bestcut.decide_each(P, groups=np.arange(200) % 7),
    "no problems": lambda: bestcut.decide_each(np.zeros((0, 3))),
    "amounts of each": lambda: bestcut.decide_each(MATRIX, bestcut.RowUtility(fp=-0.5)),
    "draws of each": lambda: bestcut.decide_each(
        DRAWS, groups=np.arange(60) % 4, at_least={"recall": 0.1}
    ),
    "micro": lambda: multiclass.decide(SHARES, average="micro"),
    "macro": lambda: multilabel.decide(MATRIX, average="macro"),
    "all": lambda: multilabel.decide(MATRIX, average="micro"),
    "sets": lambda: multilabel.decide(MATRIX, average="macro", per_row=2),
    "draws of sets": lambda: multilabel.decide([DRAWS, DRAWS], average="macro"),
    "uncertified": lambda: bestcut.guarantee(
        LABELS[:9], SCORES[:9], SCORES[1500:], {"precision": 0.9}
    ),
}
kinds = pytest.mark.parametrize("kind", MAKE)
every = pytest.mark.parametrize(
    "make", [*MAKE.values(), *MORE.values()], ids=[*MAKE, *MORE]
)

# Where each attribute is not, and why.
ELSEWHERE = "the rows are elsewhere: predict() labels a chunk of them"
MANY = "problems of each size have a way of their own"
ONE = "it is one problem"
MEAN = "the expected score is what is maximised, without conditions"
PROMISE = "it promises from labels, without probabilities"
ASSIGNED = "rows compete for classes: rule() decides new ones"
SAMPLED = "no ranking is assumed"
ALONE = "its score is that of the metric alone"
ABSENT = {
    "labels": {"Cut": ELSEWHERE},
    "n": {},
    "n_positive": {},
    "threshold": {"MulticlassDecision": ASSIGNED, "SampledDecision": SAMPLED},
    "n_tied": {
        "MulticlassDecision": ASSIGNED,
        "SampledDecision": SAMPLED,
        "Guarantee": "equal scores are never separated",
    },
    "expected_score": {"Guarantee": PROMISE},
    "error": {"Guarantee": PROMISE},
    "gap": {"Guarantee": PROMISE},
    "gap_scope": {"Guarantee": PROMISE},
    "metric": {"Guarantee": "it has as many as `at_least`"},
    "conditions": {
        "MulticlassDecision": MEAN,
        "MultilabelDecision": MEAN,
        "SampledDecision": MEAN,
        "Guarantee": "`at_least` and `lower` hold what labels certify",
    },
    "bounds": {
        "MulticlassDecision": "every row has one class",
        "Guarantee": "any number of rows may be in the set",
    },
    "solver": {
        "Decisions": MANY,
        "MulticlassDecision": "there is one way",
        "MultilabelDecision": MANY,
        "SampledDecision": "there is one way",
        "Guarantee": "there is one way",
    },
    "goal": {
        "MulticlassDecision": MEAN,
        "MultilabelDecision": MEAN,
        "SampledDecision": MEAN,
        "Guarantee": PROMISE,
    },
    "curve": {
        "Decisions": "decide() a problem by itself to see its curve",
        "MulticlassDecision": ASSIGNED,
        "MultilabelDecision": "it is many problems",
        "SampledDecision": SAMPLED,
        "Guarantee": PROMISE,
        "Cut": "only cuts near the best are looked at",
    },
    "also": {
        "Decision": ALONE,
        "Decisions": ALONE,
        "SampledDecision": ALONE,
        "Guarantee": PROMISE,
        "Cut": ALONE,
    },
    "each": {
        "Decision": ONE,
        "Decisions": "`expected_score` is that of each problem",
        "SampledDecision": ONE,
        "Guarantee": ONE,
        "Cut": ONE,
    },
    "distribution": {"Guarantee": PROMISE},
    "confusion": {
        "Decisions": "each problem has its own",
        "MulticlassDecision": "displays.ClassConfusionDisplay shows that of classes",
        "MultilabelDecision": "each problem has its own",
        "SampledDecision": "labels are not independent, and its cells not either",
        "Guarantee": PROMISE,
    },
    "realised": {"Cut": ELSEWHERE},
    "rule": {
        "Decision": "its threshold is a rule",
        "Decisions": "thresholds are rules",
        "SampledDecision": SAMPLED,
        "Guarantee": "its threshold is a rule",
        "Cut": "predict() is one",
    },
    "to_dict": {},
}
ABSENT["goal_value"] = ABSENT["goal"]

# What only one kind of result can tell.
OWN = {
    "Decision": {"depends_on_zero_division", "plot", "report"},
    "Decisions": {"groups", "to_frame"},
    "MulticlassDecision": {"average", "classes", "plot"},
    "MultilabelDecision": {"average"},
    "SampledDecision": set(),
    "Guarantee": {
        *("certified", "at_least", "lower", "probability"),
        *("n_labelled", "labels_needed", "verdict"),
    },
    "Cut": {
        *("predict", "from_dict", "score_threshold", "output"),
        *("partitions", "summary_bytes", "bracket_bytes"),
    },
}


@kinds
@pytest.mark.parametrize("name", ABSENT)
def test_every_result_has_what_applies_to_it_under_the_one_name(kind, name):
    result = MAKE[kind]()
    assert type(result).__name__ == kind
    assert hasattr(result, name) != (kind in ABSENT[name])


@kinds
def test_no_result_has_another_name_for_it(kind):
    public = {name for name in dir(MAKE[kind]()) if name[0] != "_"}
    assert public <= ABSENT.keys() | OWN[kind]


@every
def test_a_result_says_what_it_is_in_a_few_words(make):
    result = make()
    assert repr(result).lstrip("(").startswith(type(result).__name__)
    assert len(repr(result)) < 400


class Tags(html.parser.HTMLParser):
    """The tags that are open."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@every
def test_a_notebook_shows_a_table(make):
    text = make()._repr_html_()
    assert text.count("<table>") == 1
    tags = Tags()
    tags.feed(text)
    assert not tags.open


@every
def test_a_result_is_plain_python_for_json(make):
    result = make()
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    public = {f.name for f in dataclasses.fields(result) if f.name[0] != "_"}
    assert public <= told.keys()
    n_positive = np.asarray(result.n_positive)
    np.testing.assert_array_equal(told["n_positive"], n_positive)
    if hasattr(result, "expected_score"):
        kept = np.asarray(told["expected_score"], dtype=float)
        np.testing.assert_array_equal(kept, result.expected_score)


def test_what_is_not_finite_is_none_in_plain_python():
    told = bestcut.decide([0.2, 0.1], "accuracy").to_dict()
    assert (told["threshold"], told["labels"]) == (None, [False, False])


# What is told beside a decision, and what its plain Python must hold.
BESIDE = {
    "ScoreDistribution": (
        lambda: bestcut.decide(P).distribution(),
        {"metric", "mean", "std", "std_labels", "std_calibration", "error", "interval"},
    ),
    "ConfusionDistribution": (
        lambda: bestcut.decide(P).confusion(),
        {"mean", "std", "interval"},
    ),
    "CalibrationCheck": (
        lambda: bestcut.check_calibration(LABELS, np.full(2000, 0.5)),
        {"fits", "verdict", "p_value", "bins"},
    ),
    "EmpiricalThreshold": (
        lambda: bestcut.empirical_threshold([0, 0], [0.2, 0.1], "accuracy"),
        {"threshold", "score", "n_positive", "metric"},
    ),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_what_is_told_beside_a_decision_is_plain_python_too(kind):
    make, names = BESIDE[kind]
    told = json.loads(json.dumps(make().to_dict(), allow_nan=False))
    assert names <= told.keys()
    for name in names & {"std", "p_value", "score", "n_positive"}:
        value = getattr(make(), name)
        assert told[name] == (value._asdict() if hasattr(value, "_asdict") else value)
    if "interval" in names:
        interval = make().interval(0.9)
        wanted = getattr(interval, "_asdict", lambda: interval)()
        assert json.dumps(told["interval"]) == json.dumps(wanted)


labelled = pytest.mark.parametrize(
    "make", [make for kind, make in MAKE.items() if kind != "Cut"]
)


@labelled
def test_labels_can_be_overridden_and_the_decision_stays_as_it_was_made(make):
    result, untouched = make(), make()
    before = result.to_dict()
    labels = result.labels
    first = (0,) * labels.ndim
    labels[first] = 2 if labels.dtype.kind == "i" else not labels[first]
    assert np.array_equal(result.labels[first], labels[first])
    assert result.to_dict() == before == untouched.to_dict()
    assert repr(result) == repr(untouched)
    if hasattr(result, "distribution"):
        assert result.distribution().mean == untouched.distribution().mean
        for metric in ("recall", "precision"):
            mine, theirs = result.distribution(metric), untouched.distribution(metric)
            assert (mine.mean, mine.std) == (theirs.mean, theirs.std)


@every
def test_a_result_is_the_same_after_it_was_stored(make):
    result = make()
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    assert again._repr_html_() == result._repr_html_()


@pytest.mark.parametrize(
    ("p", "size"),
    [(DRAWS, 9 * 60), (P, 200)],
    ids=["draws", "known"],
)
@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_what_can_be_computed_again_is_not_stored(p, size, metric):
    decision = bestcut.decide(p, metric)
    # The probabilities are stored twice: in the input's order, and cut in two.
    least = len(pickle.dumps(decision))
    assert least < 2 * 8 * size + 8_000
    decision.distribution().interval(0.9)
    _ = decision.curve, decision.conditions, decision._repr_html_()
    decision.distribution("gmean").ppf(0.5)
    assert len(pickle.dumps(decision)) <= least


def test_the_draws_of_a_batch_are_stored_without_what_is_known_of_them():
    p = bestcut.UncertainProbabilities(RNG.random((50, 1000)))
    before = len(pickle.dumps(p))
    bestcut.decide(p)
    _ = p.mean, p.std, p.one_ranking
    assert len(pickle.dumps(p)) == before < 8 * 50 * 1000 + 1000


def test_a_batch_that_was_used_decides_the_same_after_it_was_stored():
    p = bestcut.UncertainProbabilities(RNG.random((20, 100)))
    wanted = bestcut.decide(p)
    again = pickle.loads(pickle.dumps(p))
    assert bestcut.decide(again).to_dict() == wanted.to_dict()


def test_a_cut_is_deployed_as_plain_python():
    cut = cut_of(P)
    again = type(cut).from_dict(json.loads(json.dumps(cut.to_dict())))
    np.testing.assert_array_equal(again.predict(P), cut.predict(P))
    assert again.to_dict() == cut.to_dict()
    assert repr(again) == repr(cut)
    with pytest.raises(ValueError, match=r"does not know the laws .* Pickle the cut"):
        again.distribution()


def test_plain_python_that_is_something_else_is_refused():
    told = cut_of(P).to_dict()
    del told["n_tied"]
    with pytest.raises(ValueError, match=r"`Cut.to_dict\(\)` returned; .* no 'n_tied'"):
        bestcut.streams.Cut.from_dict(told)
    with pytest.raises(TypeError, match="`data` must be a mapping"):
        bestcut.streams.Cut.from_dict([1])
    told = cut_of(P).to_dict() | {"metric": "mine"}
    with pytest.raises(ValueError, match="'mine'"):
        bestcut.streams.Cut.from_dict(told)


def public_callables():
    """Return every public function and method with its name."""
    names = (
        *("bestcut", "calibration", "counts", "goals", "metrics", "multiclass"),
        *("multilabel", "streams", "scorers", "displays", "report", "estimators"),
        "distributed.dask",
    )
    for name in names:
        path = name if name == "bestcut" else f"bestcut.{name}"
        try:
            module = importlib.import_module(path)
        except ImportError:  # what it needs is not installed
            continue
        for public in module.__all__:
            value = getattr(module, public)
            yield f"{path}.{public}", value
            if inspect.isclass(value):
                for method, function in inspect.getmembers(value, callable):
                    if method[0] != "_" or method in ("__init__", "__call__"):
                        yield f"{path}.{public}.{method}", function


def test_arguments_of_one_meaning_have_one_name():
    other_names = {"P", "Y_proba", "Y_pred", "Y_samples", "probs", "proba", "y_score"}
    found = []
    for name, value in public_callables():
        try:
            arguments = inspect.signature(value).parameters
        except (TypeError, ValueError):  # a module, a type of the language
            continue
        found += [f"{name}({x}=)" for x in arguments if x in other_names]
    assert not found
