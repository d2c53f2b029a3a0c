"""Algorithm 1 of the paper: any metric that satisfies PRP, in O(n³)."""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import prefix_laws, prefix_laws_backwards
from bestcut.metrics import Metric
from bestcut.reference._solver import Curve, Solver, summation_error


class CubicSolver(Solver):
    """The paper's Algorithm 1, with the empty prediction k = 0 among the candidates."""

    name = "cubic"

    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut."""
        n = eta.size
        expected = np.empty(n + 1)
        scale = 0.0
        counts = np.arange(n + 1.0)
        # Line 4: C_k is the law of S_{1:k}. Line 5: D_k is the law of S_{k+1:n}, that
        # is, of the first n - k instances read from the end.
        C_laws = prefix_laws(eta)
        D_laws = prefix_laws_backwards(eta[::-1])
        for k, (C, D) in enumerate(zip(C_laws, D_laws, strict=True)):
            k1, k2 = counts[: k + 1, None], counts[None, : n - k + 1]
            # Phi(k1/n, k/n, (k1 + k2)/n), in counts.
            phi = metric.score(k1, float(k), k1 + k2, float(n))
            phi = np.broadcast_to(phi, (k + 1, n - k + 1))
            expected[k] = C @ phi @ D  # line 6
            scale = max(scale, float(np.max(phi)), -float(np.min(phi)))
        return Curve(expected, summation_error(n, scale))
