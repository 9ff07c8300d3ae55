"""A registry that no other test sees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.registry import names


@pytest.fixture
def empty_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing is registered, and neither modules nor folders that a test loads stay behind."""
    monkeypatch.setattr(names, "_registered", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
