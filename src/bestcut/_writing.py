"""Files that appear completely or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from bestcut._errors import closed_output, foreign_link, unwritten

if sys.platform != "win32":  # where an open file cannot be removed: that is a lock
    import fcntl

_MOST_LINKS = 40  # one after another; the system follows no more
#: The file that appeared last, or was about to, and the part that it was made from.
_last: tuple[Path, os.stat_result] | None = None


def has_written() -> bool:
    """Return whether the last file that was to appear has appeared.

    An interruption may come between that and the next line of Python.
    """
    if _last is None:
        return False
    target, part = _last
    with suppress(OSError):
        return os.path.samestat(os.stat(target), part)
    return False


def forget_written() -> None:
    """Begin anew: nothing has been written yet."""
    global _last
    _last = None


@contextmanager
def writing(path: str) -> Iterator[Any]:
    """Open a file for writing; - is standard output, .gz compresses."""
    with _standard_output() if path == "-" else _atomic(path) as file:
        if not path.lower().endswith(".gz"):
            yield file
            return
        # Without a name and a time in it, the same rows make the same file.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield packed


@contextmanager
def _standard_output() -> Iterator[Any]:
    if sys.stdout is None:
        raise closed_output()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _atomic(path: str) -> Iterator[Any]:
    """Write to a temporary file beside `path`, and rename it if all went well.

    A link is followed, unless a stranger may have put it there. A pipe or a device is
    written to as it is.
    """
    global _last
    target = Path(os.path.realpath(path))
    try:
        _refuse_links_of_others(path)
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as file:
                yield file
            return
        _remove_left(target)
        # Who may not read the old file may not read the part either. Of a new file the
        # system takes the umask away: to ask for it would change it for all threads.
        with _part(target, 0o666 if mode is None else 0o600) as (part, file):
            yield file
            file.close()
            if mode is not None:
                # What a stranger wrote must not run with the rights of this user.
                part.chmod(mode & 0o777)
            _last = target, os.stat(part)
            os.replace(part, target)
    except OSError as error:
        raise unwritten(path, error) from None


def _refuse_links_of_others(path: str) -> None:
    """Refuse a link that another user made in a folder where others may write.

    It may lead to a file that this user may write and the other one may not. The owner
    of the folder is no other user: whatever is there is up to him.
    """
    if sys.platform == "win32":
        return
    for _ in range(_MOST_LINKS):
        if not os.path.islink(path):
            return
        folder = os.path.dirname(path) or "."
        place = os.stat(folder)
        is_shared = place.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if is_shared and os.lstat(path).st_uid not in (os.geteuid(), place.st_uid):
            raise foreign_link(path)
        path = os.path.join(folder, os.readlink(path))


@contextmanager
def _part(target: Path, mode: int) -> Iterator[tuple[Path, Any]]:
    """Make a temporary file beside a target, and remove it if it is there at the end.

    Until then it is locked. If another process takes it for one that was left behind,
    before it is locked, another one is made.
    """
    while True:
        # The name is known before the file exists, so the file is removed whenever a
        # signal comes, even while it is being made.
        part = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.part")
        lock = None
        try:
            with open(part, "xb", opener=partial(os.open, mode=mode)) as file:
                if sys.platform != "win32":
                    lock = os.dup(file.fileno())  # which outlives the file
                if lock is None or _is_locked(lock):
                    yield part, file
                    return
        finally:
            with suppress(OSError):
                part.unlink()
            if lock is not None:
                os.close(lock)


def _is_locked(descriptor: int) -> bool:
    """Lock a new part, unless somebody removes it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # nobody can lock files here, so nobody removes them
        return True
    return os.fstat(descriptor).st_nlink > 0


def _remove_left(target: Path) -> None:
    """Remove the parts that processes left here when they were killed."""
    with suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(_prefix(target)) and name.endswith(".part"):
                with suppress(OSError):  # its process lives, or it is not ours
                    _remove_unlocked(target.with_name(name))


def _remove_unlocked(part: Path) -> None:
    """Remove a part; raise an OSError if a process has locked it."""
    if sys.platform == "win32":
        part.unlink()
        return
    # In a folder that others write to, it may be a link or a pipe.
    descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(descriptor)


def _prefix(target: Path) -> str:
    """Return how the names of the parts of a target begin."""
    return f".bestcut-{zlib.crc32(os.fsencode(target.name)):08x}-"


def _mode(path: str) -> int | None:
    """Return the type and the permissions of a file, or None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
