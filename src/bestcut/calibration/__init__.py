"""Check whether probabilities are right, and calibrate them."""

from bestcut._public import publish
from bestcut.calibration._bins import (
    labelled_bins as labelled_bins,
    share_interval as share_interval,
)
from bestcut.calibration._calibrate import (
    Calibration,
    calibrate,
    count_outside as count_outside,
    quietly_calibrated as quietly_calibrated,
)
from bestcut.calibration._check import check_calibration
from bestcut.calibration._guarantee import Guarantee, guarantee
from bestcut.calibration._prevalence import adjust_prevalence, estimate_prevalence
from bestcut.calibration._result import (
    CalibrationBin as CalibrationBin,
    CalibrationCheck,
)
from bestcut.calibration._stretch import stretched as stretched

# What users import; the names above with `as` are returned, or for the other folders.
__all__ = [
    "Calibration",
    "CalibrationCheck",
    "Guarantee",
    "adjust_prevalence",
    "calibrate",
    "check_calibration",
    "estimate_prevalence",
    "guarantee",
]

publish(__name__, globals())
