"""What is maximised: metrics of the confusion matrix, and which of them qualify."""

from bestcut._errors import ExpressionError, WorkLimitError
from bestcut._public import publish
from bestcut.metrics._base import (
    Affine as Affine,
    FractionalLinearMetric as FractionalLinearMetric,
    Linear as Linear,
    Metric,
    Trait as Trait,
    affine_parts as affine_parts,
    common_denominator as common_denominator,
    is_affine as is_affine,
    is_concave as is_concave,
    is_linear as is_linear,
    ratio as ratio,
)
from bestcut.metrics._bounds import (
    Box as Box,
    enclosed as enclosed,
    largest_score as largest_score,
    rounding_at as rounding_at,
    score_bound as score_bound,
)
from bestcut.metrics._catalog import (
    MCC,
    Accuracy,
    BalancedAccuracy,
    CohenKappa,
    FalseNegativeRate,
    FalsePositiveRate,
    FBeta,
    FowlkesMallows,
    GMean,
    HMean,
    Informedness,
    Jaccard,
    Markedness,
    NegativePredictiveValue,
    Precision,
    QMean,
    Recall,
    Specificity,
    SquaredCountError,
    get,
    names,
)
from bestcut.metrics._discs import (
    Disc as Disc,
    is_followed as is_followed,
    size_at_cells as size_at_cells,
    size_at_counts as size_at_counts,
)
from bestcut.metrics._enclosure import FIRST as FIRST, SECOND as SECOND
from bestcut.metrics._expression import Worth as Worth, from_expression
from bestcut.metrics._families import (
    Coverage,
    CustomMetric,
    FractionalLinear,
    LinearUtility,
    from_counts,
    from_rates,
    from_uvp,
)
from bestcut.metrics._interval import Interval as Interval, spread as spread
from bestcut.metrics._moves import MORE_AGREEMENT as MORE_AGREEMENT
from bestcut.metrics._principle import (
    Counterexample,
    MetricCheck,
    RankingViolation,
    check_metric,
    require_ranking as require_ranking,
)
from bestcut.metrics._prover import (
    agreement_never_hurts as agreement_never_hurts,
    never_hurts as never_hurts,
    tp_never_hurts as tp_never_hurts,
    tp_never_hurts_for_any_n as tp_never_hurts_for_any_n,
    tp_never_matters as tp_never_matters,
)
from bestcut.metrics._rows import (
    AnyMetric as AnyMetric,
    RowUtility,
    Worths as Worths,
    indices_of as indices_of,
)
from bestcut.metrics._work import work_limit

# What users import; the names above with `as` are for the other folders.
__all__ = [
    "MCC",
    "Accuracy",
    "BalancedAccuracy",
    "CohenKappa",
    "Counterexample",
    "Coverage",
    "CustomMetric",
    "ExpressionError",
    "FBeta",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "FowlkesMallows",
    "FractionalLinear",
    "GMean",
    "HMean",
    "Informedness",
    "Jaccard",
    "LinearUtility",
    "Markedness",
    "Metric",
    "MetricCheck",
    "NegativePredictiveValue",
    "Precision",
    "QMean",
    "RankingViolation",
    "Recall",
    "RowUtility",
    "Specificity",
    "SquaredCountError",
    "WorkLimitError",
    "check_metric",
    "from_counts",
    "from_expression",
    "from_rates",
    "from_uvp",
    "get",
    "names",
    "work_limit",
]

publish(__name__, globals())
