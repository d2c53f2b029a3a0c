"""
Rare digits: macro F1 instead of the most probable class
========================================================

The most probable class is best for accuracy. For macro F1, where each class counts the
same, it neglects rare classes. This example decides for macro F1 on handwritten digits,
some of which were made rare.
"""

# %%
# Digits, unevenly many, and a weak classifier
# --------------------------------------------
#
# From scikit-learn's digits we keep all zeros, and about 20 % fewer of each further
# digit, down to some thirty eights and nines. The classifier sees only three principal
# components, so it is often in doubt. Its probabilities are out-of-fold: no row was
# scored by a model that was fitted on it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestcut import multiclass
from bestcut.displays import ClassScoresDisplay

plt.rcParams["font.size"] = 12

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
keep = rng.random(y.size) < 0.8**y
X, y = X[keep], y[keep]
model = make_pipeline(
    PCA(3, random_state=0), StandardScaler(), LogisticRegression(C=100)
)
P = cross_val_predict(model, X, y, cv=5, method="predict_proba")
print("Rows of each digit:", *np.bincount(y))

# %%
# Two choices from the same probabilities
# ---------------------------------------
#
# No label is used for either of them.

most_probable = np.argmax(P, axis=1)
found = multiclass.decide(P, "f1")
print("Digits given by the most probable class:", *np.bincount(most_probable))
print("Digits given for macro F1:              ", *found.n_positive)
print(f"No choice has an expected macro F1 higher by more than {found.gap:.0e}")

# %%
# Macro F1 rises and accuracy falls a little: one cannot have the best of both.

for name, chosen in (("most probable", most_probable), ("for macro F1", found.labels)):
    promised = multiclass.score_distribution(P, chosen, "f1")
    realised = f1_score(y, chosen, average="macro")
    print(f"{name}: promised {promised}")
    print(f"  realised {realised:.3f}, accuracy {accuracy_score(y, chosen):.3f}")

# %%
# Where the gain comes from
# -------------------------
#
# The expected F1 of each digit, the best first, before any label is looked at. The rare
# digits 7, 8 and 9 gain; the others hardly change.

fig, axes = plt.subplots(1, 2, figsize=(7, 4.4), layout="constrained", sharex=True)
ClassScoresDisplay.from_predictions(P, most_probable, "f1", ax=axes[0])
ClassScoresDisplay.from_decision(found, ax=axes[1])
for ax, name in zip(axes, ("most probable class", "for macro F1"), strict=True):
    ax.set_title(f"{name}\n{ax.get_title()}", fontsize=12)
plt.show()

# %%
# With a good classifier there is little to gain. From all 64 pixels the model is nearly
# always sure, and both choices are nearly the same:

sure = make_pipeline(StandardScaler(), LogisticRegression())
P_sure = cross_val_predict(sure, X, y, cv=5, method="predict_proba")
best = multiclass.decide(P_sure, "f1").expected_score
usual = multiclass.expected_score(P_sure, np.argmax(P_sure, axis=1), "f1")
print(f"Expected macro F1: most probable {usual:.3f}, best {best:.3f}")

# %%
# :doc:`/guides/several-classes` has weights of classes, rules for new rows and the
# proof behind the gap.
