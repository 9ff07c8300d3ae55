"""The JSON Schema of every file that a user writes, and the description of the REST API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings

from .asking import Project
from .golden import check


@pytest.mark.parametrize("kind", ["spec", "suite", "load", "commands", "workspace"])
def test_the_schema_of_a_file_is_what_it_was(kind: str, project: Project) -> None:
    check(f"schema/{kind}.json", project.text("schema", kind))


def test_the_api_is_described_as_before(tmp_path: Path) -> None:
    app = create_app(ServiceSettings(f"sqlite:///{tmp_path}/dyno.db", tmp_path))
    # The order of paths and of components says nothing: it follows the names of our modules.
    check("schema/openapi.json", json.dumps(app.openapi(), indent=1, sort_keys=True, ensure_ascii=False))
