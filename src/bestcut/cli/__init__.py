"""The `bestcut` command: from a file of scores to a decision.

Needs click, rich and polars: ``pip install bestcut[cli]``.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

INTERRUPTED = "interrupted; nothing was written."


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end."""


def _stop(number: int, frame: Any) -> None:
    """End by an exception, so that what was begun is removed; but only once."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def exit_status(error: KeyboardInterrupt) -> int:
    """Return the status by which shells know that a signal ended a command."""
    number = error.args[0] if isinstance(error, Stopped) else signal.SIGINT
    return 128 + int(number)


def main() -> None:
    """Run the command."""
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(each) is not signal.SIG_IGN:  # as nohup and & set it
                signal.signal(each, _stop)
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


if __name__ == "__main__":
    main()
