"""The layers of the package: a module imports only from those above it in this list.

`tests/test_layers.py` holds the imports of src against the list, and the page for
contributors against `page()`. After a change of the list:

    python tests/layers.py --write
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "bestcut"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- layers: from tests/layers.py -->\n", "<!-- end of layers -->\n"

LAYERS = [
    "_types",
    "_public",
    "_thresholds",
    "_caches",
    "_errors",
    "_extras",
    "_tables",
    "_validation",
    "_stored",
    "_writing",
    "_progress",
    "metrics",
    "_guesses",
    "_results",
    "counts",
    "uncertain",
    "scores",
    "curve",
    "search",
    "goals",
    "_decided",
    "summary",
    "reference",
    "mixtures",
    "calibration",
    "decision",
    "_outlook",
    "_empirical",
    "_one_threshold",
    "assignment",
    "many",
    "multiclass",
    "multilabel",
    "streams",
    "estimators",
    "scorers",
    "files",
    "displays",
    "report",
    "distributed",
    "torch",
    "cli",
]


def source_of(layer):
    folder = SRC / layer
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def summary_of(layer):
    """Return the first sentence of what a layer says about itself."""
    text = (
        ast.get_docstring(ast.parse(source_of(layer).read_text(encoding="utf-8"))) or ""
    )
    return " ".join(text.partition("\n\n")[0].split())


def page():
    """Return the list as the page for contributors shows it."""
    shown = {x: f"{x}/" if (SRC / x).is_dir() else f"{x}.py" for x in LAYERS}
    width = max(map(len, shown.values()))
    lines = [f"{shown[x]:{width}}  {summary_of(x)}" for x in LAYERS]
    return "\n".join(["```text", *lines, "```", ""])


def written():
    """Return what stands on the page for contributors."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__" and "--write" in sys.argv:
    PAGE.write_text(
        PAGE.read_text(encoding="utf-8").replace(written(), page()), encoding="utf-8"
    )
