"""
Precision with certainty: two kinds of promises
===============================================

"At least 80 % of what we flag is right, in 19 of 20 batches." There are two ways to
promise this: ``Certain`` trusts the probabilities, and ``bestcut.guarantee`` trusts no
model. This example makes both promises twenty times, and shows what each of them costs.
"""

# %%
# An overconfident model
# ----------------------
#
# The model ranks well, but its logits are twice as large as they should be. Each time
# 1,500 rows have labels, and 150 new rows have none.

import matplotlib.pyplot as plt
import numpy as np

import bestcut

plt.rcParams["font.size"] = 12
PRECISION = 0.8
sure = bestcut.goals.Certain(PRECISION, probability=0.95)


def scored_rows(rng, n):
    """Return the model's probabilities of n rows, and the true ones."""
    logit = rng.normal(0, 2.4, size=n)
    return 1 / (1 + np.exp(-2 * logit)), 1 / (1 + np.exp(-logit))


# %%
# Three ways
# ----------
#
# All three flag as many rows as their promise allows. The first trusts the
# probabilities as they are. The second trusts draws of probabilities, learned from the
# labelled rows (50 draws instead of 200, to save time). The third uses labels and ranks
# alone.


def flag_most(y_proba):
    """Return the labels with the best recall that keep the precision for sure."""
    return bestcut.decide(y_proba, "recall", at_least={"precision": sure}).labels


def three_ways(labels, scores, new_scores):
    """Return the flagged rows of each way."""
    calibration = bestcut.calibrate(labels, scores, n_draws=50)
    promised = bestcut.guarantee(labels, scores, new_scores, {"precision": PRECISION})
    return {
        "Certain, as it is": flag_most(new_scores),
        "Certain, calibrated": flag_most(calibration(new_scores)),
        "guarantee": promised.labels,
    }


# %%
# Twenty batches. The labels of the new rows are drawn after the decisions.

n_flagged, precision = {}, {}
for seed in range(20):
    rng = np.random.default_rng(seed)
    scores, true_p = scored_rows(rng, 1500)
    labels = rng.random(1500) < true_p
    new_scores, new_p = scored_rows(rng, 150)
    flagged = three_ways(labels, scores, new_scores)
    new_labels = rng.random(150) < new_p
    for way, rows in flagged.items():
        n_flagged.setdefault(way, []).append(int(rows.sum()))
        precision.setdefault(way, []).append(new_labels[rows].mean())

for way, values in precision.items():
    broken = np.sum(np.array(values) < PRECISION)
    print(f"{way:<19}  rows flagged: {np.mean(n_flagged[way]):>3.0f}", end="  ")
    print(f"promises broken: {broken} of 20")

# %%
# What was realised
# -----------------

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for at, values in enumerate(map(np.array, precision.values())):
    kept = values >= PRECISION
    ax.plot(values[kept], np.full(kept.sum(), at), "o", mfc="none", color="black", ms=7)
    ax.plot(
        values[~kept], np.full((~kept).sum(), at), "x", color="#d55e00", ms=8, mew=2
    )
ax.axvline(PRECISION, color="0.5", linestyle="--", linewidth=1)
ways = [f"{way}\n{np.mean(n_flagged[way]):.0f} rows flagged" for way in precision]
ax.set_yticks(range(3), ways)
ax.set(xlabel="Realised precision of a batch (dashed: promised)", ylim=(2.5, -0.5))
ax.set_title("Twenty batches, three kinds of promises")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# If the probabilities are wrong, so is ``Certain``. With calibrated draws it breaks its
# promise as rarely as it says. ``guarantee`` keeps its promise whatever the model is
# like, and pays for it with rows: its precision is higher than it had to be. With few
# labels it certifies nothing at all:

rng = np.random.default_rng(0)
scores, true_p = scored_rows(rng, 60)
labels = rng.random(60) < true_p
print(bestcut.guarantee(labels, scores, new_scores, {"precision": PRECISION}))

# %%
# Both need new rows that are like the labelled ones. :doc:`/how-to/certify-precision`
# has the proof, and results on real data.
