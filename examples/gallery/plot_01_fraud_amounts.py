"""
Fraud: every payment has its own amount
=======================================

A fraud costs what was paid, and every payment is different. This example holds the
payments with the largest expected gains, and compares them with two usual rules: a
threshold of 0.5, and a cut for the mean amount.
"""

# %%
# The payments
# ------------
#
# Twenty thousand synthetic payments: most amounts are small, a few are large. The model
# gives a calibrated probability of fraud, 1 % on average. A fraud that is held saves
# its amount; a false alarm costs 5 euro, for a phone call.

import matplotlib.pyplot as plt
import numpy as np

import bestcut
from bestcut.metrics import LinearUtility

plt.rcParams["font.size"] = 12
CALL = 5.0  # euro

rng = np.random.default_rng(1)
amount = np.round(rng.lognormal(mean=3.2, sigma=1.4, size=20_000), 2)
p = rng.beta(0.05, 4.95, size=20_000)
print(f"Median amount {np.median(amount):.0f} euro, mean {amount.mean():.0f} euro")
print(f"Frauds to expect: {p.sum():.0f}")

# %%
# Three ways to decide
# --------------------
#
# ``LinearUtility`` has one worth for every fraud, here the mean amount, and leads to a
# cut of the probabilities. ``RowUtility`` takes the amounts themselves.

same_worth = LinearUtility(tp=amount.mean(), fp=-CALL, name="euro")
own_worth = bestcut.RowUtility(tp=amount, fp=-CALL, name="euro")

held = {
    "threshold 0.5": p >= 0.5,
    "mean amount": bestcut.decide(p, same_worth).labels,
    "own amounts": bestcut.decide(p, own_worth).labels,
}

# %%
# What each of them can be expected to bring is known in advance. All three are judged
# by the amounts of the payments. The labels are drawn only now, from the probabilities.

fraud = rng.random(p.size) < p
print(
    f"{'decided by':<14} {'held':>4} {'expected':>9}  {'90 % interval':<13}  turned out"
)
for name, rows in held.items():
    total = bestcut.score_distribution(p, rows, own_worth)
    interval = "{:.0f} to {:.0f}".format(*total.interval(0.9))
    realised = own_worth.realised(fraud, rows)
    print(f"{name:<14} {rows.sum():>4} {total.mean:>9.0f}", end="  ")
    print(f"{interval:<13} {realised:>10.0f}")

# %%
# The interval is wide, because a few large payments decide most of the total. So one
# day says little about which rule is better; the expected totals say it exactly.
#
# Which payments are held?
# ------------------------
#
# The cut for the mean amount is a vertical line. With their own amounts, small payments
# are let go even if fraud is fairly probable, and large ones are held even if it is
# not.

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
cut, own = held["mean amount"], held["own amounts"]
groups = {
    "held by both rules": (cut & own, "0.35", "o"),
    "only by the mean amount": (cut & ~own, "#d55e00", "x"),
    "only by own amounts": (own & ~cut, "#0072b2", "^"),
}
ax.plot(p[~cut & ~own], amount[~cut & ~own], ".", ms=2, color="0.85", rasterized=True)
for name, (rows, color, marker) in groups.items():
    label = f"{name}: {rows.sum()}"
    ax.plot(p[rows], amount[rows], marker, ms=4, color=color, label=label)
ax.set(xscale="log", yscale="log", xlim=(1e-4, 1), ylim=(0.3, None))
ax.set(xlabel="Probability of fraud", ylabel="Amount (euro)")
ax.set_title("Payments held by each rule")
ax.spines[["top", "right"]].set_visible(False)
fig.legend(loc="outside upper center", ncols=1, frameon=False)
plt.show()

# %%
# Where the gain is small
# -----------------------
#
# What own amounts gain depends on how different the amounts are. With amounts that
# differ little, the mean amount is as good.

for spread in (0.0, 0.3, 0.7, 1.4):
    amounts = rng.lognormal(mean=4.2 - spread**2 / 2, sigma=spread, size=p.size)
    worth = bestcut.RowUtility(tp=amounts, fp=-CALL)
    by_mean = bestcut.decide(p, LinearUtility(tp=amounts.mean(), fp=-CALL)).labels
    best = bestcut.decide(p, worth).expected_score
    gain = best / bestcut.expected_score(p, by_mean, worth) - 1
    print(f"spread of the log amounts {spread:.1f}: own amounts bring {gain:.1%} more")

# %%
# :doc:`More about amounts per row </guides/money>`.
