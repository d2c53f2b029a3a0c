"""Count how large the package is; `make count` runs this.

    python .ci/count.py [--against COMMIT]

For each folder of src/bestcut, for the whole, and for the heart (from probabilities to
one decision), it counts

- lines of code: lines with a token on them that is neither a comment nor part of a
  docstring;
- tokens: those of Python's tokenizer on these lines, without line ends and indents;
- modules: files with code;
- tuning numbers, which somebody chose and somebody else may want to change. Constants:
  names of modules and classes for numbers, however many, and for arithmetic of them.
  Literals: numbers in functions and in default arguments, but for those of `PLAIN`,
  indices and exponents; arithmetic of numbers alone, as ``2**20``, is one.

With ``--against`` it shows what changed since a commit.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/bestcut")
# From probabilities to one decision, with the folders that these may become.
HEART = (
    *("counts", "uncertain", "curve", "search", "summary", "solvers", "scores"),
    *("goals", "mixtures", "_decide.py"),
    *("laws", "ranking", "cuts", "decision", "reference"),
)
# Of either sign: what counts, doubles and halves, and the number of cells.
PLAIN = (0, 0.5, 1, 2, 3, 4)
_SILENT = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT),
    *(tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER),
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_CONSTANTS = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.expr_context, ast.operator),
    *(ast.unaryop, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict),
)


class Size(NamedTuple):
    """What is counted."""

    lines: int = 0
    tokens: int = 0
    modules: int = 0
    constants: int = 0
    literals: int = 0

    def plus(self, other: Size, sign: int = 1) -> Size:
        """Return the sum, or the difference, of two sizes."""
        return Size(*(a + sign * b for a, b in zip(self, other, strict=True)))


def size_of(source: str) -> Size:
    """Return the size of a module."""
    tree = ast.parse(source)
    told = docstring_lines(tree)
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _SILENT and token.start[0] not in told
    ]
    lines = {i for t in tokens for i in range(t.start[0], t.end[0] + 1)}
    return Size(len(lines), len(tokens), int(bool(lines)), *tuning_numbers(tree))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of strings that are statements: docstrings, and the like."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def tuning_numbers(tree: ast.Module) -> tuple[int, int]:
    """Return how many constants there are, and how many literals in functions."""
    constants = sum(map(_is_constant, _assigned(tree)))
    functions = [x for x in ast.walk(tree) if isinstance(x, _FUNCTIONS)]
    inner = {id(y) for x in functions for y in ast.walk(x) if y is not x}
    return constants, sum(_literals(x) for x in functions if id(x) not in inner)


def _assigned(scope: ast.Module | ast.ClassDef) -> Iterator[ast.expr]:
    """Yield the values that a module and its classes give to names."""
    for statement in scope.body:
        if isinstance(statement, ast.ClassDef):
            yield from _assigned(statement)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value:
            yield statement.value


def _is_constant(value: ast.expr) -> bool:
    """Return whether a value is made of numbers, containers, names and arithmetic."""
    parts = list(ast.walk(value))
    return all(isinstance(x, _OF_CONSTANTS) for x in parts) and any(
        map(_is_number, parts)
    )


def _literals(node: ast.AST) -> int:
    """Return how many numbers in a function, or in a part of it, are not plain."""
    match node:
        case ast.Constant(value=value):
            return int(_is_number(node) and value not in PLAIN)
        case ast.Subscript(value=value):  # the index is a place, not a quantity
            return _literals(value)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant()) if not (
            _is_arithmetic(left)
        ):
            return _literals(left)
        case ast.BinOp() if _is_arithmetic(node):
            return 1
    return sum(map(_literals, ast.iter_child_nodes(node)))


def _is_arithmetic(node: ast.AST) -> bool:
    """Return whether this is a number, or arithmetic of numbers alone."""
    match node:
        case ast.UnaryOp(operand=operand):
            return _is_arithmetic(operand)
        case ast.BinOp(left=left, right=right):
            return _is_arithmetic(left) and _is_arithmetic(right)
    return _is_number(node)


def _is_number(node: ast.AST) -> bool:
    """Return whether this is a number in the source; True and False are none."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)


def sizes(root: Path) -> dict[str, Size]:
    """Return the size of each folder, and of each module beside them."""
    out: dict[str, Size] = {}
    folder = root / PACKAGE
    for path in sorted(folder.rglob("*.py")):
        part = path.relative_to(folder).parts[0]
        size = size_of(path.read_text(encoding="utf-8"))
        out[part] = out.get(part, Size()).plus(size)
    return out


def with_totals(parts: dict[str, Size]) -> dict[str, Size]:
    """Return the sizes, those of the heart, and those of all."""
    heart, whole = Size(), Size()
    for name, size in parts.items():
        whole = whole.plus(size)
        heart = heart.plus(size) if name in HEART else heart
    return {**parts, "the heart": heart, "all": whole}


def at_commit(commit: str) -> dict[str, Size]:
    """Return the sizes at a commit."""
    command = ["git", "-C", str(ROOT), "archive", commit, str(PACKAGE)]
    archive = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.TarFile(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        return sizes(Path(folder))


def table(now: dict[str, Size], before: dict[str, Size] | None = None) -> str:
    """Return the sizes as text: as they are, and what changed since."""
    changes = [] if before is None else [f"+/- {x}" for x in Size._fields]
    rows = [["", *Size._fields, *changes]]
    for name in sorted(now.keys() | (before or {}).keys(), key=_order):
        size = now.get(name, Size())
        row = [name, *(f"{x:,}" for x in size)]
        if before is not None:
            change = size.plus(before.get(name, Size()), -1)
            row += [f"{x:+,}" if x else "" for x in change]
        rows.append(row)
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        row[0].ljust(width[0])
        + "".join(f"  {x:>{w}}" for x, w in zip(row[1:], width[1:], strict=True))
        for row in rows
    )


def _order(name: str) -> tuple[bool, bool, bool, str]:
    """Folders, then modules, then the totals."""
    return name == "all", name == "the heart", name.endswith(".py"), name


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="show what changed since")
    options = parser.parse_args(arguments)
    before = options.against and with_totals(at_commit(options.against))
    print(table(with_totals(sizes(ROOT)), before or None))


if __name__ == "__main__":
    sys.exit(main())
