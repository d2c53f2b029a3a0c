"""The group of commands, which reports every error in one line."""

from __future__ import annotations

import errno
import os
from typing import Any

import click
import polars as pl

from bestcut._writing import forget_written
from bestcut.cli._problem import Problem
from bestcut.cli._signals import exit_status, interrupted


class Group(click.Group):
    """Commands whose errors are one line, and which can be interrupted."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report an error in one line."""
        forget_written()
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            path = (error.ctx or ctx).command_path
            sentence = error.format_message().rstrip(".")
            raise Problem(sentence, cure=f"See {path} --help.") from None
        except (ValueError, TypeError) as error:  # the library's own sentences
            raise Problem.of(error) from error
        except pl.exceptions.PolarsError as error:
            raise Problem(str(error).partition("\n")[0]) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader has seen enough; click ends quietly
            _drop_output()
            message = f"standard output could not be written ({error.strerror})"
            raise Problem(message) from None
        except MemoryError:
            message = "there is not enough memory for this file"
            raise Problem(message) from None
        except KeyboardInterrupt:
            click.echo(f"bestcut: {interrupted()}", err=True)
            ctx.exit(exit_status())


def _drop_output() -> None:
    """Discard further output, because writing it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
