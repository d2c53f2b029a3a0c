"""Plots, in the form of scikit-learn's displays.

Needs matplotlib: ``pip install 'bestcut[plot]'``. Each display is made by a
``from_...`` method, draws itself on an axes given as ``ax`` or on a new one, keeps what
it drew as attributes ending in an underscore, and can be drawn again with ``plot``.
"""

from bestcut import _errors
from bestcut._public import publish

try:
    import matplotlib as mpl  # noqa: F401
except ImportError as error:
    raise _errors.package_missing(
        needed_by="bestcut.displays", package="matplotlib", extra="plot"
    ) from error

from bestcut.displays._calibration import CalibrationCheckDisplay
from bestcut.displays._curve import ExpectedScoreDisplay
from bestcut.displays._decision import DecisionDisplay
from bestcut.displays._distribution import ScoreDistributionDisplay
from bestcut.displays._map import CalibrationMapDisplay
from bestcut.displays._multiclass import ClassConfusionDisplay, ClassScoresDisplay

__all__ = [
    "CalibrationCheckDisplay",
    "CalibrationMapDisplay",
    "ClassConfusionDisplay",
    "ClassScoresDisplay",
    "DecisionDisplay",
    "ExpectedScoreDisplay",
    "ScoreDistributionDisplay",
]

publish(__name__, globals())
