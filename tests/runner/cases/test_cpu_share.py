"""Who used the model server's CPU."""

from __future__ import annotations

import pytest

from agentdyno.runner.cases.throttle import CpuShare


class Server:
    def __init__(self) -> None:
        self.cpu_s = 10.0

    def __call__(self) -> float:
        return self.cpu_s


def test_a_call_alone_gets_all_that_the_server_used_meanwhile_and_nothing_from_before() -> None:
    server = Server()
    share = CpuShare(server)
    share.enter("a")
    server.cpu_s += 0.4
    assert share.leave("a") == pytest.approx(0.4)


def test_calls_that_overlap_share_the_time_in_which_they_overlap() -> None:
    server = Server()
    share = CpuShare(server)
    share.enter("a")
    server.cpu_s += 1.0
    share.enter("b")
    server.cpu_s += 2.0
    first = share.leave("a")
    server.cpu_s += 0.5
    assert [first, share.leave("b")] == pytest.approx([2.0, 1.5])


def test_what_the_server_uses_while_nobody_asks_is_nobodys() -> None:
    server = Server()
    share = CpuShare(server)
    share.enter("a")
    assert share.leave("a") == 0.0
    server.cpu_s += 7.0
    share.enter("b")
    server.cpu_s += 0.1
    assert share.leave("b") == pytest.approx(0.1)
