"""What a decision maximises: the mean score, or something more cautious.

For every goal here, some top-k prediction is optimal if one is optimal for the mean.
Take two instances, of which the less probable one is predicted positive and the other
is not, and exchange them. If their labels agree, nothing changes. If not, it is more
probable that the exchange adds a true positive than that it takes one away. So for a
metric f that never falls when TP rises, P(f >= c) does not fall, for any c: among
predictions of k positives, the score of the top-k is *stochastically* the largest.

- ``ProbAtLeast(c)`` is that probability.
- ``Quantile(q)`` is at least c exactly if P(f >= c) > 1 - q, so some top-k prediction
  has the largest quantile that any prediction has.
- ``Mean()`` is the integral of P(f >= c): the paper's Main Result 1.

The same argument keeps constraints on expected values simple: the top-k prediction is
the best for the objective and for all constraining metrics at once.
"""

from bestcut._public import publish
from bestcut.goals._certain import (
    Certain,
    Condition as Condition,
    condition_of as condition_of,
)
from bestcut.goals._goals import (
    DistributionGoal as DistributionGoal,
    Goal,
    Mean,
    ProbAtLeast,
    Quantile,
    check_goal as check_goal,
)
from bestcut.goals._search import (
    GoalSearch as GoalSearch,
    cuts_that_reach as cuts_that_reach,
)

# What users import; the names above with `as` are for the other folders.
__all__ = ["Certain", "Goal", "Mean", "ProbAtLeast", "Quantile"]

publish(__name__, globals())
