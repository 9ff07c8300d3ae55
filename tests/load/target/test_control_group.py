"""Limits by a control group of the kernel itself, on machines where one may be made (``conftest``)."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from agentdyno.load.target.memory import CGROUPS, MemoryLimit

from .test_process import MIB, obedient

HOW = "control group: memory.max"


def group_of(pid: int) -> Path:
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    return CGROUPS / next(line[4:] for line in lines if line.startswith("0::"))


def test_what_is_held_before_counts_and_more_than_the_limit_ends_the_process() -> None:
    with obedient() as process:
        home = group_of(process.pid)
        process.tell("hold", 50 * MIB)
        limit = MemoryLimit(process.pid)
        allowed = limit.in_use() + 40 * MIB
        in_force = limit.set(allowed)
        assert in_force is not None
        assert allowed - MIB < in_force <= allowed
        assert limit.how == HOW
        made = group_of(process.pid)
        assert made != home
        assert int((made / "memory.max").read_text()) <= 40 * MIB
        assert process.tell("hold", 30 * MIB) == 0
        with pytest.raises((OSError, ValueError, EOFError)):
            process.tell("hold", 200 * MIB)
        assert "oom_kill 1" in (made / "memory.events").read_text().splitlines()
        limit.close()
        assert not made.exists()


def test_less_than_it_held_before_is_not_claimed_and_it_goes_home_in_the_end() -> None:
    with obedient() as process:
        home = group_of(process.pid)
        process.tell("hold", 50 * MIB)
        limit = MemoryLimit(process.pid)
        assert limit.set(round(limit.in_use() * 0.75)) is None
        limit.close()
        assert group_of(process.pid) == home
        assert psutil.Process(process.pid).is_running()
        assert process.tell("hold", 100 * MIB) == 0
