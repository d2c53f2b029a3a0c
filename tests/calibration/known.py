"""What tests of the check share."""

import numpy as np

FLOOR = 1e-15  # smaller p-values are reported as this


def simulated(seed, n=2000):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, rng.random(n) < p
