"""
Baskets: many small problems, and when to say None
==================================================

Which products will each customer buy again? Every basket is a small problem with an F1
of its own. This example decides each of them exactly, and shows when it is better to
predict that nothing is bought at all.
"""

# %%
# Two thousand baskets
# --------------------
#
# Each customer has 20 products that may be bought again. Some customers buy much and
# some hardly anything, so the probabilities of a basket have a level of their own. They
# are synthetic.

import matplotlib.pyplot as plt
import numpy as np

import bestcut
from bestcut import multilabel
from bestcut.metrics import FBeta

plt.rcParams["font.size"] = 12

rng = np.random.default_rng(0)
habit = rng.normal(-2.0, 1.2, size=(2000, 1))
y_proba = 1 / (1 + np.exp(-habit - rng.normal(size=(2000, 20))))
print(f"{y_proba.sum(axis=1).mean():.1f} products are expected in a basket")

# %%
# What is an empty basket worth?
# ------------------------------
#
# If nothing is bought and nothing was predicted, F1 is 0/0. Here such a basket counts
# as 1: to say None was right. That is ``zero_division=1.0``. With the default, 0, None
# would never be the best answer. (For baskets of different sizes, ``decide_each`` takes
# one long column of probabilities and the ``groups`` that its rows belong to.)

f1_or_none = FBeta(zero_division=1.0)
decided = bestcut.decide_each(y_proba, f1_or_none)
never_none = bestcut.decide_each(y_proba, f1_or_none, min_positives=1)
print(f"None is predicted for {np.sum(decided.n_positive == 0)} baskets")

# %%
# For comparison we take one threshold for all products: 0.5, and the best of many. The
# best one is found by expected score, so it needs no labels either.


def expected(labels):
    """Return the expected mean F1 over baskets of any predictions."""
    return multilabel.expected_score(y_proba, labels, f1_or_none, average="samples")


best_single = max(np.arange(0.1, 0.6, 0.02), key=lambda t: expected(y_proba >= t))
predictions = {
    "threshold 0.5": y_proba >= 0.5,
    f"threshold {best_single:.2f}": y_proba >= best_single,
    "each, never None": never_none.labels,
    "each": decided.labels,
}

# The purchases are drawn only now.
bought = rng.random(y_proba.shape) < y_proba
print(f"{'decided by':<17} expected F1  turned out")
for name, labels in predictions.items():
    hits, n_positive = (bought & labels).sum(axis=1), labels.sum(axis=1)
    scores = f1_or_none(hits, n_positive, bought.sum(axis=1), 20)
    print(f"{name:<17} {expected(labels):>11.3f} {scores.mean():>11.3f}")

# %%
# The step from 0.5 to a better threshold is the largest one, and deciding each basket
# by itself adds a little to that. None matters more here: without it, even the best
# products of each basket score less than the threshold, which leaves many baskets
# empty.
#
# The rule for None
# -----------------
#
# Predicting nothing scores 1 if the basket is empty, and 0 if it is not. So None is
# right where an empty basket is more probable than the best expected F1 of any
# products: below the diagonal.

empty = np.prod(1 - y_proba, axis=1)
some_products = never_none.expected_score
none = decided.n_positive == 0

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(empty[~none], some_products[~none], ".", color="0.6", label="products")
ax.plot(empty[none], some_products[none], "x", ms=5, color="#d55e00", label="None")
ax.plot([0, 1], [0, 1], color="black", linewidth=1)
ax.set(xlabel="Probability that the basket is empty", xlim=(0, 1), ylim=(0, 1))
ax.set_title("Baskets below the line are left empty")
ax.set_ylabel("Best expected F1\nof some products")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(title="Predicted", frameon=False, markerscale=1.5)
plt.show()

# %%
# :doc:`/guides/many-problems` has budgets and conditions for each basket, and the rule
# for "None" as a product of its own that may be predicted beside others.
