from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.errors import RunError
from agentdyno.workers.frames import Message, receive, send
from agentdyno.workers.spawn import WorkerStart, spawn, worker_environment
from tests.runner.building import children, descriptors

AGENTS = "agentdyno.agents.hosting.worker"
GIVEN = {"PYTHONHASHSEED": "42"}


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    open_before, children_before = descriptors(), children()
    yield
    assert children() == children_before
    assert descriptors() == open_before


def replies(start: WorkerStart, *messages: Message) -> list[Message | None]:
    """What a fresh worker answers to each message."""
    process, end = spawn(start)
    found = []
    try:
        for message in messages:
            send(end, message)
            found.append(receive(end))
    finally:
        process.close()
        end.close()
    return found


def loading(folder: Path, name: str) -> Message:
    target = {"name": name, "module": "subject"}
    return {"op": "load", "name": "a", "target": target, "also_known": [], "config": {}, "base_dir": str(folder)}


def answering(text: str) -> Message:
    return {"op": "run", "case": {"id": "c", "input": text}}


def test_a_worker_waits_for_messages_and_leaves_when_it_is_told_to() -> None:
    assert replies(WorkerStart(AGENTS), {"op": "close"}) == [{"ok": {"closed": True}}]


def test_the_current_folder_does_not_stand_in_for_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')\n")
    (tmp_path / "agentdyno.py").write_text("raise SystemExit('the wrong package')\n")
    assert replies(WorkerStart(AGENTS, cwd=str(tmp_path)), {"op": "close"}) == [{"ok": {"closed": True}}]


@pytest.mark.parametrize(("given", "expected"), [({}, "7"), ({"PYTHONHASHSEED": "random"}, "7"), (GIVEN, "42")])
def test_a_hash_seed_that_the_user_has_fixed_stays(given: dict[str, str], expected: str) -> None:
    assert worker_environment({"PATH": "/bin", **given}, 7) == {"PATH": "/bin", "PYTHONHASHSEED": expected}
    assert worker_environment(given, None) == given


def test_its_own_path_comes_first_and_the_rest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "subject.py").write_text(
        "import os, sys\n"
        "def answer(text): return [sys.path[1], sys.argv, os.getcwd(), os.environ['PYTHONHASHSEED']]\n"
    )
    start = WorkerStart(AGENTS, cwd=str(tmp_path), sys_path=(str(tmp_path / "given"),), hash_seed=7)
    _, reply = replies(start, loading(tmp_path, "answer"), answering("x"))
    assert reply is not None
    assert reply["ok"]["output"] == [str(tmp_path / "given"), [""], str(tmp_path), "7"]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (WorkerStart(AGENTS, "/no/such/python"), r"cannot start /no/such/python: No such file(.|\n)*path"),
        (WorkerStart(AGENTS, cwd="/no/such/folder"), r"cannot start a worker in /no/such/folder: No such file"),
    ],
    ids=["interpreter", "folder"],
)
def test_what_is_not_there_is_named(start: WorkerStart, message: str) -> None:
    with pytest.raises(RunError, match=message):
        spawn(start)


def test_a_workers_environment_has_a_fixed_hash_seed_and_nothing_that_would_hold_it_up() -> None:
    given = {"PATH": "/bin", "PYTHONSTARTUP": "x", "PYTHONINSPECT": "1"}
    assert worker_environment(given, 2**32 + 5) == {"PATH": "/bin", "PYTHONHASHSEED": "5"}


def test_without_a_hash_seed_that_of_the_environment_stays() -> None:
    assert worker_environment({"PYTHONHASHSEED": "7"}, None) == {"PYTHONHASHSEED": "7"}
    assert worker_environment({}, None) == {}


def test_a_module_that_is_not_there_ends_the_worker_with_a_traceback() -> None:
    process, end = spawn(WorkerStart("agentdyno.workers.no_such_module"))
    try:
        assert process.wait(60.0) == 1
        process.drain()
        assert "No module named 'agentdyno.workers.no_such_module'" in (process.tail() or "")
    finally:
        process.close()
        end.close()
