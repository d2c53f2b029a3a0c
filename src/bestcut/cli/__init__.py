"""The `bestcut` command: from a file of scores to a decision.

Needs click, rich and polars: ``pip install bestcut[cli]``.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command."""
    try:
        from bestcut.cli._main import cli
    except ImportError as error:
        if error.name is None or error.name.startswith("bestcut"):
            raise
        sys.stderr.write(
            f"bestcut: the command needs {error.name}: pip install 'bestcut[cli]'\n"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("bestcut: interrupted; nothing was written.\n")
        sys.exit(130)
    cli()


if __name__ == "__main__":
    main()
