"""Signals that end the command."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
if sys.platform != "win32":
    SIGNALS = (*SIGNALS, signal.SIGHUP)
GRACE = 1.5  # seconds in which a command may end by itself


def interrupted() -> str:
    """Return what to say of a command that was interrupted."""
    last = sys.modules.get("bestcut._writing")
    if last is not None and last.has_written():
        return "interrupted; the file had been written."
    return "interrupted; no file was written."


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end."""

    number: int | None = None  # of the signal that did


def heed_signals() -> None:
    """Let signals end the command, whatever it is doing."""
    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # nohup and & ignore it
            signal.signal(each, stop)
    if sys.platform != "win32":
        heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        threading.Thread(target=_end_hard, args=(heard,), daemon=True).start()


def leave_signals() -> None:
    """Let signals end the process at once: all files are there, and Python is ending.

    An exception would show its traceback now.
    """
    for each in SIGNALS:
        if signal.getsignal(each) is stop:
            signal.signal(each, signal.SIG_DFL)


def _end_hard(heard: int) -> None:
    """End the process some time after a signal.

    Python calls `stop` when native code returns. A parser of a file that somebody made
    up may not, but lets other threads run. What is unfinished then stays, as after
    kill -9.
    """
    number = os.read(heard, 1)[0]
    while number not in SIGNALS:
        number = os.read(heard, 1)[0]
    time.sleep(GRACE)
    os.write(2, f"bestcut: {interrupted()}\n".encode())
    os._exit(128 + number)


def stop(number: int, frame: Any) -> None:
    """Raise an exception, so that unfinished files are removed; but only once."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    Stopped.number = number
    raise Stopped


def exit_status() -> int:
    """Return the status by which shells know that a signal ended a command."""
    return 128 + (signal.SIGINT if Stopped.number is None else Stopped.number)
