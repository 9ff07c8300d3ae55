"""Test code split into single tests, so that some of them may pass."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from agentdyno.scorers.answer import fenced_blocks

_PYTHON = ("", "python", "py", "python3")


@dataclass(frozen=True, slots=True)
class TestStep:
    """A piece of test code; ``test`` is how a test is called, empty for what only prepares one."""

    source: str
    test: str = ""


def split_tests(tests: object, entry_point: str | None) -> list[TestStep]:
    """Each ``assert``, each call at the top level and each function ``test_…`` is a test, as is each text of a list.

    A function ``check(candidate)`` that nothing calls is called with ``entry_point``. Raises ``ValueError`` where
    there is no test in it, or no Python.
    """
    if isinstance(tests, (list, tuple)):
        steps = [TestStep(str(item), str(item)) for item in tests]
        for step in steps:
            _parse(step.source)
    elif isinstance(tests, str):
        steps = _split(tests, entry_point)
    else:
        raise ValueError("it needs tests: Python source as target, or tests in its metadata")
    if not any(step.test for step in steps):
        raise ValueError("its tests have no assert, no call and no function test_…")
    return steps


def _split(source: str, entry_point: str | None) -> list[TestStep]:
    steps: list[TestStep] = []
    last: list[TestStep] = []
    has_check = False
    for node in _parse(source).body:
        text = _text_of(node, source)
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            steps.append(TestStep(text, text))
            continue
        steps.append(TestStep(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            has_check = has_check or node.name == "check"
            if node.name.startswith("test"):
                call = f"{node.name}()"
                is_async = isinstance(node, ast.AsyncFunctionDef)
                last.append(TestStep(f"import asyncio; asyncio.run({call})" if is_async else call, call))
    if has_check and entry_point and not any(step.test for step in [*steps, *last]):
        last.append(TestStep(f"check({entry_point})", f"check({entry_point})"))
    return steps + last


def _parse(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"its tests are no Python: {error}") from None


def _text_of(node: ast.stmt, source: str) -> str:
    decorators = (
        node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else []
    )
    if decorators:
        return ast.unparse(node)  # a source segment leaves decorators out
    return ast.get_source_segment(source, node) or ast.unparse(node)


def find_code(text: str) -> str | None:
    """The Python in an answer: its fenced blocks that can be parsed, else the whole of it; ``None`` without any."""
    blocks = [content for language, content in fenced_blocks(text) if language in _PYTHON]
    parts = [block for block in blocks if _is_python(block)]
    if parts:
        return "\n\n".join(parts)
    if blocks:
        return blocks[-1]  # broken, and the failure to load it says how
    return text if text.strip() and _is_python(text) else None


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first few, on one line each."""
    return "\n".join(names[:most]) + (f"\n… and {len(names) - most} more" if len(names) > most else "")
