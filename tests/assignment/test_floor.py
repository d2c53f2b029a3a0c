"""What assignments are worth at least: a floor that no simpler search may fall below.

The tests of certificates do not see a search that finds less, because its gap is wider
then. These are the expected scores that were found when the floor was laid.
"""

import numpy as np
import pytest

from bestcut import multiclass, multilabel
from bestcut.metrics import Coverage
from groups import slow

# One class for each row; two labels for each; at most three.
FLOORS = {
    (40, 4, "f1"): (0.5478208, 0.378322, 0.4785468),
    (40, 4, "precision"): (0.7030976, 0.4074819, 0.6096245),
    (40, 4, "mcc"): (0.4146319, 0.3037149, 0.4146853),
    (40, 4, "fowlkes_mallows"): (0.5559123, 0.4437139, 0.5034802),
    (40, 4, "gmean"): (0.7065253, 0.6946402, 0.7673702),
    (40, 4, "jaccard"): (0.3918714, 0.2570336, 0.3366333),
    (40, 4, "coverage"): (None, 0.984892, 0.9870667),
    (60, 25, "f1"): (0.1650978, 0.4356945, 0.5078311),
    (60, 25, "precision"): (0.2163404, 0.7441811, 0.7739319),
    (60, 25, "mcc"): (0.1432714, 0.4042111, 0.4573639),
    (60, 25, "fowlkes_mallows"): (0.1719403, 0.4642655, 0.5220793),
    (60, 25, "gmean"): (0.2413771, 0.5661146, 0.6583556),
    (60, 25, "jaccard"): (0.1120844, 0.2935448, 0.3590434),
    (60, 25, "coverage"): (None, 0.9822998, 0.9932904),
    (400, 7, "f1"): (0.4388914, 0.5162853, 0.5729289),
    (400, 7, "precision"): (0.7010461, 0.704926, 0.8855511),
    (400, 7, "mcc"): (0.3483924, 0.4228078, 0.4926655),
    (400, 7, "fowlkes_mallows"): (0.4416355, 0.5355295, 0.5818876),
    (400, 7, "gmean"): (0.6557088, 0.759064, 0.7988882),
    (400, 7, "jaccard"): (0.28404, 0.3624407, 0.4140574),
    (400, 7, "coverage"): (None, 0.9999999, 0.9999999),
}
LONG = {
    (40, 4, "mcc"),
    (60, 25, "f1"),
    (60, 25, "precision"),
    (60, 25, "mcc"),
    (60, 25, "fowlkes_mallows"),
    (400, 7, "f1"),
    (400, 7, "precision"),
    (400, 7, "mcc"),
    (400, 7, "fowlkes_mallows"),
}


def matrix(rows, columns, *, one):
    rng = np.random.default_rng(7)
    if one:
        return rng.dirichlet(0.1 + 0.9 * rng.random(columns), size=rows)
    skew = 3.0 * rng.random(columns) + 0.5
    return rng.beta(0.3, skew, size=(rows, columns))


@pytest.mark.parametrize(
    "problem", [slow(x) if x in LONG else x for x in FLOORS], ids=str
)
def test_no_assignment_is_worth_less_than_it_was(problem):
    rows, columns, name = problem
    metric = Coverage() if name == "coverage" else name
    one, *others = FLOORS[problem]
    if one is not None:
        p = matrix(rows, columns, one=True)
        assert multiclass.decide(p, metric).expected_score >= one
    p = matrix(rows, columns, one=False)
    for floor, per_row in zip(others, (2, (0, 3)), strict=True):
        found = multilabel.decide(p, metric, average="macro", per_row=per_row)
        assert found.expected_score >= floor
