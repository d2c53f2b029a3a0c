"""What every result with a prediction can tell about its score."""

from __future__ import annotations

from bestcut import _errors as errors
from bestcut.metrics import AnyMetric, RowUtility, get
from bestcut.scores._confusion import ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution
from bestcut.scores._prediction import Prediction
from bestcut.scores._row_prediction import RowPrediction


class Predicted:
    """A result with a prediction, and the metric it was made for."""

    metric: AnyMetric

    _prediction: Prediction | None

    def _kept(self) -> Prediction:
        """Return the prediction, refusing if it was not kept."""
        if self._prediction is None:
            raise errors.no_law_kept()
        return self._prediction

    def distribution(self, metric: str | AnyMetric | None = None) -> ScoreDistribution:
        """Return the distribution of the score of this prediction.

        Parameters
        ----------
        metric : str, Metric or RowUtility, optional
            Another metric than the one the prediction was made for.

        Returns
        -------
        ScoreDistribution
            With ``mean``, ``std``, ``interval``, ``ppf``, ``cdf``, ``prob_at_least``.

        Raises
        ------
        ValueError
            If the metric is not known, or is a `bestcut.RowUtility` and the rows were
            not kept or are not as many as its amounts.

        Examples
        --------
        >>> import bestcut
        >>> decision = bestcut.decide([0.9, 0.8, 0.6, 0.3, 0.2, 0.1] * 50)
        >>> decision.distribution()
        F1 0.780, 90% between 0.739 and 0.818
        """
        chosen = self.metric if metric is None else metric
        kept = self._kept()
        if not isinstance(chosen, RowUtility):
            return ScoreDistribution(kept, get(chosen))
        if not isinstance(kept, RowPrediction):
            raise errors.rows_not_kept()
        chosen.worths((kept.n,))  # refuses the amounts of other rows
        return ScoreDistribution(kept, chosen)

    def confusion(self) -> ConfusionDistribution:
        """Return the distribution of the confusion matrix of this prediction.

        Returns
        -------
        ConfusionDistribution
            With ``mean``, ``std``, ``interval`` and ``matrix``.

        Examples
        --------
        >>> import bestcut
        >>> bestcut.decide([0.9, 0.8, 0.6, 0.3, 0.2, 0.1] * 50).confusion().mean.tp
        115.0
        """
        return ConfusionDistribution(self._kept())
