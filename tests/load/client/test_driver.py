from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from agentdyno.errors import DynoError, RunError, SpecError
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.plan.material import Materials
from agentdyno.load.plan.trace import Trace
from agentdyno.load.windows.records import NAME, RECORD
from agentdyno.model.load import (
    Arrivals,
    Dialect,
    LoadOptions,
    LoadTarget,
    PromptLengths,
    Sessions,
    Stage,
    Step,
    Window,
)
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

QUICK = LoadOptions(prompt="go", window_s=0.1, timeout_s=10.0)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """Answers at once with six tokens; a target's headers change that."""
    with simulated_server(Behaviour(output_tokens=6)) as running:
        yield running


def chat(server: RunningServer, behaviour: str = "") -> LoadTarget:
    headers = {"x-dyno-behaviour": behaviour} if behaviour else {}
    return LoadTarget("sim", Dialect.OPENAI, server.openai_url, model="m", headers=headers)


def steady(rate: float, seconds: float, **more: object) -> Step:
    return Step("steady", (Stage("steady", seconds, rate=rate),), Arrivals.CONSTANT, **more)  # type: ignore[arg-type]


def loop(concurrency: int, seconds: float, **more: object) -> Step:
    stages = (Stage("steady", seconds, concurrency=concurrency),)
    return Step("loop", stages, Arrivals.CLOSED, **more)  # type: ignore[arg-type]


def total(windows: Sequence[Window]) -> Counter[str]:
    return sum((Counter(dict(window.outcomes)) for window in windows), Counter())


def run_once(
    target: LoadTarget, step: Step, options: LoadOptions = QUICK, folder: Path | None = None
) -> list[Window]:
    driver = HttpDriver(target, options, artifacts=folder)
    driver.open()
    try:
        return list(driver.run(step))
    finally:
        driver.close()


def test_a_step_is_sent_as_scheduled_by_two_processes_and_the_next_one_goes_on_from_it(
    server: RunningServer, tmp_path: Path
) -> None:
    driver = HttpDriver(chat(server), LoadOptions(processes=2, prompt="go", window_s=0.1), artifacts=tmp_path)
    driver.open()
    server.reset()
    first = list(driver.run(steady(200, 0.3)))
    second = list(driver.run(loop(3, 0.2)))
    driver.close()
    assert [window.index for window in first + second] == [0, 1, 2, 3, 4]
    assert [round(window.starts_s, 3) for window in first] == [0.0, 0.1, 0.2]
    assert second[0].starts_s > 0.3
    assert round(second[1].starts_s - second[0].starts_s, 3) == 0.1
    assert [window.asked for window in first] == [20, 20, 20]
    assert total(first) == {"ok": 60}
    assert all(window.simulated and window.ttft.count == window.ok for window in first)
    assert sum(window.output_tokens or 0 for window in first) == 360
    # The server's own log is the judge.
    sent = sum(window.sent for window in first + second)
    assert server.stats().outcomes == {"ok": sent}
    assert max(window.in_flight for window in second) <= 3
    assert sum(window.sent for window in second) > 3, "each that ends makes room for the next"
    assert max(window.client_cpu or 0.0 for window in first) > 0
    assert driver.observed()["model"] == "simulated/m"
    assert driver.observed()["token_source"] == "usage"
    kept = np.load(tmp_path / NAME)
    assert kept.dtype == RECORD
    assert len(kept) == sent
    assert set(kept["process"].tolist()) == {0, 1}
    assert kept["gaps"].tolist() == (kept["chunks"] - 1).tolist()


def test_a_closed_loop_has_exactly_so_many_requests_in_flight(server: RunningServer) -> None:
    target = chat(server, "ttft_s=5;output_tokens=1")  # longer than the step
    (window,) = run_once(target, loop(3, 0.8, drain_s=0.05), LoadOptions(processes=2, prompt="go", window_s=0.8))
    assert (window.asked, window.sent, window.in_flight) == (3, 3, 3)


def test_ollama_and_plain_targets_are_driven_too(server: RunningServer) -> None:
    ollama = LoadTarget("sim", Dialect.OLLAMA, server.url, model="m")
    windows = run_once(ollama, steady(100, 0.1))
    assert (total(windows), windows[0].token_source, windows[0].output_tokens) == ({"ok": 10}, "ollama", 60)
    plain = LoadTarget("sim", Dialect.HTTP, f"{server.url}/health", method="GET")
    windows = run_once(plain, steady(100, 0.1))
    assert (total(windows), windows[0].ttft.count, windows[0].service.count) == ({"ok": 10}, 0, 10)


def test_requests_that_find_no_free_connection_go_late_or_not_at_all_and_are_no_lag_of_the_client(
    server: RunningServer,
) -> None:
    windows = run_once(
        chat(server, "ttft_s=0.2;output_tokens=1"),
        steady(100, 0.3, drain_s=5.0),
        LoadOptions(prompt="go", connections=4, window_s=0.3),
    )
    (window,) = windows
    assert window.asked == 30
    # Four connections, an answer every 0.2 s each: eight are sent within 0.3 s.
    assert 4 <= window.sent <= 8
    assert window.sent + window.unsent == 30
    assert window.late >= window.sent - 4
    assert window.lag.count <= 4


def test_what_is_open_when_the_time_to_drain_is_over_is_a_timeout(server: RunningServer) -> None:
    (window,) = run_once(chat(server, "ttft_s=5;output_tokens=1"), steady(50, 0.1, drain_s=0.05))
    assert window.outcomes == {"timeout": 5}
    assert "not complete in time" in window.examples["timeout"]


def test_a_server_that_asks_for_a_pause_gets_it(server: RunningServer) -> None:
    target = chat(server, "fault=rate_limited;retry_after_s=10")
    driver = HttpDriver(target, QUICK)
    driver.open()
    try:
        windows = list(driver.run(steady(20, 1.0, honour_retry_after=True)))
    finally:
        driver.close()
    # The first answers tell it to wait longer than the step takes.
    limited = total(windows)["rate_limited"]
    assert 1 <= limited < 20
    assert sum(window.unsent for window in windows) == 20 - limited


def test_ctrl_c_keeps_what_was_measured(server: RunningServer, tmp_path: Path) -> None:
    driver = HttpDriver(chat(server), QUICK, artifacts=tmp_path)
    driver.open()
    step = steady(100, 600.0)
    running = driver.run(step)
    seen = [next(running)]
    seen.append(running.throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        seen.extend(running)
    assert seen[-1].starts_s + seen[-1].duration_s < step.duration_s
    again = driver.run(steady(100, 60.0))
    follows = next(again)
    assert follows.index == seen[-1].index + 1
    again.close()
    driver.close()
    assert len(np.load(tmp_path / NAME)) >= sum(window.sent for window in seen)


def test_a_client_process_that_dies_is_an_error_and_not_a_wait(server: RunningServer) -> None:
    driver = HttpDriver(chat(server), LoadOptions(processes=2, prompt="go", window_s=0.1))
    driver.open()
    running = driver.run(steady(100, 60.0))
    next(running)
    os.kill(driver.pids[1], signal.SIGKILL)
    with pytest.raises(RunError, match="load client 1 died"):
        list(running)
    driver.close()


def test_a_set_of_longer_prompts_is_built_for_a_step_that_names_it(server: RunningServer) -> None:
    driver = HttpDriver(chat(server), LoadOptions(window_s=0.1))
    driver.open()
    try:
        server.reset()
        list(driver.run(Step("long", (Stage("steady", 0.1, rate=50),), Arrivals.CONSTANT, requests="words:77")))
        assert {entry.input_tokens for entry in server.log()} == {77}
        with pytest.raises(SpecError, match="no set of requests"):
            list(driver.run(Step("long", (Stage("steady", 0.1, rate=50),), requests="other")))
        with pytest.raises(RunError, match="ceiling"):
            list(driver.run(steady(1, 7201.0)))
    finally:
        driver.close()


def test_conversations_go_on_after_their_answers(server: RunningServer) -> None:
    options = LoadOptions(
        window_s=2.0, sessions=Sessions(turns=3, think_s=0.01), prompts=PromptLengths(mean=5), output_tokens=4
    )
    driver = HttpDriver(chat(server), options)
    driver.open()
    server.reset()
    (window,) = driver.run(steady(5, 2.0))
    driver.close()
    log = server.log()
    # Ten conversations of three turns: 5 words, then 5 + 4 + 5, then 14 + 4 + 5; the last may come too late.
    assert [entry.input_tokens for entry in log].count(5) == 10
    assert {entry.input_tokens for entry in log} == {5, 14, 23}
    assert window.asked == len(log)


def test_a_trace_is_replayed_with_its_lengths(server: RunningServer) -> None:
    recorded = Trace(np.array([0, 10_000_000, 20_000_000]), np.array([7, 8, 9]), np.array([2, 3, -1]))
    driver = HttpDriver(chat(server), QUICK, Materials(chat(server), QUICK, trace=recorded))
    driver.open()
    server.reset()
    (window,) = driver.run(Step("replay", (Stage("replay", 0.1, rate=30),), Arrivals.TRACE))
    driver.close()
    assert window.outcomes == {"ok": 3}
    assert [(entry.input_tokens, entry.output_tokens) for entry in server.log()] == [(7, 2), (8, 3), (9, 6)]


def refused(target: LoadTarget, options: LoadOptions = QUICK) -> DynoError:
    driver = HttpDriver(target, options)
    with pytest.raises(DynoError) as caught:
        driver.open()
    assert driver.pids == ()
    return caught.value


def test_a_target_that_makes_no_sense_is_told_before_any_load(server: RunningServer) -> None:
    nobody = LoadTarget("sim", Dialect.OPENAI, "http://127.0.0.1:1/v1", model="m")
    assert "nothing listens there" in refused(nobody).message
    tls = LoadTarget("sim", Dialect.OPENAI, server.openai_url.replace("http:", "https:"), model="m")
    remedy = refused(tls, LoadOptions(prompt="go", timeout_s=0.4)).remedy
    assert remedy == "Does it speak TLS at all? If not, its address begins with http://."
    html = refused(chat(server, "fault=html"))
    assert "not JSON" in html.message
    assert html.remedy is not None
    wrong = LoadTarget("sim", Dialect.OPENAI, f"{server.url}/nowhere", model="m")
    assert "status 404" in refused(wrong).message
    name = LoadTarget("sim", Dialect.OPENAI, "http://nowhere.invalid/v1", model="m")
    assert "there is no host" in refused(name).message
    endless = refused(chat(server, "fault=endless"), LoadOptions(prompt="go", timeout_s=0.5))
    assert "no complete answer within 0.5 s" in endless.message


def test_a_target_that_merely_fails_may_be_loaded(server: RunningServer) -> None:
    driver = HttpDriver(chat(server, "error_rate=1"), QUICK)
    driver.open()
    windows = list(driver.run(steady(100, 0.1)))
    driver.close()
    assert total(windows) == {"http_error": 10}
    assert windows[0].examples["http_error"].startswith("status 500")
