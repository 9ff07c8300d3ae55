"""Cells: what a command may use, what is known of it afterwards, and that nothing runs without isolation."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentdyno.errors import RunError
from agentdyno.sandbox.final_state import FinalState, NotAsAsked
from agentdyno.sandbox.isolation import CellIsolation, CellLimits, CellRefused, CellResult, Cells


def run(command: str, folder: Path, limits: CellLimits | None = None) -> CellResult:
    async def work() -> CellResult:
        cells = Cells()
        await cells.start()
        try:
            return await cells.run(command, folder, limits)
        finally:
            await cells.close()

    return asyncio.run(work())


def test_what_a_command_reads_writes_and_removes_is_known(tmp_path: Path) -> None:
    for name in ("read.txt", "changed.txt", "removed.txt", "untouched.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.txt").write_text("inner\n")
    result = run("cat read.txt > new.txt; echo more >> changed.txt; rm removed.txt; ls folder; mkdir made", tmp_path)
    assert result.status == 0
    assert set(result.read) == {"read.txt", "folder/"}
    assert {(item.path, item.kind) for item in result.changed} == {
        ("new.txt", "file"),
        ("changed.txt", "file"),
        ("made", "folder"),
    }
    assert result.gone == ("removed.txt",)
    assert result.output == "inner.txt\n"


def test_the_folder_itself_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    run("echo b > a.txt; echo c > c.txt; rm -rf ./*", tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "a\n"}


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    result = run("sleep 60 & sleep 60", tmp_path, CellLimits(time_limit_s=0.3))
    assert (result.status, result.ended_by) == (-9, "time")


def test_cpu_and_memory_are_those_of_the_whole_tree(tmp_path: Path) -> None:
    grow = "python3 -c 'import time; data = bytearray(60 << 20); time.sleep(0.3)'"
    result = run(f"{grow} & {grow} & wait", tmp_path)
    assert result.peak_rss_bytes > 100 << 20  # neither of the two has so much alone
    assert result.cpu_s > 0


def test_memory_is_limited(tmp_path: Path) -> None:
    result = run("python3 -c 'bytearray(200 << 20)'", tmp_path, CellLimits(memory_bytes=100 << 20))
    assert result.status == 1
    assert "MemoryError" in result.output


def test_where_no_isolation_can_be_had_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> CellResult:
        raise CellRefused("no namespaces can be made (Operation not permitted)")

    cells = Cells(CellIsolation.AUTO)
    monkeypatch.setattr(cells, "_run", refused)
    with pytest.raises(RunError) as error:
        asyncio.run(cells.start())
    assert "none is run" in error.value.message
    assert "namespaces: no namespaces can be made" in error.value.message
    assert "bubblewrap" in (error.value.remedy or "")


def test_a_check_reads_plain_files_of_the_folder_alone(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    (folder / "number").write_text(" 42\n")
    state = FinalState(folder)
    assert state.number("number") == 42
    for path in ("link", "../secret", str(secret), "missing"):
        with pytest.raises(NotAsAsked):
            state.text(path)
    assert not state.has("link")
