"""One HTML file that shows a decision to people who do not read code.

Needs vl-convert-python, which brings the charts: ``pip install bestcut[report]``.
"""

try:
    import vl_convert  # noqa: F401
except ImportError as error:
    msg = "bestcut.report needs vl-convert-python: pip install 'bestcut[report]'"
    raise ImportError(msg) from error

from bestcut.report._report import ALSO, Report, make_report

__all__ = ["ALSO", "Report", "make_report"]
