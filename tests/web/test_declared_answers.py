"""Every route says what it answers, so that the types of the dashboard are complete."""

from __future__ import annotations

from pathlib import Path

from .service import Bench

DOWNLOADS = {"/api/runs/{run_id}/report", "/api/runs/{run_id}/artifacts/{path}"}
"""What is sent as a file, to be saved and not to be read by a page."""


def test_every_answer_in_json_has_a_declared_shape(tmp_path: Path) -> None:
    document = Bench(tmp_path).app.openapi()
    undeclared = [
        f"{method.upper()} {path} {status}"
        for path, operations in document["paths"].items()
        if path not in DOWNLOADS
        for method, operation in operations.items()
        for status, response in operation["responses"].items()
        if status.startswith("2")
        for media_type, content in response.get("content", {}).items()
        if media_type == "application/json" and "$ref" not in content.get("schema", {})
    ]
    assert undeclared == []


def test_every_declared_shape_names_its_fields(tmp_path: Path) -> None:
    """A shape without fields would be `unknown` to the dashboard."""
    schemas = Bench(tmp_path).app.openapi()["components"]["schemas"]
    known = ("properties", "enum", "anyOf", "oneOf", "allOf", "const")
    assert [name for name, schema in schemas.items() if not any(word in schema for word in known)] == []
