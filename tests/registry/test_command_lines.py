"""A command where a name belongs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.agents.resolve import parse_agent
from agentdyno.errors import PluginError
from agentdyno.registry.command_lines import command_in
from agentdyno.runs.experiment.resolve import experiment_code
from agentdyno.specs import parse_spec


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("cmd:sleep 0.1", "sleep 0.1"),
        ("sleep 0.1", "sleep 0.1"),
        ("sleep", "sleep"),
        ("pyhton agent.py", "pyhton agent.py"),
        ("retrieval", ""),
        ("https://example.org/a b", ""),
        ("my folder/agent.py@answer", ""),
        ("", ""),
    ],
)
def test_a_command_is_told_from_a_name(text: str, command: str) -> None:
    assert command_in(text) == command


@pytest.mark.parametrize("text", ["cmd:sleep 0.1", "sleep 0.1"])
def test_an_experiment_that_is_a_command_is_answered_with_what_to_type(text: str, tmp_path: Path) -> None:
    spec = parse_spec({"experiment": text}, source="here", base_dir=tmp_path)
    with pytest.raises(PluginError, match=r"dyno time 'sleep 0\.1'") as caught:
        experiment_code(text, spec)
    assert "'cmd:sleep 0.1'" in str(caught.value)


def test_an_agent_that_is_a_command_is_answered_with_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"'cmd:python agent\.py'"):
        parse_agent("python agent.py", {}, tmp_path)
