"""What the command `bestcut` begins with.

It stands outside the package, as `import bestcut` takes some tenths of a second, in
which Ctrl-C is to be answered by one line, too.
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

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as nohup and & set it
        signal.signal(signal.SIGINT, note)
    try:
        from bestcut.cli import main as run
    except BaseException:
        if not interrupted:  # packages make another error of an interruption
            raise
        sys.stderr.write("bestcut: interrupted; no file was written.\n")
        sys.exit(130)
    run()
