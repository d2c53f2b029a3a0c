"""`bestcut demo`: a decision without a file."""

from __future__ import annotations

import click
import numpy as np

import bestcut
from bestcut.cli._printing import facts_of_one, print_facts, print_text


@click.command()
def demo() -> None:
    """Decide on 40 synthetic card payments."""
    p = np.random.default_rng(4).beta(0.4, 3.0, size=40)
    one = bestcut.decide(p, "f1")
    print_text("40 synthetic card payments, each with its probability of fraud.")
    print_text(f"{p.sum():.1f} frauds are expected. The best cut for F1:")
    print_facts(facts_of_one(one), one.metric, as_json=False, err=False)
    half = p >= 0.5
    print_text(
        f"A threshold of 0.5 would flag {int(half.sum())} payments, with an expected "
        f"score of {bestcut.expected_score(p, half, 'f1'):.2f}."
    )
