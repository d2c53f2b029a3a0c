"""A summary travels as bytes, takes what people have, and refuses the rest."""

import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestcut.streams import ScoreSummary
from bestcut.summary._bins import geometry
from groups import slow


def payload(n=2000):
    p = np.random.default_rng(0).beta(0.3, 3, n)
    return ScoreSummary.from_scores(p).to_bytes()


def test_bytes_come_back():
    p = np.concatenate([np.random.default_rng(0).beta(0.3, 3, 2000), [0.0, 1.0]])
    summary = ScoreSummary.from_scores(p)
    data = summary.to_bytes()
    again = ScoreSummary.from_bytes(data)
    assert again.to_bytes() == data
    assert again.n == summary.n
    assert again.expected_positives == summary.expected_positives
    assert again.expected_positives == pytest.approx(p.sum(), rel=1e-14)
    for kind in (bytearray(data), memoryview(data)):
        assert ScoreSummary.from_bytes(kind).n == summary.n


# What version 1 stores for [0.5, 0.25, 0.25, 0.0, 1.0].
STORED = bytes.fromhex(
    "626573746375742e73756d6d617279000100040000000c9dfcc1000001000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000013e020000000000"
    "000000000000000000c0000000000000004000000000000000c00000000000000040013f0100"
    "000000000000000000000000f0bf000000000000f03f000000000000f0bf000000000000f03f"
    "ff7f010000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000"
)


def test_the_stored_form_stays_as_it_is():
    summary = ScoreSummary.from_scores([0.5, 0.25, 0.25, 0.0, 1.0])
    assert summary.to_bytes() == STORED
    again = ScoreSummary.from_bytes(STORED)
    assert (again.n, again.expected_positives) == (5, 2.0)


def test_bytes_are_few():
    shape = geometry()
    fullest = np.unique(np.concatenate([shape.low, shape.high]))
    assert len(ScoreSummary.from_scores(fullest).to_bytes()) < 2_000_000


def test_every_truncation_is_refused():
    data = payload(50)
    for end in range(len(data)):
        with pytest.raises(ValueError, match="`data` is not a score summary"):
            ScoreSummary.from_bytes(data[:end])


def test_damage_is_refused():
    data = payload(50)
    for i in range(0, len(data), 3):
        broken = bytearray(data)
        broken[i] ^= 0x55
        with pytest.raises(ValueError, match="`data` is not a score summary"):
            ScoreSummary.from_bytes(bytes(broken))


@pytest.mark.parametrize("repeats", [60, slow(400)])
def test_numbers_that_no_scores_have_are_refused_though_the_checksum_is_right(repeats):
    header = struct.Struct("<16sHII")
    data = payload(50)
    magic, version, bins, _ = header.unpack_from(data)
    rng = random.Random(0)
    refused = 0
    for _ in range(repeats):
        body = bytearray(data[header.size :])
        for _ in range(4):
            body[rng.randrange(len(body))] = rng.randrange(256)
        forged = header.pack(magic, version, bins, zlib.crc32(bytes(body))) + body
        try:
            summary = ScoreSummary.from_bytes(bytes(forged))
        except ValueError:
            refused += 1
        else:  # a small change of a moment is believed, and does no harm
            bracket = summary.bracket("f1")
            assert bracket.lower_bound <= bracket.upper_bound
    assert refused > repeats / 2


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_anything_else_is_refused(data):
    with pytest.raises(ValueError, match="`data` is not a score summary"):
        ScoreSummary.from_bytes(data)


def test_a_newer_version_is_named():
    data = bytearray(payload(5))
    data[16] = 9
    with pytest.raises(ValueError, match="version 9, but only 1 can be read"):
        ScoreSummary.from_bytes(bytes(data))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda s: s.update([0.5, 1.5]), ValueError, r"y_proba\[1\] = 1.5"),
        (lambda s: s.update("abc"), (TypeError, ValueError), "y_proba"),
        (lambda s: s.merge(3), TypeError, "`other` must be a ScoreSummary"),
        (lambda s: s.from_bytes("x"), TypeError, "`data` must be bytes"),
        (lambda s: s.bracket("g3"), ValueError, "g3"),
        (lambda s: s.bracket("f1", max_positives=-1), ValueError, "max_positives"),
        (lambda s: s.bracket("f1").select([np.nan]), ValueError, "y_proba"),
        (lambda s: s.bracket("f1").refine([]), ValueError, "0 are given now"),
        (lambda s: s.bracket("f1").refine([0.9] * 9), ValueError, "9 are given now"),
        (lambda s: s.bracket("f1").refine([0.95]), ValueError, "there were 0"),
        (
            lambda s: s.bracket("f1").refine([0.3], counts=[0.5]),
            ValueError,
            r"counts\[0\] = 0.5",
        ),
        (lambda s: s.bracket("f1").refine([0.3], counts=[1, 2]), ValueError, "counts"),
    ],
)
def test_bad_input(call, error, words):
    summary = ScoreSummary.from_scores([0.9, 0.3, 0.3, 0.05])
    with pytest.raises(error, match=words):
        call(summary)


def test_accepts_what_everything_else_accepts():
    import pandas as pd
    import polars as pl

    values = [0.9, 0.3, 0.3, 0.05]
    fixed = np.array(values)
    fixed.flags.writeable = False
    for column in (values, fixed, pd.Series(values), pl.Series(values)):
        assert ScoreSummary.from_scores(column).to_bytes() == (
            ScoreSummary.from_scores(values).to_bytes()
        )
    assert repr(ScoreSummary.from_scores(values)) == (
        "ScoreSummary(4 scores, 1.55 expected positives)"
    )


def test_more_scores_than_floats_can_count_are_refused():
    summary = ScoreSummary.from_scores([0.5])
    for _ in range(53):
        summary = summary.merge(summary)
    assert summary.n == 2**53
    with pytest.raises(ValueError, match=r"at most 2\^53 scores; it has 9007"):
        summary.merge(summary)
    with pytest.raises(ValueError, match="and 1 more"):
        summary.update([0.5])
    assert summary.n == 2**53
