"""
Segmentation: a faint object that 0.5 loses
===========================================

A segmentation model gives a probability for each pixel, and masks are judged by Dice.
This example cuts a clear, a dim and a faint object at 0.5 and at the best threshold of
each map, and shows where the difference matters.
"""

# %%
# Three maps
# ----------
#
# The same disc in maps of 64 by 64 pixels, seen more and more faintly. The maps are
# made up, and their probabilities are taken to be calibrated.

import matplotlib.pyplot as plt
import numpy as np

import bestcut

plt.rcParams["font.size"] = 12

SIDE = 64
rng = np.random.default_rng(0)
row, column = np.mgrid[:SIDE, :SIDE]
disc = np.exp(-((row - 26) ** 2 + (column - 40) ** 2) / 120)
names = ["clear", "dim", "faint"]
strength = np.array([16.0, 7.5, 5.4]).reshape(3, 1, 1)
noise = rng.normal(0, 0.4, size=(3, SIDE, SIDE))
maps = 1 / (1 + np.exp(6 - strength * disc - noise))

# %%
# One decision for each map
# -------------------------
#
# ``decide_each`` takes a matrix with one problem in each row, so each map becomes a
# row. For Dice the best threshold is half the Dice that can be expected: near 0.5 for
# the clear map, and much lower for the faint one.

flat = maps.reshape(3, -1)
found = bestcut.decide_each(flat, "dice")
masks = found.labels.reshape(maps.shape)
at_half = maps > 0.5
print("map    threshold  expected Dice  expected Dice at 0.5")
for i, name in enumerate(names):
    half = bestcut.expected_score(flat[i], at_half[i].ravel(), "dice")
    best, threshold = found.expected_score[i], found.threshold[i]
    print(f"{name:<6} {threshold:>9.2f} {best:>14.2f} {half:>21.2f}")

# %%
# The true objects
# ----------------
#
# Only now are the true pixels drawn from the probabilities.

truth = rng.random(maps.shape) < maps

fig, axes = plt.subplots(3, 4, figsize=(7, 5.6), layout="constrained")
for i, name in enumerate(names):
    shown = axes[i, 0].imshow(maps[i], vmin=0, vmax=1, cmap="viridis")
    for ax, mask in zip(axes[i, 1:], (truth[i], at_half[i], masks[i]), strict=True):
        ax.imshow(mask, vmin=0, vmax=1, cmap="gray")
    axes[i, 0].set_ylabel(name)
    for ax, mask in ((axes[i, 2], at_half[i]), (axes[i, 3], masks[i])):
        hits = (mask & truth[i]).sum()
        dice = 2 * hits / (mask.sum() + truth[i].sum())
        ax.set_xlabel(f"Dice {dice:.2f}")
titles = ["probabilities", "true pixels", "at 0.5", "best mask"]
for ax, title in zip(axes[0], titles, strict=True):
    ax.set_title(title, fontsize=12)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
fig.colorbar(shown, ax=axes[:, 0], location="left", shrink=0.5, label="Probability")
plt.show()

# %%
# The clear object has nearly the same mask both times: there is little to gain. At 0.5
# the faint one is lost. Its best mask is far from perfect, and its expected Dice said
# so.
#
# Here the pixels are independent given the map. Neighbouring pixels of real objects are
# not: then the score of one map varies more than bestcut says.
#
# The same for tensors is ``bestcut.torch.decide_masks(probs, "dice")``, which decides
# whole batches of maps on the CPU or, without a sort, on a GPU: :doc:`/guides/masks`.
