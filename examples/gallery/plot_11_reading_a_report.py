"""
Reading a report
================

``bestcut.report`` writes one HTML page for the people who decide: how many cases to
flag, what to expect, and what another cut would give. This example writes one, and
draws its main pictures with the displays, to explain how they are read.
"""

# %%
# One page
# --------
#
# 300 payments with synthetic probabilities of fraud. A caught fraud is worth 80 euro
# and a false alarm costs 10. The page needs no network; here it goes to a temporary
# folder.

import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bestcut
from bestcut.displays import (
    CalibrationCheckDisplay,
    DecisionDisplay,
    ExpectedScoreDisplay,
    ScoreDistributionDisplay,
)
from bestcut.metrics import LinearUtility
from bestcut.report import make_report

rng = np.random.default_rng(3)
p = rng.beta(0.3, 3, size=300)
euro = LinearUtility(tp=80, fp=-10, name="euro")

report = make_report(p, "f1", others=["f2", "mcc"], worth=euro, title="Card payments")
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    report.write(page)
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")
print(report.summary())

# %%
# What the page says first
# ------------------------
#
# The heading is the decision in words. Below it are the expected score with its 90 %
# interval, the confusion matrix to expect, and a comparison with a threshold of 0.5.
# The same numbers come from ``decide``:

decision = bestcut.decide(p, "f1")
print(f"Flag the {decision.n_positive} most probable of {p.size} cases,")
print(f"from a probability of {decision.threshold:.3f} on.")
print(decision.confusion())

# %%
# When labels are known
# ---------------------
#
# Given ``y_true``, the page adds realised scores, and whether the labels fit. Here F1
# came out near the lower end of its interval, and the page says how unusual that is.

y_true = rng.random(300) < p
with_labels = make_report(p, "f1", others=["f2", "mcc"], worth=euro, y_true=y_true)
print(textwrap.fill(with_labels.summary(), 70))
print(textwrap.fill(with_labels.truth.surprise.verdict, 70))

# %%
# How to read its pictures
# ------------------------
#
# - **Top left**: the expected F1 of every cut. The dot is the decision, the square a
#   threshold of 0.5. In 90 % of cases the score will be inside the band. On the page,
#   a slider moves along this curve.
# - **Top right**: the ranked probabilities; those left of the line are flagged.
# - **Bottom left**: how probable it is to reach each F1, and what was reached.
# - **Bottom right**: do the labels fit? Points should be near the diagonal, inside
#   their bars.

fig, axes = plt.subplots(2, 2, figsize=(6.4, 6.2), layout="constrained")
ExpectedScoreDisplay.from_decision(decision, band=0.9, ax=axes[0, 0])
DecisionDisplay.from_decision(decision, ax=axes[0, 1])
ScoreDistributionDisplay.from_distribution(
    decision.distribution(), observed=with_labels.truth.surprise.observed, ax=axes[1, 0]
)
CalibrationCheckDisplay.from_predictions(y_true, p, ax=axes[1, 1])
plt.show()

# %%
# :doc:`/guides/report` has a picture of the page itself, the command that writes it
# from a file, and how exact its numbers are.
