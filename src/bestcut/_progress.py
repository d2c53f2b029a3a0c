"""How far a long computation is, for those who wait."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeAlias

from bestcut import _errors as errors

#: What users pass: whether to show a line on standard error, or what to tell.
Progress: TypeAlias = bool | Callable[[int, int], None] | None
Advance: TypeAlias = Callable[[int], None]


@contextmanager
def progress_of(progress: Progress, what: str, total: int) -> Iterator[Advance]:
    """Tell how many of `total` parts are done; threads may advance together."""
    if progress is None or progress is False:
        yield lambda count: None
        return
    if progress is not True and not callable(progress):
        raise errors.not_a_progress(progress)
    tell = _line(what) if progress is True else progress
    done, lock = 0, Lock()

    def advance(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            tell(done, total)

    try:
        yield advance
    finally:
        if progress is True:
            _write("\r\033[K")


def _line(what: str) -> Callable[[int, int], None]:
    """Return what writes a line with the share that is done, when it changes."""
    shown = -1

    def tell(done: int, total: int) -> None:
        nonlocal shown
        share = 100 * done // max(total, 1)
        if share > shown:
            shown = share
            _write(f"\r{what}: {share}%")

    return tell


def _write(text: str) -> None:
    """Write to standard error, if there is one: a program in a window has none."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
