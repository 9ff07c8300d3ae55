"""A new setting is one line: from it alone it is an option, a key of files, in the JSON Schema and in the API."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# The lines that somebody would add to settings/suite.py, settings/run.py and settings/load.py.
LINE = (
    'suite.POLITENESS = Setting("politeness", ("integer",), default=3, minimum=1, maximum=9, option="--politeness", '
    'example=5, description="How politely each case is put", scopes=SUITE | JOB)'
)
OF_EXPERIMENTS = (
    'run.PATIENCE = Setting("patience", ("number",), default=1.5, above=0, maximum=9, option="--patience", '
    'example=2, description="How long each arm waits", scopes=SPEC | JOB)'
)
OF_LOADS = (
    'load.MANNERS = Setting("manners", ("string",), default="plain", option="--manners", example="kind", '
    'description="How the target is spoken to", scopes=LOAD)'
)
PROGRAM = f"""
import json, sys
from pathlib import Path
from agentdyno.settings import load, run, suite
from agentdyno.settings.setting import JOB, LOAD, SPEC, SUITE, Setting
{LINE}
{OF_EXPERIMENTS}
{OF_LOADS}

from click.testing import CliRunner
from agentdyno.cli.main import dyno
from agentdyno.errors import SpecError
from agentdyno.jobs.submitting import RunOptions
from agentdyno.specs import json_schema, parse_spec, parse_suite, suite_changes
from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings

def message(make):
    try:
        make()
    except SpecError as error:
        return str(error)

folder = Path(sys.argv[1])
app = create_app(ServiceSettings(f"sqlite:///{{folder}}/dyno.db", folder))
cases = {{"name": "manners", "scorer": "exact", "dataset": [{{"input": "a", "target": "b"}}]}}
def spec(patience):
    parse_spec({{"experiment": "busy", "patience": patience}}, source="spec", base_dir=folder)

print(json.dumps({{
    "load help": CliRunner().invoke(dyno, ["load", "--help"]).output,
    "spec read": message(lambda: spec(4)),
    "spec refused": message(lambda: spec(0)),
    "spec schema": json_schema("spec")["properties"]["patience"],
    "load schema": json_schema("load")["$defs"]["LoadFields"]["properties"]["manners"],
    "spec body": app.openapi()["components"]["schemas"]["Options"]["properties"]["patience"],
    "help": CliRunner().invoke(dyno, ["run", "--help"]).output,
    "too small": CliRunner().invoke(dyno, ["run", "suite.yaml", "--politeness", "0"]).output,
    "for an experiment": CliRunner().invoke(dyno, ["run", "busy", "--politeness", "2"]).output,
    "read": message(lambda: parse_suite({{**cases, "politeness": 4, "quick": {{"politeness": 5}}}})),
    "refused": message(lambda: parse_suite({{**cases, "politeness": 10}})),
    "changed": message(lambda: parse_suite(cases, overrides=suite_changes(politeness=10))),
    "schema": json_schema("suite")["properties"]["politeness"],
    "quick": json_schema("suite")["$defs"]["SuiteLayer"]["properties"]["politeness"],
    "body": app.openapi()["components"]["schemas"]["Options"]["properties"]["politeness"],
    "job": RunOptions.of({{"politeness": 7}}).plain(),
}}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder: Path = tmp_path_factory.mktemp("new")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    plain: dict[str, object] = json.loads(done.stdout)
    return plain


def test_the_command_line_has_it(found: dict[str, object]) -> None:
    assert "--politeness INTEGER RANGE" in str(found["help"])
    assert "How politely each case is put." in str(found["help"])
    assert "0 is not in the range x>=1" in str(found["too small"])
    assert "--politeness means nothing for an experiment" in str(found["for an experiment"])


def test_a_file_has_it(found: dict[str, object]) -> None:
    assert found["read"] is None
    assert "suite: politeness: expected at most 9, got an integer 10" in str(found["refused"])
    assert "How politely each case is put. For example `politeness: 5`." in str(found["refused"])
    assert "command line: politeness: expected at most 9" in str(found["changed"])


def test_the_json_schema_has_it(found: dict[str, object]) -> None:
    expected = {
        "default": 3,
        "description": "How politely each case is put",
        "examples": [5],
        "maximum": 9,
        "minimum": 1,
        "type": "integer",
    }
    assert found["schema"] == expected
    assert found["quick"] == expected


def test_the_api_has_it(found: dict[str, object]) -> None:
    number = {"type": "integer", "minimum": 1, "maximum": 9, "description": "How politely each case is put."}
    assert found["body"] == {"anyOf": [number, {"type": "null"}], "default": None, "title": "Politeness"}
    assert found["job"] == {"politeness": 7}


def test_one_of_experiments_and_one_of_loads_are_lines_too(found: dict[str, object]) -> None:
    assert "--patience FLOAT RANGE" in str(found["help"])
    assert "How long each arm waits." in str(found["help"])
    assert "How the target is spoken to." in str(found["load help"])
    assert found["spec read"] is None
    assert "patience: expected more than 0, got an integer 0" in str(found["spec refused"])
    limits = {"exclusiveMinimum": 0, "maximum": 9, "type": "number"}
    assert found["spec schema"] == {
        "default": 1.5,
        "description": "How long each arm waits",
        "examples": [2],
        **limits,
    }
    assert found["load schema"] == {
        "default": "plain",
        "description": "How the target is spoken to",
        "examples": ["kind"],
        "type": "string",
    }
    number = {**limits, "description": "How long each arm waits."}
    assert found["spec body"] == {"anyOf": [number, {"type": "null"}], "default": None, "title": "Patience"}
