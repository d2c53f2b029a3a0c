"""Where a ranking is cut whose rows are elsewhere: in a stream, a file, a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._decided import Decided, condition_from, goal_from
from bestcut._tables import like
from bestcut._validation import check_kind, check_probabilities, check_whole_number
from bestcut.goals import Condition, Goal
from bestcut.metrics import AnyMetric, get
from bestcut.scores import Prediction


@dataclass(frozen=True, repr=False, eq=False)
class Cut(Decided):
    r"""The best cut of rows that are elsewhere: in a stream, a file or a cluster.

    Attributes
    ----------
    n : int
        How many rows there are.
    n_positive : int
        How many are predicted positive.
    threshold : float or None
        Rows whose probability is at least this are positive; inf if none is. It lies
        halfway to the next smaller probability. None if rows have their own amounts.
    n_tied : (int, int)
        If the cut splits a tie: of the rows whose probability equals the threshold, how
        many are positive, and how many there are; in order, the earliest are positive.
        Otherwise (0, 0).
    expected_score : float
        Expected metric of the prediction.
    error : float
        Bound on the numerical error of ``expected_score``.
    gap, gap_scope : float, str
        A proved bound on what other predictions could gain beyond `error`, and which
        predictions these are; as in `bestcut.Decision`.
    metric : Metric or RowUtility
        What was maximised (a loss: minimised).
    solver : str
        How it was found, as in `bestcut.Decision`.
    goal, goal_value : Goal, float
        What was maximised, and its value; the expected score unless another goal was
        given.
    conditions : tuple of Condition
        What `at_least` asked of other metrics, and what is reached of it.
    bounds : (int, int)
        The least and the largest number of positives that was allowed.
    score_threshold : float or None
        For a file whose scores a calibration turned into probabilities: the threshold
        of the scores. Otherwise None.
    output : str or None
        The file with the decisions, if one was written.
    partitions : int or None
        On a cluster, how many partitions were read.
    summary_bytes, bracket_bytes : int or None
        On a cluster, how many bytes reached the driver: of summaries in the first pass;
        of scores in the second, with what the choice among the tied may take.

    See Also
    --------
    bestcut.decide_file : Returns one, for a file.
    bestcut.streams.Bracket : Its ``refine`` returns one, for a stream.
    bestcut.Decision : The same for a batch in memory.

    Examples
    --------
    >>> import bestcut
    >>> scores = [0.7, 0.1, 0.4, 0.35]
    >>> bracket = bestcut.streams.ScoreSummary.from_scores(scores).bracket("f1")
    >>> cut = bracket.refine(bracket.select(scores))
    >>> round(cut.threshold, 3), cut.n_positive, cut.n
    (0.225, 3, 4)
    >>> cut.predict(scores).tolist()
    [True, False, True, True]
    >>> round(cut.distribution().std, 3)
    0.275
    """

    n: int
    n_positive: int
    threshold: float | None
    n_tied: tuple[int, int]
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    metric: AnyMetric
    solver: str
    goal: Goal
    goal_value: float
    conditions: tuple[Condition, ...]
    bounds: tuple[int, int]
    score_threshold: float | None = None
    output: str | None = None
    partitions: int | None = None
    summary_bytes: int | None = None
    bracket_bytes: int | None = None
    _prediction: Prediction | None = field(default=None, repr=False)

    def predict(self, y_proba: Any, tied_before: int = 0) -> Any:
        """Return the labels of a chunk.

        Parameters
        ----------
        y_proba : array-like of shape (m,)
            The probabilities of the chunk.
        tied_before : int, default=0
            How many probabilities in earlier chunks were equal to the threshold. It
            matters only if the cut splits a tie.

        Returns
        -------
        ndarray of bool, shape (m,), or Series
            The predictions, in the order of the chunk. A Series of pandas or polars
            gives one, with its index and its name.

        Raises
        ------
        InvalidProbabilityError
            If an entry of `y_proba` is NaN or outside [0, 1].
        ValueError
            If rows have their own amounts, so that no threshold decides.

        Examples
        --------
        >>> import bestcut
        >>> scores = [0.7, 0.1, 0.4, 0.35]
        >>> bracket = bestcut.streams.ScoreSummary.from_scores(scores).bracket("f1")
        >>> bracket.refine(bracket.select(scores)).predict(scores).tolist()
        [True, False, True, True]
        """
        if self.threshold is None:
            raise errors.no_threshold(self.metric.name)
        p = check_probabilities(y_proba)
        check_whole_number(tied_before, name="tied_before")
        labels = p >= self.threshold
        taken, there = self.n_tied
        if there:
            tied = np.flatnonzero(p == self.threshold)
            labels[tied[max(taken - tied_before, 0) :]] = False
        return like(y_proba, labels)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], metric: Any = None) -> Cut:
        """Return the cut of which `to_dict` made plain Python.

        .. versionadded:: 0.3

        Parameters
        ----------
        data : mapping
            What `to_dict` returned, perhaps by way of JSON.
        metric : Metric or RowUtility, optional
            The metric, if it is not one of `bestcut.metrics.names`.

        Returns
        -------
        Cut
            It predicts; ``distribution()`` and ``confusion()`` need more than a dict
            holds.

        Raises
        ------
        ValueError
            If something is missing from `data`, or the name of the metric is not known.
        TypeError
            If `data` is not a mapping.

        Examples
        --------
        >>> import json
        >>> import bestcut
        >>> scores = [0.7, 0.1, 0.4, 0.35]
        >>> bracket = bestcut.streams.ScoreSummary.from_scores(scores).bracket("f1")
        >>> stored = json.dumps(bracket.refine(bracket.select(scores)).to_dict())
        >>> cut = bestcut.streams.Cut.from_dict(json.loads(stored))
        >>> cut.predict([0.3, 0.2]).tolist()
        [True, False]
        """
        check_kind(data, Mapping, name="data", called="a mapping")
        names = [name for name in cls.__dataclass_fields__ if name[0] != "_"]
        if missing := [name for name in names if name not in data]:
            raise errors.not_in_dict(missing[0], cls.__name__)
        made = {name: data[name] for name in names}
        made["metric"] = get(data["metric"]) if metric is None else metric
        if made["threshold"] is None and not made["n_positive"]:
            made["threshold"] = np.inf  # which JSON cannot hold
        if made["gap"] is None:
            made["gap"] = np.inf
        made["goal"] = goal_from(data["goal"])
        made["conditions"] = tuple(map(condition_from, data["conditions"]))
        for name in ("bounds", "n_tied"):
            made[name] = tuple(made[name])
        return cls(**made)

    def _asked(self) -> tuple[Condition, ...]:
        return self.conditions

    def _more_facts(self) -> list[tuple[str, str]]:
        facts = []
        if self.score_threshold is not None:
            facts.append(("score threshold", f"{self.score_threshold:.6g}"))
        if self.output is not None:
            facts.append(("written to", self.output))
        if self.partitions is not None:
            sent = (self.summary_bytes or 0) + (self.bracket_bytes or 0)
            facts += [("partitions", str(self.partitions)), ("bytes sent", str(sent))]
        return facts
