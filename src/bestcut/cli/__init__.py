"""The `bestcut` command: from a file of scores to a decision.

Needs click, rich and polars: ``pip install 'bestcut[cli]'``.
"""

from __future__ import annotations

import signal
import sys

from bestcut.cli._signals import INTERRUPTED, exit_status, stop


def main() -> None:
    """Run the command."""
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(each) is not signal.SIG_IGN:  # as nohup and & set it
                signal.signal(each, stop)
        from bestcut.cli._main import cli
    except ImportError as error:
        if error.name is None or error.name.startswith("bestcut"):
            raise
        sys.stderr.write(
            f"bestcut: the command needs {error.name}: pip install 'bestcut[cli]'\n"
        )
        sys.exit(2)
    except KeyboardInterrupt as error:
        sys.stderr.write(f"bestcut: {INTERRUPTED}\n")
        sys.exit(exit_status(error))
    cli()
