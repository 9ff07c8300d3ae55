"""Fixtures of the use cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.store import Store

from .suites import AGENT, Room


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """An empty folder, made the current one, with three agents and a store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    (tmp_path / "agent.py").write_text(AGENT)
    with Store.open(tmp_path / "dyno.db") as store:
        yield Room(tmp_path, store)
