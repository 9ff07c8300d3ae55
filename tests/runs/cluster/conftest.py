"""A real cluster of two nodes on this machine, shared by the tests of this folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from agentdyno.runs.cluster.ray_cluster import ALWAYS, TOKEN

from .nodes import TwoNodes


@pytest.fixture(scope="package")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoNodes]:
    """Two nodes, each with a host id of its own, as two machines have. They end with these tests: even idle ones look
    after each other all the time."""
    before = dict(os.environ)
    os.environ.update(ALWAYS)
    os.environ[TOKEN] = secrets.token_hex(32)
    cluster = TwoNodes(tmp_path_factory.mktemp("hosts"))
    try:
        yield cluster
    finally:
        cluster.close()
        os.environ.clear()
        os.environ.update(before)
