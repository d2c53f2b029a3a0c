"""`decide_file`: the answer of `decide`, whatever the format and the batches."""

import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import bestcut
from bestcut.files import FileError, decide_file
from bestcut.streams import Cut
from files.tables import ENDINGS, PACKED, assert_as_good_as_decide, read, table, write
from groups import one_in

pl = pytest.importorskip("polars", minversion="1.38")

from bestcut.files.sources import open_source  # noqa: E402

pytestmark = pytest.mark.usefixtures("small_batches")


def some_of(others, first, names):
    """Return each file with the first of others; the rest is fast for some names."""
    return [
        pytest.param(
            name,
            other,
            marks=() if other == first or name in names else pytest.mark.slow,
        )
        for other in others
        for name in ENDINGS + PACKED
    ]


@pytest.mark.parametrize(
    ("name", "metric"),
    some_of(["f1", "mcc", "squared_count_error"], "f1", ["csv", "parquet.gz"]),
)
def test_every_format_gives_the_answer_of_decide(tmp_path, name, metric):
    p = np.random.default_rng(0).beta(0.3, 3, 200).round(3)
    frame = table(p)
    source = write(frame, tmp_path / f"x.{name}")
    output = tmp_path / f"y.{name}"
    found = decide_file(source, output, y_proba="p", metric=metric)
    result = read(output)
    labels = result["decision"].to_numpy() == 1
    assert_as_good_as_decide(found, labels, p, metric)
    assert result.drop("decision").equals(frame)
    assert sorted(os.listdir(tmp_path)) == [f"x.{name}", f"y.{name}"]


@one_in(2, "goes_in, comes_out", ENDINGS, ENDINGS)
def test_a_format_becomes_another(tmp_path, goes_in, comes_out):
    p = np.random.default_rng(1).beta(0.3, 3, 50).round(3)
    source = write(table(p), tmp_path / f"x.{goes_in}")
    output = tmp_path / f"y.{comes_out}"
    decide_file(source, output, y_proba="p")
    result = read(output)
    assert result.drop("decision").equals(table(p))
    assert result["decision"].sum() == bestcut.decide(p).n_positive


def test_a_scan_of_several_files_is_taken_as_one(tmp_path):
    p = np.random.default_rng(2).beta(0.3, 3, 100)
    for i in range(4):
        table(p[i::4]).write_parquet(tmp_path / f"x{i}.parquet")
    scan = pl.scan_parquet([tmp_path / f"x{i}.parquet" for i in range(4)])
    found = decide_file(scan, tmp_path / "y.parquet", y_proba="p")
    result = pl.read_parquet(tmp_path / "y.parquet")
    labels = result["decision"].to_numpy() == 1
    assert_as_good_as_decide(found, labels, result["p"].to_numpy(), "f1")
    assert result["p"].to_list() == np.concatenate([p[i::4] for i in range(4)]).tolist()
    with pytest.raises(FileError, match="the scan: has no column 'q'"):
        decide_file(scan, tmp_path / "z.parquet", y_proba="q")


@pytest.mark.parametrize(("name", "size"), some_of([1, 13, 64], 13, ["csv", "ndjson"]))
def test_of_a_tie_across_batches_the_earliest_are_taken(
    tmp_path, name, size, monkeypatch
):
    monkeypatch.setattr("bestcut.files._text.PIECE", size)
    p = np.tile([0.25, 0.5, 0.5, 0.75], 20)
    source = write(table(p), tmp_path / f"x.{name}")
    parts = list(open_source(str(source)).batches())
    assert len(parts) > 5  # or nothing is tested
    found = decide_file(
        source, tmp_path / f"y.{name}", y_proba="p", metric="recall", max_positives=33
    )
    labels = read(tmp_path / f"y.{name}")["decision"].to_numpy() == 1
    best = bestcut.decide(p, "recall", max_positives=33)
    np.testing.assert_array_equal(labels, best.labels)
    assert (found.threshold, found.n_positive, found.n_tied) == (0.5, 33, (13, 40))


@pytest.mark.parametrize("name", ENDINGS)
def test_bounds_and_formulas_work_as_for_decide(tmp_path, name):
    p = np.random.default_rng(3).beta(0.5, 2, 60).round(2)
    source, output = write(table(p), tmp_path / f"x.{name}"), tmp_path / f"y.{name}"
    metric = bestcut.metrics.from_expression("tp / (tp + 0.3*fp + 0.7*fn)")
    for bounds in ({"max_positives": 3}, {"min_positives": 50}):
        found = decide_file(source, output, y_proba="p", metric=metric, **bounds)
        labels = read(output)["decision"].to_numpy() == 1
        assert_as_good_as_decide(found, labels, p, metric, **bounds)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"y_proba": "q"},
            FileError,
            "no column 'q'. Name a column with `y_proba`; the columns are: id, p",
        ),
        (
            {"name": "id"},
            FileError,
            "already has a column 'id'. Choose another name with",
        ),
        ({"metric": "f1x"}, ValueError, "Did you mean 'f1'"),
        (
            {"format": "xls"},
            ValueError,
            "`format` must be one of csv, tsv, parquet, ipc",
        ),
        ({"min_positives": -1}, ValueError, "`min_positives` must"),
        (
            {"min_positives": 11},
            ValueError,
            "`min_positives` must be at most the number",
        ),
        (
            {"output": "no/y.csv"},
            FileError,
            "could not be written (No such file or dir",
        ),
        (
            {"output": "y.xls"},
            FileError,
            "y.xls: has a name that does not tell its form",
        ),
        ({"path": "none.csv"}, FileError, "none.csv: cannot be read (No such file or"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, monkeypatch, options, kind, message):
    monkeypatch.chdir(tmp_path)
    write(table([0.5] * 10), tmp_path / "x.csv")
    given = {"path": "x.csv", "output": "y.csv", "y_proba": "p", **options}
    with pytest.raises(kind) as error:
        decide_file(given.pop("path"), given.pop("output"), **given)
    assert message in str(error.value)
    assert os.listdir(tmp_path) == ["x.csv"]


def test_a_metric_that_cannot_be_ranked_is_refused_before_reading():
    metric = bestcut.metrics.from_expression("fp - tp")
    with pytest.raises(bestcut.SolverMismatchError):
        decide_file("none.csv", "y.csv", y_proba="p", metric=metric)


@pytest.mark.parametrize("name", ENDINGS)
def test_a_file_that_changes_meanwhile_is_noticed(tmp_path, name, monkeypatch):
    import bestcut.files._decide_source as stream

    source = write(table([0.5, 0.25] * 30), tmp_path / f"x.{name}")

    def find_cut(*arguments, find=stream.find_cut, **options):
        cut = find(*arguments, **options)
        write(table([0.5, 0.25, 0.125] * 30), source)
        return cut

    monkeypatch.setattr(stream, "find_cut", find_cut)
    with pytest.raises(FileError, match=r"changed while it was read\. Try again"):
        decide_file(source, tmp_path / "y.csv", y_proba="p")
    assert os.listdir(tmp_path) == [f"x.{name}"]


def test_a_scan_that_gives_other_rows_the_second_time_is_noticed(tmp_path):
    rng = np.random.default_rng(0)
    scan = table([0.5] * 60).lazy()
    scan = scan.with_columns(pl.col("p").map_batches(lambda p: p * rng.random()))
    with pytest.raises(FileError, match=r"the scan: changed while it was read"):
        decide_file(scan, tmp_path / "y.csv", y_proba="p")
    assert os.listdir(tmp_path) == []


def test_a_bar_is_shown_when_asked_for_and_on_standard_error_only(tmp_path, capfd):
    source = write(table([0.5, 0.25] * 30), tmp_path / "x.parquet")
    decide_file(source, tmp_path / "y.parquet", y_proba="p")
    assert capfd.readouterr() == ("", "")
    decide_file(source, tmp_path / "y.parquet", y_proba="p", progress=True)
    assert capfd.readouterr().out == ""


def test_the_steps_cover_all_there_is(tmp_path, monkeypatch):
    for name in ENDINGS:
        source = write(table([0.5, 0.25] * 30), tmp_path / f"x.{name}")
        seen = {}

        def step(what, total, seen=seen):
            seen[what] = [0, total]

            def advance(size):
                seen[what][0] += size

            return advance

        steps = "bestcut.files._decide_source.steps"
        monkeypatch.setattr(steps, lambda _: nullcontext(step))
        decide_file(source, tmp_path / f"y.{name}", y_proba="p")
        assert len(seen) == 3
        for done, total in seen.values():  # the header of a CSV is no record
            assert total - len("id,p,text\n") <= done <= total


def test_the_result_says_what_to_expect(tmp_path):
    p = np.random.default_rng(4).beta(0.5, 2, 300)
    source = write(table(p), tmp_path / "x.parquet")
    found = decide_file(source, tmp_path / "y.parquet", y_proba="p")
    best = bestcut.decide(p)
    assert isinstance(found, Cut)
    assert found.output == str(tmp_path / "y.parquet")
    assert repr(found).startswith(f"Cut(f1: {best.n_positive} of 300 positive")
    np.testing.assert_allclose(
        found.distribution().interval(0.9), best.distribution().interval(0.9), atol=1e-9
    )
    assert found.confusion().mean.tp == pytest.approx(best.confusion().mean.tp)


def test_without_polars_the_extra_is_named():
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "import bestcut\n"
        "bestcut.decide_file('x.csv', 'y.csv', y_proba='p')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8"
    )
    assert run.stderr.splitlines()[-1].endswith(
        "ImportError: decide_file needs polars: pip install 'bestcut[files]'"
    )
