"""Who does the parts of a long computation, and who is told how many are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from bestcut._progress import Advance, Progress, progress_of
from bestcut._validation import check_whole_number

Result = TypeVar("Result")


@dataclass(frozen=True)
class Workers:
    """Threads, and what is told of their progress."""

    threads: int
    progress: Progress

    @classmethod
    def of(cls, n_jobs: Any, progress: Progress) -> Workers:
        """Return what users ask for: at least one thread."""
        return cls(max(check_whole_number(n_jobs, name="n_jobs"), 1), progress)

    def watched(self, problems: int) -> AbstractContextManager[Advance]:
        """Begin to tell how many of some problems are decided."""
        return progress_of(self.progress, "Deciding", problems)

    def map(
        self, function: Callable[..., Result], *arguments: Iterable[Any]
    ) -> list[Result]:
        """Call a function for each part, in threads if there are several."""
        if self.threads == 1:
            return list(map(function, *arguments))
        here = copy_context()  # so that the limit of work holds in threads, too

        def there(*parts: Any) -> Result:
            return here.copy().run(function, *parts)

        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(there, *arguments))
