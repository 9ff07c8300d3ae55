"""Finds asserts that a busy machine can break: upper bounds on what a clock said while the test ran.

Values are followed by their names through one file: what a clock call gives, what is computed from it, what a
function of the file returns of it, and readings that only measuring fills in. Let through are lower bounds (however
busy a machine is, a sleep and a wait never end early) and the order of two readings without a number of seconds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

CLOCKS = frozenset(
    f"{name}{ending}"
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for ending in ("", "_ns")
)
READINGS = frozenset(
    {
        *("duration_s", "cpu_s", "wall_ns", "cpu_ns", "elapsed_s", "overhead_s", "ttft_s", "itl_s", "warmup_s"),
        *("avg_time_ms", "p50_ms", "p95_ms", "p99_ms", "max_ms", "cpu_ms", "started_at_ms"),
    }
)
"""Names under which measured times are kept. They count where the file measures for itself."""
MEASURING_FUNCTIONS = frozenset({"harness_overhead_s"})
PASSING_ON = frozenset({"abs", "float", "int", "list", "max", "min", "round", "set", "sorted", "sum", "tuple"})
UPPER = (ast.Lt, ast.LtE)
LOWER = (ast.Gt, ast.GtE)
Scope = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class ClockReadings:
    """What comes from a clock in one file. ``measuring``: whether readings by name count too."""

    tree: ast.Module
    measuring: bool = False
    _clocks: set[str] = field(default_factory=set)
    _returning: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module == "time":
                self._clocks |= {alias.asname or alias.name for alias in node.names if alias.name in CLOCKS}
        before = -1
        while before != len(self._returning):  # a function may return what another one gave it
            before = len(self._returning)
            for scope in self._scopes():
                names = self._tainted(scope)
                if any(self._comes_from_clock(value, names) for value in _returned(scope)):
                    self._returning.add(scope.name)

    def bounded_above(self) -> Iterator[ast.Assert]:
        """Asserts that hold only if something was fast enough, or took exactly so long."""
        for scope in self._scopes():
            names, limits = self._tainted(scope), _limits(scope)
            for node in ast.walk(scope):
                if isinstance(node, ast.Assert) and any(
                    self._bounds(part, names, limits) for part in ast.walk(node.test)
                ):
                    yield node

    def _scopes(self) -> Iterator[Scope]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Scope))

    def _tainted(self, scope: Scope) -> set[str]:
        """Names in ``scope`` that hold what a clock said, or something computed from it."""
        names: set[str] = set()
        before = -1
        while before != len(names):
            before = len(names)
            for node in ast.walk(scope):
                names |= self._named_by(node, names)
        return names

    def _named_by(self, node: ast.AST, names: set[str]) -> set[str]:
        match node:
            case ast.Assign(targets=targets, value=value) if self._comes_from_clock(value, names):
                return {name for target in targets for name in _names_in(target)}
            case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                return set(_names_in(target)) if self._comes_from_clock(value, names) else set()
            case ast.NamedExpr(target=target, value=value) if self._comes_from_clock(value, names):
                return {target.id}
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                return set(_names_in(target)) if self._comes_from_clock(source, names) else set()
            case ast.Call(func=ast.Attribute(value=ast.Name(id=kept), attr="append" | "add"), args=[value]):
                return {kept} if self._comes_from_clock(value, names) else set()
        return set()

    def _comes_from_clock(self, node: ast.AST, names: set[str]) -> bool:
        match node:
            case ast.Name(id=name):
                return name in names
            case ast.Call(func=function, args=arguments):
                return self._is_clock(function) or (
                    (_last_name(function) in PASSING_ON or _is_statistics(function))
                    and any(self._comes_from_clock(item, names) for item in arguments)
                )
            case ast.Attribute(attr=name) if self.measuring and name in READINGS:
                return True
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as name)):
                return (self.measuring and name in READINGS) or self._comes_from_clock(value, names)
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                return self._comes_from_clock(value, names)
            case ast.Compare() | ast.Lambda() | ast.JoinedStr():
                return False
            case ast.ListComp(elt=element) | ast.SetComp(elt=element) | ast.GeneratorExp(elt=element):
                inner = {name for part in node.generators for name in self._named_by(part, names)}
                return self._comes_from_clock(element, names | inner)
            case ast.Dict():
                return False
        return any(self._comes_from_clock(child, names) for child in ast.iter_child_nodes(node))

    def _is_clock(self, function: ast.expr) -> bool:
        match function:
            case ast.Attribute(value=ast.Name(id="time"), attr=name):
                return name in CLOCKS
            case ast.Attribute(value=base, attr="time"):
                return "loop" in ast.unparse(base)
            case ast.Attribute(value=ast.Name(id="datetime") | ast.Attribute(attr="datetime"), attr="now" | "utcnow"):
                return True
            case ast.Name(id=name):
                return name in self._clocks or name in self._returning or name in MEASURING_FUNCTIONS
        return False

    def _bounds(self, node: ast.AST, names: set[str], limits: set[str]) -> bool:
        if not isinstance(node, ast.Compare):
            return False
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, UPPER) and self._comes_from_clock(left, names) and _is_limit(right, limits):
                return True
            if isinstance(operator, LOWER) and self._comes_from_clock(right, names) and _is_limit(left, limits):
                return True
            exactly = isinstance(operator, ast.Eq) and not self.measuring  # figures that were given are compared so
            if exactly and any(
                self._comes_from_clock(one, names) and _is_limit(other, limits)
                for one, other in ((left, right), (right, left))
            ):
                return True
        return False


def _limits(scope: Scope) -> set[str]:
    """Names in ``scope`` that hold a number of seconds, or a time that many seconds away."""
    found: set[str] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and _is_limit(node.value, found):
                found |= {name for target in node.targets for name in _names_in(target)}
    return found


def _is_limit(node: ast.AST, limits: set[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and value != 0
        case ast.Name(id=name):
            return name in limits or name.isupper()
        case ast.Call(func=function, args=arguments):
            known = _last_name(function) in PASSING_ON | {"approx"}
            return known and any(_is_limit(item, limits) for item in arguments)
        case ast.BinOp(left=left, right=right):
            return _is_limit(left, limits) or _is_limit(right, limits)
        case ast.UnaryOp(operand=operand):
            return _is_limit(operand, limits)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_is_limit(part, limits) for part in parts)
    return False


def _returned(scope: Scope) -> Iterator[ast.expr]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield node.value


def _names_in(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _last_name(function: ast.expr) -> str:
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else ""
    )


def _is_statistics(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and ast.unparse(function.value) in ("statistics", "np", "numpy")
