"""Thresholds of MAPIE for many sets of labelled scores, for `experiments.guarantee`.

    PYTHON guarantee_mapie.py GIVEN.npz ANSWER.npy

It needs MAPIE 1.6 or newer and NumPy, not bestcut. Thresholds are MAPIE's own hundred,
its correction for them is the default one; inf stands for none that is controlled.
"""

import sys
import warnings

import numpy as np
from mapie.risk_control import BinaryClassificationController


def both_columns(s: np.ndarray) -> np.ndarray:
    """Return the probabilities of both classes, as scikit-learn would."""
    return np.column_stack([1 - s, s])


def threshold(y: np.ndarray, s: np.ndarray, floor: float, level: float) -> float:
    """Return the threshold with the best recall among those that are controlled."""
    controller = BinaryClassificationController(
        predict_function=both_columns,
        risk="precision",
        target_level=floor,
        confidence_level=level,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no threshold is controlled
        controller.calibrate(s, y.astype(int))
    best = controller.best_predict_param
    return np.inf if best is None else float(best)


if __name__ == "__main__":
    given = np.load(sys.argv[1])
    floor, level = float(given["floor"]), float(given["level"])
    pairs = zip(given["y"], given["s"], strict=True)
    np.save(sys.argv[2], [threshold(y, s, floor, level) for y, s in pairs])
