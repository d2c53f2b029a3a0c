"""Any table, as the csv module of Python writes it."""

import csv
import io
import string
from contextlib import nullcontext

import pytest
from hypothesis import strategies as st

from bestcut.files._csv_bytes import CsvText
from bestcut.files._limits import USUAL

CELLS = st.text(
    st.one_of(
        st.sampled_from("\",\t\n\r 0.5;'é☃\ufeff\x00"),
        st.sampled_from(string.ascii_letters),
    ),
    max_size=6,
)


@st.composite
def written(draw):
    """Draw a table, and how the csv module writes it."""
    width = draw(st.integers(1, 4))
    header = draw(st.lists(CELLS, min_size=width, max_size=width, unique=True))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6))
    place = draw(st.integers(0, width))
    p = [draw(st.sampled_from(["0.1", "0.25", "0.9", "1", "0"])) for _ in rows]
    header.insert(place, "the p")
    rows = [[*row[:place], x, *row[place:]] for row, x in zip(rows, p, strict=True)]
    separator = draw(st.sampled_from(",\t"))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    if any("\r" in cell for row in [header, *rows] for cell in row):
        quoting = csv.QUOTE_ALL  # by itself it would leave a return unquoted
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows([header, *rows])
    text = out.getvalue()
    return [header, *rows], p, text, separator


def csv_text(data, separator=",", size=1000):
    return CsvText(
        lambda: nullcontext(io.BytesIO(data)), separator, "here", size, USUAL
    )


@pytest.fixture(params=[1, 7, 1 << 23], ids=lambda size: f"pieces of {size}")
def any_size_of_pieces(request, monkeypatch):
    monkeypatch.setattr("bestcut.files._text.PIECE", request.param)
    return request.param
