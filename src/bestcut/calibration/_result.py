"""What a calibration check found, and how it is shown."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any

from bestcut._results import Plain

_UNRESOLVED = 1e-12  # in words, a p-value below this is "p < 1e-12"
_WIDTH = 79


@dataclass(frozen=True)
class CalibrationBin:
    """Instances of similar probability, and their positives.

    Attributes
    ----------
    n : int
        How many instances.
    low, high : float
        Their smallest and largest probability.
    expected : float
        Expected number of positives: the sum of the probabilities.
    observed : int
        How many are positive.
    std : float
        Standard deviation of the number of positives.
    p_value : float
        Exact two-sided p-value of `observed`: twice the smaller tail, at most 1.
    adjusted_p_value : float
        The same, corrected for the number of bins (Šidák).
    stands_out : bool
        Whether `adjusted_p_value` is at most the level of the check.

    See Also
    --------
    bestcut.CalibrationCheck : Holds it.
    bestcut.check_calibration : Makes the check.

    Examples
    --------
    >>> import bestcut
    >>> check = bestcut.check_calibration([1, 0, 0, 1], [0.75, 0.25, 0.25, 0.75])
    >>> check.overall.expected, check.overall.observed, check.overall.n
    (2.0, 2, 4)
    """

    n: int
    low: float
    high: float
    expected: float
    observed: int
    std: float
    p_value: float
    adjusted_p_value: float
    stands_out: bool


@dataclass(frozen=True, repr=False)
class CalibrationCheck(Plain):
    """Whether labels fit the probabilities that were given for them.

    Attributes
    ----------
    verdict : str
        The outcome in words.
    p_value : float
        P-value of the whole check: twice the smaller of `path_p_value` and the smallest
        `adjusted_p_value` of a bin, at most 1; 0 if a label is impossible.
    level : float
        The largest share of cases in which right probabilities are rejected.
    fits : bool
        Whether the labels fit: `p_value` is above `level`.
    overall : CalibrationBin
        All instances as one bin.
    statistic : float
        Largest distance, over the checkpoints along the ranking, between the positives
        so far and their expected number, in standard deviations of the total.
    path_p_value : float
        Probability that `statistic` is as large or larger.
    bins : tuple of CalibrationBin
        From the largest probabilities down.
    n_impossible : int
        How many labels are positive at probability 0 or negative at probability 1.
    first_impossible : int or None
        Where the first of them is in the input.

    See Also
    --------
    bestcut.check_calibration : Returns one.
    bestcut.displays.CalibrationCheckDisplay : Draws one.

    Examples
    --------
    >>> import bestcut
    >>> check = bestcut.check_calibration([1, 0, 0, 1], [0.75, 0.25, 0.25, 0.75])
    >>> check.fits, check.p_value
    (True, 1.0)
    """

    verdict: str
    p_value: float
    level: float
    overall: CalibrationBin
    statistic: float
    path_p_value: float
    bins: tuple[CalibrationBin, ...]
    n_impossible: int
    first_impossible: int | None

    @property
    def fits(self) -> bool:
        """Whether the labels fit: `p_value` is above `level`."""
        return self.p_value > self.level

    def _plain(self) -> dict[str, Any]:
        return {"fits": self.fits, **super()._plain()}

    def _table(self) -> list[list[str]]:
        head = ["probabilities", "n", "expected", "observed", "p-value", "adjusted", ""]
        rows = [_row(b) for b in self.bins]
        return [head, *rows, ["all", *_row(self.overall)[1:5], "", ""]]

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = textwrap.wrap(f"CalibrationCheck: {self.verdict}", _WIDTH)
        for first, *others in table:
            cells = [first.ljust(widths[0])]
            cells += [c.rjust(w) for c, w in zip(others, widths[1:], strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return (
            f"<p>{escape(self.verdict)}</p><table><caption>bestcut calibration check"
            f"</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        )


def shown_p_value(p_value: float) -> str:
    """Return the p-value in three digits, or the bound it is below."""
    if 0.0 < p_value < _UNRESOLVED:
        return f"< {_UNRESOLVED:.0e}"
    return f"{p_value:.3g}"


def shown_count(expected: float) -> str:
    """Return an expected count in three digits, or with one decimal if it is large."""
    return f"{expected:.1f}" if expected >= 10.0 else f"{expected:.3g}"


def shown_probability(p: float) -> str:
    """Return the probability in three digits, or as many as tell it from 1."""
    for digits in range(3, 18):
        text = f"{p:.{digits}g}"
        if text != "1":
            return text
    return "1"


def shown_range(group: CalibrationBin) -> str:
    """Return the range of the probabilities of a bin."""
    low, high = shown_probability(group.low), shown_probability(group.high)
    return low if low == high else f"{low} to {high}"


def _row(group: CalibrationBin) -> list[str]:
    return [
        shown_range(group),
        str(group.n),
        shown_count(group.expected),
        str(group.observed),
        shown_p_value(group.p_value),
        shown_p_value(group.adjusted_p_value),
        "*" if group.stands_out else "",
    ]
