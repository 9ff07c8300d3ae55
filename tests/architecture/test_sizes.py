"""Folders and files stay small enough to be read."""

from __future__ import annotations

import ast
from collections import Counter

from .source import SOURCE, modules

MOST_FILES = 20
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60


def test_no_folder_has_more_files_than_fit_on_a_screen() -> None:
    counts = Counter(module.path.parent for module in modules())
    crowded = {str(folder.relative_to(SOURCE)): count for folder, count in counts.items() if count > MOST_FILES}
    assert not crowded, crowded


def test_no_file_is_longer_than_can_be_read_in_one_go() -> None:
    sizes = {str(module): len(module.path.read_text().splitlines()) for module in modules()}
    long = {name: size for name, size in sizes.items() if size > MOST_LINES}
    assert not long, long


def test_no_function_is_longer_than_a_screen() -> None:
    lines = {
        f"{module}: {node.name}": node.end_lineno - node.lineno + 1
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno is not None
    }
    long = {name: count for name, count in lines.items() if count > MOST_LINES_OF_A_FUNCTION}
    assert not long, long


def test_no_file_is_named_for_what_has_no_name() -> None:
    for module in modules():
        assert not {"utils", "helpers", "manager"} & set(module.parts), module
