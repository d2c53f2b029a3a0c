"""
A rare disease: recall and precision under conditions
=====================================================

A screening must find most of the ill, and must not call in too many of the healthy.
This example states both as conditions, says how many people each choice calls in, and
learns before any diagnosis whether both can be kept together.
"""

# %%
# Four thousand people, about forty of them ill
# ---------------------------------------------
#
# A model gives each person a calibrated probability; here it is made up. Who is ill
# will be known only after the second examination.

import textwrap

import matplotlib.pyplot as plt
import numpy as np

import bestcut

plt.rcParams["font.size"] = 12

rng = np.random.default_rng(4)
p = rng.beta(0.06, 5.94, size=4000)
print(f"Expected to be ill: {p.sum():.0f} of {p.size}")
print(f"With a probability above 0.5: {np.sum(p > 0.5)}")

# %%
# Call in as few as possible
# --------------------------
#
# The first choice keeps an *expected* recall of 0.8: on average over many such
# screenings, four of five ill people are found. Among the choices that do so, the one
# with the best precision calls in the fewest people. The second choice keeps a recall
# of 0.8 in *this* screening with a probability of 0.95, and so needs more people.

on_average = bestcut.decide(p, "precision", at_least={"recall": 0.8})
surely = bestcut.goals.Certain(0.8, probability=0.95)
in_this_one = bestcut.decide(p, "precision", at_least={"recall": surely})

for decision in (on_average, in_this_one):
    counts = decision.confusion().interval(0.9)
    print(f"Called in: {decision.n_positive} people. {decision.conditions[0]}")
    print("  90 % intervals: ill and called in {} to {},".format(*counts.tp), end=" ")
    print("ill and missed {} to {}".format(*counts.fn))

# %%
# Certainty has a price: a hundred more people are called in, nearly all of them
# healthy.
#
# If both cannot be had
# ---------------------
#
# A precision of 0.2 on top of the recall is too much to ask of this model. bestcut says
# so, and says what can be reached.

try:
    bestcut.decide(p, "f1", at_least={"recall": 0.8, "precision": 0.2})
except bestcut.InfeasibleError as error:
    print(textwrap.fill(str(error), 70))

# %%
# Every choice at once
# --------------------
#
# The expected precision and recall of every cut show why: where recall reaches 0.8,
# precision has already fallen far below 0.2.

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for metric, style in (("recall", "-"), ("precision", "--")):
    curve = bestcut.decide(p, metric).curve.expected_score[1:1501]
    ax.plot(np.arange(1, 1501), curve, style, color="black", label=f"expected {metric}")
for decision, label, color in (
    (on_average, "recall 0.8 on average", "#0072b2"),
    (in_this_one, "recall 0.8, 95 % sure", "#d55e00"),
):
    k = decision.n_positive
    ax.axvline(k, color=color, linewidth=2, label=f"{label}: {k} people")
ax.axhline(0.8, color="0.7", linewidth=1)
ax.set(xlabel="People called in, most probable first", ylabel="Expected score")
ax.set(xlim=(0, 1500), ylim=(0, 1), title="Precision and recall of every cut")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(loc="center right", frameon=False)
plt.show()

# %%
# When the diagnoses are known
# ----------------------------
#
# The labels are drawn only now, from the probabilities, for two thousand screenings of
# the same people. The first choice keeps a recall of 0.8 in about half of them, as one
# should expect of a mean; the second in about 95 %.

ill = rng.random((2000, p.size)) < p
for decision in (on_average, in_this_one):
    recall = ill[:, decision.labels].sum(axis=1) / ill.sum(axis=1)
    print(f"Recall 0.8 was kept in {np.mean(recall >= 0.8):.1%} of the screenings")

# %%
# All of this trusts the probabilities. :doc:`/guides/before-the-labels` shows how to
# check them, and what to do if they were learned from few labels.
