"""Less memory for a real process: what it can still have, and that the limit goes away again."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from agentdyno.errors import RunError
from agentdyno.load.target.ballast import Ballast
from agentdyno.load.target.memory import BallastLimit, GroupLimit, MemoryLimit, ResourceLimit, resource_limit_bites

from .test_process import MIB, obedient

MB = 1_000_000


def test_a_process_gets_no_more_than_is_left_and_everything_again_afterwards(tmp_path: Path) -> None:
    with obedient() as process:
        limit = MemoryLimit(process.pid, cgroups=tmp_path)
        assert limit.in_use() > 1 * MB
        allowed = limit.in_use() + 60 * MB
        assert limit.set(allowed) == allowed
        assert limit.how == "resource limit: RLIMIT_DATA"
        assert process.tell("hold", 65 * MB) == -1
        assert process.tell("hold", 20 * MB) == 0
        assert process.tell("hold", 45 * MB) == -1
        assert limit.set(None) is None
        assert limit.how == ""
        assert process.tell("hold", 200 * MB) == 0


def test_children_are_limited_and_counted_too(tmp_path: Path) -> None:
    with obedient() as process:
        limit = MemoryLimit(process.pid, cgroups=tmp_path)
        alone = limit.in_use()
        process.tell("child", 30 * MB)
        assert limit.in_use() - alone > 30 * MB
        limit.set(limit.in_use() + MB)
        (child,) = psutil.Process(process.pid).children()
        assert child.rlimit(psutil.RLIMIT_DATA)[0] > 0
        limit.set(None)
        assert child.rlimit(psutil.RLIMIT_DATA)[0] == -1


def test_the_measuring_process_and_one_that_is_not_there_are_refused() -> None:
    with pytest.raises(RunError, match="measuring process"):
        MemoryLimit(os.getpid())
    with obedient() as process:
        process.end()
    with pytest.raises(RunError, match="no process"):
        MemoryLimit(process.pid)


def test_a_process_that_ends_meanwhile_uses_nothing_and_is_not_limited(tmp_path: Path) -> None:
    with obedient() as process:
        limit = MemoryLimit(process.pid, cgroups=tmp_path)
        process.end()
        assert limit.in_use() == 0
        assert limit.set(10 * MB) is None
        assert limit.how == ""
        limit.close()


def group(folder: Path, controllers: str) -> Path:
    """A folder as the kernel would show it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.subtree_control").write_text(controllers + "\n")
    (folder / "cgroup.procs").write_text("")
    return folder


@pytest.mark.parametrize("parent", ["app", "app/scope"])
def test_a_control_group_is_made_where_memory_can_be_limited(
    tmp_path: Path, parent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, proc = tmp_path / "cgroups", tmp_path / "proc"
    group(root / "app", "cpu memory" if parent == "app" else "cpu")
    home = group(root / "app" / "scope", "memory" if parent == "app/scope" else "")
    with obedient() as process:
        (proc / str(process.pid)).mkdir(parents=True)
        (proc / str(process.pid) / "cgroup").write_text("4:memory:/elsewhere\n0::/app/scope\n")
        limit = MemoryLimit(process.pid, cgroups=root, proc=proc)
        monkeypatch.setattr(limit, "in_use", lambda: 14 * MB)
        assert limit.set(64 * MB) == 64 * MB
        assert limit.how == "control group: memory.max"
        made = root / parent / f"dyno-{process.pid}"
        assert (made / "memory.max").read_text() == "50000000"  # what it held before is not on the group's account
        assert (made / "cgroup.procs").read_text() == str(process.pid)
        assert limit.set(None) is None
        assert (made / "memory.max").read_text() == "max"
        limit.set(14 * MB)
        assert limit.how != "control group: memory.max"
        assert (made / "memory.max").read_text() == "max"
        limit.close()
        assert (home / "cgroup.procs").read_text() == str(process.pid)


def test_where_no_group_may_be_made_the_next_means_is_tried(tmp_path: Path) -> None:
    with obedient() as process:
        own = psutil.Process(process.pid)
        for text in ("", "0::/\n", "5:memory:/x\n"):
            folder = tmp_path / str(process.pid)
            folder.mkdir(exist_ok=True)
            (folder / "cgroup").write_text(text)
            with pytest.raises(OSError, match="control group"):
                GroupLimit(own, tmp_path / "none", tmp_path).set(MB, 0)
        assert ResourceLimit(own).set(None, 0) is None


def test_ballast_holds_what_it_is_told_and_gives_it_back() -> None:
    ballast = Ballast()
    try:
        before = psutil.Process(ballast.pid).memory_info().rss
        assert ballast.hold(30 * MB) == 30 * MB
        assert psutil.Process(ballast.pid).memory_info().rss > 30 * MB
        assert ballast.hold(0) == 0
        assert psutil.Process(ballast.pid).memory_info().rss < before + 30 * MB
    finally:
        ballast.close()
    with pytest.raises(RunError, match="ballast"):
        ballast.hold(1)


def test_ballast_says_what_is_really_left_and_takes_no_more_than_it_may() -> None:
    means = BallastLimit(20 * MB)
    try:
        left = means.set(MB, 5 * MB)
        assert left is not None
        assert left > 5 * MB  # twenty megabytes are not all that the machine has
        assert means._held == 20 * MB
        assert means.set(None, 0) is None
        assert means._held == 0
        assert BallastLimit(20 * MB).set(1 << 60, 0) is None
    finally:
        means.close()


def test_a_resource_limit_below_what_is_held_is_not_claimed() -> None:
    with obedient() as process:
        process.tell("hold", 50 * MIB)
        limit = MemoryLimit(process.pid, cgroups=Path("/nowhere"))
        used = limit.in_use()
        assert limit.set(round(used * 0.75)) is None
        assert limit.how == ""
        assert limit.set(used + 20 * MIB) == used + 20 * MIB
        assert limit.how == "resource limit: RLIMIT_DATA"
        assert process.tell("hold", 100 * MIB) == -1
        limit.close()


def test_a_limit_is_known_to_bite_before_it_is_relied_on() -> None:
    assert resource_limit_bites()
