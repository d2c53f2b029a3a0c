"""
A million rows
==============

Finding the best cut of a million probabilities takes less time than sorting them. This
example measures that here and now, draws the whole curve, and then decides from a
stream that need not be in memory at once.
"""

# %%
# Time in units of a sort
# -----------------------
#
# The time of ``decide`` divided by that of ``np.argsort`` on the same array, best of
# three. On another machine the numbers will differ.

import time

import matplotlib.pyplot as plt
import numpy as np

import bestcut

plt.rcParams["font.size"] = 12
p = np.random.default_rng(0).beta(0.3, 3, size=1_000_000)


def seconds(call):
    """Return the processor time of a call, the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


sort = seconds(lambda: np.argsort(p))
print(f"np.argsort: {sort * 1000:.0f} ms")
for metric in ("f1", "jaccard", "mcc", "gmean"):
    ratio = seconds(lambda m=metric: bestcut.decide(p, m)) / sort
    print(f"decide for {metric:<8} {ratio:.1f} sorts")

# %%
# The expected score is exact up to ``error``, and no other prediction is better by more
# than ``error`` and ``gap`` together.

decision = bestcut.decide(p, "f1")
print(f"{decision.n_positive} of {p.size} rows, threshold {decision.threshold:.4f}")
print(f"Expected F1 {decision.expected_score:.6f}", end=", ")
print(f"error {decision.error:.0e}, gap {decision.gap:g}")
print(f"Before any label: {decision.distribution()}")

# %%
# With so many rows the score hardly varies, and the simple plug-in rule (the best ratio
# of expectations) finds the same cut. What remains is the interval, the proof, and one
# call for every metric.
#
# The whole curve
# ---------------
#
# The expected F1 of each of the million and one cuts, computed on first use.

start = time.process_time()
curve = decision.curve.expected_score
print(f"The curve took {(time.process_time() - start) / sort:.1f} sorts")

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
decision.curve.plot(ax=ax)
ax.set(xlabel="Predicted positives (of 1,000,000)", title="Expected F1 of every cut")
ax.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
plt.show()

# %%
# From a stream
# -------------
#
# ``ScoreSummary`` keeps about a megabyte, however many scores it has seen. A first pass
# finds a bracket around the best cut, and a second pass collects the few scores inside
# it. The cut is the same as that of all scores at once.

chunks = np.array_split(p, 20)  # from files, a database or other machines
summary = bestcut.streams.ScoreSummary()
for chunk in chunks:
    summary.update(chunk)

bracket = summary.bracket("f1")
near = np.concatenate([bracket.select(chunk) for chunk in chunks])
cut = bracket.refine(near)
print(f"Summary: {len(summary.to_bytes()) / 1e6:.2f} MB")
print(f"Scores looked at again: {near.size} of {summary.n}")
print(f"The same cut: {cut.n_positive == decision.n_positive}")

# %%
# :doc:`/guides/any-size` has more sizes, and what is slow.
