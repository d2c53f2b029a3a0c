"""Expected scores by the definition: laws in extended precision, and a double sum."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(float).eps)
_NEGLIGIBLE = 1e-20


def _without_ends(start: int, pmf: np.ndarray) -> tuple[int, np.ndarray]:
    """Leave out what is negligible at either end."""
    low = int(np.searchsorted(np.cumsum(pmf), _NEGLIGIBLE))
    high = int(np.searchsorted(np.cumsum(pmf[::-1]), _NEGLIGIBLE))
    return start + low, pmf[low : pmf.size - high]


def laws_after(p: np.ndarray, wanted: set[int]) -> dict[int, tuple[int, np.ndarray]]:
    """Return the laws of the positives among the first k, for every wanted k."""
    start, pmf = 0, np.ones(1, dtype=np.longdouble)
    out = {0: (start, pmf)} if 0 in wanted else {}
    for k, p_k in enumerate(p[: max(wanted)].astype(np.longdouble), 1):
        longer = np.zeros(pmf.size + 1, dtype=np.longdouble)
        longer[:-1] = pmf * (1 - p_k)
        longer[1:] += pmf * p_k
        pmf = longer
        if k % 16 == 0 or k in wanted:
            start, pmf = _without_ends(start, pmf)
        if k in wanted:
            out[k] = start, pmf
    return out


class ExactCuts:
    """The exact expected utility of some cuts of probabilities sorted descending."""

    def __init__(self, eta: np.ndarray, cuts: np.ndarray | list[int]) -> None:
        self.n = eta.size
        self.cuts = sorted({int(k) for k in cuts})
        self.above = laws_after(eta, set(self.cuts))
        self.below = laws_after(eta[::-1], {self.n - k for k in self.cuts})

    def evaluations(self) -> int:
        """Return at how many confusion matrices a metric is evaluated."""
        return sum(
            self.above[k][1].size * self.below[self.n - k][1].size for k in self.cuts
        )

    def scores(self, metric) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected score of every cut, and the rounding of that."""
        out, rounding = [], []
        for k in self.cuts:
            (low, above), (least, below) = self.above[k], self.below[self.n - k]
            tp = (low + np.arange(above.size, dtype=float))[:, None]
            fn = least + np.arange(below.size, dtype=float)
            score = metric.score_cells(tp, k - tp, fn, self.n - k - fn)
            score = np.broadcast_to(score, (above.size, below.size))
            inner = score @ below.astype(float)
            out.append(float(np.sum(above * inner)))
            size = float(above.astype(float) @ (np.abs(score) @ below.astype(float)))
            rounding.append(8 * EPS * size)
        return np.array(out), np.array(rounding)


def assert_promise(decision, cuts: ExactCuts, metric) -> None:
    """Check the value of a decision, and that no cut beats what is promised."""
    sign = 1.0 if metric.greater_is_better else -1.0
    scores, rounding = cuts.scores(metric)
    at = cuts.cuts.index(decision.n_positive)
    off = abs(decision.expected_score - scores[at])
    assert off <= decision.error + rounding[at], (off, decision)
    promised = sign * decision.expected_score + decision.error + decision.gap
    above = sign * scores - rounding - promised
    best = int(np.argmax(above))
    assert above[best] <= 0, (cuts.cuts[best], scores[best], above[best], decision)
