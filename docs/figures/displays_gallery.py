"""Draw the pictures of the guide to displays: each display once, synthetic data."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
mpl.rcParams["font.size"] = 11

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)

import bestcut  # noqa: E402
from bestcut import multiclass  # noqa: E402
from bestcut.displays import (  # noqa: E402
    CalibrationCheckDisplay,
    CalibrationMapDisplay,
    ClassConfusionDisplay,
    ClassScoresDisplay,
    DecisionDisplay,
    ExpectedScoreDisplay,
    ScoreDistributionDisplay,
)

HERE = Path(__file__).resolve().parent
SIZE, HIGH = (7.0, 4.2), (7.0, 5.4)  # with a legend below it


def batch():
    """Return 300 probabilities with about 27 positives to expect."""
    return np.random.default_rng(3).beta(0.3, 3, 300)


def curve(ax):
    """Draw an expected-score curve with its band."""
    ExpectedScoreDisplay.from_predictions(batch(), "f1", band=0.9, ax=ax)


def metrics(ax):
    """Draw the curves of five metrics."""
    names = ["f1", "f2", "mcc", "jaccard", "balanced_accuracy"]
    ExpectedScoreDisplay.from_predictions(batch(), names, ax=ax)


def decision(ax):
    """Draw the ranked probabilities and the cut."""
    DecisionDisplay.from_predictions(batch(), "f1", ax=ax)


def distribution(ax):
    """Draw the law of a score, with one that was observed."""
    score = bestcut.decide(batch(), "f1").distribution()
    ScoreDistributionDisplay.from_distribution(score, observed=0.36, ax=ax)


def calibration(ax):
    """Draw a check that finds probabilities too low."""
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    CalibrationCheckDisplay.from_predictions(rng.random(1000) < p, p**1.3, ax=ax)


def labelled():
    """Return 300 labels and scores whose squares are right."""
    rng = np.random.default_rng(7)
    scores = rng.beta(0.6, 1.6, 300)
    return rng.random(300) < scores**2, scores


def uncertain():
    """Return the probabilities of 300 new scores, as far as the labels tell."""
    labels, scores = labelled()
    new = np.random.default_rng(8).choice(scores, 300)
    return bestcut.calibrate(labels, scores)(new)


def maps(ax):
    """Draw what labels say of scores, and leave open."""
    CalibrationMapDisplay.from_predictions(*labelled(), ax=ax)


def doubt_curve(ax):
    """Draw an expected-score curve with bands of both kinds of doubt."""
    ExpectedScoreDisplay.from_predictions(uncertain(), "f1", band=0.9, ax=ax)


ANIMALS = ["cat", "dog", "hen", "owl", "yak"]


def animals():
    """Return probabilities of five classes, two of them rare, for 400 rows."""
    return np.random.default_rng(5).dirichlet([1.2, 0.8, 0.3, 0.1, 0.05], 400)


def class_scores(ax):
    """Draw the expected score of each class."""
    found = multiclass.decide(animals(), classes=ANIMALS)
    ClassScoresDisplay.from_decision(found, ax=ax)


def class_confusion(ax):
    """Draw what a choice of classes will confuse."""
    found = multiclass.decide(animals(), classes=ANIMALS)
    ClassConfusionDisplay.from_decision(found, animals(), ax=ax)


PICTURES = (
    curve,
    metrics,
    decision,
    distribution,
    calibration,
    maps,
    doubt_curve,
    class_scores,
    class_confusion,
)


def main():
    """Write the pictures beside this script."""
    for draw in PICTURES:
        size = HIGH if draw is metrics else SIZE
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        draw(ax)
        name = HERE / f"displays_{draw.__name__}.png"
        figure.savefig(name, dpi=140, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
