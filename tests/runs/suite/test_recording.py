"""Runs whose agents are recorded: whose call was whose, what is counted, and what happens when the proxy is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.agents.recording import recording
from agentdyno.errors import RunError
from agentdyno.findings.record.ask import Records
from agentdyno.model import RunResult, Sample, Status
from agentdyno.model.codec import to_plain
from agentdyno.servers.proxy import recorder
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

from ...suites import Room, statuses

ASKER = """
import http.client, json, os, signal, sys
from urllib.parse import urlsplit

def ask(text, stream=False, **more):
    base = urlsplit(os.environ["OPENAI_BASE_URL"])
    link = http.client.HTTPConnection(base.hostname, base.port)
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream, **more}
    key = os.environ.get("OPENAI_API_KEY", "none")
    link.request("POST", base.path + "/chat/completions", json.dumps(body), {"authorization": "Bearer " + key})
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer.status

def once(case):
    ask("about " + case.id)
    return case.target

def often(text):
    for number in range(int(text)):
        ask("word " * int(text))
    return text

def streaming(case):
    ask("about " + case.id, stream=True)
    return case.target

def trying(case):
    while ask("about " + case.id) != 200:
        pass
    return case.target

def killing(case):
    if case.id == "b":
        os.kill(int(open("proxy.pid").read()), signal.SIGKILL)
    try:
        ask("about " + case.id)
    except OSError:
        return "no model"
    return case.target

def quiet(case):
    return case.target

def lingering(case):
    ask("about " + case.id)
    if case.id == "b":
        ask("without end", dyno={"fault": "timeout"})
    return case.target

def claiming(case):
    ask("about " + case.id)
    return {"output": case.target, "usage": {"input_tokens": 9000, "output_tokens": 1}, "api_calls": 8}

if __name__ == "__main__":
    text = sys.stdin.read()
    if "--linger" in sys.argv:
        ask("about " + text)
        ask("without end", dyno={"fault": "timeout"})
    print(often(text))
"""
SECRET = "sk-planted-fedcba9876543210"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(output_tokens=6)) as running:
        yield running


@pytest.fixture(autouse=True)
def _asker(room: Room, server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    (room.folder / "asker.py").write_text(ASKER)
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    server.reset()


def samples(room: Room, result: RunResult) -> list[Sample]:
    return list(room.store.runs.iter_samples(result.run_id, details=True))


def read_events(sample: Sample) -> list[dict[str, object]]:
    events = sample.details.get("events", [])
    assert isinstance(events, list)
    return events


def codes(result: RunResult) -> list[str]:
    return [warning.code for warning in result.warnings]


def test_a_python_agents_calls_are_counted_case_by_case(room: Room, server: RunningServer) -> None:
    result = room.run(room.suite(epochs=2), "asker.py@once")
    assert result.form is not None
    assert result.form.proxied
    assert server.stats().requests == 8
    logged = server.log()
    found = samples(room, result)
    assert [sample.readings["api_calls"] for sample in found] == [1] * 8
    assert sum(sample.usage["output_tokens"] for sample in found) == sum(entry.output_tokens for entry in logged)
    assert {sample.details["model"] for sample in found} == {"simulated/m"}
    assert {bool(sample.details.get("simulated")) for sample in found} == {True}
    assert "recording_cost" in result.arms[0].observed
    (event,) = read_events(found[0])
    assert (event["kind"], event["name"]) == ("model_call", "simulated/m")


def test_ten_commands_at_once_have_each_their_own_calls(room: Room, server: RunningServer) -> None:
    rows = [{"id": f"case-{number}", "input": str(number), "target": str(number)} for number in range(1, 11)]
    agent = {"name": "command", "use": "cmd:python3 asker.py", "env": ["OPENAI_BASE_URL"]}
    result = room.run(room.suite(dataset={"cases": rows}, concurrency=10, agents=[agent]))
    assert statuses(result) == {"command": {"ok": 10}}
    for sample in samples(room, result):
        number = int(sample.case_id.removeprefix("case-"))
        assert sample.readings["api_calls"] == number
        assert sample.usage["input_tokens"] == number * number
        assert len(read_events(sample)) == number
    assert server.stats().requests == 55


def test_workers_at_once_have_each_their_own_calls(room: Room) -> None:
    rows = [{"id": f"case-{number}", "input": str(number), "target": str(number)} for number in range(1, 9)]
    result = room.run(room.suite(dataset={"cases": rows}, concurrency=4, epochs=2), "asker.py@often")
    for sample in samples(room, result):
        assert sample.readings["api_calls"] == int(sample.case_id.removeprefix("case-"))


def test_an_agent_that_calls_no_model_is_not_called_recorded(room: Room) -> None:
    result = room.run(room.suite(), "asker.py@quiet")
    assert statuses(result) == {"quiet": {"ok": 4}}
    assert result.form is not None
    assert not result.form.proxied


def test_without_a_variable_that_names_a_model_nothing_is_started(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(recorder, "RecordingProxy", None)
    assert statuses(room.run(room.suite(), "asker.py@quiet")) == {"quiet": {"ok": 4}}


def test_what_an_agent_claims_stays_beside_what_was_measured(room: Room) -> None:
    result = room.run(room.suite(), "asker.py@claiming")
    for sample in samples(room, result):
        assert sample.readings["api_calls"] == 1
        assert sample.readings["reported.api_calls"] == 8
        assert sample.readings["input_tokens"] < 100
    assert {"reported-api_calls", "reported-input_tokens"} <= set(codes(result))


def test_record_off_leaves_the_proxy_out(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "RecordingProxy", None)
    result = room.run(room.suite(record="off"), "asker.py@once")
    assert statuses(result) == {"once": {"ok": 4}}
    assert result.form is not None
    assert not result.form.proxied
    assert "proxy.calls" not in samples(room, result)[0].readings


def test_an_agent_may_say_otherwise_than_its_suite(room: Room) -> None:
    agents = [{"use": "asker.py@once", "record": "off"}, {"use": "asker.py@streaming"}]
    result = room.run(room.suite(agents=agents, record="counts"))
    recorded = {sample.arm_id for sample in samples(room, result) if sample.readings.get("proxy.calls")}
    assert [arm.arm_id in recorded for arm in result.arms] == [False, True]


def test_a_full_record_has_requests_and_answers_without_secrets(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OTHER_TOKEN", "planted-in-the-prompt")
    rows = [{"id": "planted-in-the-prompt", "input": "x", "target": "y"}]
    result = room.run(room.suite(record="full", dataset={"cases": rows}), "asker.py@once", "asker.py@streaming")
    whole, streamed = (read_events(sample)[0]["content"] for sample in samples(room, result))
    assert whole["request"]["messages"][0]["content"] == "about [OTHER_TOKEN]"  # type: ignore[index]
    assert whole["response"]["choices"][0]["message"]["content"]  # type: ignore[index]
    assert streamed["response"]["text"]  # type: ignore[index]
    stored = json.dumps([to_plain(sample) for sample in samples(room, result)])
    assert SECRET not in stored
    everything = b"".join(path.read_bytes() for path in room.folder.rglob("*") if path.is_file())
    assert SECRET.encode() not in everything


def test_by_default_no_body_is_kept(room: Room) -> None:
    result = room.run(room.suite(), "asker.py@once")
    assert all(event["content"] is None for sample in samples(room, result) for event in read_events(sample))


def test_what_a_case_had_asked_when_its_time_was_up_is_counted(room: Room) -> None:
    rows = [{"id": "b", "input": "b", "target": "B"}]
    suite = room.suite(dataset={"cases": rows}, max_failure_rate=1.0, case_constraints={"time_limit_ms": 5000})
    (sample,) = samples(room, room.run(suite, "asker.py@lingering"))
    assert sample.status is Status.TIMEOUT
    assert sample.readings["api_calls"] == 2
    assert sample.usage["output_tokens"] > 0
    answered, left = read_events(sample)
    assert (answered["details"]["ended"], left["details"]["status"]) == ("complete", None)  # type: ignore[index]


def test_a_command_that_is_ended_has_its_calls_counted(room: Room) -> None:
    agent = {"name": "command", "use": "cmd:python3 asker.py --linger", "env": ["OPENAI_BASE_URL"]}
    rows = [{"id": "one", "input": "1", "target": "1"}]
    suite = room.suite(
        dataset={"cases": rows}, agents=[agent], max_failure_rate=1.0, case_constraints={"time_limit_ms": 5000}
    )
    (sample,) = samples(room, room.run(suite))
    assert sample.status is Status.TIMEOUT
    assert sample.readings["proxy.calls"] == 2


def test_a_killed_proxy_fails_the_case_and_the_run_goes_on_with_another(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    real = recording.RunRecording._started

    def noted(own: recording.RunRecording, port: int) -> recorder.RecordingProxy:
        proxy = real(own, port)
        started.append(proxy.pid)
        Path("proxy.pid").write_text(str(proxy.pid))
        return proxy

    monkeypatch.setattr(recording.RunRecording, "_started", noted)
    result = room.run(room.suite(max_failure_rate=1.0), "asker.py@killing")
    by_case = {sample.case_id: sample for sample in samples(room, result)}
    assert {case: sample.status for case, sample in by_case.items()} == {
        "a": Status.OK,
        "b": Status.ERROR,
        "c": Status.OK,
        "d": Status.OK,
    }
    failure = by_case["b"].failure
    assert failure is not None
    assert failure.message.startswith("the recording proxy between the agent and its model was killed by SIGKILL")
    assert len(started) == 2
    assert [by_case[case].readings["api_calls"] for case in "acd"] == [1, 1, 1]


def test_a_proxy_that_cannot_start_is_said_once_and_is_an_error_where_it_was_asked_for(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RunError("cannot listen on 127.0.0.1:0: no more", remedy="Raise the limit of open files (ulimit -n).")

    monkeypatch.setattr(recorder, "RecordingProxy", refuse)
    result = room.run(room.suite(), "asker.py@once", "asker.py@streaming")
    assert statuses(result) == {"once": {"ok": 4}, "streaming": {"ok": 4}}
    assert codes(result).count("not-recorded") == 1
    with pytest.raises(RunError, match="the recording proxy cannot start: cannot listen") as refused:
        room.run(room.suite(record="counts"), "asker.py@once")
    assert "ulimit -n" in (refused.value.remedy or "")
    assert "--record off" in (refused.value.remedy or "")


def test_resuming_keeps_to_how_the_run_began(room: Room) -> None:
    for record, recorded in (("off", False), ("auto", True)):
        (room.folder / "flaky.py").write_text(
            ASKER + f"# {record}\nimport pathlib\ndef flaky(case):\n    assert case.id == 'a' or pathlib.Path"
            "('mended').exists()\n    ask(case.id)\n    return case.target\n"
        )
        (room.folder / "mended").unlink(missing_ok=True)
        first = room.run(room.suite(max_failure_rate=1.0, record=record), "flaky.py@flaky")
        assert statuses(first) == {"flaky": {"ok": 1, "error": 3}}
        (room.folder / "mended").touch()
        again = room.resume(first, retry_errors=True)
        assert statuses(again) == {"flaky": {"ok": 4}}
        assert [bool(sample.readings.get("proxy.calls")) for sample in samples(room, again)] == [recorded] * 4
        assert again.form is not None
        assert again.form.proxied is recorded


def test_a_run_that_is_held_against_an_unrecorded_one_is_not_recorded(room: Room) -> None:
    plain = room.run(room.suite(record="off"), "asker.py@once")
    recorded = room.run(room.suite(), "asker.py@once")
    (before,), (after,) = (Records(room.store).of_run(run.run_id) for run in (plain, recorded))
    assert (before.proxied, after.proxied) == (False, True)
    for baseline, wanted in ((before, False), (after, True)):
        result = room.run(room.suite(), "asker.py@once", compared_with=(baseline,))
        assert result.form is not None
        assert result.form.proxied is wanted


def test_what_the_agent_hides_is_told_of_the_run(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated_server(Behaviour(truncate_rate=1.0, truncate_clean=True)) as cut_off:
        monkeypatch.setenv("OPENAI_BASE_URL", cut_off.openai_url)
        result = room.run(room.suite(), "asker.py@streaming")
    assert statuses(result) == {"streaming": {"ok": 4}}
    (warning,) = [item for item in result.warnings if item.code == "model-no-finish-reason"]
    assert "4 of 4 answers of its model ended without a finish_reason" in warning.message
    assert "4 of its executions gave an answer all the same" in warning.message


def test_hidden_retries_and_waits_are_told_of_the_run(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated_server(Behaviour(faults={"rate_limited": 3}, fault_span=3)) as limited:
        monkeypatch.setenv("OPENAI_BASE_URL", limited.openai_url)
        result = room.run(room.suite(), "asker.py@trying")
    first = samples(room, result)[0]
    assert (first.readings["proxy.retries"], first.readings["proxy.rate_limited"]) == (3, 3)
    assert {"model-retries", "model-rate-limited"} <= set(codes(result))
    kinds = [event["kind"] for event in read_events(first)]
    assert kinds.count("model_call") == 4
    assert kinds.count("wait") == 3
