"""The other side of a suite's run: the same agents at a git revision, or another agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import DynoError, SpecError
from agentdyno.findings.duel.ask import compare_sides
from agentdyno.model import RunResult, Side, Workspace
from agentdyno.runs.kind import Choices
from agentdyno.runs.lineup import Named
from agentdyno.runs.suite.prepare import candidates_of
from agentdyno.runs.suite.sides import SuiteSides, Unchanged, names_agent, two_sides
from agentdyno.specs import load_workspace

from ...command import Bench
from ...suites import Room, statuses
from ...workbench.answering import Answerer

SHOUT = "def answer(text):\n    return text.upper()\n"
WHISPER = "def answer(text):\n    return text.lower()\n"
AGENTS = "agents: {{a: {{use: '{use}'{more}}}}}\n"


@pytest.fixture
def repository(room: Room) -> Room:
    """Agent ``a`` is ``shout.py`` at the first commit, which ``dyno.yaml`` says."""
    write(room, {"shout.py": SHOUT, "dyno.yaml": AGENTS.format(use="shout.py@answer", more="")})
    git(room, "init", "-q", "-b", "main")
    commit(room)
    return room


def write(room: Room, files: dict[str, str]) -> None:
    for name, text in files.items():
        (room.folder / name).write_text(text)


def git(room: Room, *arguments: str) -> None:
    Bench(room.folder).git(*arguments)


def commit(room: Room) -> None:
    git(room, "add", "*.py", "*.yaml")
    git(room, "commit", "-qm", "change")


def sides(room: Room, against: str, *agents: Named) -> SuiteSides:
    workspace = load_workspace(room.folder)
    candidates = candidates_of(room.suite().suite, workspace, Choices(agents or ("a",)))
    return two_sides(candidates, against, workspace, room.folder, lambda _: None)


def measure(room: Room, against: str, *agents: Named) -> RunResult:
    return room.run(room.suite(), *(agents or ("a",)), workspace=load_workspace(room.folder), against=against)


def scores(room: Room, result: RunResult) -> dict[Side | None, float | None]:
    found = compare_sides(result, room.store)
    assert found is not None
    row = found.duels[0].row("accuracy")
    return {Side.BASELINE: row.baseline, Side.CANDIDATE: row.candidate}


def test_both_sides_are_measured_in_one_run_each_with_its_own_code(repository: Room) -> None:
    write(repository, {"shout.py": WHISPER})
    result = measure(repository, "main")
    assert [(arm.side, arm.agent and arm.agent.partition("@")[0]) for arm in result.arms] == [
        (Side.BASELINE, "a"),
        (Side.CANDIDATE, "a"),
    ]
    assert result.arms[0].agent != result.arms[1].agent
    assert scores(repository, result) == {Side.BASELINE: 1.0, Side.CANDIDATE: 0.0}
    assert result.spec.against is not None
    assert result.spec.against.startswith("git:")


def test_a_file_that_was_moved_is_found_where_the_revision_says_it_is(repository: Room) -> None:
    (repository.folder / "shout.py").unlink()
    write(repository, {"moved.py": WHISPER, "dyno.yaml": AGENTS.format(use="moved.py@answer", more="")})
    old, new = sides(repository, "main").entrants
    assert (old.use.uses, new.use.uses) == ("shout.py@answer", "moved.py@answer")
    assert ".dyno/worktrees" in old.use.base_dir
    assert scores(repository, measure(repository, "main")) == {Side.BASELINE: 1.0, Side.CANDIDATE: 0.0}


def test_the_configuration_of_the_revision_counts_and_not_the_one_here(room: Room) -> None:
    script = "import sys\nprint(sys.stdin.read().upper() if sys.argv[1] == 'loud' else 'no', end='')\n"
    write(room, {"say.py": script, "dyno.yaml": AGENTS.format(use="cmd:python say.py loud", more="")})
    git(room, "init", "-q", "-b", "main")
    commit(room)
    write(room, {"dyno.yaml": AGENTS.format(use="cmd:python say.py soft", more="")})
    old, new = sides(room, "main").entrants
    assert (old.use.uses, new.use.uses) == ("cmd:python say.py loud", "cmd:python say.py soft")
    assert old.label != new.label


def test_an_agent_that_the_revision_does_not_have_is_a_clear_mistake(repository: Room) -> None:
    write(repository, {"later.py": SHOUT})
    with pytest.raises(SpecError, match=r"answer does not exist at main \(\w{10}\): there is no later\.py") as caught:
        sides(repository, "main", "later.py@answer")
    assert caught.value.remedy == "Name another revision, or set it against another agent."


def test_a_command_whose_script_the_revision_does_not_have_is_a_clear_mistake(repository: Room) -> None:
    write(repository, {"say.py": "print('hello')\n"})
    with pytest.raises(SpecError, match=r"does not exist at main \(\w{10}\): there is no say\.py"):
        sides(repository, "main", "cmd:python say.py")


def test_an_absolute_path_is_taken_from_the_revision_too(repository: Room) -> None:
    write(repository, {"shout.py": WHISPER})
    whole = f"{repository.folder / 'shout.py'}@answer"
    old, new = sides(repository, "main", whole).entrants
    assert new.use.uses == whole
    assert ".dyno/worktrees" in old.use.uses
    assert scores(repository, measure(repository, "main", whole)) == {Side.BASELINE: 1.0, Side.CANDIDATE: 0.0}
    spoken = f"cmd:python {repository.folder / 'shout.py'}"
    old, new = sides(repository, "main", spoken).entrants
    assert (".dyno/worktrees" in old.use.uses, new.use.uses) == (True, spoken)


def test_sides_that_declare_one_version_are_told_apart_by_the_commit(room: Room) -> None:
    write(room, {"shout.py": SHOUT, "dyno.yaml": AGENTS.format(use="shout.py@answer", more=", version: '1.0'")})
    git(room, "init", "-q", "-b", "main")
    commit(room)
    write(room, {"shout.py": WHISPER})
    old, new = sides(room, "main").entrants
    assert new.label == "a@1.0"
    assert old.label.startswith("a@1.0~")
    assert len(old.label) == len("a@1.0~") + 7
    assert scores(room, measure(room, "main")) == {Side.BASELINE: 1.0, Side.CANDIDATE: 0.0}


def test_what_has_not_changed_is_not_measured(repository: Room) -> None:
    with pytest.raises(Unchanged, match="nothing to measure: a@") as caught:
        measure(repository, "main")
    assert caught.value.sides.entrants == ()
    assert repository.store.runs.newest() == []
    write(repository, {"other.py": WHISPER})
    write(repository, {"dyno.yaml": "agents: {a: {use: shout.py@answer}, b: {use: other.py@answer}}"})
    commit(repository)
    write(repository, {"other.py": SHOUT})
    found = sides(repository, "main", "a", "b")
    assert found.unchanged == (), "a change anywhere in the repository may be read by an agent while it runs"
    assert len(found.entrants) == 4


def test_another_agent_can_be_the_other_side(repository: Room) -> None:
    write(repository, {"soft.py": WHISPER})
    result = measure(repository, "soft.py@answer")
    assert [arm.side for arm in result.arms] == [Side.BASELINE, Side.CANDIDATE]
    assert scores(repository, result) == {Side.BASELINE: 0.0, Side.CANDIDATE: 1.0}
    assert result.spec.against == "agent:soft.py@answer"
    found = sides(repository, "a", "soft.py@answer", "a")
    assert [(item.side, item.use.name) for item in found.entrants] == [
        (Side.BASELINE, "a"),
        (Side.CANDIDATE, "answer"),
    ]
    itself = sides(repository, "a", "a")
    assert (itself.entrants, len(itself.unchanged)) == ((), 1)


def test_functions_of_this_program_have_one_revision_only(repository: Room) -> None:
    with pytest.raises(SpecError, match="function of this program"):
        sides(repository, "main", Answerer("mine"))
    found = sides(repository, "a", Answerer("mine"))
    assert [item.label.partition("@")[0] for item in found.entrants] == ["a", "mine"], (
        "but can be set against an agent"
    )


@pytest.mark.parametrize(
    ("against", "said"),
    [
        ("nowhere", "git knows no revision 'nowhere'"),
        ("temperature=0", "neither an agent nor a git revision"),
        ("git:a", "git knows no revision 'a'"),
    ],
)
def test_what_is_neither_an_agent_nor_a_revision_is_refused(repository: Room, against: str, said: str) -> None:
    with pytest.raises(DynoError, match=said):
        sides(repository, against)


def test_outside_a_repository_only_agents_can_be_named(room: Room) -> None:
    write(room, {"shout.py": SHOUT, "dyno.yaml": AGENTS.format(use="shout.py@answer", more="")})
    with pytest.raises(SpecError, match="not in a git repository"):
        sides(room, "main")


def test_a_run_with_two_sides_is_resumed_with_both(repository: Room) -> None:
    gate = repository.folder / "mended"
    check = f"    from pathlib import Path\n    if not Path({str(gate)!r}).exists():\n        raise RuntimeError\n"
    write(repository, {"shout.py": SHOUT.replace(":\n", ":\n" + check)})
    commit(repository)
    write(repository, {"shout.py": WHISPER.replace(":\n", ":\n" + check)})
    cut = measure(repository, "main")
    assert all(set(found) <= {"error", "cancelled"} for found in statuses(cut).values())
    gate.touch()
    done = repository.resume(cut, retry_errors=True, workspace=load_workspace(repository.folder))
    assert [arm.arm_id for arm in done.arms] == [arm.arm_id for arm in cut.arms]
    assert scores(repository, done) == {Side.BASELINE: 1.0, Side.CANDIDATE: 0.0}


def test_a_text_names_an_agent_only_where_it_can_be_run() -> None:
    assert not names_agent("main", Workspace())
    assert not names_agent("git:main", Workspace())
    assert not names_agent("missing.py@answer", Workspace())
    assert names_agent("openai:some-model", Workspace())


def test_a_revision_is_checked_out_once(repository: Room) -> None:
    write(repository, {"shout.py": WHISPER})
    first, second = (sides(repository, "main").entrants[0].use.base_dir for _ in range(2))
    assert first == second
    assert Path(first, "shout.py").read_text() == SHOUT
