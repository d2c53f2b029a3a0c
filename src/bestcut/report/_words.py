"""Numbers and sentences as a report writes them.

`page.js` writes numbers in the same way: halves are rounded up, and commas
separate thousands.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal

import numpy as np

from bestcut._types import CountArray
from bestcut.goals import Certain
from bestcut.metrics import get
from bestcut.report._numbers import Conditions, Cuts, Scores

DRAWN = (
    "The probabilities are not known exactly. They are given as draws of what they may "
    "be, and every number here is a mean over the draws."
)
MAPS = (
    "Probability against score. The line is the mean of the maps that fit the labels, "
    "and the band holds 90% of them."
)
BINS = (
    " Points are shares of positives among labelled cases with neighbouring scores. "
    "Vertical lines show what chance allows around them."
)
REALISED = " The dashed line is the realised score."
BARRED = " Cuts on a grey background do not satisfy the conditions."
CHECK = (
    "Share of positives against mean probability, for cases with similar "
    "probabilities. On the diagonal line both agree. The bars show two standard "
    "deviations of chance, and filled points lie outside what chance explains."
)


def whole(number: float) -> str:
    """Write a whole number."""
    return f"{number:,.0f}"


def about(count: float) -> str:
    """Write an expected count: small ones with a decimal."""
    return fixed(count, 1 if 0.0 < count < 9.95 else 0)


def fixed(number: float, decimals: int) -> str:
    """Write a number with a fixed number of decimals."""
    unit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(float(number)).quantize(unit, rounding=ROUND_HALF_UP)
    return f"{rounded + 0:,f}"  # + 0: no minus before a zero


def decimals_of(scores: Scores) -> int:
    """Return how many decimals separate the ends of the interval at the best cut."""
    width = scores.high[scores.best] - scores.low[scores.best]
    if not 0.0 < width < np.inf:
        return 3
    return int(np.clip(2 - np.ceil(np.log10(width)), 0, 12))


def threshold_at(cuts: Cuts, i: int) -> str:
    """Write the threshold of a cut so that it makes exactly this cut.

    It is rounded down, to as few decimals as separate it from the next probability.
    Inside a tie no threshold makes the cut, and all digits are written.
    """
    if cuts.n_positive[i] == 0:
        return "none"
    exact, below = float(cuts.threshold[i]), float(cuts.next_below[i])
    if exact == below:
        return repr(exact)
    digits = Decimal(repr(exact))
    # Decimals as long as they are few, then significant digits.
    units = [-decimals for decimals in range(2, 9)]
    units += [digits.adjusted() - more for more in range(18)]
    for unit in units:
        shown = digits.quantize(Decimal(1).scaleb(unit), rounding=ROUND_FLOOR)
        if float(shown) > below:
            return f"{shown:f}" if unit >= -8 or exact > 1e-6 else f"{shown:e}"
    return repr(exact)


def headline(cuts: Cuts, i: int) -> str:
    """Say how many to flag."""
    k, n = int(cuts.n_positive[i]), cuts.n
    if n == 0:
        return "There is nothing to decide: there are no cases."
    if k == 0:
        return "Flag nothing." if n == 1 else f"Flag none of the {whole(n)} cases."
    if k == n:
        return "Flag the only case." if n == 1 else f"Flag all {whole(n)} cases."
    if k == 1:
        return f"Flag the most probable of {whole(n)} cases."
    return f"Flag the {whole(k)} most probable of {whole(n)} cases."


def rule(cuts: Cuts, i: int) -> str:
    """Say which cases are flagged."""
    tied, flagged = int(cuts.tied[i]), int(cuts.tied_flagged[i])
    at = threshold_at(cuts, i)
    if tied == 0:
        return ""
    if flagged == tied:
        return f"That is every case with a probability of {at} or more."
    above = "the cases above it and " if cuts.n_positive[i] > flagged else ""
    return (
        f"{whole(tied)} cases have a probability of exactly {at}. Flag {above}the "
        f"first {whole(flagged)} of these {whole(tied)}, in the order {cuts.order}."
    )


def outcome(cuts: Cuts, i: int) -> str:
    """Say how many of the flagged are right, and how many are missed."""
    k, (tp, fp, fn, _) = int(cuts.n_positive[i]), cuts.mean[:, i]
    if cuts.n == 0:
        return ""
    if k == 0:
        other = "other" if cuts.allowed.all() else "other allowed"
        return (
            f"No {other} cut has a better expected score. About "
            f"{about(fn)} of the cases {_are(fn)} positive, and missed."
        )
    return (
        f"Of the {whole(k)} flagged cases, about {about(tp)} {_are(tp)} right and "
        f"{about(fp)} {_are(fp)} false alarms. Of about {about(tp + fn)} positives in "
        f"all, {about(fn)} {_are(fn)} missed."
    )


def _are(count: float) -> str:
    return "is" if about(count) == "1.0" else "are"


def conditions(given: Conditions) -> str:
    """Say what a cut must satisfy."""
    said = []
    if given.max_positives is not None:
        most = (
            "1 case"
            if given.max_positives == 1
            else f"{whole(given.max_positives)} cases"
        )
        said.append(f"At most {most} may be flagged.")
    for least, asked in (("least", given.at_least), ("most", given.at_most)):
        for metric, wanted in (asked or {}).items():
            for floor in wanted if isinstance(wanted, list | tuple) else [wanted]:
                said.append(_condition(get(metric).label, least, floor))
    return " ".join(said)


def _condition(label: str, least: str, floor: float | Certain) -> str:
    if isinstance(floor, Certain):
        return (
            f"{label} must be at {least} {floor.score:g} with a probability of "
            f"{100 * floor.probability:g}%."
        )
    return f"The expected {label} must be at {least} {floor:g}."


def realised(cells: CountArray) -> str:
    """Say how the decision did by the labels."""
    tp, fp, fn, _ = (int(x) for x in cells)
    return (
        f"By the labels, {whole(tp)} of the {whole(tp + fp)} flagged cases {_is(tp)} "
        f"right and {whole(fp)} {_is(fp)} false alarms; {whole(fn)} of "
        f"{whole(tp + fn)} positives {_is(fn)} missed."
    )


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def too_many(most: int) -> str:
    """Say why labels were not compared with draws of probabilities."""
    return (
        f"It was not checked whether the labels fit the probabilities. With more than "
        f"{whole(most)} labels, and probabilities that are not known exactly, it would "
        "take too long. Check a random part of the cases."
    )


def comparison(cuts: Cuts, scores: Scores, label: str) -> str:
    """Say what a threshold of 0.5 would give instead."""
    best, half = scores.best, cuts.half
    flagged = whole(cuts.n_positive[half])
    if cuts.n == 0:
        return "There are no cases, so there is nothing to compare."
    if best == half:
        return f"A threshold of 0.5 makes the same cut: it flags {flagged}."
    at_half, at_best = (
        fixed(scores.mean[i], decimals_of(scores)) for i in (half, best)
    )
    instead = f" instead of {at_best}" if at_half != at_best else ", nearly the same"
    fails = "" if cuts.allowed[half] else " It does not satisfy the conditions."
    return (
        f"A threshold of 0.5 flags {flagged}, with an expected {label} of "
        f"{at_half}{instead}.{fails}"
    )


def interval(low: float, high: float, scores: Scores) -> str:
    """Write a range of scores, with as many digits as the metric's interval."""
    decimals = decimals_of(scores)
    return f"{fixed(low, decimals)} to {fixed(high, decimals)}"


def shares(scores: Scores, *, learned: bool) -> str:
    """Say where the variance of the score at the best cut comes from.

    More labels help if the probabilities were learned from labels.
    """
    labels, doubt = (part**2 for part in scores.parts or (0.0, 0.0))
    total = labels + doubt
    if not total:
        return f"At the best cut the {scores.metric.label} is certain."
    share = round(100 * labels / total)
    return (
        f"Of the variance of {scores.metric.label} at the best cut, {share}% is chance "
        f"in the outcomes, which nothing can narrow, and {100 - share}% is doubt about "
        f"the probabilities{', which more labelled cases would narrow' * learned}."
    )


def both_intervals(scores: Scores) -> str:
    """Say what the interval is with and without doubt about the probabilities."""
    i = scores.best
    if scores.known is None:
        return ""
    alone = interval(scores.known[0][i], scores.known[1][i], scores)
    both = interval(scores.low[i], scores.high[i], scores)
    return (
        f"With chance in the outcomes alone, the {scores.metric.label} would be "
        f"{alone}, 90% of the time. With doubt about the probabilities it is {both}."
    )


def learned(n_labelled: int, n_positive: int) -> str:
    """Say what the scores were calibrated on."""
    cases = "1 case" if n_labelled == 1 else f"{whole(n_labelled)} cases"
    return (
        f"{cases} with a known outcome, {whole(n_positive)} of them positive, tell "
        "which probability a score stands for. Fewer labelled cases leave more doubt. "
        "A higher score never means a lower probability."
    )
