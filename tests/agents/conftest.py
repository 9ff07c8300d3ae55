"""Fixtures of agents' tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.agents.place import VARIABLE, Place
from tests.runner.building import children, descriptors


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder for agents; proves after the test that no process and no descriptor is left."""
    open_before, children_before = descriptors(), children()
    made = Place(tmp_path, {**os.environ, VARIABLE: uuid4().hex})
    yield made
    assert made.processes() == []
    assert children() == children_before
    assert descriptors() == open_before
