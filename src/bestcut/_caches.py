"""Objects that leave behind what they can compute again when they are pickled."""

from __future__ import annotations

from functools import cached_property
from typing import Any


class Lean:
    """An object whose cached properties are neither pickled nor copied."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what cannot be computed again."""
        kind = type(self)
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }
