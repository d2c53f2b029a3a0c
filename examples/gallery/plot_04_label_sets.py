"""
Label sets: which average do you report?
========================================

A picture may show a beach, a sunset, both or neither. The F1 of such predictions can be
averaged over pictures, over labels, or taken over all entries at once. Each of these
averages has its own best labels, and this example shows how much they differ.
"""

# %%
# Six labels, some of them rare
# -----------------------------
#
# Synthetic probabilities of six labels for 600 pictures. Pictures differ in how much
# they show, and labels in how frequent and how easy they are.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score

from bestcut import multilabel

plt.rcParams["font.size"] = 12

names = ["beach", "sunset", "field", "autumn", "hills", "city"]
rng = np.random.default_rng(2)
frequent = np.array([-0.6, -1.0, -1.6, -2.2, -2.8, -3.4])
clear = np.array([1.6, 1.4, 1.2, 1.0, 0.9, 0.8])
shown = rng.normal(0, 0.8, size=(600, 1))
P = 1 / (1 + np.exp(-(frequent + shown + clear * rng.normal(size=(600, 6)))))
print("Pictures expected to have each label:")
for name, count in zip(names, P.sum(axis=0), strict=True):
    print(f"  {name:<7} {count:>4.0f}")

# %%
# Decide for each average
# -----------------------
#
# ``"samples"`` is the mean over pictures, ``"macro"`` the mean over labels, ``"micro"``
# one F1 for all entries together. They mean the same as in scikit-learn.

averages = ("samples", "macro", "micro")
labels = {"threshold 0.5": P >= 0.5}
for average in averages:
    labels[f'for "{average}"'] = multilabel.decide(P, "f1", average=average).labels

print(f"{'expected F1':<14}", *(f"{average:>8}" for average in averages))
for name, Y_pred in labels.items():
    scores = [multilabel.expected_score(P, Y_pred, average=a) for a in averages]
    print(f"{name:<14}", *(f"{score:>8.3f}" for score in scores))

# %%
# Each column is won by the decision that was made for it, and all of them gain over 0.5
# in the average that they are made for. "macro" counts every label as much as any
# other, so it gives the rare ones more often than "micro" does:

for name, Y_pred in labels.items():
    print(f"{name:<14} pictures with the label city: {Y_pred[:, 5].sum():>3}")

# %%
# Who is given which label?
# -------------------------
#
# The same 40 pictures under all four predictions.

fig, axes = plt.subplots(1, 4, figsize=(7, 4.6), layout="constrained", sharey=True)
for ax, (name, Y_pred) in zip(axes, labels.items(), strict=True):
    ax.imshow(Y_pred[:40], cmap="Greys", vmin=0, vmax=1.3, aspect="auto")
    ax.set_title(name, fontsize=12)
    ax.set_xticks(range(6), names, rotation=90)
    ax.set_xticks(np.arange(5) + 0.5, minor=True)
    ax.grid(which="minor", axis="x", color="0.85")
    ax.tick_params(which="minor", length=0)
    ax.set_xlabel(f"{Y_pred.sum(axis=1).mean():.2f} labels\na picture")
axes[0].set_ylabel("Picture")
plt.show()

# %%
# Expected and realised
# ---------------------
#
# The true label sets are drawn only now, with independent labels, as the expected
# scores assume.

Y_true = rng.random(P.shape) < P
for average in averages:
    Y_pred = labels[f'for "{average}"']
    promised = multilabel.score_distribution(P, Y_pred, average=average)
    realised = f1_score(Y_true, Y_pred, average=average, zero_division=0)
    print(f"{average:<8} promised {promised}; realised {realised:.3f}")

# %%
# Real labels of one picture often exclude each other. Then the expected score for
# "samples" is off, while the other two averages still hold, because pictures remain
# independent of each other. :doc:`/guides/multi-label` shows this on real pictures,
# and how to decide with labels that depend on each other.
