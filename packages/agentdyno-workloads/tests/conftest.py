"""What tests of this package share with those of the core."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command import Bench
from tests.loaded_commands import LoadedBench, commands_of_this_process
from tests.properties import use_profiles
from tests.timed import mark_timed

use_profiles()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_timed(items)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh folder in which ``dyno`` can be run often."""
    return LoadedBench(tmp_path, commands_of_this_process())
