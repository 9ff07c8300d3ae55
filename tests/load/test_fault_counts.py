"""Every class of failure, injected in a known number, is reported in exactly that number."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from agentdyno.load.client.driver import HttpDriver
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Stage, Step
from agentdyno.servers.proxy.server import fault_proxy
from agentdyno.servers.simulated.fault_plan import read_faults
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

from ..servers.certificates import loopback_certificate

SIX = read_faults("http_error:7,stream_error:5,truncated:6,reset:8,timeout:3,rate_limited:9")
PROXY_FAULTS = {
    "": "ok",
    "errors": "http_error",
    "reset": "reset",
    "latency": "ok",
    "truncated": "truncated",
    "stream_error": "stream_error",
    "refuse": "http_error",
    "half_open": "timeout",
}
ASKED = 240
DRAIN_S = 120.0
"""What has been asked is waited for: on a busy machine a hundred handshakes of TLS take longer than the step."""
OPTIONS = LoadOptions(processes=2, connections=120, timeout_s=4.0, window_s=0.2, prompt="go")


def target_of(server: RunningServer, dialect: Dialect, ca_file: str = "") -> LoadTarget:
    url = server.openai_url if dialect is Dialect.OPENAI else server.url
    return LoadTarget("sim", dialect, url, model="m", ca_file=ca_file)


def counted(target: LoadTarget, server: RunningServer, arrivals: Arrivals = Arrivals.POISSON) -> dict[str, int]:
    """What a client reports of 240 requests at 400 a second; the target's plan begins with the first of them."""
    driver = HttpDriver(target, OPTIONS)
    driver.open()
    try:
        server.reset()
        step = Step("faults", (Stage("steady", ASKED / 400, rate=400.0),), arrivals, seed=5, drain_s=DRAIN_S)
        windows = list(driver.run(step))
    finally:
        driver.close()
    outcomes = sum((Counter(dict(window.outcomes)) for window in windows), Counter[str]())
    assert sum(window.asked for window in windows) == sum(outcomes.values())
    return dict(outcomes)


def test_each_of_the_six_classes_is_counted_exactly() -> None:
    behaviour = Behaviour(ttft_s=0.005, itl_s=0.001, output_tokens=6, faults=SIX, fault_span=150, seed=2)
    with simulated_server(behaviour) as server:
        found = counted(target_of(server, Dialect.OPENAI), server)
        stats = server.stats()
    assert stats.faults_left == 0
    assert {name: count for name, count in found.items() if name != "ok"} == SIX
    told = {"http_error" if name == "error" else name: count for name, count in stats.outcomes.items()}
    assert found == told


def test_they_are_counted_exactly_when_answers_come_at_once_and_over_tls(tmp_path: Path) -> None:
    certificate = loopback_certificate(tmp_path)
    behaviour = Behaviour(output_tokens=3, faults=SIX, fault_span=100, seed=9)
    with simulated_server(behaviour, certificate=certificate) as server:
        found = counted(target_of(server, Dialect.OLLAMA, str(certificate)), server, Arrivals.CONSTANT)
    assert found == {**SIX, "ok": ASKED - sum(SIX.values())}


def test_plain_requests_are_counted_exactly() -> None:
    faults = {name: count for name, count in SIX.items() if name != "stream_error"}
    with simulated_server(Behaviour(service_s=0.002, faults=faults, fault_span=200, seed=1)) as server:
        target = LoadTarget("sim", Dialect.HTTP, f"{server.url}/plain", method="GET")
        found = counted(target, server, Arrivals.CONSTANT)
    assert found == {**faults, "ok": ASKED - sum(faults.values())}


def test_a_fault_of_the_proxy_is_its_class_for_every_request_and_gone_afterwards() -> None:
    with simulated_server(Behaviour(output_tokens=4)) as server, fault_proxy(server.url) as proxy:
        target = LoadTarget("proxy", Dialect.OPENAI, f"{proxy.url}/v1", model="m")
        driver = HttpDriver(target, LoadOptions(connections=50, timeout_s=3.0, window_s=0.1, prompt="go"))
        driver.open()
        seen = []
        try:
            for fault in PROXY_FAULTS:
                for name in (fault, ""):
                    proxy.set_fault(name)
                    step = Step(
                        name or "none", (Stage("steady", 0.1, rate=200.0),), Arrivals.CONSTANT, drain_s=DRAIN_S
                    )
                    seen.append(sum((Counter(dict(window.outcomes)) for window in driver.run(step)), Counter[str]()))
        finally:
            driver.close()
    assert seen[1::2] == [{"ok": 20}] * len(PROXY_FAULTS)
    assert dict(zip(PROXY_FAULTS, seen[::2], strict=True)) == {
        fault: {outcome: 20} for fault, outcome in PROXY_FAULTS.items()
    }
