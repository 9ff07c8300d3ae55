from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.store import Store

from .asking import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project without a store."""
    return Project(tmp_path)


@pytest.fixture
def seeded(project: Project) -> Project:
    """A project with the newest of the stores, brought to today's schema."""
    project.put_store("0005")
    Store.migrate(f"sqlite:///{project.store}")
    return project
