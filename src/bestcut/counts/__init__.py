"""How many positives there are: exact distributions of sums of independent Bernoullis.

Two ways to the same distributions. `poisson_binomial` and its companions compute them
instance by instance, as the paper's algorithms do, and are for everyone. The rest of
the package uses windows (`Law`), rules from cumulants, and the two sides of a cut.
"""

from bestcut._public import publish
from bestcut.counts._exact import (
    WindowedLaw as WindowedLaw,
    add_instance as add_instance,
    count_laws as count_laws,
    prefix_laws as prefix_laws,
    prefix_laws_backwards as prefix_laws_backwards,
)
from bestcut.counts._expectation import (
    EVALUATIONS as EVALUATIONS,
    MOST_NODES as MOST_NODES,
    ROUNDING as ROUNDING,
    TOLERANCE as TOLERANCE,
    WORTHLESS as WORTHLESS,
    Rule as Rule,
    are_short as are_short,
    error_of_sides as error_of_sides,
    exact_error as exact_error,
    expectation as expectation,
    linear_value as linear_value,
    rule_of_mean as rule_of_mean,
    rules_of_cut as rules_of_cut,
    value_of_cut as value_of_cut,
)
from bestcut.counts._moments import (
    LEAST_VARIANCE as LEAST_VARIANCE,
    cumulant_matrix as cumulant_matrix,
    features as features,
    features_of_rule as features_of_rule,
    hermite_coefficients as hermite_coefficients,
    hermite_rule as hermite_rule,
    rule_of_sums as rule_of_sums,
)
from bestcut.counts._poisson_binomial import (
    poisson_binomial,
    poisson_binomial_window as poisson_binomial_window,
    remove as remove,
)
from bestcut.counts._proof import (
    COVER_CENTRES as COVER_CENTRES,
    COVER_RADIUS as COVER_RADIUS,
    OF_NODES as OF_NODES,
    OF_WEIGHTS as OF_WEIGHTS,
    SMALLEST_VARIANCE as SMALLEST_VARIANCE,
    WIDE as WIDE,
    Plan as Plan,
    SideRange as SideRange,
    believed as believed,
    is_on_trust as is_on_trust,
    plan_rules as plan_rules,
)
from bestcut.counts._rules import (
    NODE_COUNTS as NODE_COUNTS,
    rule_error as rule_error,
    stray as stray,
    weight_size as weight_size,
)
from bestcut.counts._running import (
    running_error as running_error,
    running_sums as running_sums,
)
from bestcut.counts._side import (
    NOBODY as NOBODY,
    ROOM as ROOM,
    ListedSide as ListedSide,
    Side as Side,
    SummedSide as SummedSide,
    error_of_sums as error_of_sums,
)
from bestcut.counts._window import (
    NEGLIGIBLE as NEGLIGIBLE,
    NOTHING as NOTHING,
    SPARED as SPARED,
    Law as Law,
    convolved as convolved,
    dropped as dropped,
    given_positive as given_positive,
    law_error as law_error,
    law_from_power_sums as law_from_power_sums,
    law_of as law_of,
    power_sum_count as power_sum_count,
    running_laws as running_laws,
    trimmed as trimmed,
)

# What users import; the names above with `as` are for the other folders.
__all__ = ["poisson_binomial"]

publish(__name__, globals())
