"""NDJSON: objects that are not all alike."""

import json
import os

import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut.files import FileError, decide_file

pytest.importorskip("polars", minversion="1.38")

from bestcut.files._ndjson import NdjsonBatch

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


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 20])
def test_blanks_around_objects_stay_where_they_are(tmp_path, count):
    blanks = (" \t\r" * count)[:count]
    lines = [f'{blanks}{{"p":0.5{blanks}}}{blanks}', blanks, '{"p":0.25}'] * 9
    (tmp_path / "x.ndjson").write_bytes("\n".join(lines).encode())
    decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", y_proba="p")
    marks = iter(bestcut.decide([0.5, 0.25] * 9).labels.astype(int).tolist())
    result = [
        line.replace("}", f',"decision":{next(marks)}}}') if "}" in line else line
        for line in lines
    ]
    assert (tmp_path / "y.ndjson").read_bytes() == "\n".join(result).encode()


def test_lines_with_backslashes_are_not_read_twice(tmp_path, monkeypatch):
    """Python's reader takes ten times as long as polars, so it must see few lines."""
    monkeypatch.setattr("bestcut.files._ndjson.json.loads", None)
    lines = r'{"p":0.5,"path":"C:\\users\\p","said":"\"p\" \u00e9 \/","q":"\u0070x"}'
    (tmp_path / "x.ndjson").write_text(f"{lines}\n" * 30, encoding="utf-8")
    found = decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", y_proba="p")
    assert found.n == 30


def spellings(character):
    """Return all the ways in which JSON may write a character."""
    units = character.encode("utf-16-be").hex()
    escapes = "".join(rf"\u{units[i : i + 4]}" for i in range(0, len(units), 4))
    ways = [escapes, escapes.upper().replace("U", "u")]
    short = {'"': r"\"", "\\": r"\\", "/": r"\/", "\n": r"\n", "\t": r"\t"}
    short |= {"\b": r"\b", "\f": r"\f", "\r": r"\r"}
    if character in short:
        ways.append(short[character])
    if character >= " " and character not in '"\\':
        ways.append(character)
    return st.sampled_from(ways)


NAMES = st.text(st.sampled_from('pé/"\\\n\t\b\f\r\x01,:{🦉uP'), min_size=1, max_size=4)


@settings(max_examples=60)
@given(data=st.data(), name=NAMES)
def test_a_key_that_is_there_twice_is_found_however_it_is_written(data, name):
    first, second = (
        "".join(data.draw(spellings(each)) for each in name) for _ in range(2)
    )
    other = json.dumps({f"{name}x": f'"{name}"'}, ensure_ascii=data.draw(st.booleans()))
    once = f'{{"a":{other},"{first}":0.5}}'
    twice = f'{{"{first}":0.5,"a":{other},"{second}":0.5}}'
    batch = NdjsonBatch(once.encode(), 0, "x")
    assert batch.column(name).to_list() == [0.5]
    batch = NdjsonBatch(twice.encode(), 0, "x")
    with pytest.raises(FileError, match="row 1 has the key"):
        batch.column(name)
