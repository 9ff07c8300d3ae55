"""What ``dyno init`` writes works as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import RunError
from agentdyno.model import Suite
from agentdyno.registry.local import load_file
from agentdyno.specs import load_suite, load_workspace, resolve_agents
from agentdyno.specs.workspace.agents import agent_use
from agentdyno.workbench.starter_project.files import OFFERS
from agentdyno.workbench.starter_project.writing import write_starter

KEYS = {offer.variable: f"value-of-{offer.name}" for offer in OFFERS}


def first_suite(folder: Path, quick: bool = False) -> Suite:
    (name,) = load_workspace(folder).suites
    return load_suite(folder / name, quick=quick).suite


def test_the_files_load_and_belong_together(tmp_path: Path) -> None:
    starter = write_starter(tmp_path / "new", {})
    folder = tmp_path / "new"
    assert [str(path.relative_to(folder)) for path in starter.written] == [
        "dyno.yaml",
        "agent.py",
        "suites/first.yaml",
    ]
    assert (starter.kept, starter.notes) == ((), ())
    workspace = load_workspace(folder)
    assert workspace.run_agents == ("starter",)
    assert list(workspace.agents) == ["starter"]
    (use,) = resolve_agents([agent_use("starter")], workspace)
    assert use.uses == "agent.py@answer"
    suite = first_suite(folder)
    assert sum(len(item.cases) for item in suite.benchmarks) == 12
    assert sum(len(item.cases) for item in first_suite(folder, quick=True).benchmarks) == 4


def test_all_keys_of_the_workspace_are_shown(tmp_path: Path) -> None:
    from agentdyno.specs.workspace.format import WorkspaceFile

    write_starter(tmp_path, {})
    text = (tmp_path / "dyno.yaml").read_text()
    for key in WorkspaceFile.model_fields:
        assert f"\n{key}:" in text or f"\n# {key}:" in text, key


def test_the_agent_gets_most_cases_right_but_not_all(tmp_path: Path) -> None:
    write_starter(tmp_path, {})
    answer = load_file(tmp_path / "agent.py").answer
    cases = [case for item in first_suite(tmp_path).benchmarks for case in item.cases]
    right = [case.id for case in cases if answer(case.input) == case.target]
    assert len(right) == 9
    assert {case.id for case in cases} - set(right) == {"three-numbers", "chile", "word-problem"}


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("mine\n")
    starter = write_starter(tmp_path, {})
    assert starter.kept == (tmp_path / "agent.py",)
    assert "agent.py exists and was left as it is" in starter.notes
    assert (tmp_path / "agent.py").read_text() == "mine\n"
    again = write_starter(tmp_path, KEYS)
    assert (len(again.written), len(again.kept), len(again.notes)) == (0, 3, 3)
    forced = write_starter(tmp_path, {}, force=True)
    assert len(forced.written) == 3
    assert "def answer" in (tmp_path / "agent.py").read_text()


def test_keys_in_the_environment_are_noticed_by_name_alone(tmp_path: Path) -> None:
    starter = write_starter(tmp_path, {**KEYS, "GROQ_API_KEY": " "})
    text = (tmp_path / "dyno.yaml").read_text()
    assert "value-of" not in text + "".join(starter.notes)
    workspace = load_workspace(tmp_path)
    assert workspace.agents["gpt"].env == ("OPENAI_API_KEY",)
    assert workspace.agents["gemma"].uses == "ollama:gemma3"
    assert workspace.run_agents == ("starter",)  # the first run costs nothing
    assert any(note.startswith("ANTHROPIC_API_KEY is set: the agent claude") for note in starter.notes)
    assert not any("GROQ" in note for note in starter.notes)


def test_offers_written_as_comments_load_once_uncommented(tmp_path: Path) -> None:
    write_starter(tmp_path, KEYS)
    path = tmp_path / "dyno.yaml"
    lines = [
        line.replace("  # ", "  ", 1) if line.startswith("  # ") else line for line in path.read_text().split("\n")
    ]
    path.write_text("\n".join(lines))
    agents = load_workspace(tmp_path).agents
    assert set(agents) == {"starter", *(offer.name for offer in OFFERS)}
    assert agents["claude"].config["api_key_env"] == "ANTHROPIC_API_KEY"


def test_a_workspace_above_is_mentioned(tmp_path: Path) -> None:
    (tmp_path / "dyno.yaml").write_text("{}\n")
    (note,) = write_starter(tmp_path / "inner", {}).notes
    assert str(tmp_path / "dyno.yaml") in note


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RunError) as caught:
            write_starter(folder, {})
        assert caught.value.where
        assert caught.value.remedy
