"""On dask a decision is the local one, in two passes, and the data stay there."""

import numpy as np
import pytest

import bestcut


@pytest.fixture(scope="module")
def client():
    """Return a client of a cluster of two worker processes."""
    distributed = pytest.importorskip("dask.distributed")
    dask = pytest.importorskip("dask")
    with (
        # Nobody should wait half a minute for a worker that was killed on purpose.
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def engine(client):
    """Return bestcut's module; the cluster is dask's default scheduler."""
    from bestcut.distributed import dask

    return dask


def frame(parts, before=None):
    """Return a DataFrame with these partitions; `before` is called with each number."""
    import dask.dataframe as dd
    import pandas as pd

    def make(i):
        if before is not None:
            before(i)
        start = sum(map(len, parts[:i]))
        ids = np.arange(start, start + len(parts[i]))
        return pd.DataFrame({"id": ids, "p": np.asarray(parts[i], dtype=np.float64)})

    meta = pd.DataFrame({"id": np.arange(0), "p": np.zeros(0)})
    return dd.from_map(make, range(len(parts)), meta=meta)


def first_tied(p, cut):
    """Return the labels that take the earliest of the tied."""
    labels = p >= cut.threshold
    taken, there = cut.n_tied
    if there:
        labels[np.flatnonzero(p == cut.threshold)[taken:]] = False
    return labels


def test_frames_are_decided_as_they_would_be_locally(engine, case, agrees):
    parts, asked = case
    labelled, cut = engine.decide(frame(parts), "p", **asked)
    assert cut.partitions == len(parts)
    rows = labelled.compute()
    p = np.concatenate(parts)
    assert list(rows) == ["id", "p", "decision"]
    assert rows.id.tolist() == list(range(p.size))
    agrees(p, rows.decision.to_numpy(), cut, asked)
    np.testing.assert_array_equal(rows.decision, first_tied(p, cut))


def test_arrays_are_decided_as_they_would_be_locally(engine, case, agrees):
    parts, asked = case
    array = frame(parts)["p"].to_dask_array()  # blocks of unknown length
    labels, cut = engine.decide(array, **asked)
    assert type(labels) is type(array)
    p = np.concatenate(parts)
    agrees(p, labels.compute(), cut, asked)
    np.testing.assert_array_equal(labels.compute(), first_tied(p, cut))


@pytest.mark.parametrize("dtype", ["float32", "Float64", "double[pyarrow]"])
def test_any_numbers_will_do(engine, dtype):
    import dask.dataframe as dd
    import pandas as pd

    p = np.random.default_rng(0).beta(0.3, 3, 500).astype(np.float32)
    series = dd.from_pandas(pd.Series(p, dtype=dtype), npartitions=3)
    labels, cut = engine.decide(series, metric="mcc", max_positives=50, name="yes")
    local = bestcut.decide(p, "mcc", max_positives=50)
    assert (labels.name, labels.dtype) == ("yes", np.bool_)
    np.testing.assert_array_equal(labels.compute(), local.labels)
    assert cut.threshold == local.threshold


def test_labels_are_right_whatever_is_computed_of_them(engine):
    labelled, cut = engine.decide(frame([[0.5] * 4] * 4), "p", max_positives=10)
    assert cut.n_tied == (10, 16)
    assert (
        labelled.partitions[2].compute().decision.tolist() == [True] * 2 + [False] * 2
    )
    assert labelled["decision"].sum().compute() == 10
    assert labelled[labelled.decision].id.compute().tolist() == list(range(10))


def test_files_are_read_one_column_at_a_time(engine, tmp_path):
    import dask.dataframe as dd

    p = np.round(np.random.default_rng(0).beta(0.3, 3, 1000), 2)
    frame(np.split(p, 10)).to_parquet(tmp_path / "scores")
    # dask may join small files when it reads one column of them, and not for all.
    read = dd.read_parquet(tmp_path / "scores")
    labelled, cut = engine.decide(read, "p", max_positives=123)
    assert cut.partitions == 10
    rows = labelled.compute().sort_values("id")
    np.testing.assert_array_equal(rows.decision, first_tied(p, cut))
    assert rows.decision.sum() == 123


def test_scores_are_read_twice_and_the_rest_is_left_to_dask(engine, evaluations):
    seen = evaluations()
    df = frame([[0.9, 0.2]] * 3, before=lambda i: seen.count())
    labelled, _ = engine.decide(df, "p")
    assert len(seen) == 2 * 3
    labelled.compute()
    assert len(seen) == 3 * 3


@pytest.mark.parametrize("kill_at", [0, 1, 2], ids=["summary", "bracket", "labels"])
def test_a_killed_worker_changes_nothing(engine, client, evaluations, kill_at):
    parts = np.split(np.round(np.random.default_rng(1).beta(0.3, 3, 4000), 3), 4)
    asked = {"metric": "f1", "max_positives": 350}
    expected, undisturbed = engine.decide(frame(parts), "p", **asked)
    seen = evaluations(kill_at)
    before = {worker["pid"] for worker in _workers(client)}

    def deadly(i):
        if i == 1:
            seen.count()

    labelled, cut = engine.decide(frame(parts, before=deadly), "p", **asked)
    rows = labelled.compute()
    assert len(seen) == 4  # three evaluations, one of them twice
    client.wait_for_workers(2)
    assert before != {worker["pid"] for worker in _workers(client)}
    assert cut.n_positive == undisturbed.n_positive
    assert cut.expected_score == undisturbed.expected_score
    assert rows.decision.tolist() == expected.compute().decision.tolist()


def _workers(client):
    pids = client.run(lambda: {"pid": __import__("os").getpid()})
    return pids.values()


def test_the_bytes_that_travelled_are_reported(engine):
    p = np.random.default_rng(0).beta(0.3, 3, 100_000)
    summary = bestcut.streams.ScoreSummary.from_scores(p)
    _, cut = engine.decide(frame(np.split(p, 4)), "p")
    assert cut.summary_bytes == len(summary.to_bytes())  # merged on the way
    wanted = summary.bracket("f1").select(p)
    assert cut.bracket_bytes == 16 * np.unique(wanted).size < 0.01 * p.nbytes
    sent = cut.summary_bytes + cut.bracket_bytes
    assert repr(cut).endswith(f"partitions 4, bytes sent {sent})")


def test_a_cut_says_what_a_decision_says(engine):
    p = np.random.default_rng(0).beta(0.3, 3, 2000)
    _, cut = engine.decide(frame(np.split(p, 4)), "p")
    local = bestcut.decide(p)
    assert type(cut) is bestcut.streams.Cut
    assert repr(cut.distribution("mcc")) == repr(local.distribution("mcc"))
    mine, theirs = cut.confusion().mean.tp, local.confusion().mean.tp
    assert mine == pytest.approx(theirs, rel=1e-12)
    np.testing.assert_array_equal(cut.predict(p), local.labels)


def test_a_sample_knows_what_is_not_there(engine):
    import dask.array as da

    rng = np.random.default_rng(0)
    y = rng.random(1_000) < 0.2
    calibration = bestcut.calibrate(y, rng.normal(loc=1.5 * y))
    fresh = rng.normal(loc=1.5 * (rng.random(100_000) < 0.2))
    fresh = np.clip(fresh, *calibration.score_range)
    p = calibration(fresh).mean
    _, cut = engine.decide(da.from_array(p, chunks=50_000))
    sample = calibration(rng.choice(fresh, 5_000))
    honest = bestcut.decide(sample).distribution()
    narrow, wide = (np.diff(x.interval()) for x in (cut.distribution(), honest))
    assert narrow < wide / 5  # the one leaves out the doubt about the probabilities
    assert honest.std_calibration > 2 * honest.std_labels
    careful = bestcut.decide(sample, "recall", at_least={"precision": 0.6})
    reached = bestcut.expected_score(p, p >= careful.threshold, "precision")
    assert reached == pytest.approx(0.6, abs=0.02)


# -- what is refused


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [[0.5], [0.1, 0.2, 1.5, -1.0], [np.nan]],
            "column 'p' must lie in [0, 1]; got 1.5 in partition 1, row 2. Pass "
            "probabilities, not scores or logits.",
        ),
        (
            [[0.5], [], [0.5, np.nan], [2.0]],
            "column 'p' must lie in [0, 1]; got null or NaN in partition 2, row 1. "
            "Drop or fill the missing entries first.",
        ),
    ],
)
def test_the_first_offender_is_named(engine, parts, message):
    with pytest.raises(bestcut.InvalidProbabilityError) as caught:
        engine.decide(frame(parts), "p")
    assert str(caught.value) == message


def test_what_is_missing_in_an_array_is_named(engine):
    import dask.array as da

    array = da.from_array(np.array([0.1, 0.2, np.nan]), chunks=2)
    with pytest.raises(bestcut.InvalidProbabilityError, match="`collection` must lie"):
        engine.decide(array)


@pytest.mark.parametrize("decide", ["decide", "decide_each"])
def test_columns_that_cannot_be_used_are_refused_at_once(engine, evaluations, decide):
    import pandas as pd

    seen = evaluations()
    df = frame([[0.5]], before=lambda i: seen.count())
    df = df.assign(word=df.p.map(lambda x: "a", meta=pd.Series([], dtype=object)))
    by = ("id",) if decide == "decide_each" else ()
    call = getattr(engine, decide)
    with pytest.raises(
        ValueError, match=r"`y_proba` 'P' is not known. Did you mean 'p'"
    ):
        call(df, "P", *by)
    with pytest.raises(TypeError, match="column 'word' must hold numbers; it holds "):
        call(df, "word", *by)
    with pytest.raises(ValueError, match="`name` 'id' is already a column"):
        call(df, "p", *by, name="id")
    with pytest.raises(TypeError, match="`name` must be a string; got int"):
        call(df, "p", *by, name=3)
    with pytest.raises(ValueError, match="`metric` 'f1x' is not known"):
        call(df, "p", *by, metric="f1x")
    with pytest.raises(ValueError, match="`max_positives` must not be negative"):
        call(df, "p", *by, max_positives=-1)
    with pytest.raises(TypeError, match=r"`collection` must be a dask .* got list"):
        call([0.5], None, *by)
    assert len(seen) == 0


def test_what_only_a_decision_in_memory_has_is_refused_by_name(engine):
    message = (
        "`at_least` is not there for the data of an engine; `bestcut.decide` has it, "
        "for rows in memory. Decide with it for a random sample of the rows, which "
        "fits there; all rows that reach the `threshold` of this decision are to be "
        "positive."
    )
    with pytest.raises(TypeError) as caught:
        engine.decide(frame([[0.5]]), "p", "recall", at_least={"precision": 0.6})
    assert str(caught.value) == message
    with pytest.raises(TypeError, match=r"`goal` is not there .* some groups at"):
        engine.decide_each(frame([[0.5]]), "p", "id", goal=bestcut.goals.Quantile(0.3))
    with pytest.raises(TypeError, match=r"`groups` is not there .* name it as `by`"):
        engine.decide_each(frame([[0.5]]), "p", groups="id")
    with pytest.raises(TypeError, match="unexpected keyword argument 'at_lest'"):
        engine.decide(frame([[0.5]]), "p", at_lest={"precision": 0.6})


def test_wrong_shapes_are_refused(engine):
    import dask.array as da

    with pytest.raises(TypeError, match="`y_proba` is for DataFrames; got 'f1'"):
        engine.decide(da.zeros(3), "f1")
    with pytest.raises(ValueError, match=r"must be 1-D; got shape \(3, 2\)"):
        engine.decide(da.zeros((3, 2)))
    with pytest.raises(ValueError, match="`min_positives` must be at most the number"):
        engine.decide(da.zeros(3), min_positives=4)


def test_rows_that_change_are_noticed(engine, evaluations):
    seen = evaluations()

    def other(block):
        return np.random.default_rng(seen.count()).beta(0.3, 3, block.size)

    import dask.array as da

    array = da.zeros(1000, chunks=1000).map_blocks(other, dtype=np.float64)
    with pytest.raises(RuntimeError, match=r"must not change .* with `persist\(\)`"):
        engine.decide(array)


def test_the_data_are_not_brought_to_the_driver(engine, monkeypatch):
    import dask

    monkeypatch.setattr("bestcut.distributed._passes._MOST_SCORES", 1)
    p = np.linspace(0.249, 0.251, 60)
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match=r"'f1' needs \d+ scores on the driver"):
            engine.decide(frame(np.split(p, 4)), "p", max_positives=30)
        _, cut = engine.decide(frame([[0.5] * 60] * 4), "p", max_positives=30)
    assert cut.n_positive == 30  # a tie of any size is one score


# -- one decision for each group


@pytest.fixture
def queries():
    """Return rows of groups of different sizes, ties among them."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(200), rng.integers(1, 30, 200))
    rng.shuffle(group)
    p = np.round(rng.beta(0.5, 2, group.size), 1)
    shop = np.where(group % 3 == 0, None, (group % 3).astype(str))
    return pd.DataFrame({"p": p, "query": group, "shop": shop})


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_groups_are_decided_as_they_would_be_locally(engine, queries, metric):
    import dask.dataframe as dd

    df = dd.from_pandas(queries, npartitions=5)
    asked = {"metric": metric, "max_positives": 5}
    labelled, groups = engine.decide_each(df, "p", "query", **asked)
    local = bestcut.decide_each(queries.p, groups=queries["query"], **asked)
    rows = labelled.compute().sort_index()
    assert list(rows) == ["p", "query", "shop", "decision"]
    np.testing.assert_array_equal(rows.p, queries.p)
    np.testing.assert_array_equal(rows.decision, local.labels)
    facts = groups.compute().sort_values("query")
    np.testing.assert_array_equal(facts["query"], local.groups)
    np.testing.assert_array_equal(facts.n_positive, local.n_positive)
    np.testing.assert_array_equal(facts.threshold, local.threshold)
    np.testing.assert_array_equal(facts.n, np.bincount(queries["query"]))
    gap = np.abs(facts.expected_score - local.expected_score)
    assert (gap <= facts.error + local.error).all()


def test_groups_may_have_several_columns_and_no_name(engine, queries):
    import dask.dataframe as dd

    df = dd.from_pandas(queries, npartitions=3)
    labelled, groups = engine.decide_each(df, "p", ["shop", "query"])
    local = bestcut.decide_each(queries.p, groups=queries["query"])
    rows = labelled.compute().sort_index()
    np.testing.assert_array_equal(rows.decision, local.labels)
    labelled, groups = engine.decide_each(df, "p", "shop")
    assert groups.compute().shop.isna().sum() == 1
    assert groups.compute().n.sum() == len(queries)
    assert len(labelled.compute()) == len(queries)


def test_the_group_of_an_offender_is_named(engine):
    labelled, _ = engine.decide_each(frame([[0.5, 0.1], [3.0]]), "p", "id")
    message = r"column 'p' must lie in \[0, 1\]; got 3.0 in group id=2. Pass"
    with pytest.raises(bestcut.InvalidProbabilityError, match=message):
        labelled.compute()


def test_groups_that_cannot_be_used_are_refused(engine):
    df = frame([[0.5]])
    with pytest.raises(ValueError, match="`by` 'query' is not known"):
        engine.decide_each(df, "p", "query")
    with pytest.raises(TypeError, match="`by` must be the name of a column, or a list"):
        engine.decide_each(df, "p", [])
    with pytest.raises(ValueError, match="`by` must not hold 'n': the returned frame"):
        engine.decide_each(df.rename(columns={"id": "n"}), "p", "n")
