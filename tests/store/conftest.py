from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.store import Store
from agentdyno.store.location import path_url

from ..new_stores import open_new_store
from ..postgres import Postgres

DATABASES = ("sqlite", "postgresql")


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


@pytest.fixture(params=DATABASES)
def new_store_url(request: pytest.FixtureRequest, path: Path) -> Iterator[str]:
    """Where an empty store is, on each kind of database."""
    if request.param == "sqlite":
        open_new_store(path).close()
        yield path_url(path)
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.new_store() as url:
        yield url


@pytest.fixture
def store(new_store_url: str) -> Iterator[Store]:
    with Store.open(new_store_url) as opened:
        yield opened


@pytest.fixture(scope="module", params=DATABASES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all examples and tests of a file, on each kind of database."""
    if request.param == "sqlite":
        with Store.open(tmp_path_factory.mktemp("shared") / "dyno.db") as opened:
            yield opened
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create_database()
    with Store.open(server.url(name)) as opened:
        yield opened
    server.drop_database(name)
