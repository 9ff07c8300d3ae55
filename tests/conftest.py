"""Fixtures that every part of the suite may use, and the examples that property tests are tried with."""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import Bench
from .properties import use_profiles

use_profiles()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh folder in which ``dyno`` can be run."""
    return Bench(tmp_path)
