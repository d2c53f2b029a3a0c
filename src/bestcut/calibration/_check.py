"""Once the labels are known: do they fit the probabilities?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut._tables import check_order
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import (
    check_labels,
    check_probabilities,
    check_share,
    check_whole_number,
)
from bestcut.calibration._drawn import held_against_draws
from bestcut.calibration._ranking import (
    Findings,
    bin_blocks,
    furthest,
    held_against_law,
    path_p_value,
    ranked,
    sum_law,
)
from bestcut.calibration._result import CalibrationCheck
from bestcut.calibration._verdict import (
    verdict_fit,
    verdict_impossible,
    verdict_misfit,
)
from bestcut.uncertain import UncertainProbabilities

_AGREE = 1e-15  # draws this near to each other are one


def check_calibration(
    y_true: Any, y_proba: Any, *, n_bins: int = 10, level: float = 0.05
) -> CalibrationCheck:
    """Check labels against the probabilities that were given for them.

    If the probabilities are right and the labels are independent, the number of
    positives in any set of instances has a known distribution. Two tests look for
    positives that do not fit it: one follows their number along the ranking, and one
    takes bins of similar probability.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels, 0 or 1. They must not have been used to fit the probabilities.
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Probability of each instance to be positive, or draws of it. With draws, labels
        are compared with the mixture of all draws, and expected counts are means over
        the draws.
    n_bins : int, default=10
        The largest number of bins. They have about equal variance, so each tells about
        as much, and they never separate equal probabilities.
    level : float, default=0.05
        The largest share of cases in which right probabilities may be rejected.

    Returns
    -------
    CalibrationCheck
        With ``verdict``, ``fits``, ``p_value``, ``statistic``, ``overall``, ``bins``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If labels are not 0 and 1, `n_bins` is below 1, or `level` is not strictly
        between 0 and 1.

    See Also
    --------
    bestcut.calibrate : Probabilities that fit, if these do not.
    bestcut.displays.CalibrationCheckDisplay : Draws the bins.
    bestcut.ScoreDistribution : Its ``surprise`` asks the same of a score.

    Notes
    -----
    The number of positives along the ranking is checked at up to 200 checkpoints, about
    equally spaced in variance and never between equal probabilities. Its distribution
    is carried from one checkpoint to the next; the probability of being as far off as
    the observed count ever was is taken out and summed. All p-values come from the
    distributions of counts. Apart from rounding, only ends of distributions with less
    than 1e-20 probability are left out. This begins to matter for p-values below 1e-15,
    which are reported as 1e-15; only the p-value of impossible labels is 0. The result
    does not depend on the order of the input.

    The whole check rejects less often than `level`, because counts are discrete and two
    tests share the level. So a bin may stand out although the whole still fits.

    With draws of probabilities, labels come from the mixture of all draws, and the
    p-values are those of the mixture. The p-value of a count comes from the mean of its
    distributions. The p-value of the path is the mean over draws of the probability to
    be as far from the mean expected count. Bins share a draw and are not independent:
    the adjusted p-value is the probability that any bin has a p-value as small. If the
    draws differ much, more labels fit.

    Labels that fit are not a proof: with few positives, only large errors show.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> rng = np.random.default_rng(0)
    >>> y_proba = rng.random(1000)
    >>> y_true = rng.random(1000) < y_proba
    >>> bestcut.check_calibration(y_true, y_proba).fits
    True
    >>> bestcut.check_calibration(y_true, y_proba**2, n_bins=4)
    CalibrationCheck: The labels do not fit the probabilities (p < 1e-12): 523
    positives where 348.2 were expected. Most out of line: probabilities 3.61e-08
    to 0.25, where 41.0 were expected and 122 seen: too low.
    probabilities        n  expected  observed   p-value  adjusted
    0.61 to 0.999      229     181.3       207  4.49e-06  1.79e-05  *
    0.426 to 0.61      141      73.0        98  2.57e-05  0.000103  *
    0.25 to 0.426      158      52.8        96  3.03e-12  1.21e-11  *
    3.61e-08 to 0.25   472      41.0       122   < 1e-12   < 1e-12  *
    all               1000     348.2       523   < 1e-12
    """
    bins_wanted = check_whole_number(
        n_bins, name="n_bins", least=1, cure="Pass 1 for a single bin."
    )
    level = check_share(
        level,
        name="level",
        cure="Pass the share of false alarms to accept, such as 0.05.",
    )
    check_order(y_true=y_true, y_proba=y_proba)
    drawn = isinstance(y_proba, UncertainProbabilities)
    p = y_proba.mean if drawn else check_probabilities(y_proba)
    draws = y_proba.n_draws if drawn else None
    labels = check_labels(y_true, p.size, name="y_true", draws=draws, beside=p)
    if drawn and float(y_proba.std.max(initial=0.0)) > _AGREE:
        never, sure = _never_and_sure(y_proba)
        found = held_against_draws(y_proba, labels, (never, sure), bins_wanted, level)
    else:
        never, sure = p == 0.0, p == 1.0
        found = _held_against_known(p, labels, bins_wanted, level)
    ranking, law, overall, bins, path = found
    statistic = furthest(ranking, overall.std)[1]
    smallest = min([path, *(b.adjusted_p_value for b in bins)])
    impossible = np.flatnonzero((labels & never) | (~labels & sure))
    first = int(impossible[0]) if impossible.size else None
    p_value = min(1.0, 2.0 * smallest) if first is None else 0.0
    if first is not None:
        verdict = verdict_impossible(first, impossible.size, bool(labels[first]))
    elif overall.n == 0:
        verdict = "There are no labels to check."
    elif p_value > level:
        verdict = verdict_fit(p_value, overall, bins, law, level)
    else:
        verdict = verdict_misfit(p_value, overall, bins, ranking)
    return CalibrationCheck(
        verdict=verdict,
        p_value=p_value,
        level=level,
        overall=overall,
        statistic=statistic,
        path_p_value=path,
        bins=bins,
        n_impossible=impossible.size,
        first_impossible=first,
    )


def _held_against_known(
    p: FloatArray, labels: BoolArray, n_bins: int, level: float
) -> Findings:
    """Compare labels with known probabilities."""
    order = np.argsort(-p, kind="stable")
    ranking = ranked(p[order] + 0.0, labels[order])  # + 0.0: no negative zero
    parts = bin_blocks(ranking, n_bins)
    laws = [sum_law(ranking.laws[i]) for i in parts]
    bins = tuple(
        held_against_law(ranking, i, law, len(parts), level)
        for i, law in zip(parts, laws, strict=True)
    )
    law = sum_law(laws)
    overall = held_against_law(ranking, slice(0, len(ranking.laws)), law, 1, level)
    distance, _ = furthest(ranking, overall.std)
    return Findings(ranking, law, overall, bins, path_p_value(ranking, distance))


def _never_and_sure(p: UncertainProbabilities) -> tuple[BoolArray, BoolArray]:
    """Return which instances have probability 0 in all draws, and which 1."""
    never, sure = p.mean == 0.0, p.mean == 1.0
    for i in np.flatnonzero(never | sure).tolist():
        draws = p.draws(i, i + 1)
        never[i], sure[i] = bool(draws.max() == 0.0), bool(draws.min() == 1.0)
    return never, sure
