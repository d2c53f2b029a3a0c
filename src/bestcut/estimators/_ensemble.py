"""One score from several models: the mean of their log-odds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._types import FloatArray, IndexArray
from bestcut._validation import check_option
from bestcut.calibration import Calibration, stretched

# Draws of maps are stretched, by a factor that is random so that they spread. The mean
# of all models ranks new rows better than the mean of few ranks the labelled rows: how
# much better follows the variance of a mean, 1 / number of models. The two numbers were
# chosen on data (docs/evidence/promises.md).
_STEEPER = 0.125
_SPREAD = 0.2


class SeveralModelsMixin:
    """A classifier that keeps one model, or several whose scores it averages."""

    estimators_: list[Any]

    @property
    def estimator_(self) -> Any:
        """The fitted model, where there is one.

        Raises
        ------
        AttributeError
            If several models are averaged.
        """
        if len(self.estimators_) > 1:
            raise errors.several_models(
                name="estimator_", n_models=len(self.estimators_)
            )
        return self.estimators_[0]


@dataclass(frozen=True)
class UnseenScores:
    """Scores of rows by the models that did not see them.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Which rows have one.
    scores : ndarray of shape (n,) or (n, n_classes)
        The mean over these models, of what `log_odds` returns.
    ends : tuple of ndarray, optional
        The least and the largest log-odds; None if scores are no probabilities.
    factor, spread : float
        How much to stretch the maps that calibrate these scores, and how differently.
    """

    rows: IndexArray
    scores: FloatArray
    ends: tuple[FloatArray, FloatArray] | None
    factor: float
    spread: float

    def stretch(
        self, calibration: Calibration, scores: FloatArray, seed: int
    ) -> Calibration:
        """Return the maps for the mean over all models."""
        if self.factor == 1.0 and self.spread == 0.0:
            return calibration
        rng = np.random.default_rng((seed, 1))  # not the draws that made the maps
        return stretched(calibration, scores, self.factor, self.spread, rng)


def unseen_scores(
    n_rows: int,
    tests: list[IndexArray],
    parts: list[FloatArray],
    are_probabilities: bool,
) -> UnseenScores:
    """Return the scores of rows from the test rows and the scores of each model."""
    times = np.zeros(n_rows, dtype=np.int_)
    for test in tests:
        times[test] += 1
    rows = np.flatnonzero(times)
    ends = _ends(np.concatenate(parts), rows.size) if are_probabilities else None
    total = np.zeros((n_rows, *parts[0].shape[1:]))
    for test, part in zip(tests, parts, strict=True):
        total[test] += log_odds(part, ends)
    many = times[rows].reshape(-1, *(1,) * (total.ndim - 1))
    # Where every model scores every row, labelled rows are scored like new ones.
    fewer = 1.0 / float(many.mean()) - 1.0 / len(parts)
    return UnseenScores(
        rows=rows,
        scores=total[rows] / many,
        ends=ends,
        factor=1.0 + _STEEPER * fewer,
        spread=_SPREAD if fewer > 0.0 else 0.0,
    )


def mean_score(
    parts: Iterable[FloatArray], ends: tuple[FloatArray, FloatArray] | None
) -> FloatArray:
    """Return the mean of the scores of several models."""
    # One after the other, so that a row has the same mean alone as among others.
    total: Any = 0.0
    for count, part in enumerate(parts, start=1):  # noqa: B007
        total = total + log_odds(part, ends)
    return np.asarray(total / count)


def probabilities_of(scores: FloatArray) -> FloatArray:
    """Return the probabilities with these log-odds."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * scores)))


def check_ensemble(ensemble: Any, *, is_fitted: bool) -> bool:
    """Return whether to average models, refusing to average one."""
    if not isinstance(ensemble, bool | np.bool_):
        check_option(ensemble, ("auto",), name="ensemble")
        return not is_fitted
    if ensemble and is_fitted:
        raise errors.one_model_only(given="a model that is already fitted")
    return bool(ensemble)


def log_odds(
    scores: FloatArray, ends: tuple[FloatArray, FloatArray] | None
) -> FloatArray:
    """Return the log-odds of probabilities, within `ends`; other scores as they are."""
    if ends is None:
        return scores
    with np.errstate(divide="ignore"):
        found = np.log(scores / (1.0 - scores))  # 1 - p has all its digits from 1/2 on
    return np.asarray(np.clip(found, *ends))


def _ends(p: FloatArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
    """Return the log-odds for 0 and 1, of each column: half as far off as the nearest.

    A probability of 0 counts as half the smallest one between 0 and 1, so that one
    model that is wrongly sure does not outvote all others; and 1 likewise.
    """
    return _log_odds_of_half(p, n_rows), -_log_odds_of_half(1.0 - p, n_rows)


def _log_odds_of_half(p: FloatArray, n_rows: int) -> FloatArray:
    """Return the log-odds of half the smallest entry between 0 and 1 of each column."""
    # Models that say only 0 and 1 give none: then it is as if 1 in `n_rows` were.
    inside = (p > 0.0) & (p < 1.0)
    least = np.where(inside, p, np.inf).min(axis=0)
    least = np.where(np.isinf(least), 1.0 / n_rows, least)
    # Half of the smallest number there is would be 0.
    return np.asarray(np.log(least) - np.log(2.0) - np.log1p(-0.5 * least))
