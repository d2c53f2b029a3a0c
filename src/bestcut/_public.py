"""Names for users: what a module lists, and the paths of classes in pickles."""

from __future__ import annotations

import inspect
from typing import Any

#: The modules in which the classes with public paths are written.
WRITTEN_IN: dict[type, str] = {}


def publish(module: str, namespace: dict[str, Any], *others: str) -> None:
    """Let ``dir`` give what a public module lists, and give its classes its name.

    What is stored names a class by its ``__module__``, so that a private file can be
    renamed. Of a class that two modules list, the shorter path is taken. `others` are
    names that the module has without listing them.
    """
    listed = sorted(namespace["__all__"])
    namespace["__dir__"] = lambda: listed
    for name in [*listed, *others]:
        value = namespace[name]
        if inspect.isclass(value) and value.__module__.startswith("bestcut"):
            written_in = WRITTEN_IN.setdefault(value, value.__module__)
            if value.__module__ == written_in or len(module) < len(value.__module__):
                value.__module__ = module


def users_level() -> int:
    """Return the ``stacklevel`` with which a warning names a line of the user."""
    frame, level = inspect.currentframe(), 0
    while frame is not None:
        package = frame.f_globals.get("__package__") or ""
        if package.partition(".")[0] != "bestcut":
            break
        frame, level = frame.f_back, level + 1
    return level
