"""The agents of a run: found by name, reference or object, each with its version."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import DynoError, SpecError
from agentdyno.model import AgentUse, Workspace
from agentdyno.runs.lineup import IN_PROCESS, Maker, find_agent, find_judge, line_up, told_apart
from agentdyno.specs import load_workspace

WORKSPACE = """
agents:
  mine: {use: agent.py@answer, version: "3", config: {style: loud}}
  swept: {use: "openai:m", config: {base_url: "http://127.0.0.1:9"}, sweep: {temperature: [0, 1]}}
  here: {use: "openai:m", config: {base_url: local}}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "agent.py").write_text("def answer(text, style='plain'): return text\ndef other(text): return text\n")
    (tmp_path / "dyno.yaml").write_text(WORKSPACE)
    return load_workspace(tmp_path)


def inside(text: str) -> str:
    return text


def test_names_references_and_functions_line_up_in_their_order(workspace: Workspace) -> None:
    folder = Path(workspace.base_dir)
    entrants = line_up(["swept", "agent.py@other", inside, "mine"], workspace, folder)
    assert [entrant.use.name for entrant in entrants][2:] == ["other", "inside", "mine"]
    assert [entrant.use.config["temperature"] for entrant in entrants[:2]] == [0, 1]
    assert entrants[-1].label == "mine@3"
    assert entrants[3].use.uses.startswith(IN_PROCESS)
    assert entrants[3].target is inside
    assert len({entrant.label for entrant in entrants}) == 5


def test_without_a_declared_version_the_content_is_the_version(workspace: Workspace) -> None:
    folder = Path(workspace.base_dir)
    (before,) = line_up(["agent.py@other"], workspace, folder)
    assert before.use.version is None, "what nobody declared is worked out again next time"
    assert len(before.version.version) == 12
    (folder / "agent.py").write_text("def other(text): return text + '!'\n")
    (after,) = line_up(["agent.py@other"], workspace, folder)
    assert after.label != before.label


def test_configuration_beside_a_name_goes_first(workspace: Workspace) -> None:
    use = AgentUse("quiet", "mine", config={"style": "quiet"})
    (entrant,) = line_up([use], workspace, Path(workspace.base_dir))
    assert (entrant.use.name, entrant.use.config) == ("quiet", {"style": "quiet"})


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (["mine", "mine"], "mine@3 takes part twice"),
        (["min"], "unknown agent 'min'.*Did you mean mine"),
        (["mine@4"], "version 3, not 4"),
        (["agent.py"], "does not say which agent is meant"),
        (["nobody.py@x"], "no file nobody.py"),
    ],
)
def test_what_cannot_take_part_is_told(workspace: Workspace, named: list[str], words: str) -> None:
    with pytest.raises(DynoError, match=f"(?s){words}"):
        line_up(named, workspace, Path(workspace.base_dir))


def test_a_judge_is_one_agent_and_the_one_to_try_is_the_first(workspace: Workspace) -> None:
    folder = Path(workspace.base_dir)
    assert find_agent("swept", workspace, folder).config["temperature"] == 0
    assert find_judge("mine", workspace, folder).label == "mine@3"
    with pytest.raises(SpecError, match="swept stands for 2 agents"):
        find_judge("swept", workspace, folder)


def test_the_address_of_the_local_model_is_put_in_and_not_recorded(workspace: Workspace) -> None:
    (entrant,) = line_up(["here"], workspace, Path(workspace.base_dir))
    assert entrant.wants_local_model
    agent = entrant.make(Maker(1, local_url="http://127.0.0.1:4242/v1"), None)
    assert entrant.use.config["base_url"] == "local"
    assert agent.paid is False
    assert agent.name == "here"


class Named:
    name = "oracle"

    def run(self, case: object) -> object:
        return case


def test_names_of_the_project_and_of_objects_are_identities_and_all_else_is_where_it_comes_from(
    workspace: Workspace,
) -> None:
    folder = Path(workspace.base_dir)
    entrants = line_up(["mine", "agent.py@answer", "cmd:cat", inside, Named(), "swept"], workspace, folder)
    assert [entrant.use.identity for entrant in entrants] == [
        "name:mine",
        "agent.py@answer",
        "cmd:cat",
        f"{__name__}:inside",
        "name:oracle",
        "name:swept temperature=0",
        "name:swept temperature=1",
    ]


def test_an_agent_that_is_lined_up_again_keeps_the_identity_it_began_with(workspace: Workspace) -> None:
    folder = Path(workspace.base_dir)
    (first,) = line_up(["agent.py@answer"], workspace, folder)
    (folder / "dyno.yaml").unlink()
    (again,) = line_up([first.use], Workspace(), folder / "below")
    assert (again.use.identity, again.label) == ("agent.py@answer", first.label)


def test_agents_of_one_run_are_told_apart_without_a_store(workspace: Workspace) -> None:
    folder = Path(workspace.base_dir)
    (folder / "second.py").write_text("def answer(text): return 'x'\n")
    entrants = line_up(["agent.py@answer", "second.py@answer", "mine"], workspace, folder)
    uses = told_apart(entrants, None)
    assert [use.label or use.name for use in uses] == ["agent.answer", "second.answer", "mine"]
    assert [use.at_version for use in uses] == [entrant.version.version for entrant in entrants]
