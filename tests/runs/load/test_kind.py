"""Load runs from their spec to the store, against a real server in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentdyno.errors import DynoError, RunError, SpecError
from agentdyno.findings.comparison.ask import compare_operands
from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.engine.match import Operand
from agentdyno.findings.run.ask import findings_for
from agentdyno.findings.stress.judge import stress_report
from agentdyno.findings.stress.tables import sections
from agentdyno.model import Progress, Provenance, RunResult, RunStatus, Workspace
from agentdyno.model.codec import from_plain
from agentdyno.model.load import LoadOptions, SelfCheck, Window
from agentdyno.runner.executor import TrialStep
from agentdyno.runs.kind import RunRequest, Tools
from agentdyno.runs.load.executor import LoadExecutor
from agentdyno.runs.load.kind import LoadKind
from agentdyno.runs.load.prepare import preparing_load
from agentdyno.runs.load.target import find_subject, guess_dialect
from agentdyno.runs.pipeline import resume, start
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server
from agentdyno.specs import load_workspace
from agentdyno.specs.load.build import LoadedLoad, load_of, parse_load
from agentdyno.store import Store

AGENT = """
import time

def answer(text):
    time.sleep(0.002)
    return text[:5]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(ttft_s=0.005, itl_s=0.001, output_tokens=4)) as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/dyno.db") as opened:
        yield opened


KNOWN = SelfCheck(1e-5, 1e-4, 1e-5, 1e-4, 5000.0, 100)


def checked(_options: LoadOptions) -> SelfCheck:
    """The real one takes a second; one test below waits for it."""
    return KNOWN


KNOWN_CLIENT = LoadKind(checked)


def workspace(folder: Path) -> Workspace:
    return Workspace(base_dir=str(folder))


def start_load(
    loaded: LoadedLoad,
    store: Store,
    folder: Path,
    on_progress: Callable[[Progress], None] = lambda _: None,
    kind: LoadKind = KNOWN_CLIENT,
) -> RunResult:
    tools = Tools(store, folder / "runs", workspace(folder), on_progress=on_progress)
    with kind.prepare(RunRequest("load", loaded.settings, loaded.load), tools) as prepared:
        return start(kind, prepared, tools)


def run(store: Store, folder: Path, load: dict[str, object], **more: object) -> RunResult:
    return start_load(parse_load({"load": load, **more}, base_dir=folder), store, folder)


def window(progress: Progress) -> Window | None:
    return None if progress.sample is None else from_plain(Window, progress.sample.details["window"])


def test_a_rate_leaves_one_sample_a_window_and_a_report(store: Store, tmp_path: Path, server: RunningServer) -> None:
    load = {"target": server.openai_url, "model": "m", "rate": 40, "duration_s": 1, "window_s": 0.25}
    result = run(store, tmp_path, load | {"slo": "ttft_p95<1s"}, tags=["night"])
    assert (result.kind, result.status, result.tags) == ("load", RunStatus.COMPLETE, ("night",))
    (arm,) = result.arms
    assert (arm.name, arm.agent) == ("custom", server.openai_url)
    assert [sample.iteration for sample in arm.samples] == [0, 1, 2, 3]
    report = stress_report(store.runs.load(result.run_id))
    (scenario,) = report.scenarios
    served = len(server.log())
    assert scenario.asked == sum(scenario.outcomes.values()) > 20
    assert scenario.outcomes == {"ok": scenario.asked}
    assert served >= scenario.asked, "the server's own log has every request"
    assert report.self_check == KNOWN
    assert load_of(result.spec).slo == report.objectives
    assert any(item.name.startswith("requests") for item in arm.artifacts)


def test_what_a_simulated_server_answered_is_labelled_in_every_figure(
    store: Store, tmp_path: Path, server: RunningServer
) -> None:
    result = run(store, tmp_path, {"target": server.openai_url, "model": "m", "rate": 40, "duration_s": 0.5})
    (arm,) = result.arms
    assert arm.observed["simulated"] is True
    assert {metric.provenance for metric in arm.metrics.values()} == {Provenance.SIMULATED}
    assert stress_report(result).simulated


def test_two_load_runs_are_compared_like_any_other(store: Store, tmp_path: Path, server: RunningServer) -> None:
    load = {"target": server.openai_url, "model": "m", "rate": 40, "duration_s": 1, "window_s": 0.1}
    first, second = run(store, tmp_path, load), run(store, tmp_path, load)
    operands = [Operand(item.run_id[:8], item, item.arms) for item in (first, second)]
    compared = compare_operands(operands[0], operands[1], store)
    judged = {row.metric.name for row in compared.arms[0].metrics if row.verdict is not None}
    assert {"latency_p50_s", "ttft_p50_s"} <= judged


def test_a_recorded_trace_is_replayed_request_by_request(store: Store, tmp_path: Path, server: RunningServer) -> None:
    (tmp_path / "trace.csv").write_text(
        "timestamp,input_length,output_length\n0.0,5,3\n0.1,50,2\n0.15,7,4\n0.4,9,1\n"
    )
    server.reset()
    result = run(store, tmp_path, {"target": server.openai_url, "model": "m", "trace": "trace.csv"})
    (scenario,) = stress_report(result).scenarios
    assert (scenario.asked, scenario.outcomes) == (4, {"ok": 4})
    assert result.arms[0].params["arrivals"] == "trace"


def test_conversations_of_several_turns_are_held(store: Store, tmp_path: Path, server: RunningServer) -> None:
    load = {"target": server.openai_url, "model": "m", "rate": 10, "duration_s": 1, "turns": 3, "think_s": 0.01}
    (scenario,) = stress_report(run(store, tmp_path, load)).scenarios
    opened = run(store, tmp_path, {**load, "turns": 1})
    (single,) = stress_report(opened).scenarios
    assert scenario.outcomes["ok"] > 1.5 * single.outcomes["ok"], "every conversation asks again"


def test_an_agent_is_called_through_its_contract(store: Store, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    load = {"target": "agent.py@answer", "rate": 40, "duration_s": 0.5, "input": "hello there"}
    result = run(store, tmp_path, load)
    (scenario,) = stress_report(result).scenarios
    assert scenario.outcomes.get("ok", 0) == scenario.asked > 5
    assert result.arms[0].observed["simulated"] is False


def test_progress_tells_of_every_window(store: Store, tmp_path: Path, server: RunningServer) -> None:
    seen: list[Progress] = []
    loaded = parse_load(
        {"load": {"target": server.openai_url, "model": "m", "rate": 40, "duration_s": 0.5, "window_s": 0.25}}
    )
    start_load(loaded, store, tmp_path, seen.append, LoadKind())  # with the real check of the client
    windows = [window(item) for item in seen]
    assert (windows[0], seen[0].done, seen[0].planned) == (None, 0, 1)
    assert [item.index for item in windows if item is not None] == [0, 1]
    assert all("asked_per_s" in item.sample.readings for item in seen if item.sample is not None)
    assert (windows[-1], seen[-1].done) == (None, 1), "the scenario ends after its last window"


def test_an_interrupt_keeps_the_windows_that_were_measured(
    store: Store, tmp_path: Path, server: RunningServer
) -> None:
    def interrupt(progress: Progress) -> None:
        last = window(progress)
        if last is not None and last.index == 1:
            raise KeyboardInterrupt

    loaded = parse_load(
        {"load": {"target": server.openai_url, "model": "m", "rate": 40, "duration_s": 60, "window_s": 0.2}}
    )
    result = start_load(loaded, store, tmp_path, interrupt)
    assert (result.status, result.stopped_because) == (RunStatus.PARTIAL, "interrupted")
    assert len(result.arms[0].samples) >= 2


def test_an_interrupt_before_the_first_window_closes_the_run_and_says_that_nothing_was_measured(
    store: Store, tmp_path: Path, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_executor: LoadExecutor) -> TrialStep:
        raise KeyboardInterrupt

    monkeypatch.setattr(LoadExecutor, "wait", interrupt)
    result = run(store, tmp_path, {"target": server.openai_url, "model": "m", "rate": 40, "duration_s": 60})
    assert (result.status, result.stopped_because) == (RunStatus.FAILED, "interrupted")
    assert store.runs.newest()[0].status is RunStatus.FAILED
    (section,) = sections(Conclusions(stress=(stress_report(result),)))
    assert section.lead.label == "nothing measured"
    assert section.lead.text == "the load ended before its first window was over."
    assert not section.tables


def test_an_interrupted_run_goes_on_with_the_scenarios_that_were_left(
    store: Store, tmp_path: Path, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[str] = []

    def interrupt(progress: Progress) -> None:
        if progress.sample is not None and not stopped:
            stopped.append(progress.doing)
            raise KeyboardInterrupt

    names = "spike_load,concurrent_requests"
    params = {"concurrent_requests.step_seconds": 0.2, "concurrent_requests.max_concurrency": 2}
    loaded = parse_load(
        {
            "load": {
                "target": server.openai_url,
                "model": "m",
                "scenarios": names,
                "profile": "quick",
                "params": params,
            }
        }
    )
    first = start_load(loaded, store, tmp_path, interrupt)
    assert [bool(arm.samples) for arm in first.arms] == [True, False]
    monkeypatch.setattr("agentdyno.runs.pipeline.kind_named", lambda _name: KNOWN_CLIENT)
    tools = Tools(store, tmp_path / "runs", workspace(tmp_path))
    whole = resume(first.run_id, tools)
    assert [bool(arm.samples) for arm in whole.arms] == [True, True]
    assert whole.arms[0] == first.arms[0], "a scenario that was cut short stays as it is"
    with pytest.raises(RunError, match="is complete"):
        resume(first.run_id, tools)
    with pytest.raises(RunError, match="not continued in the middle"):
        resume(first.run_id, tools, retry_errors=True)


def test_an_endpoint_that_is_down_leaves_no_run_behind(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DynoError):
        run(store, tmp_path, {"target": "http://127.0.0.1:9/v1", "model": "m", "rate": 5})
    assert store.runs.newest() == []


def test_a_public_address_needs_a_promise(tmp_path: Path) -> None:
    def subject(**more: object) -> str:
        loaded = parse_load({"load": {"target": "https://api.example.com/v1", "model": "m", **more}})
        return find_subject(loaded.load, workspace(tmp_path), tmp_path).label

    with pytest.raises(SpecError, match="public address"):
        subject()
    assert subject(own_target=True) == "https://api.example.com/v1"


def test_a_scenario_that_the_target_does_not_allow_is_left_out_and_said(tmp_path: Path) -> None:
    load = {"target": "http://10.0.0.1:9/plain", "scenarios": "high_load,memory_pressure"}
    with preparing_load(parse_load({"load": load}), workspace(tmp_path), start=False) as prepared:
        assert [job.scenario.name for job in prepared.jobs] == ["high_load"]
        assert [warning.code for warning in prepared.warnings] == ["scenario-left-out"]
    only = parse_load({"load": {**load, "scenarios": "memory_pressure"}})
    with pytest.raises(SpecError, match="no process here"), preparing_load(only, workspace(tmp_path), start=False):
        pass


@pytest.mark.parametrize(
    ("target", "faults"),
    [
        ("agent.py@answer", ["kill", "freeze"]),
        ("remote", ["refuse", "reset", "errors", "truncated"]),
        ("http://127.0.0.1:9/v1", ["refuse", "reset", "errors", "truncated"]),
    ],
)
def test_every_target_gets_the_faults_that_it_can_have(tmp_path: Path, target: str, faults: list[str]) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "dyno.yaml").write_text("agents: {remote: {uses: 'http://127.0.0.1:9/ask'}}\n")
    load = {"target": target, "scenarios": "all", "profile": "quick"}
    loaded = parse_load({"load": load}, base_dir=tmp_path)
    with preparing_load(loaded, load_workspace(tmp_path), start=False) as prepared:
        params = {job.scenario.name: job.params for job in prepared.jobs}
    assert params["failure_recovery"]["faults"] == faults
    assert len(params) == 8


def test_a_fault_that_the_target_cannot_have_is_refused_with_those_that_it_can(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    load = {"target": "agent.py@answer", "scenarios": "failure_recovery", "params": {"faults": ["reset"]}}
    loaded = parse_load({"load": load}, base_dir=tmp_path)
    with (
        pytest.raises(SpecError, match="reset cannot be done to it; what can is kill, freeze"),
        preparing_load(loaded, workspace(tmp_path), start=False),
    ):
        pass


def test_shapes_become_stages(tmp_path: Path) -> None:
    def lines(**load: object) -> list[str]:
        loaded = parse_load({"load": {"target": "http://127.0.0.1:9/v1", "duration_s": 6, **load}})
        with preparing_load(loaded, workspace(tmp_path), start=False) as prepared:
            return [line.strip() for line in prepared.plan_lines()[1:]]

    assert lines(shape="ramp", rate=10, to=40) == ["ramp: 10 to 40 requests/s for 6 s"]
    assert lines(shape="step", rate=10, to=30, count=3) == [
        "level 1: 10 requests/s for 2 s",
        "level 2: 20 requests/s for 2 s",
        "level 3: 30 requests/s for 2 s",
    ]
    assert lines(shape="spike", concurrency=1, to=8)[1] == "spike: 8 in flight for 2 s"
    assert len(lines(shape="sawtooth", rate=1, to=5, count=4)) == 4
    assert lines(shape="soak", rate=7) == ["steady: 7 requests/s for 6 s"]


def test_unknown_scenarios_and_parameters_are_refused_with_the_nearest(tmp_path: Path) -> None:
    for load in ({"scenarios": "spike_lod"}, {"scenarios": "spike_load", "params": {"spike_rat": 3}}):
        loaded = parse_load({"load": {"target": "http://127.0.0.1:9/v1", **load}})
        with pytest.raises(SpecError) as caught, preparing_load(loaded, workspace(tmp_path), start=False):
            pass
        assert "spike_" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("url", "model", "dialect"),
    [
        ("http://127.0.0.1:8000/v1", "", "openai"),
        ("http://127.0.0.1:11434", "gemma3", "ollama"),
        ("http://127.0.0.1:8000/api", "gemma3", "ollama"),
        ("http://127.0.0.1:8000/health", "", "http"),
        ("http://127.0.0.1:8000", "m", "openai"),
    ],
)
def test_the_protocol_follows_from_the_address(url: str, model: str, dialect: str) -> None:
    assert guess_dialect(url, model) == dialect


def test_the_findings_of_a_load_run_are_its_stress_report(
    store: Store, tmp_path: Path, server: RunningServer
) -> None:
    load = {"target": server.openai_url, "model": "m", "concurrency": 2, "duration_s": 0.5}
    result = run(store, tmp_path, load)
    findings = findings_for(result, store)
    (report,) = findings.stress  # type: ignore[attr-defined]
    assert report.scenarios[0].closed_loop
