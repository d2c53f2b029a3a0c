"""The paths by which users import classes: in pickles, and where types are trusted."""

from __future__ import annotations

import inspect
from typing import Any

#: The modules in which the classes with public paths are written.
WRITTEN_IN: dict[type, str] = {}


def publish(module: str, namespace: dict[str, Any], *others: str) -> None:
    """Give the classes that a public module lists its name as their ``__module__``.

    What is stored names a class by this path, so that a private file can be renamed. Of
    a class that two modules list, the shorter path is taken. `others` are names that
    the module has without listing them.
    """
    for name in [*namespace["__all__"], *others]:
        value = namespace[name]
        if inspect.isclass(value) and value.__module__.startswith("bestcut"):
            written_in = WRITTEN_IN.setdefault(value, value.__module__)
            if value.__module__ == written_in or len(module) < len(value.__module__):
                value.__module__ = module
