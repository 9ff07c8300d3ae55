"""A new setting is one line: from it alone it is an option, a key of files, in the JSON Schema and in the API."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# The line that somebody would add to settings/suite.py.
LINE = (
    'suite.POLITENESS = Setting("politeness", ("integer",), default=3, minimum=1, maximum=9, option="--politeness", '
    'example=5, description="How politely each case is put", scopes=SUITE | JOB)'
)
PROGRAM = f"""
import json, sys
from pathlib import Path
from agentdyno.settings import suite
from agentdyno.settings.setting import JOB, SUITE, Setting
{LINE}

from click.testing import CliRunner
from agentdyno.cli.main import dyno
from agentdyno.errors import SpecError
from agentdyno.jobs.submitting import RunOptions
from agentdyno.specs import json_schema, parse_suite, suite_changes
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
print(json.dumps({{
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
