"""JSON Schema of every file that a user writes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

SchemaKind = Literal["spec", "suite", "load", "commands", "workspace"]


def json_schema(kind: SchemaKind = "spec") -> dict[str, object]:
    """JSON Schema (draft 2020-12) of a spec file, a suite file, a load file, a file of commands or ``dyno.yaml``."""
    schema: dict[str, Any] = _model(kind).model_json_schema(mode="validation")
    for table in [schema, *schema.get("$defs", {}).values()]:
        for row in table.get("properties", {}).values():
            row.pop("title", None)
            if row.get("default") in ("", 0, None):
                row.pop("default", None)
    if kind == "spec":
        schema["oneOf"] = [{"required": ["experiment"]}, {"required": ["experiments"]}]
    elif kind == "load":
        schema["required"] = ["load"]
    elif kind == "suite":
        schema["oneOf"] = [{"required": ["benchmarks"]}, {"required": ["dataset"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"agentdyno {kind}"}


def _model(kind: SchemaKind) -> type[BaseModel]:
    if kind == "spec":
        from agentdyno.specs.experiment.format import SpecFile

        return SpecFile
    if kind == "suite":
        from agentdyno.specs.suite.format import SuiteFile

        return SuiteFile
    if kind == "load":
        from agentdyno.specs.load.format import LoadFile

        return LoadFile
    if kind == "commands":
        from agentdyno.specs.commands.format import CommandsFile

        return CommandsFile
    from agentdyno.specs.workspace.format import WorkspaceFile

    return WorkspaceFile
