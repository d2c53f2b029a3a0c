"""A bar on standard error, for those who wait."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

Advance = Callable[[int], None]
Step = Callable[[str, int | None], Advance]  # of the name of a step, and its size


def no_step(what: str, total: int | None) -> Advance:
    """Begin a step that nobody watches."""
    return lambda size: None


@contextmanager
def steps(show: bool | None) -> Iterator[Step]:
    """Show a bar for each step; by default, only on a terminal."""
    if show is None:
        on_terminal = sys.stderr is not None and sys.stderr.isatty()
        show = on_terminal and find_spec("rich") is not None
    if not show:
        yield no_step
        return
    from rich.console import Console
    from rich.progress import Progress

    # The bar vanishes at the end, and only the decision stays.
    with Progress(console=Console(stderr=True), transient=True) as bars:

        def step(what: str, total: int | None) -> Advance:
            for task in bars.task_ids:
                bars.update(task, visible=False)
            task = bars.add_task(what, total=total)
            return lambda size: bars.advance(task, size)

        yield step
