"""How much of a core a client had in each window, and how long it waited for one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentdyno.load.windows import core
from agentdyno.load.windows.core import CoreShare, CoreTimes, HeldTime, with_core
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.load import Window

S = 1_000_000_000


def window() -> Window:
    return Window(0, "load", "steady", 0.0, 1.0)


def test_a_short_burst_of_work_is_a_small_share_of_its_window() -> None:
    """What counts is the whole window: a tenth of a second of work is a tenth of it, however dense it was."""
    seen = CoreTimes()
    for at_ns, used_ns in ((0, 0), (S // 2, 0), (6 * S // 10, S // 10), (S, S // 10), (2 * S, S // 10)):
        seen.add(at_ns, used_ns, used_ns // 2)
    assert seen.between(0, S) == pytest.approx((0.1, 0.05))
    assert seen.between(S, 2 * S) == pytest.approx((0.0, 0.0))


def test_what_was_not_told_of_is_not_known() -> None:
    seen = CoreTimes()
    assert seen.between(0, S) is None
    seen.add(0, 0, 0)
    assert seen.between(0, S) is None
    seen.add(S, S // 2, 0)
    assert seen.between(5 * S, 6 * S) is None


def test_of_several_clients_the_one_that_needed_most_is_told() -> None:
    told = with_core(window(), [CoreShare(0.7, 0.0), None, CoreShare(0.6, 0.35)])
    assert (told.client_cpu, told.client_held) == (0.6, 0.35)
    assert from_plain(Window, to_plain(told)) == told
    assert with_core(window(), [None]) == window()
    assert "client_held" not in to_plain(window())


def test_waiting_for_a_core_is_counted_where_the_kernel_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldTime()
    assert held.so_far_ns() >= 0
    assert (held.so_far_ns() > 0) <= sys.platform.startswith("linux")
    held.close()
    assert held.so_far_ns() == 0
    for name, content, expected in (("none", None, 0), ("empty", "", 0), ("told", "75632 2227730 2\n", 2227730)):
        if content is not None:
            (tmp_path / name).write_text(content)
        monkeypatch.setattr(core, "_QUEUE", str(tmp_path / name))
        held = HeldTime()
        assert held.so_far_ns() == expected
        held.close()
