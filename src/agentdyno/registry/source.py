"""Describing installed objects from their source, without importing the packages they live in."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from agentdyno.model.parameter import ExperimentInfo, Parameter, merge_param_schema, parse_annotation
from agentdyno.registry.describe import first_line, make_parameter

_NOT_PARAMETERS = {"self", "cls"}


def describe_source(name: str, module: str, attribute: str, origin: str) -> ExperimentInfo:
    """Description and parameters of ``module:attribute``; empty where the source cannot be found or read."""
    file = find_source(module)
    node = None
    if file is not None:
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            return ExperimentInfo(name, origin=origin)
        node = next((item for item in tree.body if getattr(item, "name", None) == attribute), None)
    if isinstance(node, ast.ClassDef):
        init = next((i for i in node.body if isinstance(i, ast.FunctionDef) and i.name == "__init__"), None)
        parameters = _arguments(init.args) if init is not None else _fields(node)
        schema = _assigned(node, "param_schema")
        if isinstance(schema, dict):
            parameters = merge_param_schema(parameters, schema)
        return ExperimentInfo(name, first_line(ast.get_docstring(node)), parameters, origin=origin)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ExperimentInfo(name, first_line(ast.get_docstring(node)), _arguments(node.args), origin=origin)
    return ExperimentInfo(name, origin=origin)


def find_source(module: str) -> Path | None:
    """The file of a module, found without importing it or its parent packages."""
    path: Iterable[str] | None = None
    parts = module.split(".")
    for depth in range(len(parts)):
        spec = _find_spec(".".join(parts[: depth + 1]), path)
        if spec is None:
            return None
        if depth == len(parts) - 1:
            return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
        path = list(spec.submodule_search_locations or [])
    return None


def _find_spec(name: str, path: Iterable[str] | None) -> ModuleSpec | None:
    locations = None if path is None else list(path)
    spec = PathFinder.find_spec(name, locations)
    if spec is None and path is None:
        for finder in sys.meta_path:  # editable installs may come with a finder of their own
            find = getattr(finder, "find_spec", None)
            spec = find(name, None) if find is not None else None
            if spec is not None:
                break
    return spec


def _arguments(arguments: ast.arguments) -> tuple[Parameter, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    rows: list[tuple[ast.arg, ast.expr | None]] = [
        (item, arguments.defaults[i - first_default] if i >= first_default else None)
        for i, item in enumerate(positional)
    ]
    rows += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    return tuple(_parameter(item.arg, item.annotation, default) for item, default in rows if _is_parameter(item.arg))


def _fields(node: ast.ClassDef) -> tuple[Parameter, ...]:
    decorators = {ast.unparse(item).split("(")[0].split(".")[-1] for item in node.decorator_list}
    if "dataclass" not in decorators:
        return ()
    return tuple(
        _parameter(item.target.id, item.annotation, item.value)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        if "ClassVar" not in ast.unparse(item.annotation)
    )


def _parameter(name: str, annotation: ast.expr | None, default: ast.expr | None) -> Parameter:
    types, choices = parse_annotation(ast.unparse(annotation)) if annotation is not None else ((), ())
    return make_parameter(name, types, choices, default is None, _literal(default))


def _assigned(node: ast.ClassDef, name: str) -> Any:
    for item in node.body:
        target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
        if isinstance(target, ast.Name) and target.id == name and isinstance(item, (ast.Assign, ast.AnnAssign)):
            return _literal(item.value)
    return None


def _literal(node: ast.expr | None) -> Any:
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return ast.unparse(node)


def _is_parameter(name: str) -> bool:
    return name not in _NOT_PARAMETERS
