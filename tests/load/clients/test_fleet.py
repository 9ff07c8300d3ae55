"""Clients at workers that listen: one schedule, one set of windows, and a name for whoever is to blame."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from agentdyno.errors import RunError
from agentdyno.findings.stress.judge_steps import judge, merge_windows
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.clients.fleet import Fleet, Shipped
from agentdyno.load.clients.handshake import TOKEN, connect, send_line
from agentdyno.load.clients.remote import KEY_MARK, KeeperLink, with_key, without_key
from agentdyno.load.plan.material import Materials
from agentdyno.load.plan.orders import StepOrder
from agentdyno.load.windows.collect import WindowBuilder
from agentdyno.load.windows.records import NAME, read_raw
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Stage, Step, Window
from agentdyno.runs.cluster.listening import ClientListener
from agentdyno.runs.load.clients import greeted
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

SECRET = "a token of some length"
OPTIONS = LoadOptions(prompt="go", window_s=0.1, timeout_s=10.0, connections=40)
KEY = "sk-123456"


@contextmanager
def listening(environ: dict[str, str]) -> Iterator[str]:
    listener = ClientListener("127.0.0.1:0", environ)
    stop = threading.Event()
    thread = threading.Thread(target=listener.serve, args=(stop,))
    thread.start()
    try:
        yield listener.address
    finally:
        stop.set()
        thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with listening({TOKEN: SECRET, "MODEL_KEY": "sk-of-the-worker"}) as found:
        yield found


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(output_tokens=3)) as running:
        yield running


def target(server: RunningServer) -> LoadTarget:
    return LoadTarget("sim", Dialect.OPENAI, server.openai_url, model="m", key_env="MODEL_KEY")


@contextmanager
def fleet_of(address: str, count: int, shipped: Shipped | None = None) -> Iterator[tuple[Fleet, list[KeeperLink]]]:
    with ExitStack() as stack:
        links = [greeted(connect(address, SECRET, "--clients"), f"host{number}") for number in range(count)]
        fleet = Fleet(links, shipped)
        stack.callback(fleet.close)
        yield fleet, links


def steady(name: str, rate: float, seconds: float) -> Step:
    return Step(name, (Stage("steady", seconds, rate=rate),), Arrivals.POISSON, seed=5, drain_s=3.0)


def test_four_clients_ask_one_schedule_and_their_windows_are_those_of_all_rows_together(
    server: RunningServer, address: str, tmp_path: Path
) -> None:
    step = steady("load", 200, 0.6)
    with fleet_of(address, 4) as (fleet, _):
        driver = HttpDriver(target(server), OPTIONS, artifacts=tmp_path, source=fleet)
        driver.open()
        server.reset()
        windows = list(driver.run(step))
        seen = driver.observed()
        driver.close()
    rows = read_raw(tmp_path / NAME)
    planned = Materials(target(server), OPTIONS).of(step).schedule
    assert sorted(rows["due"].tolist()) == planned.due_ns.tolist()
    assert server.stats().outcomes == {"ok": len(planned)}
    for number in range(4):
        mine = np.sort(rows["due"][rows["process"] == number]).tolist()
        assert mine == planned.part(number, 4).due_ns.tolist()
    together = WindowBuilder(step, OPTIONS.window_s)
    together.add(rows, np.zeros(int(rows["gaps"].sum()), np.int64))
    for window, expected in zip(windows, together.finish(), strict=True):
        for name in (
            "asked",
            "sent",
            "late",
            "completed",
            "outcomes",
            "output_tokens",
            "received_bytes",
            "in_flight",
        ):
            assert getattr(window, name) == getattr(expected, name), name
        for name in ("latency", "service", "ttft", "queued_ttft", "tpot", "lag"):
            assert getattr(window, name) == getattr(expected, name), name
        assert window.clients is not None
        assert list(window.clients) == [f"client {number} (host{number})" for number in range(4)]
        assert sum(part.asked for part in window.clients.values()) == window.asked
        assert sum(part.lag.count for part in window.clients.values()) == window.lag.count
        assert from_plain(Window, to_plain(window)) == window
    told = seen["clients"]
    assert isinstance(told, list)
    assert [one["name"] for one in told] == ["host0", "host1", "host2", "host3"]
    assert all(0 < one["clock_error_s"] < 1 and one["clock_moved_s"] >= 0 for one in told)


def test_what_a_closed_loop_keeps_in_flight_is_divided(server: RunningServer, address: str) -> None:
    slow = LoadTarget(
        "sim", Dialect.OPENAI, server.openai_url, model="m", headers={"x-dyno-behaviour": "ttft_s=5;output_tokens=1"}
    )
    step = Step("loop", (Stage("steady", 0.8, concurrency=7),), Arrivals.CLOSED, drain_s=0.05)
    with fleet_of(address, 3) as (fleet, _):
        driver = HttpDriver(slow, LoadOptions(prompt="go", window_s=0.8), source=fleet)
        driver.open()
        (window,) = driver.run(step)
        driver.close()
    assert (window.asked, window.in_flight) == (7, 7)
    assert sorted(part.asked for part in (window.clients or {}).values()) == [2, 2, 3]


def test_a_client_that_dies_makes_the_step_partial_and_is_named_and_the_next_step_is_done_by_the_others(
    server: RunningServer, address: str
) -> None:
    with fleet_of(address, 3) as (fleet, _):
        driver = HttpDriver(target(server), OPTIONS, source=fleet)
        driver.open()
        running = driver.run(steady("first", 50, 600.0))
        windows = [next(running)]
        clients_running()[1].kill()
        while not lost_in(windows[-1]):
            windows.append(next(running))
        windows.append(next(running))  # the others go on
        running.close()
        after = list(driver.run(steady("second", 150, 0.3)))
        seen = driver.observed()
        driver.close()
    assert not lost_in(windows[0])
    ((name, why),) = lost_in(windows[-1]).items()
    assert why.startswith(f"{name} was lost: ")
    assert "died (status -9)" in why
    judged = judge(merge_windows(windows), ())
    assert judged.met is None, "a step whose load was not as planned says nothing about the target"
    assert judged.client.startswith(name)
    planned = Materials(target(server), OPTIONS).of(steady("second", 150, 0.3)).schedule
    assert sum(window.asked for window in after) == len(planned)
    assert [len(window.clients or {}) for window in after] == [2, 2, 2]
    assert isinstance(seen["lost_clients"], dict)
    assert len(seen["lost_clients"]) == 1


def test_the_last_client_that_is_lost_ends_the_load(server: RunningServer, address: str) -> None:
    with fleet_of(address, 1) as (fleet, links):
        driver = HttpDriver(target(server), OPTIONS, source=fleet)
        driver.open()
        running = driver.run(steady("first", 100, 1.0))
        next(running)
        links[0].pipe.socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(RunError, match="no load client is left: host0 was lost: the connection has ended"):
            list(running)
        driver.close()


def test_stopping_ends_the_clients_there(server: RunningServer, address: str) -> None:
    with fleet_of(address, 2) as (fleet, _):
        driver = HttpDriver(target(server), OPTIONS, source=fleet)
        driver.open()
        running = driver.run(steady("long", 50, 600.0))
        next(running)
        running.close()
        assert len(clients_running()) == 2
        driver.close()
        assert clients_running() == []
        assert fleet.count == 2


def test_the_key_of_the_target_stays_here_and_the_worker_s_own_is_used(server: RunningServer) -> None:
    materials = Materials(target(server), OPTIONS, key=KEY)
    made = materials.of(steady("s", 10, 1.0))
    order = StepOrder(
        steady("s", 10, 1.0), made.schedule.due_ns, made.schedule.stage, made.schedule.request, made.wire
    )
    sent = without_key(order, KEY)
    assert sent.wire is not None
    assert not any(KEY.encode() in request for request in sent.wire)
    assert all(f"Bearer {KEY_MARK}\r\n".encode() in request for request in sent.wire)
    assert with_key(sent, KEY).wire == order.wire


def test_a_worker_without_the_key_says_so(server: RunningServer) -> None:
    shipped = Shipped(key_env="MODEL_KEY", key=KEY)
    with listening({TOKEN: SECRET}) as without, fleet_of(without, 1, shipped) as (fleet, _):
        driver = HttpDriver(target(server), OPTIONS, source=fleet)
        with pytest.raises(RunError, match="MODEL_KEY, the variable with the key of the target, is not set on"):
            driver.open()


def test_a_file_that_has_not_arrived_or_is_another_is_said_before_anything_is_sent(
    server: RunningServer, address: str
) -> None:
    for shipped, said in (
        (Shipped(digests={"/ca.pem": "0" * 64}), "/ca.pem has not arrived"),
        (Shipped({"/ca.pem": b"x"}, {"/ca.pem": "0" * 64}), "/ca.pem has arrived with another content"),
    ):
        with fleet_of(address, 1, shipped) as (fleet, _):
            driver = HttpDriver(target(server), OPTIONS, source=fleet)
            server.reset()
            with pytest.raises(RunError, match=said):
                driver.open()


def test_a_target_that_only_this_machine_calls_localhost_is_refused(server: RunningServer, address: str) -> None:
    with fleet_of(address, 2) as (fleet, links):
        links[1].loopback = "another machine"
        driver = HttpDriver(target(server), OPTIONS, source=fleet)
        with pytest.raises(RunError, match=r"the target is at 127.0.0.1, which is another machine for host1"):
            driver.open()


def test_another_token_is_refused_on_both_sides(address: str) -> None:
    with pytest.raises(RunError, match="does not let us in: its token is another"):
        connect(address, "another token, also long", "--clients")


def test_one_who_pretends_to_be_a_worker_learns_nothing_and_is_found_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as false:
        said: list[bytes] = []

        def pretend() -> None:
            end, _ = false.accept()
            with end:
                send_line(end, {"protocol": "agentdyno-clients/1", "challenge": "00"})
                said.append(end.recv(4096))
                send_line(end, {"answer": "00"})

        thread = threading.Thread(target=pretend)
        thread.start()
        with pytest.raises(RunError, match="its token is another"):
            connect(f"127.0.0.1:{false.getsockname()[1]}", SECRET, "--clients")
        thread.join()
    assert SECRET.encode() not in said[0]


def test_what_answers_and_is_no_worker_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def greet() -> None:
            end, _ = other.accept()
            with end:
                end.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        where = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(RunError, match=f"what answers at {where} is no worker that listens"):
            connect(where, SECRET, "--clients")
        thread.join()


def test_nobody_there_is_said_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
    with pytest.raises(RunError, match=f"nothing answers at 127.0.0.1:{port}: Connection refused") as caught:
        connect(f"127.0.0.1:{port}", SECRET, "--clients")
    assert "dyno worker --listen" in (caught.value.remedy or "")


def test_another_version_is_said() -> None:
    here, there = socket.socketpair()
    with here, there:
        send_line(there, {"python": "2.7", "agentdyno": "0.0.1", "host": "h", "loopback": "l"})
        with pytest.raises(RunError, match=r"host1 has Python 2\.7, and this machine has") as caught:
            greeted(here, "host1")
    assert caught.value.where == "--clients"


@pytest.mark.parametrize(
    ("token", "said"), [("", "there is no token"), ("short", "the token in DYNO_CLIENTS_TOKEN has 5 characters")]
)
def test_nobody_listens_without_a_token(token: str, said: str) -> None:
    with pytest.raises(RunError, match=said):
        ClientListener("127.0.0.1:0", {TOKEN: token})


def test_the_clients_check_themselves_where_they_are(address: str) -> None:
    with fleet_of(address, 2) as (fleet, _):
        found = fleet.check(OPTIONS)
    assert found.requests > 0
    assert found.rate_per_s > 0
    assert found.lag_p99_s >= found.lag_p50_s >= 0


def lost_in(window: Window) -> dict[str, str]:
    return {name: part.lost for name, part in (window.clients or {}).items() if part.lost}


def clients_running() -> list[psutil.Process]:
    """The client processes that keepers in this very process have started."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if any("agentdyno.load.client.worker" in part for part in child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found
