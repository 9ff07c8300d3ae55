"""What the source calls its things, and what of it is used: read from the code itself, so that no comment counts."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NO_PROSE = re.compile(r"[\w.:, |\[\]()-]+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class, method or constant of a module. ``hooked``: a decorator hands it to somebody."""

    name: str
    line: int
    hooked: tuple[str, ...] = ()


def words_of(name: str) -> set[str]:
    """``_SupportDesk`` and ``support_desks`` are made of "support" and "desk"."""
    return {word.lower().removesuffix("s") for word in _WORD.findall(name)}


def names_given(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that the code gives to something: functions, classes, arguments, variables, what is imported as."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.alias(asname=str() as name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def prose_of(path: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Comments, and texts that stand by themselves: docstrings."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as text)):
                yield node.lineno, text


def definitions(tree: ast.Module) -> Iterator[Definition]:
    for node in tree.body:
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        yield from (Definition(item.id, node.lineno) for item in targets if isinstance(item, ast.Name))
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Definition(one.name, one.lineno, tuple(ast.unparse(item) for item in one.decorator_list))


def uses(tree: ast.Module) -> Counter[str]:
    """How often each name is used. To import it or to call oneself is none; names in texts that are code are some."""
    found = Counter(_uses(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] -= sum(_calls_itself(item, node.name) for item in ast.walk(node))
    return found


def _uses(tree: ast.Module) -> Iterator[str]:
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=aliases):
                yield from (alias.name for alias in aliases if alias.asname)
            case ast.Constant(value=str() as text) if id(node) not in docstrings and _may_be_code(text):
                yield from re.findall(r"\w+", text)


def _may_be_code(text: str) -> bool:
    """Whether it may name something: a reference like ``module:name``, a type, or lines that are run elsewhere."""
    return "\n" in text or (_NO_PROSE.fullmatch(text) is not None and ". " not in text)


def _calls_itself(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called)):
            return called == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=called)):
            return called == name
    return False
