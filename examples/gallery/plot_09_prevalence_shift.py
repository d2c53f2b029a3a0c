"""
More or fewer positives than in training
========================================

A model was fitted where 30 % of the rows are positive, and is used where far fewer are.
This example estimates the new share from unlabelled scores, corrects the probabilities,
and shows the decision before and after. It ends with a shift that cannot be corrected
in this way.
"""

# %%
# From 30 % to 10 %
# -----------------
#
# Positives and negatives look as they did before; only their shares change. Such a
# change is called a prevalence shift, or label shift. It is common in screening: a
# clinic sees more ill people than the street.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import bestcut
from bestcut.displays import CalibrationCheckDisplay

plt.rcParams["font.size"] = 12
rng = np.random.default_rng(1)
OLD, NEW = 0.3, 0.1


def rows(n, share):
    """Return features and labels of n rows."""
    y = rng.random(n) < share
    return rng.normal(size=(n, 5)) + y[:, None], y


X, y = rows(6000, OLD)
model = LogisticRegression().fit(X, y)
X_new, y_new = rows(1000, NEW)  # y_new is put aside until the end
p = model.predict_proba(X_new)[:, 1]

# %%
# Estimate and correct
# --------------------
#
# The estimate is the share that makes the unlabelled scores most likely. It needs no
# labels, only the share that the model was fitted on.

share = bestcut.calibration.estimate_prevalence(p, old=OLD)
corrected = bestcut.calibration.adjust_prevalence(p, old=OLD, new=share)
print(f"Mean probability of the model: {p.mean():.3f}")
print(f"Estimated share of positives:  {share:.3f} (true: {NEW})")

# %%
# The estimate has an error of its own, for which the intervals below do not allow.
# Thirty more batches of the same kind show how large it can be.

samples = [model.predict_proba(rows(1000, NEW)[0])[:, 1] for _ in range(30)]
repeated = [bestcut.calibration.estimate_prevalence(p, old=OLD) for p in samples]
print(f"Thirty estimates: {min(repeated):.3f} to {max(repeated):.3f}")

# %%
# Before and after
# ----------------
#
# Without the correction too many rows are flagged, and the promise is far too high.
# With it, F1 is better and the promise holds.

for name, y_proba in (("before", p), ("after", corrected)):
    decision = bestcut.decide(y_proba, "f1")
    realised = f1_score(y_new, decision.labels)
    print(f"{name}: {decision.n_positive} rows flagged")
    print(f"  promised {decision.distribution()}; realised {realised:.3f}")

# %%
# Once labels are there, the check shows the same: before the correction the
# probabilities are too high (filled points do not fit), and after it they fit.

fig, axes = plt.subplots(1, 2, figsize=(7, 4.6), layout="constrained")
for ax, name, y_proba in zip(axes, ("Before", "After"), (p, corrected), strict=True):
    CalibrationCheckDisplay.from_predictions(y_new, y_proba, ax=ax)
    ax.set(title=f"{name} the correction", xlim=(0, 1), ylim=(0, 1))
    ax.get_legend().remove()
entries = axes[0].get_legend_handles_labels()
fig.legend(*entries, loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# When it does not work
# ---------------------
#
# The correction assumes that positives and negatives still look as they did. Here the
# share stays at 30 %, but all features have moved by 0.3, as after a change of the
# instrument. The estimate explains this by more positives, and is wrong. The unlabelled
# scores give no warning of that; some new labels do.

X_moved, y_moved = rows(2000, OLD)
p_moved = model.predict_proba(X_moved + 0.3)[:, 1]
wrong = bestcut.calibration.estimate_prevalence(p_moved, old=OLD)
still = bestcut.calibration.adjust_prevalence(p_moved, old=OLD, new=wrong)
check = bestcut.check_calibration(y_moved, still)
print(f"Estimated share of positives: {wrong:.3f} (true: {OLD})")
print(f"The labels fit the corrected probabilities: {check.fits}")

# %%
# :doc:`/guides/before-the-labels` has more about checks, and what to do if they fail.
