"""One process at a time executes a run, also where one ends while the next begins."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from agentdyno.errors import RunError
from agentdyno.runs.ownership import OWNER, is_executed, owned

ELSEWHERE = """
import sys
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.runs.ownership import owned

try:
    with owned(Path(sys.argv[1]), "run", leased=False):
        print("mine as well")
except RunError as error:
    print(error.message)
"""


def elsewhere(folder: Path) -> str:
    """What another process is told that wants the run."""
    command = [sys.executable, "-c", ELSEWHERE, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_another_process_is_refused_until_the_first_has_let_go(tmp_path: Path) -> None:
    with owned(tmp_path, "run", leased=False):
        assert elsewhere(tmp_path).startswith("run run is being executed right now, by process ")
    assert elsewhere(tmp_path) == "mine as well"
    assert not is_executed(tmp_path)


def test_who_begins_while_another_ends_has_the_file_that_the_next_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ends takes its file away. A lock on that one would keep nobody out."""
    lock, ended = fcntl.lockf, list[bool]()

    def after_the_other_has_ended(file: IO[str], how: int) -> None:
        if not ended:
            ended.append(True)
            (tmp_path / OWNER).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "lockf", after_the_other_has_ended)
    with owned(tmp_path, "run", leased=False):
        assert "is being executed right now" in elsewhere(tmp_path)


def test_where_the_folder_cannot_be_made_there_is_no_lock_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with owned(tmp_path / "file", "run", leased=False):
        pass
    with pytest.raises(RunError, match="of the block"), owned(tmp_path / "file", "run", leased=False):
        raise RunError("of the block")
