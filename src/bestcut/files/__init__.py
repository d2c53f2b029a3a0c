"""Decisions for files that may be larger than memory.

`decide_file` needs polars when it is called: ``pip install 'bestcut[files]'``.
"""

from bestcut._errors import FileError
from bestcut.files._decide_file import decide_file

__all__ = ["FileError", "decide_file"]
