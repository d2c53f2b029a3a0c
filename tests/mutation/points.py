"""Where a line of the source can be made wrong, and how: single-point mutants."""

from __future__ import annotations

import ast
import copy
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_PAIRS = [
    ("min", "max"), ("minimum", "maximum"), ("amin", "amax"), ("fmin", "fmax"),
    ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"), ("zeros", "ones"),
    ("zeros_like", "ones_like"), ("log1p", "log"), ("expm1", "exp"),
    ("flatnonzero", "argsort"),
]  # fmt: skip
_NAMES = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_SIDES = {"left": "right", "right": "left"}
_NO_MATTER = {"__all__", "__slots__", "__version__"}


@dataclass(frozen=True, order=True)
class Mutant:
    """One text of a file, from byte ``start`` to ``end``, replaced by another."""

    path: str
    line: int
    start: int
    end: int
    was: str
    now: str
    #: The line of the innermost function around it; 0 for code outside functions.
    function: int

    @property
    def folder(self) -> str:
        """The folder below ``src/bestcut``, or "." for the modules of the root."""
        below = Path(self.path).parts[2:]
        return below[0] if len(below) > 1 else "."

    def applied(self, source: bytes) -> bytes:
        """Return the file with this one thing wrong."""
        return source[: self.start] + self.now.encode() + source[self.end :]

    def __str__(self) -> str:
        """Say what is replaced by what, in one line."""
        was, now = (" ".join(text.split()) for text in (self.was, self.now))
        return f"{self.path}:{self.line}: {was} -> {now}"


class _Finder(ast.NodeVisitor):
    """Walks over code that runs; not over docstrings, annotations and messages."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self.starts = starts
        self.function = 0
        self.found: list[Mutant] = []

    def add(self, node: ast.expr | ast.stmt, now: ast.AST | str) -> None:
        """Note that the text of this node may be replaced."""
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = now if isinstance(now, str) else ast.unparse(now)
        if isinstance(node, ast.expr):
            text = f"({text})"
        was = self.source[start:end].decode()
        self.found.append(
            Mutant(self.path, node.lineno, start, end, was, text, self.function)
        )

    def changed(self, node: ast.expr | ast.stmt, **fields: object) -> None:
        """Note that a node may have other fields."""
        now = copy.copy(node)
        for name, value in fields.items():
            setattr(now, name, value)
        self.add(node, now)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.function
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self.function = node.lineno
        for statement in node.body:
            self.visit(statement)
        self.function = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave out messages (in Python 3.11 their parts have no true places)."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {x.id for x in node.targets if isinstance(x, ast.Name)}
        if names & _NO_MATTER:
            return
        if self.function and isinstance(
            node.targets[0], (ast.Attribute, ast.Subscript)
        ):
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add(node, "pass")
        for other in _OPERATORS.get(type(node.op), ()):
            self.changed(node, op=other())
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call):
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "break")

    def visit_If(self, node: ast.If | ast.While) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self.negated(node.test)
        self.generic_visit(node)

    visit_While = visit_If

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negated(node.test)
        self.generic_visit(node)

    def negated(self, test: ast.expr) -> None:
        """Note that a condition may be turned round, where no operator says it."""
        single = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not single and not isinstance(test, ast.UnaryOp):
            self.add(test, f"not ({ast.unparse(test)})")

    def visit_Compare(self, node: ast.Compare) -> None:
        for i, op in enumerate(node.ops):
            for other in _OPERATORS[type(op)]:
                self.changed(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = (node.left, node.right)
        if any(isinstance(x, ast.JoinedStr) for x in words) or any(
            isinstance(x, ast.Constant) and isinstance(x.value, str) for x in words
        ):
            return
        if self.function or not isinstance(node.op, ast.BitOr):
            for other in _OPERATORS.get(type(node.op), ()):
                self.changed(node, op=other())
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for other in _OPERATORS[type(node.op)]:
            self.changed(node, op=other())
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.add(node, node.operand)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        for arg in node.args:
            self.visit(arg)
        for keyword in node.keywords:
            if keyword.arg != "stacklevel":
                self.visit(keyword.value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in _NAMES:
            self.add(node, _NAMES[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load) and node.attr in _NAMES:
            self.changed(node, attr=_NAMES[node.attr])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(node, repr(not value))
        elif isinstance(value, int):
            self.add(node, repr(value + 1))
            self.add(node, repr(value - 1))
        elif isinstance(value, float):
            self.add(node, repr(1.01 * value if value else 0.01))
        elif isinstance(value, str) and value in _SIDES:
            self.add(node, repr(_SIDES[value]))


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Return every single-point mutant of a file, in the order of its text."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found)


def drawn(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return ``count`` mutants: from each folder its share of places, and at least one.

    A place is drawn first and then one of its mutants, so that a number, which can be
    wrong in two ways, is not drawn twice as often as a condition.
    """
    places: dict[str, dict[tuple[str, int, int], list[Mutant]]] = {}
    for mutant in mutants:
        place = (mutant.path, mutant.start, mutant.end)
        places.setdefault(mutant.folder, defaultdict(list))[place].append(mutant)
    rng = random.Random(seed)
    chosen = []
    for folder, share in _shares({k: len(v) for k, v in places.items()}, count).items():
        for place in rng.sample(sorted(places[folder]), share):
            chosen.append(rng.choice(places[folder][place]))
    return sorted(chosen)


def _shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Return how many to draw from each folder, by the largest remainders."""
    count = min(max(count, len(sizes)), sum(sizes.values()))
    whole = sum(sizes.values())
    due = {name: count * size / whole for name, size in sizes.items()}
    shares = {name: max(1, int(x)) for name, x in due.items()}
    while (missing := count - sum(shares.values())) != 0:
        step = 1 if missing > 0 else -1
        name = max(sorted(due), key=lambda name: step * (due[name] - shares[name]))
        shares[name] += step
    return dict(sorted(shares.items()))
