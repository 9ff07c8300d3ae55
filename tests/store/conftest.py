from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.store import Store
from agentdyno.store.location import path_url

from ..postgres import Postgres, running_postgres

DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of this process, started by the first that asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where an SQLite store goes."""
    return tmp_path / "dyno.db"


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """An empty database on the server."""
    name = postgres.create_database()
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture(params=DATABASES)
def store_url(request: pytest.FixtureRequest, path: Path) -> str:
    """A place for a store that does not exist yet, on each kind of database."""
    if request.param == "sqlite":
        return path_url(path)
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened
