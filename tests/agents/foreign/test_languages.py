"""The examples of the protocol's page, each put through the protocol."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agentdyno.agents.foreign.agent import ForeignAgent, ProgramLimits, ProgramSetting
from agentdyno.agents.foreign.conformance import check_conformance
from agentdyno.model.case import Case
from tests.agents.place import VARIABLE, Place, answers, output

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "agent-protocol.md"
EXAMPLES = dict(re.findall(r"this\s+as\s+`(agent\.\w+)`:\n\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
BUILD = {
    "agent.rs": ("rustc", "-C", "opt-level=1", "agent.rs", "-o", "agent"),
    "agent.go": ("go", "build", "-o", "agent", "agent.go"),
}
RUN = {"agent.py": ("python3", "agent.py"), "agent.sh": ("sh", "agent.sh"), "agent.mjs": ("node", "agent.mjs")}


@pytest.mark.parametrize("name", ["agent.py", "agent.sh", "agent.mjs", "agent.rs", "agent.go"])
def test_every_example_keeps_to_the_protocol_and_answers_what_it_was_asked(place: Place, name: str) -> None:
    place.write(name, EXAMPLES[name])
    if name in BUILD:
        assert shutil.which(BUILD[name][0]), "scripts/compilers.sh installs it"
        environ = {**place.environ, "GOCACHE": str(place.folder / "cache"), "GO111MODULE": "off"}
        subprocess.run(BUILD[name], cwd=place.folder, env=environ, check=True, capture_output=True)
    agent = program(place, RUN.get(name, ("./agent",)))
    (answer,) = answers(program(place, RUN.get(name, ("./agent",))), Case("c", 'A "text"\nof two lines, ßß'))
    assert output(answer) == 'A "text"\nof two lines, ßß'
    checks = asyncio.run(check_conformance(agent))
    assert {check.name: check.problem for check in checks if check.problem is not None} == {}
    assert len(checks) >= 11


def program(place: Place, argv: tuple[str, ...]) -> ForeignAgent:
    setting = ProgramSetting(str(place.folder), (VARIABLE,), place.environ)
    return ForeignAgent("subject", argv, setting=setting, limits=ProgramLimits(programs=8))


def test_what_breaks_the_protocol_is_named(place: Place) -> None:
    text = EXAMPLES["agent.py"].replace('    elif "close" in message:\n        break', "    else:\n        break")
    place.write(
        "agent.py", text.replace("for word in", 'assert "\\r" not in message["run"]["input"]\n        for word in')
    )
    checks = asyncio.run(check_conformance(program(place, ("python3", "agent.py"))))
    broken = {check.name: check.problem for check in checks if check.problem is not None}
    assert broken == {
        "answers a text with line breaks of every kind": "ended its process with status 1",
        "answers after a message that it does not know": "ended its process with status 0",
    }
