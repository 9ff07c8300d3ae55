"""Describing installed objects from their source, without importing the packages they live in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from agentdyno.contracts import Experiment
from agentdyno.model.parameter import ExperimentInfo, Parameter, merge_param_schema, parse_annotation
from agentdyno.registry.describe import first_line, make_parameter, signature_of
from agentdyno.registry.local import find_source

_DEEPEST = 12
"""Steps along imports and base classes before the search is given up."""
_BENCH_BASES = {"Experiment": Experiment}
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _Module:
    """A parsed module; ``package`` is what its relative imports start from."""

    package: str
    tree: ast.Module

    def top_level(self) -> Iterator[ast.stmt]:
        """Its statements, last first, so that the definition in force is met first."""
        for item in reversed(self.tree.body):
            if isinstance(item, (ast.If, ast.Try)):
                yield from reversed(item.body)
            yield item

    def constant(self, name: str) -> ast.expr | None:
        return _assigned(self.tree.body, name)


@dataclass(frozen=True, slots=True)
class _Found:
    node: ast.ClassDef | _Function
    module: _Module
    depth: int


@dataclass(frozen=True, slots=True)
class _Signature:
    parameters: tuple[Parameter, ...] = ()
    open: bool = False


def describe_source(name: str, module: str, attribute: str, origin: str) -> ExperimentInfo:
    """Description and parameters of ``module:attribute``; empty where the source cannot be found or read."""
    found = _find(module, attribute)
    if found is None:
        return ExperimentInfo(name, _said_in_call(module, attribute), origin=origin)
    return _described(name, found, origin)


def describe_file(name: str, file: Path, attribute: str, origin: str) -> ExperimentInfo:
    """The same of a class or function of a file that belongs to no package."""
    try:
        module = _Module("", ast.parse(file.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ExperimentInfo(name, origin=origin)
    for item in module.top_level():
        if isinstance(item, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == attribute:
            return _described(name, _Found(item, module, 0), origin)
    return ExperimentInfo(name, origin=origin)


def _described(name: str, found: _Found, origin: str) -> ExperimentInfo:
    description = first_line(ast.get_docstring(found.node))
    if isinstance(found.node, ast.ClassDef):
        signature = _class_signature(found.node, found) or _Signature()
        schema = _schema(found.node, found)
        parameters = merge_param_schema(signature.parameters, schema) if schema else signature.parameters
        return ExperimentInfo(name, description, parameters, origin=origin, open=signature.open)
    signature = _arguments(found.node, found.module, skip_first=False)
    return ExperimentInfo(
        name,
        description,
        signature.parameters,
        origin=origin,
        open=signature.open,
        iterations=_iterations(found.node),
    )


def _said_in_call(module: str, attribute: str) -> str:
    """The ``description`` of a value that is made by a call, such as a preset of an agent; else nothing."""
    parsed = _parse(module)
    value = parsed.constant(attribute) if parsed is not None else None
    for keyword in value.keywords if isinstance(value, ast.Call) else ():
        if keyword.arg == "description" and isinstance(keyword.value, ast.Constant):
            return first_line(str(keyword.value.value))
    return ""


def _find(module: str, attribute: str, depth: int = 0) -> _Found | None:
    """The class or function of that name, followed through ``from ... import`` to where it is written."""
    parsed = _parse(module) if depth < _DEEPEST else None
    for item in parsed.top_level() if parsed is not None else ():
        if isinstance(item, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == attribute:
            return _Found(item, parsed, depth) if parsed is not None else None
        if isinstance(item, ast.ImportFrom) and parsed is not None:
            for alias in item.names:
                if attribute == (alias.asname or alias.name):
                    return _find(_imported_from(item, parsed), alias.name, depth + 1)
    return None


@cache
def _parse(module: str) -> _Module | None:
    file = find_source(module)
    if file is None:
        return None
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    return _Module(module if file.name == "__init__.py" else module.rpartition(".")[0], tree)


def _imported_from(item: ast.ImportFrom, module: _Module) -> str:
    if not item.level:
        return item.module or ""
    parts = module.package.split(".")
    base = parts[: len(parts) - item.level + 1]
    return ".".join([*base, *([item.module] if item.module else [])])


def _bases(node: ast.ClassDef, found: _Found) -> Iterator[_Found | type]:
    """The base classes that can be found, in order; those of the bench itself are loaded anyway."""
    for base in node.bases:
        name = base.value if isinstance(base, ast.Subscript) else base
        if not isinstance(name, ast.Name):
            if isinstance(name, ast.Attribute) and name.attr in _BENCH_BASES:
                yield _BENCH_BASES[name.attr]
            continue
        if _is_of_the_bench(name.id, found.module):
            yield _BENCH_BASES[name.id]
            continue
        below = _find_in(found.module, name.id, found.depth + 1)
        if below is not None:
            yield below


def _is_of_the_bench(name: str, module: _Module) -> bool:
    return name in _BENCH_BASES and any(
        (item.module or "").partition(".")[0] == "agentdyno" and name == (alias.asname or alias.name)
        for item in module.top_level()
        if isinstance(item, ast.ImportFrom)
        for alias in item.names
    )


def _find_in(module: _Module, attribute: str, depth: int) -> _Found | None:
    for item in module.top_level() if depth < _DEEPEST else ():
        if isinstance(item, ast.ClassDef) and item.name == attribute:
            return _Found(item, module, depth)
        if isinstance(item, ast.ImportFrom):
            for alias in item.names:
                if attribute == (alias.asname or alias.name):
                    return _find(_imported_from(item, module), alias.name, depth)
    return None


def _class_signature(node: ast.ClassDef, found: _Found) -> _Signature | None:
    """What ``__init__`` takes: its own, that of a dataclass, or the first inherited one; ``None`` without any."""
    init = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    if init is not None:
        return _arguments(init, found.module, skip_first=True)
    if _is_dataclass(node):
        return _Signature(tuple(_fields(node, found).values()))
    for base in _bases(node, found):
        if isinstance(base, type):
            return _Signature(*signature_of(base.__init__, skip_first=True))  # type: ignore[misc]
        inherited = _class_signature(base.node, base) if isinstance(base.node, ast.ClassDef) else None
        if inherited is not None:
            return inherited
    return None


def _schema(node: ast.ClassDef, found: _Found) -> dict[str, Any] | None:
    """The literal ``param_schema`` of the class or of the first base that has one."""
    value = _assigned(node.body, "param_schema")
    if value is not None:
        schema, is_literal = _literal(value, found.module)
        return schema if is_literal and isinstance(schema, dict) else None
    for base in _bases(node, found):
        if isinstance(base, _Found) and isinstance(base.node, ast.ClassDef):
            inherited = _schema(base.node, base)
            if inherited is not None:
                return inherited
    return None


def _arguments(node: _Function, module: _Module, *, skip_first: bool) -> _Signature:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    rows: list[tuple[ast.arg, ast.expr | None]] = [
        (item, arguments.defaults[i - first_default] if i >= first_default else None)
        for i, item in enumerate(positional)
    ]
    if skip_first:
        rows = rows[1:]
    rows += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    parameters = tuple(_parameter(item.arg, item.annotation, default, module) for item, default in rows)
    return _Signature(parameters, arguments.kwarg is not None)


def _is_dataclass(node: ast.ClassDef) -> bool:
    return "dataclass" in {ast.unparse(item).split("(")[0].split(".")[-1] for item in node.decorator_list}


def _fields(node: ast.ClassDef, found: _Found) -> dict[str, Parameter]:
    """Fields of a dataclass that its ``__init__`` takes, inherited ones first."""
    fields: dict[str, Parameter] = {}
    for base in reversed(list(_bases(node, found))):
        if isinstance(base, _Found) and isinstance(base.node, ast.ClassDef) and _is_dataclass(base.node):
            fields.update(_fields(base.node, base))
    for item in node.body:
        if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
            continue
        annotation = ast.unparse(item.annotation)
        if "ClassVar" in annotation or annotation.split(".")[-1] == "KW_ONLY":
            continue
        name = item.target.id
        keywords = _field_options(item.value)
        if keywords is None:
            fields[name] = _parameter(name, item.annotation, item.value, found.module)
        elif isinstance(init := keywords.get("init"), ast.Constant) and init.value is False:
            fields.pop(name, None)
        elif (factory := keywords.get("default_factory")) is not None:
            types, choices = parse_annotation(annotation)
            fields[name] = make_parameter(name, types, choices, False, ast.unparse(factory) + "()", opaque=True)
        else:
            fields[name] = _parameter(name, item.annotation, keywords.get("default"), found.module)
    return fields


def _field_options(value: ast.expr | None) -> dict[str, ast.expr] | None:
    """The keywords of ``field(...)``; ``None`` when the value is something else."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func).split(".")[-1] != "field":
        return None
    return {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg is not None}


def _parameter(name: str, annotation: ast.expr | None, default: ast.expr | None, module: _Module) -> Parameter:
    types, choices = parse_annotation(ast.unparse(annotation)) if annotation is not None else ((), ())
    if default is None:
        return make_parameter(name, types, choices, True, None)
    value, is_literal = _literal(default, module)
    return make_parameter(name, types, choices, False, value, opaque=not is_literal)


def _iterations(node: _Function) -> int | None:
    """What ``@benchmark(iterations=...)`` says."""
    for item in node.decorator_list:
        if isinstance(item, ast.Call) and ast.unparse(item.func).split(".")[-1] == "benchmark":
            for keyword in item.keywords:
                if keyword.arg == "iterations" and isinstance(keyword.value, ast.Constant):
                    return keyword.value.value if isinstance(keyword.value.value, int) else None
    return None


def _assigned(body: list[ast.stmt], name: str) -> ast.expr | None:
    for item in reversed(body):
        if isinstance(item, ast.Assign):
            targets = item.targets
        elif isinstance(item, ast.AnnAssign):
            targets = [item.target]
        else:
            continue
        if item.value is not None and any(isinstance(t, ast.Name) and t.id == name for t in targets):
            return item.value
    return None


def _literal(node: ast.expr, module: _Module) -> tuple[Any, bool]:
    """The value of a literal or of a constant of the module, and true; else its text, and false."""
    if isinstance(node, ast.Name):
        constant = module.constant(node.id)
        if constant is not None and not isinstance(constant, ast.Name):
            value, is_literal = _literal(constant, module)
            return (value, True) if is_literal else (node.id, False)
    try:
        return ast.literal_eval(node), True
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ast.unparse(node), False
