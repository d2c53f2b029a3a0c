"""
Two models, a new batch, and no labels yet
==========================================

Which of two models should decide on a batch that nobody has labelled? This example
compares their expected scores and intervals, checks the choice when labels arrive, and
shows how the comparison fails if the probabilities are not calibrated.
"""

# %%
# Two models
# ----------
#
# Synthetic data with 15 % positives: 1,000 rows to fit, 600 labelled rows that were
# held out, and a batch of 1,000 rows without labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB

import bestcut

plt.rcParams["font.size"] = 12

X, y = make_classification(
    n_samples=2600,
    n_features=20,
    n_informative=6,
    n_redundant=8,
    weights=[0.85],
    class_sep=0.8,
    random_state=2,
)
fit, held_out, batch = np.split(np.arange(2600), [1000, 1600])
models = {
    "forest": RandomForestClassifier(min_samples_leaf=5, random_state=0),
    "naive Bayes": GaussianNB(),
}
for model in models.values():
    model.fit(X[fit], y[fit])

# %%
# What each model promises
# ------------------------
#
# The expected F1 of each model's own best decision, with its 90 % interval: first with
# the probabilities as the models give them, then calibrated on the held-out labels
# (with 100 draws instead of 200, to save time). No label of the batch is used.

probabilities, decisions = {}, {}
for name, model in models.items():
    scores = model.predict_proba(X[batch])[:, 1]
    held_out_scores = model.predict_proba(X[held_out])[:, 1]
    calibration = bestcut.calibrate(y[held_out], held_out_scores, n_draws=100)
    probabilities[name, "as it is"] = scores
    probabilities[name, "calibrated"] = calibration(scores)

for key, y_proba in probabilities.items():
    decisions[key] = bestcut.decide(y_proba, "f1")

for (name, how), decision in decisions.items():
    print(f"{name:<11}  {how:<10}  {decision.distribution()}")

# %%
# The two comparisons disagree. As they are, naive Bayes promises far more, because it
# is overconfident. After calibration the forest promises more. The intervals overlap
# only a little; if they overlapped much, the promises could not decide between the
# models.
#
# The labels arrive
# -----------------
#
# Now the labels of the batch may be looked at. The crosses are the scores that each
# decision turned out to have.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for at, ((name, how), decision) in enumerate(decisions.items()):
    color = "#d55e00" if how == "as it is" else "#0072b2"
    promised = decision.distribution()
    realised = f1_score(y[batch], decision.labels)
    ax.hlines(at, *promised.interval(0.9), color=color, linewidth=6)
    ax.plot(promised.mean, at, "o", color="white", ms=4)
    ax.plot(realised, at, "x", color="black", ms=9, mew=2.5)
    print(f"{name:<11}  {how:<10}  realised F1 {realised:.3f}")
ax.set_yticks(range(4), [f"{name}, {how}" for name, how in decisions])
ax.invert_yaxis()
ax.set_xlabel("F1: promised 90 % interval (bar) and realised (cross)")
ax.set_title("What two models promised and reached")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The calibrated promises chose the right model, and kept their intervals. The others
# were wrong in both directions: the forest is too modest, naive Bayes too bold.
#
# So a comparison without labels trusts the calibration, and the calibration trusts that
# the batch is like the held-out rows. ``bestcut.check_calibration`` tests this as soon
# as some labels are there:

for (name, how), y_proba in probabilities.items():
    check = bestcut.check_calibration(y[batch], y_proba)
    print(f"{name:<11}  {how:<10}  labels fit: {check.fits}")

# %%
# :doc:`/guides/before-the-labels` has more about intervals, checks and calibration.
