"""Where agents come from: the same text from every folder, checkout and start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.agents.origin import identity_of
from agentdyno.agents.references import label_of, locate
from agentdyno.model import AgentUse


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with agents in two folders."""
    root = tmp_path / "checkout"
    (root / ".git").mkdir(parents=True)
    (root / "bots").mkdir()
    for file in ("triage.py", "bots/triage.py"):
        (root / file).write_text("def answer(text): return text\n")
    for file in ("agent.sh", "bots/agent.mjs"):
        (root / file).write_text("")
    return root


def identity(uses: str, folder: Path, *, name: str = "", given: bool = False, **config: object) -> str:
    use = AgentUse(name or label_of(uses), uses, base_dir=str(folder), config=config)
    return identity_of(use, locate(use), given=given)


def test_a_file_is_a_path_of_the_project_from_whatever_folder_it_is_named(project: Path) -> None:
    assert identity("triage.py@answer", project) == "triage.py@answer"
    assert identity("bots/triage.py@answer", project) == "bots/triage.py@answer"
    assert identity("triage.py@answer", project / "bots") == "bots/triage.py@answer"
    assert identity("../triage.py@answer", project / "bots") == "triage.py@answer"
    assert identity(f"{project}/triage.py@answer", project / "bots") == "triage.py@answer"


def test_the_folder_of_dyno_yaml_goes_before_that_of_the_repository(project: Path) -> None:
    (project / "bots" / "dyno.yaml").write_text("")
    assert identity("bots/triage.py@answer", project) == "triage.py@answer"


def test_without_a_project_paths_start_where_the_user_is(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("def answer(text): return text\n")
    (tmp_path / "below").mkdir()
    assert identity("agent.py@answer", tmp_path) == "agent.py@answer"
    assert identity("../agent.py@answer", tmp_path / "below") == f"{tmp_path.resolve()}/agent.py@answer"


def test_a_command_is_its_line_with_files_as_paths_of_the_project(project: Path) -> None:
    assert identity("cmd:./agent.sh", project) == "cmd:agent.sh"
    assert identity("cmd:node bots/agent.mjs", project) == "cmd:node bots/agent.mjs"
    assert identity("cmd:node agent.mjs", project / "bots") == "cmd:node bots/agent.mjs"
    assert identity("cmd:node agent.mjs", project, cwd="bots") == "cmd:node bots/agent.mjs"
    assert identity("stdio:node agent.mjs --fast", project / "bots") == "stdio:node bots/agent.mjs --fast"
    assert identity("cmd:cat", project) == "cmd:cat"


def test_an_endpoint_is_its_model_and_its_place(project: Path) -> None:
    assert identity("openai:small", project) == "openai:small"
    assert identity("openai:small", project, base_url="https://example.org/v1/") == "openai:small at example.org/v1"
    assert identity("openai:", project, name="large", model="large") != identity("openai:small", project)
    assert identity("http://me:secret@example.org/chat", project) == "http://example.org/chat"
    assert identity("a2a:https://example.org/agent", project) == "a2a:https://example.org/agent"


def test_a_passing_port_of_this_machine_is_no_part_of_an_identity(project: Path) -> None:
    passing = {identity("openai:m", project, base_url=f"http://127.0.0.1:{port}/v1") for port in (40_001, 55_555)}
    assert passing == {"openai:m at 127.0.0.1/v1"}
    assert identity("openai:m", project, base_url="http://127.0.0.1:8000/v1") == "openai:m at 127.0.0.1:8000/v1"


def test_a_name_that_somebody_gave_is_the_identity_wherever_the_file_is(project: Path) -> None:
    assert identity("triage.py@answer", project, name="triage") == "name:triage"
    assert identity("bots/triage.py@answer", project, name="triage") == "name:triage"
    assert identity("triage.py@answer", project, given=True) == "name:answer"


def test_settings_of_a_sweep_make_agents_of_their_own(project: Path) -> None:
    assert identity("triage.py@answer", project, name="answer t=0") == "triage.py@answer | t=0"


def test_a_workflow_is_another_agent_than_its_planner(project: Path) -> None:
    assert identity("workflow:triage.py@answer", project) == "workflow:triage.py@answer"


def test_what_an_agent_is_configured_to_do_is_no_part_of_its_identity(project: Path) -> None:
    use = AgentUse("answer", "triage.py@answer", base_dir=str(project), config={"style": "loud"})
    quiet = replace(use, config={"style": "quiet"})
    assert identity_of(use, locate(use), given=False) == identity_of(quiet, locate(quiet), given=False)
