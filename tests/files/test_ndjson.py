"""NDJSON: objects that are not all alike."""

import json
import os

import pytest

import bestcut
from bestcut.files import FileError, decide_file

pytest.importorskip("polars", minversion="1.38")

pytestmark = pytest.mark.usefixtures("small_batches")


def test_a_key_that_only_later_objects_have_is_not_written_twice(tmp_path):
    lines = '{"p":0.5}\n' * 30 + '{"p":0.5,"decision":1}\n'
    (tmp_path / "x.ndjson").write_text(lines, encoding="utf-8")
    with pytest.raises(FileError, match="already has a column 'decision'"):
        decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", y_proba="p")
    assert os.listdir(tmp_path) == ["x.ndjson"]


def test_objects_may_lack_keys_and_mix_texts_with_numbers(tmp_path):
    lines = ['{"p":"0.5"}', '{"a":[1],"p":0.25}', '{"p":1,"b":{}}'] * 20
    (tmp_path / "x.ndjson").write_text("\n".join(lines), encoding="utf-8")
    found = decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", y_proba="p")
    assert found.n_positive == bestcut.decide([0.5, 0.25, 1] * 20).n_positive
    assert json.loads(
        (tmp_path / "y.ndjson").read_text(encoding="utf-8").splitlines()[-1]
    ) == {
        "p": 1,
        "b": {},
        "decision": 1,
    }
    (tmp_path / "x.ndjson").write_text(
        "\n".join(lines) + '\n\n{"a":[2]}', encoding="utf-8"
    )
    with pytest.raises(FileError, match="column 'p', row 61: the value is missing"):
        decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", y_proba="p")
