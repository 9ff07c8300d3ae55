"""Workloads, in the core and in packages of their own, use what a third party's package could use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentdyno

from .source import PACKAGE, ROOT, SOURCE, imported, modules

PACKAGES = ROOT / "packages"
MOST_FILES, MOST_LINES = 20, 400


def packaged() -> list[Path]:
    """The modules of every package beside the core."""
    return sorted(PACKAGES.glob("*/src/**/*.py"))


def workloads() -> list[Path]:
    return [*sorted((SOURCE / "workloads").rglob("*.py")), *packaged()]


def names_of_the_core(path: Path) -> Iterator[str]:
    """What a module takes from ``agentdyno``, dotted; its own workload's modules left out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively; workloads say where from"
            module = node.module or ""
            if module.partition(".")[0] == PACKAGE and not module.startswith(f"{PACKAGE}.workloads."):
                yield from (f"{module}.{alias.name}" for alias in node.names)


def test_there_are_packages_to_look_at() -> None:
    assert {path.relative_to(PACKAGES).parts[0] for path in packaged()} == {"agentdyno-workloads"}


@pytest.mark.parametrize("path", workloads(), ids=lambda path: str(path.relative_to(ROOT)))
def test_workloads_use_public_names_only(path: Path) -> None:
    public = {f"{PACKAGE}.{name}" for name in agentdyno.__all__}
    assert set(names_of_the_core(path)) <= public


def test_the_core_imports_no_package_of_workloads() -> None:
    theirs = {path.name for path in PACKAGES.glob("*/src/*") if path.is_dir()}
    for module in modules():
        heads = {name.partition(".")[0] for name in imported(module)}
        assert not heads & theirs, f"{module} imports {heads & theirs}"


def test_folders_and_files_of_packages_stay_small() -> None:
    for folder in {path.parent for path in packaged()}:
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, f"{folder.relative_to(ROOT)} has too many files"
    for path in packaged():
        assert len(path.read_text().splitlines()) <= MOST_LINES, f"{path.relative_to(ROOT)} is too long"


def test_a_package_is_a_distribution_with_its_sources_and_tests() -> None:
    for package in (path for path in PACKAGES.iterdir() if path.is_dir()):
        assert (package / "pyproject.toml").is_file(), f"{package.name} cannot be installed"
        assert (package / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
        assert list(package.glob("tests/**/test_*.py")), f"{package.name} has no tests"
        # A folder of tests that were a Python package would be a second one called ``tests``.
        assert not list(package.glob("tests/**/__init__.py")), f"{package.name}: tests need no __init__.py"
