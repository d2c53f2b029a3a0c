"""Conditions that hold with a probability."""

from __future__ import annotations

from dataclasses import dataclass

from bestcut._validation import check_finite_real, check_share


@dataclass(frozen=True)
class Certain:
    """A condition that the score of this batch must meet with some probability.

    Use it as a value of `at_least` in `bestcut.decide`: the score of the batch must be
    at least `score` with at least this probability. A number in its place is the least
    *expected* score.

    Parameters
    ----------
    score : float
        The least score.
    probability : float, default=0.95
        The probability with which it must be reached, strictly between 0 and 1.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.95] * 60 + [0.7] * 40 + [0.1] * 200
    >>> sure = bestcut.Certain(0.9, probability=0.95)
    >>> decision = bestcut.decide(p, "f1", at_least={"precision": sure})
    >>> decision.n_positive
    61
    >>> round(decision.distribution("precision").prob_at_least(0.9), 3)
    0.956
    """

    score: float
    probability: float = 0.95

    def __post_init__(self) -> None:
        check_finite_real(self.score, name="score")
        check_share(self.probability, name="probability")
