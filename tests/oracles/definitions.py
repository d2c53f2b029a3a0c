"""Every metric of the catalogue by its textbook definition, in exact fractions.

Written on the four cells, as books do, and not on (tp, n_pred, n_pos, n), as the
library does. Each takes ``(tp, fp, fn, tn, zero_division)``; a rate over an empty class
is `zero_division`. Square roots are taken with 60 digits unless they are rational.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import mpmath

Definition = Callable[[int, int, int, int, Fraction], Fraction]

DIGITS = 60


def square_root(x: Fraction) -> Fraction:
    top, bottom = isqrt(x.numerator), isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return Fraction(top, bottom)
    with mpmath.workdps(DIGITS):
        root = mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)
        mantissa, exponent = (int(part) for part in root.man_exp)
    return Fraction(mantissa) * Fraction(2) ** exponent


def rate(part: int, rest: int, undefined: Fraction) -> Fraction:
    """Share of `part` in its class, which is `part` and `rest` together."""
    return Fraction(part, part + rest) if part + rest else Fraction(undefined)


def f_beta(beta: Fraction) -> Definition:
    b2 = beta**2

    def definition(tp, fp, fn, tn, zero_division):
        if tp + fp + fn == 0:
            return Fraction(zero_division)
        return (1 + b2) * tp / ((1 + b2) * tp + b2 * fn + fp)

    return definition


def jaccard(tp, fp, fn, tn, zero_division):
    union = tp + fp + fn
    return Fraction(tp, union) if union else Fraction(zero_division)


def accuracy(tp, fp, fn, tn, zero_division):
    return rate(tp + tn, fp + fn, zero_division)


def precision(tp, fp, fn, tn, zero_division):
    return rate(tp, fp, zero_division)


def recall(tp, fp, fn, tn, zero_division):
    return rate(tp, fn, zero_division)


def specificity(tp, fp, fn, tn, zero_division):
    return rate(tn, fp, zero_division)


def negative_predictive_value(tp, fp, fn, tn, zero_division):
    return rate(tn, fn, zero_division)


def false_positive_rate(tp, fp, fn, tn, zero_division):
    return rate(fp, tn, zero_division)


def false_negative_rate(tp, fp, fn, tn, zero_division):
    return rate(fn, tp, zero_division)


def balanced_accuracy(tp, fp, fn, tn, zero_division):
    if zero_division == "drop":  # the mean of the rates that exist, 0 if none does
        rates = [rate(a, b, None) for a, b in ((tp, fn), (tn, fp)) if a + b]
        return sum(rates, Fraction(0)) / max(len(rates), 1)
    return (rate(tp, fn, zero_division) + rate(tn, fp, zero_division)) / 2


def gmean(tp, fp, fn, tn, zero_division):
    return square_root(rate(tp, fn, zero_division) * rate(tn, fp, zero_division))


def hmean(tp, fp, fn, tn, zero_division):
    tpr, tnr = rate(tp, fn, zero_division), rate(tn, fp, zero_division)
    return 2 / (1 / tpr + 1 / tnr) if tpr and tnr else Fraction(0)


def qmean(tp, fp, fn, tn, zero_division):
    tpr, tnr = rate(tp, fn, zero_division), rate(tn, fp, zero_division)
    return 1 - ((1 - tpr) ** 2 + (1 - tnr) ** 2) / 2


def qmean_sqrt(tp, fp, fn, tn, zero_division):
    return 1 - square_root(1 - qmean(tp, fp, fn, tn, zero_division))


def fowlkes_mallows(tp, fp, fn, tn, zero_division):
    if tp + fp + fn == 0:
        return Fraction(zero_division)
    return square_root(rate(tp, fn, Fraction(0)) * rate(tp, fp, Fraction(0)))


def mcc(tp, fp, fn, tn, zero_division):
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if margins == 0:
        return Fraction(zero_division)
    return (tp * tn - fp * fn) / square_root(Fraction(margins))


def cohen_kappa(tp, fp, fn, tn, zero_division):
    n = tp + fp + fn + tn
    if n == 0:
        return Fraction(zero_division)
    observed = Fraction(tp + tn, n)
    chance = Fraction((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn), n * n)
    if chance == 1:
        return Fraction(zero_division)
    return (observed - chance) / (1 - chance)


def informedness(tp, fp, fn, tn, zero_division):
    return rate(tp, fn, zero_division) + rate(tn, fp, zero_division) - 1


def markedness(tp, fp, fn, tn, zero_division):
    return rate(tp, fp, zero_division) + rate(tn, fn, zero_division) - 1


def squared_count_error(tp, fp, fn, tn, zero_division):
    n = tp + fp + fn + tn
    return Fraction(fp - fn, n) ** 2 if n else Fraction(0)


DEFINITIONS: dict[str, Definition] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "cohen_kappa": cohen_kappa,
    "f0.5": f_beta(Fraction(1, 2)),
    "f1": f_beta(Fraction(1)),
    "f2": f_beta(Fraction(2)),
    "false_negative_rate": false_negative_rate,
    "false_positive_rate": false_positive_rate,
    "fowlkes_mallows": fowlkes_mallows,
    "gmean": gmean,
    "hmean": hmean,
    "informedness": informedness,
    "jaccard": jaccard,
    "markedness": markedness,
    "mcc": mcc,
    "negative_predictive_value": negative_predictive_value,
    "precision": precision,
    "qmean": qmean,
    "qmean_sqrt": qmean_sqrt,
    "recall": recall,
    "specificity": specificity,
    "squared_count_error": squared_count_error,
}

LOSSES = frozenset(
    {"false_negative_rate", "false_positive_rate", "squared_count_error"}
)
