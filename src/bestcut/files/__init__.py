"""Decisions for files that may be larger than memory.

`decide_file` needs polars when it is called: ``pip install bestcut[files]``.
"""

from bestcut.files._decide import decide_file
from bestcut.files._decision import FileDecision
from bestcut.files._errors import FileError

__all__ = ["FileDecision", "FileError", "decide_file"]
