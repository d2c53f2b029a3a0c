"""Every entry of the errata: the printed formula fails, the right one holds.

The oracle is the definition itself, on every confusion matrix of a small n or on every
label vector, in exact rational arithmetic wherever no root is involved. The tests have
the names that docs/how-it-works/errata.md gives them; the last one checks that.
"""

import re
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import bestcut
from bestcut import metrics

N = 7  # every confusion matrix of so many instances


def lattice(n=N):
    """Yield (u, v, p) of every confusion matrix with both classes, exactly."""
    for n_pos in range(1, n):
        for n_pred in range(n + 1):
            for tp in range(max(0, n_pred + n_pos - n), min(n_pred, n_pos) + 1):
                yield tuple(Fraction(x, n) for x in (tp, n_pred, n_pos))


def rates(u, v, p):
    """Return TPR and TNR as the paper defines them."""
    return u / p, (1 - v - p + u) / (1 - p)


def share_of_agreement(formula, metric, points):
    """Return how often a formula in (u, v, p) gives the value of the metric."""
    agree = [
        float(formula(u, v, p))
        == pytest.approx(
            float(metric.phi(float(u), float(v), float(p), n=N)), rel=1e-12, abs=1e-14
        )
        for u, v, p in points
    ]
    return sum(agree) / len(agree)


def expected_scores(eta, metric):
    """Oracle: expected score of every label vector, by enumeration of the outcomes."""
    n = len(eta)
    vectors = list(product((0, 1), repeat=n))
    result = {}
    for s in vectors:
        total = 0.0
        for y in vectors:
            weight = np.prod([e if yi else 1 - e for e, yi in zip(eta, y, strict=True)])
            tp = sum(a * b for a, b in zip(s, y, strict=True))
            total += float(weight) * float(metric(tp, sum(s), sum(y), n))
        result[s] = total
    return result


# --- Formulas ------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [Fraction(1, 2), 1, 2])
def test_f_beta_equation_has_tp_in_its_denominator(beta):
    b2 = Fraction(beta) ** 2
    # Where there is a true positive; the printed denominator may be 0 there.
    points = [x for x in lattice() if x[0] > 0]

    def printed(u, v, p):
        fn, fp = p - u, v - u
        denominator = (1 + b2) * fn + b2 * fn + fp
        return (1 + b2) * u / denominator if denominator else float("inf")

    def right(u, v, p):
        fn, fp = p - u, v - u
        return (1 + b2) * u / ((1 + b2) * u + b2 * fn + fp)

    metric = metrics.FBeta(beta)
    assert share_of_agreement(right, metric, points) == 1
    assert share_of_agreement(printed, metric, points) < 0.2


def test_f_beta_definition_weighs_recall_by_beta():
    beta = 2
    b2 = beta**2
    points = [x for x in lattice() if x[0] > 0]

    def printed(u, v, p):
        return (1 + b2) / (b2 / (u / v) + 1 / (u / p))

    def right(u, v, p):
        return (1 + b2) / (1 / (u / v) + b2 / (u / p))

    def third_column(u, v, p):
        return (1 + b2) * u / (b2 * p + v)

    metric = metrics.FBeta(beta)
    assert share_of_agreement(right, metric, points) == 1
    assert share_of_agreement(third_column, metric, points) == 1
    assert share_of_agreement(printed, metric, points) < 1
    # What is printed is F_beta of the inverse: precision is what it favours.
    assert share_of_agreement(printed, metrics.FBeta(0.5), points) == 1


def test_am_third_column_lacks_one_half():
    points = list(lattice())

    def printed(u, v, p):
        return (u + p * (1 - v - p)) / (p * (1 - p))

    def right(u, v, p):
        return printed(u, v, p) / 2

    assert all(right(*x) == sum(rates(*x)) / 2 for x in points)
    metric = metrics.BalancedAccuracy()
    assert share_of_agreement(right, metric, points) == 1
    assert share_of_agreement(printed, metric, points) < 0.2
    assert max(printed(*x) for x in points) == 2  # a mean of rates cannot be 2


def test_gmean_third_column_lacks_the_root():
    points = list(lattice())

    def printed(u, v, p):
        return u * (1 - v - p + u) / (p * (1 - p))

    def right(u, v, p):
        return float(printed(u, v, p)) ** 0.5

    assert all(printed(*x) == np.prod(rates(*x)) for x in points)
    metric = metrics.GMean()
    assert share_of_agreement(right, metric, points) == 1
    assert share_of_agreement(printed, metric, points) < 0.6  # where it is 0 or 1
    # The root is increasing, but its expectation is another one: the cut moves.
    eta = [0.7, 0.3, 0.1, 0.0]
    square = metrics.from_counts(
        lambda tp, fp, fn, tn: tp * tn / ((tp + fn) * (fp + tn)), zero_division=0.0
    )
    k_square = bestcut.decide(eta, square).n_positive
    decision = bestcut.decide(eta, metric)
    assert decision.n_positive != k_square
    assert decision.curve.expected_score[k_square] < decision.expected_score - 1e-3


def test_qmean_third_column_divides_by_the_class_shares():
    points = list(lattice())

    def printed(u, v, p):
        return 1 - (((p - u) / 2) ** 2 + ((v - u) / 2) ** 2) / 2

    def right(u, v, p):
        return 1 - (((p - u) / p) ** 2 + ((v - u) / (1 - p)) ** 2) / 2

    def definition(u, v, p):
        tpr, tnr = rates(u, v, p)
        return 1 - ((1 - tpr) ** 2 + (1 - tnr) ** 2) / 2

    assert all(right(*x) == definition(*x) for x in points)
    assert share_of_agreement(right, metrics.QMean(), points) == 1
    assert share_of_agreement(printed, metrics.QMean(), points) < 0.2


def test_qmean_of_the_literature_has_a_root():
    def with_root(u, v, p):
        tpr, tnr = rates(u, v, p)
        return 1 - (float((1 - tpr) ** 2 + (1 - tnr) ** 2) / 2) ** 0.5

    points = list(lattice())
    literature = metrics.QMean(square_root=True)
    assert share_of_agreement(with_root, literature, points) == 1
    assert share_of_agreement(with_root, metrics.QMean(), points) < 0.2


def test_hmean_and_the_other_third_columns_are_right():
    def hmean(u, v, p):
        return 2 * u * (1 - v - p + u) / ((1 - v - p) * p + u)

    points = [x for x in lattice() if sum(rates(*x)) > 0]
    for x in points:
        tpr, tnr = rates(*x)
        assert hmean(*x) == 2 * tpr * tnr / (tpr + tnr)
    assert share_of_agreement(hmean, metrics.HMean(), points) == 1

    def jaccard(u, v, p):
        return u / (p + v - u)

    def fowlkes_mallows(u, v, p):
        return float(u) / float(p * v) ** 0.5

    points = [x for x in lattice() if x[1] > 0]
    assert share_of_agreement(jaccard, metrics.Jaccard(), points) == 1
    assert share_of_agreement(fowlkes_mallows, metrics.FowlkesMallows(), points) == 1


def test_sec_is_a_squared_difference_and_a_loss():
    points = list(lattice())

    def printed(u, v, p):
        return v + p

    def right(u, v, p):
        return (p - v) ** 2

    sec = metrics.get("squared_count_error")
    assert share_of_agreement(right, sec, points) == 1
    assert share_of_agreement(printed, sec, points) < 0.2
    # Maximised, the printed form flags everything; so does the square itself here.
    eta = [0.9, 0.2, 0.1, 0.1, 0.05]
    assert not sec.greater_is_better
    assert bestcut.decide(eta, sec).n_positive == 1
    for wrong in (printed, right):
        as_utility = metrics.from_uvp(wrong, "printed, maximised")
        assert bestcut.decide(eta, as_utility).n_positive == 5


def test_recurrence_weighs_by_eta_k():
    eta = [Fraction(x, 20) for x in (18, 13, 9, 2, 1)]
    n, d3 = len(eta), Fraction(3, 2)

    def b(k, alpha):
        """By its definition: the mean of 1 / (alpha + d3 * S_{k+1:n})."""
        total = Fraction(0)
        for y in product((0, 1), repeat=n - k):
            weight = Fraction(1)
            for e, yi in zip(eta[k:], y, strict=True):
                weight *= e if yi else 1 - e
            total += weight / (alpha + d3 * sum(y))
        return total

    # `p_k` is defined nowhere; p, without an index, is the share of positives.
    p = sum(eta) / n
    for k, alpha in product(range(1, n + 1), (1, 2, Fraction(7, 3))):
        eta_k = eta[k - 1]
        right = eta_k * b(k, alpha + d3) + (1 - eta_k) * b(k, alpha)
        printed = eta_k * b(k, alpha + d3) + (1 - p) * b(k, alpha)
        assert b(k - 1, alpha) == right
        assert b(k - 1, alpha) != printed
    # Through the library: the solver that uses it agrees with the one that does not.
    eta = np.array(eta, dtype=float)
    quadratic = bestcut.decide(eta, "f1", solver="quadratic").curve.expected_score
    cubic = bestcut.decide(eta, "f1", solver="cubic").curve.expected_score
    np.testing.assert_allclose(quadratic, cubic, rtol=0, atol=1e-14)


def test_proofs_in_the_appendix():
    # The swap in the proof of the main result: "+1" belongs to both TP and p, the
    # weights reduce to eta_j - eta_k, and #p(z) is a sum (printed without one).
    eta = [Fraction(3, 10), Fraction(8, 10), Fraction(4, 10), Fraction(6, 10)]
    n, j, k = 4, 0, 1  # s* has j and not k, s' has k and not j
    rest = {2: 1, 3: 0}  # the common part of both

    def phi(tp, n_pred, n_pos):
        return Fraction(2 * tp, n_pred + n_pos)  # F1, exactly

    def expectation(s):
        total = Fraction(0)
        for y in product((0, 1), repeat=n):
            weight = Fraction(1)
            for e, yi in zip(eta, y, strict=True):
                weight *= e if yi else 1 - e
            tp = sum(a * b for a, b in zip(s, y, strict=True))
            total += weight * phi(tp, sum(s), sum(y))
        return total

    def last_line(n_pos_of):
        total = Fraction(0)
        for z in product((0, 1), repeat=2):
            weight = Fraction(1)
            for i, zi in zip(rest, z, strict=True):
                weight *= eta[i] if zi else 1 - eta[i]
            tp = sum(s * zi for s, zi in zip(rest.values(), z, strict=True))
            n_pos = n_pos_of(z) + 1
            total += weight * (phi(tp + 1, 2, n_pos) - phi(tp, 2, n_pos))
        return (eta[j] - eta[k]) * total

    difference = expectation((1, 0, 1, 0)) - expectation((0, 1, 1, 0))
    assert difference == last_line(sum)
    assert difference != last_line(lambda z: z[-1])  # some single z_i, as printed

    # The connection of the two monotonicities: TPR is u / p, printed "u . p".
    assert all(rates(u, v, p)[0] != u * p for u, v, p in lattice() if u > 0)


def test_theorem_on_consistency_needs_the_estimate_to_converge():
    eta = np.array([0.9, 0.7, 0.2, 0.1])
    scores = expected_scores(eta, metrics.get("f1"))
    best = max(scores.values())

    def regret(estimate):
        labels = bestcut.decide(estimate, "f1").labels
        return best - scores[tuple(labels.astype(int))]

    # As printed the premise is "eta converges to eta": it holds for any estimate.
    assert regret(eta[::-1]) > 0.3
    # With eta-hat converging to eta the regret vanishes.
    noise = np.array([-0.4, -0.5, 0.6, 0.7])
    regrets = [regret(eta + noise / m) for m in (1, 2, 10, 100)]
    assert regrets[0] > 0.1
    assert regrets[-1] == pytest.approx(0, abs=1e-12)


# --- Conditions ----------------------------------------------------------------------


def test_fractional_linear_needs_more_than_c1_above_d1():
    # c1 > d1, positive everywhere, yet another true positive lowers it.
    c, d = (10, 1, 2, 0), (1, Fraction(1, 2), 0, 0)
    assert c[1] > d[1]
    metric = metrics.FractionalLinear(c=c, d=d)
    check = bestcut.check_metric(metric)
    assert not check.tp_monotonic
    assert check.prp is False
    assert check.counterexample.score_more < check.counterexample.score_fewer
    # The sign of the true condition, c1 D - d1 N, predicts every step in u.
    for u, v, p in lattice():
        if u + Fraction(1, N) > min(v, p):
            continue
        u2 = u + Fraction(1, N)
        at = [float(metric.phi(float(x), float(v), float(p), n=N)) for x in (u, u2)]
        numerator = c[0] + c[1] * u + c[2] * v + c[3] * p
        denominator = d[0] + d[1] * u + d[2] * v + d[3] * p
        assert (at[1] > at[0]) == (c[1] * denominator > d[1] * numerator)
    # Theorem 1 itself is lost: a label vector beats every top-k, by enumeration.
    case = check.counterexample.violation
    scores = expected_scores(case.y_proba, metric)
    top = max(v for s, v in scores.items() if all(a >= b for a, b in pairwise(s)))
    assert max(scores.values()) > top + 0.01
    with pytest.raises(bestcut.SolverMismatchError, match="ranking"):
        bestcut.decide([0.9, 0.5, 0.1], metric)


def test_fractional_linear_does_not_need_c1_above_d1():
    # c1 = d1, and still strictly increasing: F1 / (2 + F1), so to say.
    metric = metrics.FractionalLinear(c=(0, 1, 0, 0), d=(0, 1, 1, 1))
    assert bestcut.check_metric(metric).tp_monotonic


def test_algorithm_1_must_offer_the_empty_prediction():
    eta = [0.3, 0.2, 0.1, 0.1]
    scores = expected_scores(eta, metrics.get("accuracy"))
    best = max(scores, key=scores.get)
    assert best == (0, 0, 0, 0)
    printed = max(v for s, v in scores.items() if any(s))  # k = 1, ..., n
    assert scores[best] > printed + 0.05
    decision = bestcut.decide(eta, "accuracy", solver="cubic")
    assert decision.n_positive == 0
    assert decision.threshold == float("inf")
    assert decision.expected_score == pytest.approx(scores[best], rel=1e-14)
    # Squared error in counting, on rarer positives.
    rare = [0.1, 0.05, 0.05]
    losses = expected_scores(rare, metrics.get("squared_count_error"))
    assert min(losses, key=losses.get) == (0, 0, 0)
    assert bestcut.decide(rare, "squared_count_error").n_positive == 0


def printed_algorithm_2(eta, c, d):
    """Algorithm 2 line by line; reading outside its table S is a KeyError."""
    n = len(eta)
    c0, c1, c2, _ = c
    (q0, r0), (q1, r1), (q2, r2), (q3, r3) = (Fraction(x).as_integer_ratio() for x in d)
    j0, ju1 = r1 * r2 * r3 * q0, r0 * r2 * r3 * q1
    ju2, jv = r0 * r1 * r2 * q3, r0 * r1 * r3 * q2
    size = abs(ju1) + abs(ju2) + abs(jv)
    S = {i: r0 * r1 * r2 * r3 / (i + j0 * n) for i in range(1, size * n + 1)}
    scores = {}
    for k in range(n, 0, -1):
        C = bestcut.counts.poisson_binomial(eta[:k])
        scores[k] = sum(
            (c0 * n + c1 * k1 + c2 * k) * C[k1] * S[(ju1 + ju2) * k1 + jv * k]
            for k1 in range(k + 1)
        )
        for i in range(1, size * (k - 1) + 1):
            S[i] = (1 - eta[k - 1]) * S[i] + eta[k - 1] * S[i + ju2]
    return scores


@pytest.mark.parametrize(
    ("c", "d", "printed_works"),
    [
        ((0, 2, 0, 0), (0, 0, 1, 1), True),  # F1
        ((0, 1, 0, 0), (0, -1, 1, 1), True),  # Jaccard
        ((0, 5, 0, 0), (0, 0, Fraction(1), 4), True),  # F2
        ((1, 2, 0, 0), (1, 0, 0, 1), False),  # d2 = 0: reads S[0]
        ((1, 2, 0, 0), (3, -2, 0, 1), False),  # d1 + d3 < 0: reads S[-k1]
        ((1, 2, 1, 0), (3, -2, 1, 1), False),  # d1 + d3 < 0: reads S[k - k1]
        ((1, 1, 0, 0), (3, 0, 1, -1), False),  # d3 < 0: line 11 reads S[i - 1]
        ((0, 1, 0, 0), (0, 0, 0, 1), False),  # recall: d2 = 0, and 1/0 at that
    ],
    ids=["f1", "jaccard", "f2", "d2=0", "d1+d3<0, d2=0", "d1+d3<0", "d3<0", "recall"],
)
def test_algorithm_2_reads_outside_its_table(c, d, printed_works):
    eta = np.array([0.9, 0.8, 0.35, 0.3, 0.05])
    metric = metrics.FractionalLinear(c=c, d=d)
    assert bestcut.check_metric(metric).tp_monotonic
    cubic = bestcut.decide(eta, metric, solver="cubic").curve.expected_score
    quadratic = bestcut.decide(eta, metric, solver="quadratic").curve.expected_score
    np.testing.assert_allclose(quadratic, cubic, rtol=0, atol=1e-13)
    if printed_works:
        printed = printed_algorithm_2(eta, c, d)
        np.testing.assert_allclose(
            [printed[k] for k in range(1, 6)], cubic[1:], rtol=0, atol=1e-13
        )
    else:
        with pytest.raises(KeyError):
            printed_algorithm_2(eta, c, d)


def divide_out_from_below(law, p):
    """Divide a polynomial by p z + (1 - p), lowest coefficient first."""
    out = np.empty(law.size - 1)
    before = 0.0
    for s in range(out.size):
        before = (law[s] - p * before) / (1 - p)
        out[s] = before
    return out


@pytest.mark.parametrize(
    ("divide", "eta"),
    [
        (divide_out_from_below, np.linspace(0.99, 0.9, 60)),
        # With the safe end chosen each time: one step is safe, a chain of them not.
        (bestcut.counts.remove, np.linspace(0.9, 0.05, 60)),
    ],
    ids=["from below", "from the safe end"],
)
def test_algorithm_2_cannot_divide_its_way_down(divide, eta):
    # C_(k-1) from C_k by division, from k = n downwards, against C_k built up.
    law = bestcut.counts.poisson_binomial(eta)
    one_step = bestcut.counts.remove(law, eta[-1])
    right = bestcut.counts.poisson_binomial(eta[:-1])
    np.testing.assert_allclose(one_step, right, rtol=0, atol=1e-13)
    worst = 0.0
    for k in range(eta.size - 1, 0, -1):
        law = divide(law, eta[k])
        right = bestcut.counts.poisson_binomial(eta[:k])
        worst = max(worst, float(np.max(np.abs(law - right))))
    assert worst > 0.01  # of probabilities
    # The solver that needs every C_k on the way down does not divide.
    quadratic = bestcut.decide(eta, "f1", solver="quadratic").curve.expected_score
    cubic = bestcut.decide(eta, "f1", solver="cubic").curve.expected_score
    np.testing.assert_allclose(quadratic, cubic, rtol=0, atol=1e-13)


def test_zero_over_zero_moves_the_optimum():
    eta = [0.1, 0.02]
    best = {}
    for value in (0.0, 1.0):
        metric = metrics.FBeta(zero_division=value)
        scores = expected_scores(eta, metric)
        best[value] = max(scores, key=scores.get)
        decision = bestcut.decide(eta, metric)
        assert tuple(decision.labels.astype(int)) == best[value]
        assert decision.expected_score == pytest.approx(max(scores.values()))
    assert best == {0.0: (1, 0), 1.0: (0, 0)}


def test_principle_promises_an_optimum_not_the_optimum():
    # SEC sees only how many are predicted: the wrong one of two is optimal too.
    sec = metrics.get("squared_count_error")
    losses = expected_scores([0.9, 0.1], sec)
    assert losses[0, 1] == losses[1, 0] == min(losses.values())
    assert bestcut.decide([0.9, 0.1], sec).labels.tolist() == [True, False]
    # Never decreasing is enough for an optimum; strictly increasing is not needed.
    at_least_two = metrics.from_counts(lambda tp, fp, fn, tn: tp >= 2, "two hits")
    check = bestcut.check_metric(at_least_two)
    assert not check.tp_monotonic
    assert check.prp
    eta = [0.8, 0.6, 0.5, 0.2]
    decision = bestcut.decide(eta, at_least_two)
    scores = expected_scores(eta, at_least_two)
    assert decision.expected_score == pytest.approx(max(scores.values()))


def test_threshold_may_have_to_cut_a_tie():
    # Strictly increasing in TP; the best cut lies between two equal probabilities.
    eta = [0.5, 0.5]
    scores = expected_scores(eta, metrics.get("gmean"))
    by_threshold = max(scores[0, 0], scores[1, 1])  # all that a threshold can do
    assert by_threshold == 0
    assert scores[1, 0] == scores[0, 1] == 0.25
    decision = bestcut.decide(eta, "gmean")
    assert decision.expected_score == pytest.approx(0.25)
    assert decision.labels.tolist() == [True, False]  # the earlier one


def test_rates_monotonic_does_not_mean_in_each_rate():
    # The definition lets both rates rise at once; with TPR at 0, TNR alone is idle.
    gmean = metrics.GMean()
    assert gmean.gamma(0.0, 0.0, 0.5, n=4) == gmean.gamma(0.0, 1.0, 0.5, n=4) == 0
    check = bestcut.check_metric(gmean)
    assert check.rates_monotonic
    assert check.tp_monotonic
    # The example that separates the two monotonicities holds as printed.
    separating = metrics.from_counts(lambda tp, fp, fn, tn: 2 * tp + fp, "2TP + FP")
    check = bestcut.check_metric(separating)
    assert check.tp_monotonic
    assert not check.rates_monotonic


def test_principle_needs_independent_labels():
    # Six instances, three possible outcomes: A with one of two pairs, or B alone.
    outcomes = {
        (1, 0, 1, 1, 0, 0): 0.26,
        (1, 0, 0, 0, 1, 1): 0.26,
        (0, 1, 0, 0, 0, 0): 0.48,
    }
    marginals = [
        sum(w for y, w in outcomes.items() if y[i])
        for i in range(len(next(iter(outcomes))))
    ]
    assert marginals == sorted(marginals, reverse=True)
    jaccard = metrics.Jaccard()

    def expected(s):
        return sum(
            w * float(jaccard(np.dot(s, y), sum(s), sum(y), 6))
            for y, w in outcomes.items()
        )

    top_k = max(expected([1] * k + [0] * (6 - k)) for k in range(7))
    only_b = expected([0, 1, 0, 0, 0, 0])  # B is less probable than A
    assert only_b == pytest.approx(0.48)
    assert only_b > top_k + 0.1


# --- Tables --------------------------------------------------------------------------


def test_printed_f1_and_jaccard_do_not_fit_together():
    points = [x for x in lattice() if x[1] > 0]

    def from_f1(u, v, p):
        f1 = 2 * u / (p + v)
        return f1 / (2 - f1)

    assert share_of_agreement(from_f1, metrics.Jaccard(), points) == 1
    # Single-class data sets of the first table, column DTA: F1 and Jaccard. The
    # labels chosen for F1 already have a larger Jaccard than those chosen for it.
    printed = {
        "Web page": (0.8394, 0.4637),
        "Spambase": (0.9636, 0.7314),
        "Image": (0.9578, 0.7455),
        "Breast Cancer": (0.9793, 0.9342),
    }
    gaps = {name: f / (2 - f) - j for name, (f, j) in printed.items()}
    assert min(gaps.values()) > 0.02
    assert gaps["Spambase"] > 0.19


def test_errata_page_and_tests_name_each_other():
    page = Path(__file__).parents[1] / "docs" / "how-it-works" / "errata.md"
    named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
    here = {name for name in globals() if name.startswith("test_")}
    assert named == here - {"test_errata_page_and_tests_name_each_other"}
