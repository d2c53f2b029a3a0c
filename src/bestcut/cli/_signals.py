"""Signals that end the command."""

from __future__ import annotations

import signal
from typing import Any

INTERRUPTED = "interrupted; no file was written."


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end."""

    number: int | None = None  # of the signal that did


def stop(number: int, frame: Any) -> None:
    """Raise an exception, so that unfinished files are removed; but only once."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    Stopped.number = number
    raise Stopped


def exit_status() -> int:
    """Return the status by which shells know that a signal ended a command."""
    return 128 + (signal.SIGINT if Stopped.number is None else Stopped.number)
