"""Draw the pictures of the page on the paper: ranking, exchange, counts, batches."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

import bestcut

mpl.use("Agg")
mpl.rcParams["font.size"] = 12.5

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)
from matplotlib.figure import Figure  # noqa: E402

HERE = Path(__file__).resolve().parent
INK, GREY, PALE, ORANGE, BLUE = "black", "0.45", "0.85", "#d55e00", "#0072b2"

# The batch of the page's own examples.
ETA = np.array([0.62, 0.48, 0.34, 0.31, 0.22, 0.09, 0.04, 0.02])
METRICS = {
    "accuracy": ("Accuracy", GREY, ":"),
    "f0.5": ("F0.5", BLUE, "--"),
    "f1": ("F1", INK, "-"),
    "f2": ("F2", ORANGE, "-."),
}

SIZES = (10, 20, 50, 100, 300, 1000)
BATCHES = 400
VALIDATION = 200  # labelled instances that tune one of the thresholds


def clean(*axes) -> None:
    """Take away the lines that carry nothing."""
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)


def ranking() -> Figure:
    """Draw the ranked probabilities with the best cut, and four curves."""
    figure, (bars, curves) = plt.subplots(
        1, 2, figsize=(9.5, 3.8), layout="constrained", width_ratios=(4, 5)
    )
    best = bestcut.decide(ETA, "f1").n_positive
    rank = np.arange(1, ETA.size + 1)
    colours = np.where(rank <= best, INK, PALE)
    bars.bar(rank, ETA, color=colours, edgecolor=INK, linewidth=0.8)
    bars.axvline(best + 0.5, color=INK, linewidth=1)
    bars.text(best + 0.6, 0.6, f"best cut for F1:\nk = {best}")
    bars.axhline(0.5, color=GREY, linewidth=1, linestyle="--")
    bars.text(8.5, 0.51, "0.5", color=GREY, ha="right")
    bars.set(xlabel="Rank of the instance", ylabel="Probability η", xticks=rank)
    bars.set_ylim(0, 0.75)

    for metric, (name, colour, style) in METRICS.items():
        decision = bestcut.decide(ETA, metric)
        k, scores = decision.curve.n_positive, decision.curve.expected_score
        curves.plot(k, scores, style, color=colour, lw=2)
        curves.plot(decision.n_positive, decision.expected_score, "o", color=colour)
        curves.text(8.15, scores[-1], name, color=colour, va="center")
    curves.set(xlabel="k, the number of predicted positives", ylabel="Expected score")
    curves.set_xlim(0, 9.4)
    curves.set_ylim(0, 0.85)
    curves.set_xticks(range(9))
    clean(bars, curves)
    return figure


def exchange() -> Figure:
    """Draw what happens if a prediction swaps an instance for a more probable one."""
    low, high = 0.3, 0.7
    outcomes = (  # what the two labels are, its probability, what the swap changes
        ("both negative", (1 - low) * (1 - high), "no change", PALE),
        ("both positive", low * high, "no change", PALE),
        ("only A positive", low * (1 - high), "one TP\nlost", ORANGE),
        ("only B positive", (1 - low) * high, "one TP gained", BLUE),
    )
    figure, axis = plt.subplots(figsize=(9.5, 2.6), layout="constrained")
    left = 0.0
    for name, probability, change, colour in outcomes:
        axis.barh(0, probability, left=left, height=0.6, color=colour, edgecolor=INK)
        middle = left + probability / 2
        dark = colour in (BLUE, ORANGE)
        axis.text(middle, 0, change, ha="center", va="center", c="w" if dark else INK)
        axis.text(middle, 0.38, f"{probability:.2f}", ha="center", va="bottom")
        words = name.replace(" ", "\n", 1) if dark and probability < 0.1 else name
        axis.text(middle, -0.38, words, ha="center", va="top")
        left += probability
    axis.set_title(
        f"Flag B (probability {high}) in the place of A (probability {low}):"
        " the four outcomes",
        fontsize=12.5,
        loc="left",
    )
    axis.set_xlim(0, 1)
    axis.set_ylim(-0.8, 0.55)
    axis.axis("off")
    return figure


def counts() -> Figure:
    """Draw the distribution of the two counts, with lines of equal F1, and of F1."""
    eta = np.sort(np.random.default_rng(7).beta(0.3, 3.0, size=300))[::-1]
    decision = bestcut.decide(eta, "f1")
    k = decision.n_positive
    above = bestcut.counts.poisson_binomial(eta[:k])
    below = bestcut.counts.poisson_binomial(eta[k:])
    joint = np.outer(below, above)
    figure, (plane, line) = plt.subplots(
        1, 2, figsize=(9.5, 4), layout="constrained", width_ratios=(5, 4)
    )
    a, b = np.arange(5, 28), np.arange(0, 24)
    shown = joint[np.ix_(b, a)]
    plane.pcolormesh(a, b, shown, cmap="Greys", vmin=0, vmax=1.6 * shown.max())
    f1 = bestcut.metrics.get("f1")
    scores = f1(a, k, a + b[:, None], eta.size)
    levels = plane.contour(a, b, scores, levels=np.arange(0.2, 0.81, 0.1), colors=BLUE)
    places = [(1.01 * level / (2 - level) * (k + 20), 20) for level in levels.levels]
    plane.clabel(levels, fmt="F1 = %.1f", fontsize=10.5, manual=places[:5])
    plane.set_xlabel(f"k₁: positives among the {k} flagged")
    plane.set_ylabel(f"k₂: positives among the other {eta.size - k}")

    distribution = decision.distribution()
    edges = np.arange(0.16, 0.81, 0.04)
    reached = np.array([distribution.prob_at_least(edge) for edge in edges])
    line.bar(edges[:-1], -np.diff(reached), np.diff(edges), align="edge", color=PALE)
    low, high = distribution.interval(0.9)
    line.hlines(0.006, low, high, color=ORANGE, lw=4)
    top = -np.diff(reached).min()
    line.text(low, 0.013, f"90 %: {low:.2f} to {high:.2f}", color=ORANGE)
    line.text(distribution.mean + 0.01, 1.06 * top, f"mean {distribution.mean:.2f}")
    line.vlines(distribution.mean, 0.035, 1.18 * top, color=INK)
    line.set_ylim(0, 1.18 * top)
    line.set(xlabel="F1 of the best cut", ylabel="Probability", xlim=(0.18, 0.76))
    clean(plane, line)
    return figure


def population(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return probabilities of n instances: one in eleven is positive."""
    return rng.beta(0.3, 3.0, size=n)


def fixed_threshold(rng: np.random.Generator) -> float:
    """Return the threshold with the best F1 of the population: EUM with all labels."""
    p = np.sort(population(rng, 10**6))[::-1]
    return float(p[np.argmax(2 * np.cumsum(p) / (np.arange(1, p.size + 1) + p.sum()))])


def measure_batches() -> tuple[float, dict[str, np.ndarray]]:
    """Return EUM's threshold, the thresholds of DTA, and what each way expects."""
    rng = np.random.default_rng(0)
    fixed = fixed_threshold(rng)
    shape = (len(SIZES), BATCHES)
    names = ("threshold", "DTA", "fixed", "tuned", "half")
    found = {name: np.empty(shape) for name in names}
    for row, n in enumerate(SIZES):
        for column in range(BATCHES):
            p = population(rng, n)
            labelled = population(rng, VALIDATION)
            y = rng.random(VALIDATION) < labelled
            tuned = bestcut.empirical_threshold(y, labelled, "f1").threshold
            decision = bestcut.decide(p, "f1")
            found["threshold"][row, column] = decision.threshold
            found["DTA"][row, column] = decision.expected_score
            for name, cut in (("fixed", fixed), ("tuned", tuned), ("half", 0.5)):
                score = bestcut.expected_score(p, p >= cut, "f1")
                found[name][row, column] = score
    return fixed, found


def batches() -> Figure:
    """Draw the threshold for the batch beside one for all, and the expected F1."""
    fixed, found = measure_batches()
    figure, (thresholds, scores) = plt.subplots(
        1, 2, figsize=(9.5, 4), layout="constrained"
    )
    low, middle, high = np.quantile(found["threshold"], (0.05, 0.5, 0.95), axis=1)
    thresholds.fill_between(SIZES, low, high, color=PALE)
    thresholds.plot(SIZES, middle, "o-", color=INK, ms=5)
    thresholds.axhline(fixed, color=BLUE, linestyle="--")
    thresholds.axhline(0.5, color=GREY, linestyle=":")
    thresholds.text(1000, 0.51, "0.5", color=GREY, ha="right", va="bottom")
    thresholds.text(1000, 0.15, f"EUM: {fixed:.2f} for all", color=BLUE, ha="right")
    thresholds.text(
        1000, 0.34, "DTA: one for each batch,\nmedian and 5 % to 95 %", ha="right"
    )
    thresholds.set_ylabel("Threshold for F1")
    thresholds.set_ylim(0, 0.7)

    ways = (
        ("DTA", "DTA", INK, "o-"),
        ("fixed", "EUM, unlimited labels", BLUE, "s--"),
        ("tuned", f"EUM, {VALIDATION} labels", ORANGE, "^-."),
        ("half", "threshold 0.5", GREY, "v:"),
    )
    for name, label, colour, style in ways:
        mean = found[name].mean(axis=1)
        scores.plot(SIZES, mean, style, color=colour, label=label, ms=5)
    scores.set_ylabel("Mean expected F1")
    scores.set_ylim(0, 0.5)
    scores.legend(frameon=False, loc="lower right", fontsize=11)
    for axis in (thresholds, scores):
        axis.set_xscale("log")
        axis.set_xlabel("Instances in the batch")
        axis.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
        axis.minorticks_off()
    clean(thresholds, scores)
    return figure


def main() -> None:
    """Write the PNG files beside this script."""
    for draw in (ranking, exchange, counts, batches):
        figure = draw()
        name = HERE / f"paper_{draw.__name__}.png"
        figure.savefig(name, dpi=140, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
