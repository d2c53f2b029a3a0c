"""Copy rows with one more column."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from bestcut._types import BoolArray, IndexArray
from bestcut.files._errors import first_line, refusal
from bestcut.files._formats import FORMATS
from bestcut.files._frames import PANIC, FrameSource
from bestcut.files._progress import Step
from bestcut.files._source import Batch, Format, Source
from bestcut.files._text import TextSource

# Returns the decisions for the next rows, or the positions of words.
Marks = Callable[[Batch], BoolArray | IndexArray]


def copy_rows(
    source: Source,
    file: Any,
    kind: str,
    name: str,
    marks: Marks,
    step: Step,
    words: Sequence[str] | None = None,
) -> None:
    """Write all rows and one more column to an open file.

    The column holds 0 and 1. If words are given, it holds words, and the marks are
    their positions.
    """
    what = "Copying the rows"
    if isinstance(source, TextSource) and source.kind == kind:
        advance = step(what, source.total)
        file.write(source.head_with(name))
        for batch in source.batches():
            file.write(batch.with_marks(name, marks(batch), words))
            advance(batch.size)
        return
    target = FORMATS[kind]
    frames = source.frames(target)
    advance = step(what, frames.total)

    dictionary = None if words is None else pl.Series(name, words, dtype=pl.String)

    def marked() -> Iterator[pl.DataFrame]:
        for batch in frames.batches():
            found = marks(batch)
            column = (
                pl.Series(name, found.astype(np.int8))
                if dictionary is None
                else dictionary.gather(found)
            )
            yield batch.frame.with_columns(column)
            advance(batch.size)

    schema = frames.schema | {name: pl.Int8() if words is None else pl.String()}
    _sink(marked, pl.Schema(schema), frames, file, target)


def _sink(
    rows: Callable[[], Iterator[pl.DataFrame]],
    schema: pl.Schema,
    source: FrameSource,
    file: Any,
    target: Format,
) -> None:
    """Let polars write frames while they are made.

    Polars works in a thread of its own, because signals wait until a native call is
    over.
    """
    stop = threading.Event()
    errors: list[BaseException] = []

    def until_stopped(*_: Any) -> Iterator[pl.DataFrame]:
        try:
            for frame in rows():
                if stop.is_set():
                    return
                yield frame
        except GeneratorExit:  # the writer failed, and says why itself
            raise
        except BaseException as error:
            errors.append(error)  # polars would hide its kind
            raise

    lazy = register_io_source(until_stopped, schema=schema)

    done = threading.Event()  # a join that is interrupted cannot be repeated

    def work() -> None:
        try:
            if not stop.is_set():
                target.write(lazy, file, source.noted)
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    writer = threading.Thread(target=work, name="bestcut-writer", daemon=True)
    try:
        writer.start()
        while not done.wait(0.05):
            pass
    except BaseException:
        stop.set()
        # If the thread was interrupted before it began, it will see that it must stop.
        while writer.is_alive() and not done.wait(0.05):
            pass
        _settle()
        raise
    if errors:
        raise _explained(errors[0], source.where, target.name)


def _settle() -> None:
    """Wait until polars has forgotten an interruption.

    Polars notes Ctrl-C by itself. As long as one of its threads is about to end, it
    raises the interruption in whatever is called next.
    """
    for _ in range(40):
        try:
            pl.LazyFrame({"none": []}).collect()
        except KeyboardInterrupt:
            time.sleep(0.05)
        else:
            return


def _explained(error: BaseException, where: str, kind: str) -> BaseException:
    """Return an error of polars as one of ours, or as one of the system."""
    if not isinstance(error, pl.exceptions.PolarsError | PANIC):
        return error
    if found := re.search(r"\(os error (\d+)\)", str(error)):
        number = int(found[1])
        return OSError(number, os.strerror(number))
    what = f"cannot be written as {kind} ({first_line(error)})"
    return refusal(where, what, "Write a file in the format of the input.")
