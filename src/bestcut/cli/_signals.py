"""Signals that end the command."""

from __future__ import annotations

import signal
from typing import Any

INTERRUPTED = "interrupted; no file was written."


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end."""


def stop(number: int, frame: Any) -> None:
    """End by an exception, so that what was begun is removed; but only once."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def exit_status(error: KeyboardInterrupt) -> int:
    """Return the status by which shells know that a signal ended a command."""
    number = error.args[0] if isinstance(error, Stopped) else signal.SIGINT
    return 128 + int(number)
