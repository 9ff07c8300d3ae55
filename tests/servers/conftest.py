"""A simulated server in a process of its own, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """Answers at once with six tokens; requests change that for themselves."""
    with simulated_server(Behaviour(output_tokens=6)) as running:
        yield running
