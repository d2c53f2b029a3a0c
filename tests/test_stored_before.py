"""What version 0.2 stored as bytes still loads, and means the same."""

import base64

import numpy as np

import bestcut

# Made by version 0.2.0:
# calibrate([0, 1, 0, 1, 1], [0.125, 0.25, 0.5, 0.625, 0.875], n_draws=2).to_bytes()
CALIBRATION = """
YmVzdGN1dC5jYWxpYnIuAAEAS39XGAAABQAAAAAAAAADAAAAAAAAAAIAAAAFAAAAAAAAAAAAwD8AAAAAAADs
P1ZaMq5yIv+/CgOteuqT8b8AAAAAAAAAAFEUgfquWOA/VloyrnIi/z+ADywIRzmLPwh5DLJ1k6M/qLc3hHne
4T/8FyXzek7rP9KF014NRe4/snbFsfee6z+ydsWx957rP/zlTb2Kke0/BKEM6ze67T8XCEihn83tPw==
"""
# ScoreSummary.from_scores([0.75, 0.5, 0.25, 0.125]).to_bytes()
SUMMARY = """
YmVzdGN1dC5zdW1tYXJ5AAEABAAAAFEaf0sBPQEAAAAAAAAAAAAAAAAA8L8AAAAAAADwPwAAAAAAAPC/AAAA
AAAA8D8BPgEAAAAAAAAAAAAAAAAA8L8AAAAAAADwPwAAAAAAAPC/AAAAAAAA8D8BPwEAAAAAAAAAAAAAAAAA
8L8AAAAAAADwPwAAAAAAAPC/AAAAAAAA8D/+QQEAAAAAAAAAAAAAAAAA8L8AAAAAAADwPwAAAAAAAPC/AAAA
AAAA8D8=
"""


def test_a_calibration_of_version_0_2_gives_the_same_probabilities():
    stored = base64.b64decode(CALIBRATION)
    calibration = bestcut.Calibration.from_bytes(stored)
    assert (calibration.n_labelled, calibration.n_positive) == (5, 3)
    assert calibration.score_range == (0.125, 0.875)
    assert calibration.to_bytes() == stored
    wanted = [
        [0.15722726302767953, 0.8750410496839288],
        [0.8770775836947868, 0.929537132218956],
    ]
    np.testing.assert_allclose(calibration([0.3, 0.7]).draws(), wanted, rtol=1e-14)


def test_a_summary_of_version_0_2_leads_to_the_same_cut():
    stored = base64.b64decode(SUMMARY)
    summary = bestcut.streams.ScoreSummary.from_bytes(stored)
    assert (summary.n, summary.expected_positives) == (4, 1.625)
    assert summary.to_bytes() == stored
    p = [0.75, 0.5, 0.25, 0.125]
    bracket = summary.bracket("f1")
    cut, wanted = bracket.refine(bracket.select(p)), bestcut.decide(p)
    assert (cut.n_positive, cut.threshold) == (wanted.n_positive, wanted.threshold)
