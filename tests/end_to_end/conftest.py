"""One browser a file, and a service with something on every page; a file that wants another service has its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from ..browser import chromium
from ..command import Bench
from ..seeded_service import Service, seed, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    bench = Bench(tmp_path_factory.mktemp("service"))
    with serving(bench, seed(bench)) as running:
        yield running


@pytest.fixture(scope="module")
def newest(service: Service) -> str:
    """The run of the three agents."""
    runs = service.get("/api/runs?kind=suite&limit=50")["items"]
    return next(str(row["run_id"]) for row in runs if row["arms"] > 4)
