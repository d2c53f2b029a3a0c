"""
Promised and realised: do the intervals hold?
=============================================

Before any label arrives, bestcut says between which values the score will be. This
example makes twenty such promises, with the probabilities of an overconfident model as
they are and after ``bestcut.calibrate``, and then counts how many were kept.
"""

# %%
# An overconfident model
# ----------------------
#
# The true probabilities are known only to the simulation. The model's logits are twice
# as large as they should be: it ranks well, but is too sure of itself. This is common
# in large networks and in naive Bayes.

import matplotlib.pyplot as plt
import numpy as np

import bestcut

plt.rcParams["font.size"] = 12
F1 = bestcut.metrics.get("f1")


def scored_rows(rng, n):
    """Return the model's probabilities of n rows, and the true ones."""
    logit = rng.normal(-1.5, 1.3, size=n)
    return 1 / (1 + np.exp(-2 * logit)), 1 / (1 + np.exp(-logit))


# %%
# Twenty promises
# ---------------
#
# Each time 400 rows have labels and 300 new rows have none. The first promise takes the
# model at its word. The second learns from the labelled rows which probabilities the
# scores stand for, and how sure this is (with 50 draws instead of 200, to save time).
# Labels of the new rows are drawn after both.


def promise(y_proba, chance, true_p):
    """Decide, give the 90 % interval, and only then draw the labels and score."""
    decision = bestcut.decide(y_proba, "f1")
    low, high = decision.distribution().interval(0.9)
    y = chance < true_p
    hits = int((y & decision.labels).sum())
    return low, high, F1(hits, decision.n_positive, int(y.sum()), y.size)


promises = {"as it is": [], "calibrated": []}
for seed in range(20):
    rng = np.random.default_rng(seed)
    scores, true_p = scored_rows(rng, 400)
    labels = rng.random(400) < true_p
    new_scores, new_p = scored_rows(rng, 300)
    chance = rng.random(300)  # the same for both promises
    calibration = bestcut.calibrate(labels, scores, n_draws=50)
    promises["as it is"].append(promise(new_scores, chance, new_p))
    promises["calibrated"].append(promise(calibration(new_scores), chance, new_p))

# %%
# How many held?
# --------------

fig, axes = plt.subplots(2, 1, figsize=(7, 5.4), layout="constrained", sharex=True)
for ax, (name, made) in zip(axes, promises.items(), strict=True):
    low, high, realised = np.array(made).T
    kept = (low <= realised) & (realised <= high)
    at = np.arange(1, 21)
    ax.vlines(at, low, high, color="0.7", linewidth=3, label="promised, 90 %")
    ax.plot(at[kept], realised[kept], "o", ms=4, color="black", label="realised")
    ax.plot(
        at[~kept], realised[~kept], "x", ms=6, mew=2, color="#d55e00", label="outside"
    )
    ax.set_title(f"{name}: {kept.sum()} of 20 intervals held", fontsize=12)
    ax.set(ylabel="F1", ylim=(0.2, 0.9))
    ax.spines[["top", "right"]].set_visible(False)
    print(f"{name}: held {kept.mean():.0%}, mean width {np.mean(high - low):.2f}")
axes[1].set(xlabel="Batch of 300 rows", xticks=[1, 5, 10, 15, 20])
handles, names = axes[0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The overconfident model promises too much. After the calibration the intervals are
# where the scores are, and hold about as often as they say. Twenty batches can measure
# this share only roughly: if it is 90 %, any number from 16 to 20 is common.
#
# On real data
# ------------
#
# :doc:`/evidence/promises` has the same count on seven real data sets. What no interval
# here covers is a batch that is unlike the labelled rows.
