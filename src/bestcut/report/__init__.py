"""One HTML file that shows a decision to people who do not read code.

Needs vl-convert-python, which brings the charts: ``pip install 'bestcut[report]'``.
"""

from bestcut import _errors
from bestcut._public import publish

try:
    import vl_convert  # noqa: F401
except ImportError as error:
    raise _errors.package_missing(
        needed_by="bestcut.report", package="vl-convert-python", extra="report"
    ) from error

from bestcut.report._numbers import Conditions as Conditions
from bestcut.report._report import (
    OTHERS as OTHERS,
    Report,
    compute_report as compute_report,
    make_report,
)

# What users import; the names above with `as` are for the command.
__all__ = ["Report", "make_report"]

publish(__name__, globals())
