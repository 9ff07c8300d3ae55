"""A service that is set up has Python look for garbage among new things alone: requests wait for nothing else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from .service import Bench, until


@pytest.fixture
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collector")
def test_what_a_service_loads_at_its_start_is_not_looked_through_again(tmp_path: Path) -> None:
    with Bench(tmp_path, warm_up=True).client() as client:
        until(lambda: gc.get_freeze_count() > 10_000)
        assert client.get("/api/changes").status_code == 200
        assert len(gc.get_objects()) < gc.get_freeze_count()


@pytest.mark.usefixtures("collector")
def test_an_application_that_somebody_else_serves_leaves_the_collector_alone(tmp_path: Path) -> None:
    with Bench(tmp_path).client() as client:
        assert client.get("/api/changes").status_code == 200
    assert not gc.get_freeze_count()
