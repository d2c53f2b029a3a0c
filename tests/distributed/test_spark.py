"""On Spark a decision is the local one, in two passes, wherever the rows are."""

import numpy as np
import pytest

import bestcut


@pytest.fixture
def engine(spark):
    """Return bestcut's module; a session of Spark is there."""
    from bestcut.distributed import spark as module

    return module


@pytest.fixture
def frame(spark):
    """Return a maker of DataFrames with given partitions."""

    def make(parts, before=None):
        starts = np.cumsum([0, *map(len, parts)])

        def rows(batches):
            import pyarrow as pa

            for batch in batches:
                for i in batch.column(0).to_pylist():
                    if before is not None:
                        before(i)
                    ids = np.arange(starts[i], starts[i + 1])
                    p = np.asarray(parts[i], dtype=np.float64)
                    yield pa.RecordBatch.from_pydict({"id": ids, "p": p})

        numbers = spark.range(0, len(parts), 1, len(parts))
        return numbers.mapInArrow(rows, "id long, p double")

    return make


def columns(df, *names):
    """Return columns as arrays, in the order of `id`."""
    rows = sorted(df.select("id", *names).collect())
    return [np.array(column) for column in zip(*rows, strict=True)][1:]


# Not all: a job of Spark takes a second, however little there is to do.
@pytest.mark.parametrize(
    "case",
    [
        "skewed",
        "empty ones",
        "nothing",
        "all equal",
        "zeros and ones",
        "a tie at the cut",
        "own metric",
    ],
    indirect=True,
)
def test_frames_are_decided_as_they_would_be_locally(engine, frame, case, agrees):
    parts, asked = case
    labelled, cut = engine.decide(frame(parts), "p", **asked)
    assert labelled.columns == ["id", "p", "decision"]
    assert cut.partitions == len(parts)
    p = np.concatenate(parts)
    if p.size == 0:
        assert labelled.count() == cut.n == cut.n_positive == 0
        return
    same, labels = columns(labelled, "p", "decision")
    np.testing.assert_array_equal(same, p)
    agrees(p, labels, cut, asked)


def test_the_same_of_the_tied_are_taken_wherever_they_are(engine, frame):
    p = np.round(np.random.default_rng(0).beta(0.3, 3, 500), 1)
    df = frame(np.split(p, 5))
    expected, cut = engine.decide(df, "p", max_positives=45)
    taken, there = cut.n_tied
    assert 0 < taken < there
    (labels,) = columns(expected, "decision")
    labelled, again = engine.decide(df.repartition(3), "p", max_positives=45)
    assert again.n_tied == cut.n_tied
    np.testing.assert_array_equal(columns(labelled, "decision")[0], labels)


@pytest.mark.parametrize("copies", [1, 7])
def test_equal_rows_are_counted(engine, frame, copies):
    df = frame([[0.25] * 30, [], [0.25] * 4]).selectExpr(
        f"id % {34 // copies} as id", "p", "map(id, p) as unhashable"
    )
    labelled, cut = engine.decide(df, "p", max_positives=17)
    assert cut.n_tied == (17, 34)
    assert labelled.where("decision").count() == 17
    assert labelled.count() == 34


def test_decimals_floats_and_odd_names_will_do(engine, frame):
    df = frame([[0.5, 0.25, 0.125], [1.0, 0.0]])
    df = df.selectExpr(
        "id",
        "cast(p as decimal(10, 3)) as `a.b`",
        "cast(p as float) as `it``s`",
    )
    for column in ("a.b", "it`s"):
        labelled, _ = engine.decide(df, column, "f1", name="yes.no")
        p = np.array([float(row[column]) for row in df.orderBy("id").collect()])
        rows = labelled.orderBy("id").collect()
        assert [r["yes.no"] for r in rows] == bestcut.decide(p, "f1").labels.tolist()


def test_scores_are_read_twice_and_the_rest_is_left_to_spark(
    engine, frame, evaluations
):
    seen = evaluations()
    df = frame([[0.9, 0.2]] * 3, before=lambda i: seen.count())
    labelled, _ = engine.decide(df, "p")
    assert len(seen) == 2 * 3
    labelled.collect()
    assert len(seen) == 3 * 3


@pytest.mark.parametrize("kill_at", [0, 1, 2], ids=["summary", "bracket", "labels"])
def test_a_killed_worker_changes_nothing(engine, frame, evaluations, kill_at):
    parts = np.split(np.round(np.random.default_rng(1).beta(0.3, 3, 4000), 4), 4)
    p = np.concatenate(parts)
    undisturbed = bestcut.decide(p, "f1")
    seen = evaluations(kill_at)

    def deadly(i):
        if i == 1:
            seen.count()

    labelled, cut = engine.decide(frame(parts, before=deadly), "p", "f1")
    (labels,) = columns(labelled, "decision")
    assert len(seen) == 4  # three evaluations, one of them twice
    assert cut.n_tied == (0, 0)  # so the labels are all of them
    assert abs(cut.expected_score - undisturbed.expected_score) <= cut.error
    np.testing.assert_array_equal(labels, undisturbed.labels)


def test_the_bytes_that_travelled_are_reported(engine, frame):
    p = np.random.default_rng(0).beta(0.3, 3, 100_000)
    summary = bestcut.streams.ScoreSummary.from_scores(p)
    _, cut = engine.decide(frame(np.split(p, 4)), "p")
    # Merged on the way, as far as Spark puts them into one task.
    assert len(summary.to_bytes()) <= cut.summary_bytes <= 2_000_000 * 2
    wanted = summary.bracket("f1").select(p)
    assert cut.bracket_bytes == 16 * np.unique(wanted).size < 0.01 * p.nbytes


def test_a_window_of_many_intervals_is_searched_whole(engine, frame):
    from bestcut.summary import Window

    low = np.arange(50) / 64
    window = Window(low, low + 1 / 256)
    p = np.linspace(0, 1, 1025)
    rows = frame([p]).withColumnRenamed("p", "score")
    kept = [r.score for r in rows.where(engine._within(window)).collect()]
    assert set(window.select(p)) <= set(kept) < set(p)


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
def test_the_first_offender_is_named(engine, frame, parts, message):
    df = frame(parts).selectExpr("id", "nanvl(p, null) as p")
    with pytest.raises(bestcut.InvalidProbabilityError) as caught:
        engine.decide(df, "p")
    assert str(caught.value) == message


@pytest.mark.parametrize("decide", ["decide", "decide_each"])
def test_columns_that_cannot_be_used_are_refused_at_once(
    engine, frame, evaluations, decide
):
    seen = evaluations()
    df = frame([[0.5]], before=lambda i: seen.count())
    df = df.selectExpr("*", "'a' as word")
    by = ("id",) if decide == "decide_each" else ()
    call = getattr(engine, decide)
    with pytest.raises(ValueError, match=r"`y_proba` 'q' is not known. Known: id, p"):
        call(df, "q", *by)
    with pytest.raises(
        TypeError, match="'word' must hold numbers; it holds type string"
    ):
        call(df, "word", *by)
    with pytest.raises(ValueError, match="`name` 'ID' is already a column"):
        call(df, "p", *by, name="ID")
    with pytest.raises(ValueError, match="`metric` 'f1x' is not known"):
        call(df, "p", *by, metric="f1x")
    with pytest.raises(ValueError, match="`max_positives` must not be negative"):
        call(df, "p", *by, max_positives=-1)
    with pytest.raises(TypeError, match="must be a Spark DataFrame; got list"):
        call([0.5], "p", *by)
    assert len(seen) == 0


def test_what_only_a_decision_in_memory_has_is_refused_by_name(engine, frame):
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


def test_a_metric_that_cannot_be_ranked_is_refused(engine, frame):
    odd = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: fp - tp, name="odd")
    with pytest.raises(bestcut.SolverMismatchError, match="'odd' is not known to sat"):
        engine.decide(frame([[0.5]]), "p", odd)


def test_rows_that_change_are_noticed(engine, spark, evaluations):
    seen = evaluations()

    def other(batches):
        import pyarrow as pa

        for batch in batches:
            p = np.random.default_rng(seen.count()).beta(0.3, 3, batch.num_rows)
            yield pa.RecordBatch.from_pydict({"p": p})

    df = spark.range(0, 1000, 1, 1).mapInArrow(other, "p double")
    with pytest.raises(RuntimeError, match=r"must not change .* with `cache\(\)`"):
        engine.decide(df, "p")


# -- one decision for each group


@pytest.fixture
def queries(spark):
    """Return rows of groups of different sizes, ties among them."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(200), rng.integers(1, 30, 200))
    rng.shuffle(group)
    p = np.round(rng.beta(0.5, 2, group.size), 1)
    rows = zip(range(p.size), p.tolist(), group.tolist(), strict=True)
    df = spark.createDataFrame(rows, "id long, p double, query long").repartition(3)
    return (
        p,
        group,
        df.selectExpr("*", "nullif(cast(query % 3 as string), '0') as shop"),
    )


@pytest.mark.parametrize("by", ["query", ["shop", "query"]])
def test_groups_are_decided_as_they_would_be_locally(engine, queries, by):
    p, group, df = queries
    asked = {"metric": "mcc", "max_positives": 5}
    local = bestcut.decide_each(p, groups=group, **asked)
    labelled, groups = engine.decide_each(df, "p", by, **asked)
    assert labelled.columns == [*df.columns, "decision"]
    same, labels = columns(labelled, "p", "decision")
    np.testing.assert_array_equal(same, p)
    facts = groups.orderBy("query").collect()
    assert [row["query"] for row in facts] == local.groups.tolist()
    assert [row.n for row in facts] == np.bincount(group).tolist()
    assert [row.n_positive for row in facts] == local.n_positive.tolist()
    assert [row.threshold for row in facts] == local.threshold.tolist()
    gap = np.array([row.expected_score for row in facts]) - local.expected_score
    assert (np.abs(gap) <= local.error + [row.error for row in facts]).all()
    # Which of the tied are taken is another matter here.
    for i, row in enumerate(facts):
        mine = np.sort(p[group == i][labels[group == i]])
        assert (
            mine.tolist()
            == np.sort(p[group == i])[::-1][: row.n_positive][::-1].tolist()
        )


def test_a_group_takes_the_same_of_the_tied_wherever_they_are(engine, queries):
    _, _, df = queries
    answers = [
        columns(engine.decide_each(x, "p", "shop", max_positives=40)[0], "decision")[0]
        for x in (df, df.coalesce(1))
    ]
    np.testing.assert_array_equal(*answers)
    assert answers[0].sum() == 3 * 40  # missing names are a group, too


def test_groups_are_kept_whole_however_they_come(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyspark")
    from bestcut.distributed import spark as module

    monkeypatch.setattr(module, "_BLOCK", 8)
    sizes = [3, 20, 1, 1, 7, 9, 2, 40, 5]
    order = np.concatenate([np.arange(1, size + 1) for size in sizes])
    whole = pa.Table.from_pydict({module._ORDER: order, "i": np.arange(order.size)})
    for together in (1, 3, 8, 1000):
        tables = list(module._whole_groups(whole.to_batches(max_chunksize=together)))
        assert pa.concat_tables(tables).equals(whole)
        assert all(table[module._ORDER][0].as_py() == 1 for table in tables)
        assert together == 1000 or len(tables) > 3


def test_the_group_of_an_offender_is_named(engine, frame):
    labelled, _ = engine.decide_each(frame([[0.5, 0.1], [3.0]]), "p", "id")
    message = r"column 'p' must lie in \[0, 1\]; got 3.0 in group id=2. Pass"
    with pytest.raises(Exception, match=message):  # Spark wraps it
        labelled.collect()
