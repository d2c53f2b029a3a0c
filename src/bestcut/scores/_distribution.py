"""The distribution of a score before any label is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, Protocol

import numpy as np

from bestcut import _errors as errors, _extras as extras
from bestcut._caches import Lean
from bestcut._results import Plain
from bestcut._types import FloatArray
from bestcut._validation import (
    check_finite_real,
    check_levels,
    check_random_state,
    check_real_array,
    check_share,
    check_whole_number,
)
from bestcut.metrics import AnyMetric
from bestcut.scores._prediction import Moments
from bestcut.scores._utility import UtilityDistribution


class ScoreSource(Protocol):
    """What scores come from: one prediction, or many whose scores are averaged."""

    def moments(self, metric: Any) -> Moments:
        """Return mean, standard deviation and a bound on the mean's error."""

    def utility(self, metric: Any) -> UtilityDistribution:
        """Return the distribution of the utility."""

    def sample(self, metric: Any, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores."""


@dataclass(frozen=True, repr=False)
class Surprise:
    """How unusual an observed score is.

    Attributes
    ----------
    observed : float
        The score that was seen.
    prob_lower, prob_higher : float
        Probability of a score at most as large, and at least as large.
    p_value : float
        Twice the smaller of the two, at most 1.
    verdict : str
        The same in words.

    See Also
    --------
    bestcut.ScoreDistribution : Its ``surprise`` returns one.
    bestcut.check_calibration : Check the probabilities themselves.

    Examples
    --------
    >>> import bestcut
    >>> score = bestcut.score_distribution([0.9, 0.1] * 100, [1, 0] * 100, "accuracy")
    >>> seen = score.surprise(0.8)
    >>> seen.p_value < 0.001, seen.prob_lower < seen.prob_higher
    (True, True)
    """

    observed: float
    prob_lower: float
    prob_higher: float
    p_value: float
    verdict: str

    def __repr__(self) -> str:
        return f"Surprise({self.verdict})"


class ScoreDistribution(Plain, Lean):
    """What a metric will be, by calibrated probabilities.

    Made by `bestcut.score_distribution` and `bestcut.Decision.distribution`. Its words
    are those of the distributions of SciPy.

    Attributes
    ----------
    metric : Metric or RowUtility
        The metric.
    mean, std : float
        Its expected value and standard deviation.
    std_labels, std_calibration : float
        The parts of `std` that come from chance in the labels, and from doubt about the
        probabilities (0 if they are known). Their squares add up to the square of
        `std`.
    error : float
        Bound on the numerical error of `mean`.
    probability_error : float
        Bound on the numerical error of probabilities. A returned quantile is the
        quantile of some level within this error.
    value_error : float
        Bound on the numerical error of quantiles as values: a few units in the last
        place, and the width of a bin if a metric that is not proved to be monotonic has
        more than eight million values. For the total of a RowUtility, it bounds the
        effect of moving amounts to a grid. For an average of scores, see
        `bestcut.multilabel`.

    See Also
    --------
    bestcut.score_distribution : Returns one for any predictions.
    bestcut.Decision : Has one for its own labels, as ``distribution()``.
    bestcut.displays.ScoreDistributionDisplay : Draws one.

    Examples
    --------
    >>> import bestcut
    >>> score = bestcut.decide([0.9, 0.8, 0.6, 0.3, 0.2, 0.1] * 50).distribution()
    >>> score
    F1 0.780, 90% between 0.739 and 0.818
    >>> round(score.mean, 3), round(score.std, 3)
    (0.78, 0.024)
    >>> round(score.prob_at_least(0.75), 3)
    0.891
    >>> round(score.surprise(0.72).p_value, 3)
    0.017
    """

    def __init__(self, source: ScoreSource, metric: AnyMetric) -> None:
        self._source, self.metric = source, metric

    @cached_property
    def _moments(self) -> Moments:
        return self._source.moments(self.metric)

    @cached_property
    def _utility(self) -> UtilityDistribution:
        return self._source.utility(self.metric)

    def at_mean(self) -> ScoreDistribution:
        """Return the same with the mean probabilities, as if they were known.

        It shows the effect of chance in the labels alone, without doubt about the
        probabilities. If these are known, it is the same distribution.

        Returns
        -------
        ScoreDistribution
            The distribution at the mean probabilities; this one, if there are no draws.

        Examples
        --------
        >>> import bestcut
        >>> p = bestcut.UncertainProbabilities([[0.9, 0.4] * 100, [0.7, 0.3] * 100])
        >>> score = bestcut.score_distribution(p, [1, 0] * 100)
        >>> score
        F1 0.74, 90% between 0.66 and 0.81
        >>> score.at_mean()
        F1 0.744, 90% between 0.696 and 0.791
        """
        mean = getattr(self._source, "at_mean", None)
        at_mean = self._source if mean is None else mean()
        return (
            self if at_mean is self._source else ScoreDistribution(at_mean, self.metric)
        )

    @property
    def mean(self) -> float:
        """The expected score."""
        return self._moments.mean

    @property
    def std(self) -> float:
        """The standard deviation of the score."""
        return self._moments.std

    @property
    def std_labels(self) -> float:
        """The standard deviation that chance in the labels alone would cause."""
        total, other = self._moments.std, self._moments.std_calibration
        return float(np.sqrt(max(total**2 - other**2, 0.0)))

    @property
    def std_calibration(self) -> float:
        """The standard deviation of the expected score over draws of probabilities."""
        return self._moments.std_calibration

    @property
    def error(self) -> float:
        """Bound on the numerical error of `mean`."""
        return self._moments.error

    @property
    def probability_error(self) -> float:
        """Bound on the numerical error of probabilities."""
        return self._utility.probability_error

    @property
    def value_error(self) -> float:
        """Bound on the numerical error of quantiles."""
        return self._utility.value_error

    def var(self) -> float:
        """Return the variance of the score.

        .. versionadded:: 0.3

        Returns
        -------
        float
            The square of `std`.
        """
        return self.std**2

    def median(self) -> float:
        """Return the median of the score.

        .. versionadded:: 0.3

        Returns
        -------
        float
            ``ppf(0.5)``.
        """
        return self._quantile(0.5)

    def cdf(self, x: Any) -> Any:
        """Return the probability of a score of at most x.

        .. versionadded:: 0.3

        Parameters
        ----------
        x : float or array-like
            Scores; one that differs from a possible score only by rounding is that
            score.

        Returns
        -------
        float or ndarray
            In the shape of `x`, within `probability_error`.

        Raises
        ------
        ValueError
            If an entry of `x` is NaN.

        Examples
        --------
        >>> import bestcut
        >>> score = bestcut.score_distribution([0.5, 0.5], [1, 1], "precision")
        >>> score.cdf([0.0, 0.4, 0.5, 1.0]).tolist()
        [0.25, 0.25, 0.75, 1.0]
        """
        return self._chances(x, self._at_most)

    def sf(self, x: Any) -> Any:
        """Return the probability of a score above x, which is ``1 - cdf(x)``.

        .. versionadded:: 0.3

        `prob_at_least` counts a score of x, too, and is what a goal or a condition
        asks for: with a loss, it is the probability of at most x.

        Parameters
        ----------
        x : float or array-like
            Scores.

        Returns
        -------
        float or ndarray
            In the shape of `x`, within `probability_error`; small ones keep their
            digits, as far as the score is better when larger.

        Raises
        ------
        ValueError
            If an entry of `x` is NaN.

        Examples
        --------
        >>> import bestcut
        >>> score = bestcut.score_distribution([0.5, 0.5], [1, 1], "precision")
        >>> score.sf(0.5), score.prob_at_least(0.5)
        (0.25, 0.75)
        """
        return self._chances(x, self._above)

    def _at_most(self, score: float) -> float:
        """Return P(score <= x)."""
        if self.metric.greater_is_better:
            return max(1.0 - self._better(score), 0.0)
        return self._as_good(score)

    def _above(self, score: float) -> float:
        """Return P(score > x)."""
        if self.metric.greater_is_better:
            return self._better(score)
        return max(1.0 - self._as_good(score), 0.0)

    def _as_good(self, score: float) -> float:
        """Return the probability of a score that is at least as good."""
        return min(self._utility.reaching(self.metric.sign * score), 1.0)

    def _better(self, score: float) -> float:
        """Return the probability of a better score."""
        return min(self._utility.exceeding(self.metric.sign * score), 1.0)

    def _chances(self, x: Any, chance: Callable[[float], float]) -> Any:
        """Return a probability for each of some scores."""
        scores = check_real_array(x, name="x")
        if np.isnan(scores).any():
            raise errors.holds_nan(name="x", array=scores, bad=np.isnan(scores))
        return _of_each(scores, chance)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the distribution. Needs matplotlib.

        .. versionadded:: 0.3

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        bestcut.displays.ScoreDistributionDisplay
            What was drawn, with its axes as ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import bestcut
        >>> score = bestcut.decide([0.9, 0.8, 0.6, 0.3, 0.2, 0.1] * 50).distribution()
        >>> score.plot().ax_.get_xlabel()
        'F1'
        """
        return extras.load("displays").ScoreDistributionDisplay(self).plot(ax=ax)

    def ppf(self, q: Any) -> Any:
        """Return the smallest score that is not exceeded with probability q.

        This is the quantile, the inverse of `cdf`.

        .. versionadded:: 0.3

        Parameters
        ----------
        q : float or array-like
            Levels from 0 to 1; 0 and 1 give the lowest and the highest possible score,
            up to probabilities of 1e-20.

        Returns
        -------
        float or ndarray
            In the shape of `q`.

        Raises
        ------
        ValueError
            If a level is not from 0 to 1.
        """
        return _of_each(check_levels(q), self._quantile)

    def quantile_error(self, q: float) -> float:
        """Return the standard error of ``ppf(q)``, due to the number of draws.

        It is half the distance between the quantiles of levels that are a standard
        error below and above; near levels of 0 and 1 the distance is scaled. It is 0
        for known probabilities.

        Parameters
        ----------
        q : float
            The level, strictly between 0 and 1.

        Returns
        -------
        float
            The standard error, in units of the score.

        Raises
        ------
        ValueError
            If `q` is not strictly between 0 and 1.

        Examples
        --------
        >>> import bestcut
        >>> p = bestcut.UncertainProbabilities([[0.9, 0.4] * 100, [0.7, 0.3] * 100])
        >>> score = bestcut.score_distribution(p, [1, 0] * 100)
        >>> round(score.quantile_error(0.1), 3)
        0.027
        """
        level = check_share(q, name="q")
        spread = getattr(self._source, "level_error", None)
        if spread is None:
            return 0.0
        apart = float(spread(self.metric, self._utility, level))
        # Not as far as to the ends of what is possible, which few draws would reach.
        step = min(apart, level / 2, (1.0 - level) / 2)
        if step <= 0.0:
            return 0.0
        low, high = self._quantile(level - step), self._quantile(level + step)
        return (high - low) / 2 * (apart / step)

    def _quantile(self, q: float) -> float:
        if self.metric.greater_is_better:
            return self._utility.quantile(q)
        return -self._utility.upper_quantile(q)

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the range in which the score will be with this probability.

        The probabilities of a score below and above the range are each at most
        ``(1 - level) / 2``. Scores have steps, so the range holds at least `level`, and
        more if the steps are large.

        Parameters
        ----------
        level : float, default=0.9
            Strictly between 0 and 1.

        Returns
        -------
        tuple of float
            The lower and the upper end.

        Raises
        ------
        ValueError
            If `level` is not strictly between 0 and 1.
        """
        share = check_share(level, name="level")
        return self._quantile((1 - share) / 2), self._quantile((1 + share) / 2)

    def prob_at_least(self, score: float) -> float:
        """Return the probability of a score that is at least as good.

        For a loss, it is the probability of a loss that is at most as large.

        Parameters
        ----------
        score : float
            The score to reach; a value that differs only by rounding reaches it.

        Returns
        -------
        float
            The probability, within `probability_error`.

        Raises
        ------
        ValueError
            If `score` is NaN or infinite.
        """
        check_finite_real(score, name="score")
        return self._as_good(float(score))

    def surprise(self, observed: float) -> Surprise:
        """Return how unusual an observed score is.

        Parameters
        ----------
        observed : float
            The score, once labels have arrived: ``decision.realised(y_true)``.

        Returns
        -------
        Surprise
            With ``p_value`` and a ``verdict`` in words.

        Raises
        ------
        ValueError
            If `observed` is NaN or infinite.
        """
        cure = "For true labels pass `decision.realised(y_true)`."
        check_finite_real(observed, name="observed", cure=cure)
        as_good = self._as_good(float(observed))
        as_bad = min(max(1.0 - self._better(float(observed)), 0.0), 1.0)
        p_value = min(1.0, 2.0 * min(as_good, as_bad))
        verdict = self._verdict(float(observed), as_good, as_bad, p_value)
        ends = as_bad, as_good
        lower, higher = ends if self.metric.greater_is_better else ends[::-1]
        return Surprise(float(observed), lower, higher, p_value, verdict)

    def _verdict(
        self, observed: float, as_good: float, as_bad: float, p_value: float
    ) -> str:
        words = (
            (0.1, "is no surprise"),
            (0.01, "is unusual"),
            (-1.0, "is very unusual"),
        )
        word = next(word for limit, word in words if p_value > limit)
        good = as_good < as_bad
        share, side = (as_good, "good") if good else (as_bad, "bad")
        low, high = self.interval()
        seen, mean, low_, high_ = _alike(high - low, observed, self.mean, low, high)
        return (
            f"{self.metric.label} {seen} {word}: {mean} was expected, 90% between "
            f"{low_} and {high_}, and a score at least as {side} has probability "
            f"{share:.2g}"
        )

    def sample(
        self, size: int, random_state: int | np.random.Generator | None = 0
    ) -> FloatArray:
        """Draw scores.

        Parameters
        ----------
        size : int
            How many.
        random_state : None, int or numpy.random.Generator, default=0
            Where random numbers come from.

        Returns
        -------
        ndarray of shape (size,)
            Independent scores; equal seeds give equal scores.

        Raises
        ------
        TypeError
            If `size` is not a whole number, or `random_state` of another kind.
        ValueError
            If `size` or `random_state` is negative.
        """
        count = check_whole_number(size, name="size")
        return self._source.sample(self.metric, count, check_random_state(random_state))

    def _plain(self) -> dict[str, Any]:
        names = ("metric", "mean", "error", "std", "std_labels", "std_calibration")
        told = {name: getattr(self, name) for name in names}
        return told | {"median": self.median(), "interval": self.interval(0.9)}

    def __repr__(self) -> str:
        low, high = self.interval(0.9)
        mean, low_, high_ = _alike(high - low, self.mean, low, high)
        return f"{self.metric.label} {mean}, 90% between {low_} and {high_}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def _of_each(values: FloatArray, compute: Callable[[float], float]) -> Any:
    """Return what is computed from each number, in the same shape."""
    flat = [compute(value) for value in values.ravel().tolist()]
    return np.array(flat).reshape(values.shape) if values.ndim else flat[0]


def _alike(width: float, *values: float) -> list[str]:
    """Write numbers with the digits that separate the ends of an interval."""
    if not 0.0 < width < np.inf:
        return [f"{value:.4g}" for value in values]
    decimals = int(np.clip(1 - np.floor(np.log10(width)), 0, 15))
    return [f"{value:.{decimals}f}" for value in values]
