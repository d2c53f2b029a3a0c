"""The example with amounts per row: what it prints, and its main finding."""

import numpy as np
import pytest

import bestcut
from groups import slow
from helpers import load_script

example = load_script("examples/card_payments.py")


def test_the_data_are_as_described():
    amount, p, label = example.payments()
    assert amount.size == 284_807
    assert p.sum() == pytest.approx(492, rel=0.02)
    assert 400 < label.sum() < 600
    assert np.median(amount) < 30 < 70 < amount.mean() < 110
    # Cents: the distribution of the total is exact on a grid that is fine enough.
    assert np.abs(amount * 100 - np.rint(amount * 100)).max() < 1e-6


@pytest.mark.parametrize("seed", [0, *map(slow, range(1, 5))])
def test_amounts_per_row_bring_more_than_the_mean_amount(seed):
    amount, p, label = example.payments(seed, n=60_000, frauds=104)
    euro = bestcut.RowUtility(tp=amount, fp=-example.CALL)
    found = example.ways(amount, p, label)
    of_mean, of_frauds, of_rows = (
        bestcut.expected_score(p, held, euro) for held in found.values()
    )
    assert of_rows > 1.3 * of_mean
    assert of_rows > 1.3 * of_frauds


def test_the_script_prints_what_the_page_says(capsys):
    example.main()
    text = capsys.readouterr().out
    assert "Amounts per row bring 53% more than the cut for the mean amount." in text
    assert "284,807 card payments (synthetic), 492 frauds expected." in text
