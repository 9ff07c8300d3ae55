"""Fixtures that every part of the suite may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh folder in which ``dyno`` can be run."""
    return Bench(tmp_path)
