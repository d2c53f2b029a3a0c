"""From labelled scores to probabilities that say how sure they are."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._guesses import hinted
from bestcut._progress import Progress, progress_of
from bestcut._stored import Form
from bestcut._tables import check_order, frame_of
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import (
    check_finite_scores,
    check_kind,
    check_labels,
    check_matrix,
    check_option,
    check_random_state,
    check_whole_number,
)
from bestcut.calibration._chance import SELDOM, chance_of_outside, positives_above
from bestcut.calibration._places import places_among
from bestcut.calibration._posterior import (
    MOST_KNOTS,
    cells_of,
    drawn,
    knots_of,
    mixture_draws,
    process_draws,
    projection_draws,
    spline_draws,
)
from bestcut.uncertain import UncertainProbabilities, mapped

_METHODS = {
    "auto": mixture_draws,
    "process": process_draws,
    "projection": projection_draws,
    "spline": spline_draws,
}
_NAMES = tuple(_METHODS)  # their order is part of the stored form
_PROBABILITY, _ANY = 0, 1  # kinds of scores; part of the stored form
_KINDS = ("probabilities", "any")  # what they are in plain Python
_FIELDS = (
    *("knots", "values", "kind", "method", "score_range"),
    *("n_labelled", "n_positive"),
)
_LOWEST, _HIGHEST = -750.0, 40.0  # beyond the logit of every float inside (0, 1)
_LARGEST = 1e150  # so that squares are numbers
_TINY = float(np.finfo(np.float64).tiny)  # so that slopes of a table are numbers
_TABLE_ERROR = 0.99e-6  # of the lines between rows of a table, with room for rounding

_FACTS = struct.Struct("<BBqqIIdd")  # method, kind, labels, positives, shape, range
_FORM = Form(b"bestcut.calibr.\0", 1, errors.unreadable_calibration, least=_FACTS.size)
_MOST_LABELS = 1 << 53
_MOST_DRAWS = 100_000


class Calibration:
    """What labels say, and leave open, about the map from scores to probabilities.

    Made by `calibrate`. It holds draws of nondecreasing maps that fit the labels. The
    less the labels say, the more these maps differ. Beyond the labelled scores they are
    constant. Call it with scores for their probabilities.

    Attributes
    ----------
    n_labelled, n_positive : int
        How many labels there were, and how many of them were positive.
    n_draws : int
        How many maps there are.
    method : str
        Which posterior the draws are from.
    score_range : tuple of float
        The smallest and the largest labelled score.

    See Also
    --------
    bestcut.calibrate : Returns one.
    bestcut.UncertainProbabilities : What it returns for new scores.
    bestcut.displays.CalibrationMapDisplay : Draws its maps.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(500)
    >>> labels = rng.random(500) < scores**2
    >>> calibration = bestcut.calibrate(labels, scores)
    >>> draws = calibration.probabilities([0.2, 0.8])
    >>> draws.shape
    (200, 2)
    >>> bool((draws[:, 0] < draws[:, 1]).all())
    True
    """

    def __init__(
        self,
        *,
        knots: FloatArray,
        values: FloatArray,
        kind: int,
        n_labelled: int,
        n_positive: int,
        method: str,
        score_range: tuple[float, float],
    ) -> None:
        self._knots = knots
        self._values = values
        for array in (knots, values):
            array.flags.writeable = False
        self._kind = kind
        self.n_labelled = n_labelled
        self.n_positive = n_positive
        self.method = method
        self.score_range = score_range

    @property
    def n_draws(self) -> int:
        """How many maps there are."""
        return int(self._values.shape[0])

    def __call__(self, new_scores: Any) -> UncertainProbabilities:
        """Return the probabilities of new scores, with the doubt that the labels leave.

        Parameters
        ----------
        new_scores : array-like of shape (n,)
            Scores of a batch, from the model whose scores were labelled.

        Returns
        -------
        UncertainProbabilities
            For `bestcut.decide` and everything else that takes probabilities.

        Raises
        ------
        ValueError
            If a score is NaN or infinite.

        Warns
        -----
        UserWarning
            If more scores than chance explains lie outside the range of the labelled
            scores, where the maps are constant, which is a guess. Scores that are like
            the labelled ones cause it in less than one of 1,000 batches.

        Examples
        --------
        >>> import numpy as np
        >>> import bestcut
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.random(500)
        >>> calibration = bestcut.calibrate(rng.random(500) < scores**2, scores)
        >>> p = calibration([0.2, 0.8, 0.5])
        >>> p
        UncertainProbabilities(3 instances, 200 draws, one ranking)
        >>> bestcut.decide(p, "f1").labels.tolist()
        [False, True, False]
        """
        scores = check_finite_scores(new_scores, name="new_scores")
        outside = self._outside(scores)
        if outside:
            low, high = self.score_range
            warnings.warn(
                f"{outside} of {scores.size} entries of `new_scores` "
                f"({outside / scores.size:.1%}) are outside the labelled scores, "
                f"{low:.6g} to {high:.6g}, which is more than chance explains: their "
                "probabilities are taken to be those at the end of that range. Label "
                "some of them.",
                stacklevel=2,
            )
        return self._silently(scores)

    def _outside(self, scores: FloatArray, n_checks: int = 1) -> int:
        """Return how many scores are outside the labelled ones; 0 if by chance.

        Scores like the labelled ones give more than 0 in any of `n_checks` such checks
        with a probability below `SELDOM`.
        """
        low, high = self.score_range
        outside = int(np.count_nonzero((scores < low) | (scores > high)))
        chance = chance_of_outside(outside, scores.size, self.n_labelled)
        return outside if chance < SELDOM / n_checks else 0

    def _silently(self, new_scores: Any) -> UncertainProbabilities:
        """Return the probabilities of new scores, wherever these are."""
        scores = check_finite_scores(new_scores, name="scores")
        place = places_among(self._knots, scores, lambda s: _coordinate(s, self._kind))
        return mapped(place, np.ascontiguousarray(self._values.T))

    def _coordinates(self, scores: Any) -> FloatArray:
        """Return the coordinate u of some scores, nondecreasing in them."""
        return _coordinate(check_finite_scores(scores, name="scores"), self._kind)

    def probabilities(self, scores: Any, draws: slice = slice(None)) -> FloatArray:
        """Return the probabilities of some scores under each map.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of the same model as the labelled ones.
        draws : slice, optional
            Which of the maps; all of them by default.

        Returns
        -------
        ndarray of shape (n_draws, n)
            A row for each map.

        Raises
        ------
        ValueError
            If a score is NaN or infinite.

        Examples
        --------
        >>> import bestcut
        >>> calibration = bestcut.calibrate([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.9])
        >>> calibration.probabilities([0.5, 0.7, 0.8], slice(10)).shape
        (10, 3)
        """
        u, values = self._coordinates(scores), self._values[draws]
        if self._knots.size == 1:
            return np.repeat(values, u.size, axis=1)
        at = np.searchsorted(self._knots, u, side="right") - 1
        at = np.clip(at, 0, self._knots.size - 2)
        share = (u - self._knots[at]) / (self._knots[at + 1] - self._knots[at])
        share = np.clip(share, 0.0, 1.0)
        low, high = values[:, at], values[:, at + 1]
        return np.asarray(np.minimum(low + share * (high - low), high))

    def table(self) -> Any:
        """Return the mean of the maps as a table, for SQL and other languages.

        .. versionadded:: 0.3

        Returns
        -------
        DataFrame
            With the columns ``score``, increasing, and ``p``, nondecreasing. Between
            two rows, p is linear in the score; before the first and after the last it
            is constant. Linear interpolation is off by at most 1e-6 from the mean of
            the draws (not between 0 and 2e-308, where slopes would be infinite). Of
            pandas if it is installed, else of polars.

        Raises
        ------
        ImportError
            If neither pandas nor polars is installed.

        Examples
        --------
        >>> import bestcut
        >>> calibration = bestcut.calibrate([0, 1, 0, 1], [-1.0, 0.5, 0.2, 2.0])
        >>> list(calibration.table())
        ['score', 'p']
        """
        if self._kind == _ANY:
            scores = self._knots
        else:
            scores = np.unique(_scores_at(self._knots))
            while True:
                off = _off_chords(scores, self._silently(scores).mean)
                u = _coordinate(scores, self._kind)
                between = _scores_at((u[:-1] + u[1:])[off > _TABLE_ERROR] / 2.0)
                more = np.union1d(scores, between)
                if more.size == scores.size:
                    break
                scores = more
        return frame_of({"score": scores, "p": self._silently(scores).mean}, None)

    def to_bytes(self) -> bytes:
        """Return the calibration as bytes, about 8 for each value.

        Returns
        -------
        bytes
            What `from_bytes` reads; the same on every machine.

        Examples
        --------
        >>> import bestcut
        >>> data = bestcut.calibrate([0, 1], [0.2, 0.7]).to_bytes()
        >>> bestcut.Calibration.from_bytes(data).n_labelled
        2
        """
        facts = _FACTS.pack(
            _NAMES.index(self.method),
            self._kind,
            self.n_labelled,
            self.n_positive,
            *self._values.shape,
            *self.score_range,
        )
        knots, values = (x.astype("<f8").tobytes() for x in (self._knots, self._values))
        return _FORM.packed(facts + knots + values)

    @classmethod
    def from_bytes(cls, data: bytes) -> Calibration:
        """Return the calibration that `to_bytes` stored. Safe for bytes from anyone.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned, in this or an older version of bestcut.

        Returns
        -------
        Calibration
            The same maps.

        Raises
        ------
        ValueError
            If the bytes are cut off, damaged, of a newer version or something else.

        Examples
        --------
        >>> import bestcut
        >>> calibration = bestcut.calibrate([0, 1], [0.2, 0.7])
        >>> again = bestcut.Calibration.from_bytes(calibration.to_bytes())
        >>> again.to_bytes() == calibration.to_bytes()
        True
        """
        return cls(**_parts(data))

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain Python, for JSON.

        .. versionadded:: 0.3

        Returns
        -------
        dict
            What `from_dict` reads: the facts, ``knots`` and ``values``. Each row of
            ``values`` holds one map's probabilities at the knots, between which the map
            is linear. Knots are scores, or the log-odds of scores if ``kind`` is
            "probabilities". `to_bytes` is smaller.

        Examples
        --------
        >>> import bestcut
        >>> told = bestcut.calibrate([0, 1], [0.2, 0.7], n_draws=2).to_dict()
        >>> told["n_labelled"], told["score_range"]
        (2, [0.2, 0.7])
        """
        return {
            "knots": self._knots.tolist(),
            "values": self._values.tolist(),
            "kind": _KINDS[self._kind],
            "n_labelled": self.n_labelled,
            "n_positive": self.n_positive,
            "method": self.method,
            "score_range": list(self.score_range),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """Return the calibration of which `to_dict` made plain Python.

        .. versionadded:: 0.3

        Parameters
        ----------
        data : mapping
            What `to_dict` returned, perhaps by way of JSON.

        Returns
        -------
        Calibration
            The same maps.

        Raises
        ------
        ValueError
            If something is missing from `data`, or it is no calibration.
        TypeError
            If `data` is not a mapping.

        Examples
        --------
        >>> import json
        >>> import bestcut
        >>> calibration = bestcut.calibrate([0, 1], [0.2, 0.7])
        >>> stored = json.dumps(calibration.to_dict())
        >>> again = bestcut.Calibration.from_dict(json.loads(stored))
        >>> again.to_bytes() == calibration.to_bytes()
        True
        """
        check_kind(data, Mapping, name="data", called="a mapping")
        for name in _FIELDS:
            if name not in data:
                raise errors.not_in_dict(name, cls.__name__)
        values = check_matrix(data["values"], name="data['values']")
        if data["kind"] not in _KINDS or data["method"] not in _NAMES:
            reason = "it has another kind of scores, or another method"
            raise errors.unreadable_calibration(reason)
        made = cls(
            knots=check_finite_scores(data["knots"], name="data['knots']"),
            values=values,
            kind=_KINDS.index(data["kind"]),
            n_labelled=int(data["n_labelled"]),
            n_positive=int(data["n_positive"]),
            method=data["method"],
            score_range=tuple(data["score_range"]),
        )
        return cls.from_bytes(made.to_bytes())  # which refuses what none can hold

    def __repr__(self) -> str:
        low, high = self.score_range
        return (
            f"Calibration({self.n_labelled} labels, {self.n_positive} positive; scores "
            f"{low:.6g} to {high:.6g}; {self.n_draws} maps, which differ by "
            f"{self._doubt():.2g} (standard deviation) at a typical knot)"
        )

    def _doubt(self) -> float:
        """Return the standard deviation of the maps, in the root mean square."""
        return float(np.sqrt(np.mean(np.var(self._values, axis=0))))


@hinted
def calibrate(
    y_true: Any,
    scores: Any,
    *,
    method: str = "auto",
    n_draws: int = 200,
    random_state: int | np.random.Generator | None = 0,
    progress: Progress = None,
) -> Calibration:
    """Learn from labels which probabilities scores stand for, and how sure this is.

    The probabilities from a model or a calibrator are only estimates. This function
    does not return one map from scores to probabilities, but draws of nondecreasing
    maps, which differ from each other as much as the labels allow.

    Parameters
    ----------
    y_true : array-like of shape (m,)
        Labels, 0 or 1.
    scores : array-like of shape (m,)
        Scores of these instances from a model that was not fitted on them: from
        cross-validation, or from held-out data. They are probabilities, or any finite
        numbers that are larger where a positive is more likely.
    method : {"auto", "process", "projection", "spline"}, default="auto"
        The posterior to draw from: ``"process"`` for maps that rise by jumps,
        ``"projection"`` for maps that are constant in bins, ``"spline"`` for smooth
        maps, or ``"auto"`` for a mixture of the three.
    n_draws : int, default=200
        How many maps to draw.
    random_state : None, int or numpy.random.Generator, default=0
        Where random numbers come from; equal seeds give equal maps.
    progress : bool or callable, optional
        Whether to show on standard error how far the computation is; or what to call,
        as ``progress(done, total)``.

        .. versionadded:: 0.3

    Returns
    -------
    Calibration
        Call it with new scores to get their probabilities.

    Raises
    ------
    ValueError
        If there are no labels, labels are not 0 and 1, an entry of `scores` is NaN or
        infinite, or `method` is not known.
    TypeError
        If an argument does not hold numbers.

    Warns
    -----
    UserWarning
        If so few positives are in the upper half of the scores that chance explains it
        in less than one of 1,000 cases: the scores may be those of the other class.

    See Also
    --------
    bestcut.check_calibration : Check the result on other labels.
    bestcut.decide : Decides with what a calibration returns.
    bestcut.estimators.ExpectedMetricClassifier : Calibrates a scikit-learn model like
        this.

    Notes
    -----
    The order of the labelled instances does not matter. Labels of only one class leave
    much open, so the maps differ much. Beyond the labelled scores the maps are
    constant, which is a guess.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=1000)
    >>> labels = rng.random(1000) < 1 / (1 + np.exp(-2 * logits))
    >>> calibration = bestcut.calibrate(labels, logits)
    >>> calibration.n_labelled, calibration.n_draws
    (1000, 200)
    """
    chosen = check_option(method, _METHODS, name="method")
    rows = check_whole_number(
        n_draws, name="n_draws", least=1, cure="Pass 200 for intervals."
    )
    if rows > _MOST_DRAWS:
        raise errors.too_many_draws(rows, _MOST_DRAWS)
    rng = check_random_state(random_state)
    check_order(y_true=y_true, scores=scores)
    s = check_finite_scores(scores, name="scores")
    labels = check_labels(y_true, s.size, name="y_true", of="scores", beside=s)
    if s.size == 0:
        raise errors.no_labels()
    _warn_if_reversed(labels, s)
    low, high = float(s.min()), float(s.max())
    kind = _PROBABILITY if low >= 0.0 and high <= 1.0 else _ANY
    cells = cells_of(_coordinate(s, kind), labels)
    knots = knots_of(cells)
    with progress_of(progress, "Calibrating", rows) as advance:
        values = drawn(_METHODS[chosen], cells, knots, rng, rows, advance)
    return Calibration(
        knots=knots,
        values=values,
        kind=kind,
        n_labelled=s.size,
        n_positive=int(np.count_nonzero(labels)),
        method=chosen,
        score_range=(low, high),
    )


def _warn_if_reversed(labels: BoolArray, scores: FloatArray) -> None:
    """Warn if the largest scores have fewer positives than chance explains."""
    k, above, chance = positives_above(labels, scores)
    if chance < SELDOM:
        few, verb = f"only {k}" if k else "none", "is" if k < 2 else "are"
        warnings.warn(
            f"{few} of {np.count_nonzero(labels)} positives {verb} among the {above} "
            f"largest of {labels.size} `scores`, which chance explains in less than "
            "one of 1,000 cases: the larger a score, the less likely a positive seems "
            "to be. Pass the column of the positive class, such as "
            "`predict_proba(X)[:, 1]`, or turn the scores round with `-scores`.",
            stacklevel=4,
        )


def _scores_at(u: FloatArray) -> FloatArray:
    """Return the probabilities with these log-odds, none between 0 and `_TINY`."""
    scores = np.exp(-np.logaddexp(0.0, -u))
    return np.where((scores > 0.0) & (scores < _TINY), _TINY, scores)


def _off_chords(scores: FloatArray, p: FloatArray) -> FloatArray:
    """Return how far lines between neighbours are from p, which is linear in log-odds.

    They are furthest where their slope is that of the log-odds, 1 / (s (1 - s)): at a
    score s, or at 1 - s.
    """
    u = _coordinate(scores, _PROBABILITY)
    # Beyond 1/2 the same is seen from 1, where 1 - s has all its digits.
    upper = scores[:-1] >= 0.5
    low, high = (
        np.where(upper, 1.0 - other, own)
        for own, other in ((scores[:-1], scores[1:]), (scores[1:], scores[:-1]))
    )
    start, rise = np.where(upper, -u[1:], u[:-1]), np.diff(u)
    product = (high - low) / rise
    root = 2.0 * product / (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * product, 0.0)))
    off = np.zeros(rise.size)
    for place in (root, 1.0 - root):
        s = np.clip(place, low, high)
        share = (_coordinate(s, _PROBABILITY) - start) / rise
        off = np.maximum(off, np.abs(share - (s - low) / (high - low)))
    return np.asarray(off * np.diff(p))


def _coordinate(scores: FloatArray, kind: int) -> FloatArray:
    """Return u: log-odds if scores are probabilities, otherwise the scores."""
    if kind == _ANY:
        return np.clip(scores, -_LARGEST, _LARGEST)
    with np.errstate(divide="ignore"):
        p = np.clip(scores, 0.0, 1.0)
        log_odds = np.log(p) - np.log1p(-p)
    return np.asarray(np.clip(log_odds, _LOWEST, _HIGHEST))


# --- the stored form -----------------------------------------------------------------


def _parts(data: Any) -> dict[str, Any]:
    """Return the parts of a Calibration, refusing parts that none can hold."""
    body = _FORM.body(data, _wrong_size)
    method, kind, m, positives, rows, columns, low, high = _FACTS.unpack_from(body)
    array = np.frombuffer(body[_FACTS.size :], dtype="<f8").astype(np.float64)
    knots, values = array[:columns], array[columns:].reshape(rows, columns)
    facts_fit = (
        method < len(_NAMES)
        and kind in (_PROBABILITY, _ANY)
        and 1 <= m <= _MOST_LABELS
        and 0 <= positives <= m
        and 1 <= rows <= _MOST_DRAWS
        and 1 <= columns <= MOST_KNOTS
        and -np.inf < low <= high < np.inf
        and (kind == _ANY or (low >= 0.0 and high <= 1.0))
    )
    if not (facts_fit and _is_possible(knots, values, kind)):
        reason = "it holds numbers that no calibration has"
        raise errors.unreadable_calibration(reason)
    return {
        "knots": knots.copy(),
        "values": values.copy(),
        "kind": kind,
        "n_labelled": m,
        "n_positive": positives,
        "method": _NAMES[method],
        "score_range": (low, high),
    }


def _wrong_size(body: bytes) -> str:
    """Say what is wrong with the size of a stored calibration, if anything is."""
    *_, rows, columns, _, _ = _FACTS.unpack_from(body)
    size = len(body) - _FACTS.size
    if size == 8 * columns * (rows + 1):
        return ""
    return f"it has {size} bytes where {rows} maps with {columns} knots should be"


def _is_possible(knots: FloatArray, values: FloatArray, kind: int) -> bool:
    """Return whether knots increase, and values are nondecreasing probabilities."""
    least, most = (_LOWEST, _HIGHEST) if kind == _PROBABILITY else (-_LARGEST, _LARGEST)
    return bool(
        np.all((knots >= least) & (knots <= most))
        and np.all(knots[1:] > knots[:-1])
        and np.all((values >= 0.0) & (values <= 1.0))
        and np.all(values[:, 1:] >= values[:, :-1])
    )


def quietly_calibrated(
    calibration: Calibration, scores: FloatArray
) -> UncertainProbabilities:
    """Return the probabilities of new scores without a warning, wherever these are."""
    return calibration._silently(scores)


def count_outside(calibration: Calibration, scores: FloatArray, n_checks: int) -> int:
    """Return how many scores are outside the labelled ones; 0 if by chance."""
    return calibration._outside(scores, n_checks)
