"""The first code that the command `bestcut` runs.

It is outside the package, because `import bestcut` takes some tenths of a second, and
Ctrl-C must print one line in this time, too.
"""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """Load the command, and run it."""
    interrupted = False

    def note(number: int, frame: Any) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # nohup and & ignore it
        signal.signal(signal.SIGINT, note)
    try:
        from bestcut.cli import main as run
    except BaseException:
        if not interrupted:  # packages may turn an interruption into another error
            raise
        sys.stderr.write("bestcut: interrupted; no file was written.\n")
        sys.exit(130)
    run()
