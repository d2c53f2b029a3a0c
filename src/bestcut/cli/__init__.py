"""The `bestcut` command: from a file of scores to a decision.

Needs click, rich and polars: ``pip install 'bestcut[cli]'``.
"""

from __future__ import annotations

import sys

from bestcut.cli._signals import (
    Stopped,
    exit_status,
    heed_signals,
    interrupted,
    leave_signals,
)


def main() -> None:
    """Run the command."""
    try:
        heed_signals()
        from bestcut.cli._main import cli
    except BaseException as error:
        # While packages are loaded, they may turn an interruption into another error.
        if Stopped.number is not None or isinstance(error, KeyboardInterrupt):
            sys.stderr.write(f"bestcut: {interrupted()}\n")
            sys.exit(exit_status())
        missing = error.name if isinstance(error, ImportError) else None
        if missing is None or missing.startswith("bestcut"):
            raise
        sys.stderr.write(
            f"bestcut: the command needs {missing}: pip install 'bestcut[cli]'\n"
        )
        sys.exit(2)
    try:
        cli()
    finally:
        leave_signals()
