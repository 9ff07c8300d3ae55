"""Services on stores of real runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.suites import Room

from .asking import Seeded, new_room, seed


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    """A store that tests only read; made once."""
    room = new_room(tmp_path_factory.mktemp("seeded"))
    with room.store:
        found = seed(room)
        yield found
        found.client.app.state.services.close()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """An empty store of the test's own."""
    found = new_room(tmp_path)
    with found.store:
        yield found
