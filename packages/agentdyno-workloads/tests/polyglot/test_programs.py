"""The same agent in two languages: every program asks its model the same, streams the same and reports the same."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agentdyno import Case, CaseFailed, ForeignAgent, ModelCall, PluginError, RecordingProxy, Response, SpecError
from agentdyno_workloads.llm.workflow import DOCUMENTS
from agentdyno_workloads.polyglot.programs import PYTHON, RUNTIMES, RUST, find_program

PROGRAMS = [(language, runtime) for language, runtimes in RUNTIMES.items() for runtime in runtimes]
OPTIONS = {"temperature": 0.5, "max_tokens": 7}


def started(language: str, runtime: str, folder: str, agents: int = 2) -> ForeignAgent:
    return ForeignAgent(runtime, find_program(language, runtime, agents, folder).argv)


def answers(program: ForeignAgent, cases: Sequence[Mapping[str, object] | str]) -> list[Response | CaseFailed]:
    """What the program says to cases that are put to it at the same time."""

    async def ask() -> list[Response | CaseFailed]:
        try:
            await program.start()
            asked = (program.run(Case(str(number), case)) for number, case in enumerate(cases))
            return [_answer(item) for item in await asyncio.gather(*asked, return_exceptions=True)]
        finally:
            await program.close()

    return asyncio.run(ask())


def _answer(item: Response | BaseException) -> Response | CaseFailed:
    if isinstance(item, Response | CaseFailed):
        return item
    raise item


def responses(program: ForeignAgent, cases: Sequence[Mapping[str, object] | str]) -> list[Response]:
    found = [item for item in answers(program, cases) if isinstance(item, Response)]
    assert len(found) == len(cases)
    return found


def calls_of(proxy: RecordingProxy, scope: str) -> tuple[ModelCall, ...]:
    return asyncio.run(proxy.collect(scope))


@pytest.mark.parametrize("dialect", ["openai", "ollama"])
def test_all_programs_ask_the_same_of_their_model_and_report_the_same(
    dialect: str, rust_programs: str, proxy: RecordingProxy
) -> None:
    seen = {}
    for language, runtime in PROGRAMS:
        scope = f"case/{runtime}-{dialect}"
        url = proxy.url(scope, "model", "/v1" if dialect == "openai" else "")
        case = {"documents": str(DOCUMENTS), "url": url, "dialect": dialect, "model": "m", "options": OPTIONS}
        (response,) = responses(started(language, runtime, rust_programs), [case])
        calls = calls_of(proxy, scope)
        assert [call.ok for call in calls] == [True, True]
        assert all(call.streamed for call in calls)
        assert response.observed["runtime"] == runtime, "each program runs on its own runtime"
        assert {"duration_s", "ttft_s", "cpu_s", "peak_rss_bytes"} <= response.readings.keys()
        seen[runtime] = ([call.request for call in calls], response.output)
    first = seen[RUNTIMES[PYTHON][0]]
    for other in seen.values():
        assert other == first
    requests, report = first
    assert report
    asked = [request["messages"][0]["content"] for request in requests]  # type: ignore[index]
    assert asked[0].startswith("Name the two most urgent problems")
    assert asked[1].startswith("Write a report of three sentences")


@pytest.mark.parametrize(("language", "runtime"), PROGRAMS)
def test_a_program_takes_several_cases_at_once(
    language: str, runtime: str, rust_programs: str, proxy: RecordingProxy
) -> None:
    scopes = [f"case/several-{runtime}-{number}" for number in range(3)]
    cases = [{"text": scope, "url": proxy.url(scope, "model", "/v1")} for scope in scopes]
    found = responses(started(language, runtime, rust_programs, 3), cases)
    assert len({response.output for response in found}) == 3
    assert all(len(calls_of(proxy, scope)) == 2 for scope in scopes)


@pytest.mark.parametrize("language", [PYTHON, RUST])
def test_what_a_case_lacks_is_its_failure_in_both_languages(
    language: str, rust_programs: str, proxy: RecordingProxy, tmp_path: Path
) -> None:
    url = proxy.url("case/failing", "model", "/v1")
    cases: dict[str, Mapping[str, object] | str] = {
        "no model: give the case a url, or set OPENAI_BASE_URL or OLLAMA_HOST": "some notes",
        "the case names neither documents nor text": {"url": url},
        "there is no .txt file to read": {"documents": str(tmp_path), "url": url},
        "'gemini' is no dialect": {"text": "notes", "url": url, "dialect": "gemini"},
        "only http:// is spoken here": {"text": "notes", "url": "https://127.0.0.1:9/v1"},
        "http://127.0.0.1:9/v1: ": {"text": "notes", "url": "http://127.0.0.1:9/v1"},
        "the model's server answers 404": {"text": "notes", "url": proxy.url("case/lost", "model", "/nowhere")},
    }
    found = answers(started(language, "", rust_programs, 8), list(cases.values()))
    for said, failure in zip(cases, found, strict=True):
        assert isinstance(failure, CaseFailed)
        assert said.replace("'", '"') in failure.message.replace("'", '"')


def test_notes_may_be_a_text_and_the_model_part_of_the_configuration(
    rust_programs: str, proxy: RecordingProxy
) -> None:
    outputs = set()
    for language in (PYTHON, RUST):
        argv = find_program(language, "", 1, rust_programs).argv
        config = {"url": proxy.url("case/config", "model", "/v1"), "model": "m", "documents": "nowhere"}
        (response,) = responses(ForeignAgent(language, argv, config=config), ["some notes"])
        outputs.add(response.output)
    assert len(outputs) == 1


def test_a_program_with_one_agent_is_the_demo_and_one_with_two_the_multi_agent_demo(rust_programs: str) -> None:
    names = [Path(find_program(RUST, "", agents, rust_programs).argv[0]).name for agents in (1, 2, 3)]
    assert names == ["demo_agent", "demo_multiagent", "runtime-tokio-default"]


def test_a_program_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="the agent in Rust on smol is not built") as caught:
        find_program(RUST, "smol", 2, str(tmp_path / "release"))
    remedy = str(caught.value.remedy)
    assert "scripts/rust_agents.sh" in remedy
    assert "cargo build --release" in remedy
    assert "apt-get install cargo" in remedy


def test_a_runtime_of_another_language_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(SpecError, match="python has no runtime 'smol'") as caught:
        find_program(PYTHON, "smol", 1)
    assert "asyncio, httpx" in str(caught.value.remedy)


@pytest.mark.parametrize("words", [("--agents", "0"), ("--agents",), ("--fast",)])
def test_a_program_refuses_options_that_it_does_not_know(words: tuple[str, ...], rust_programs: str) -> None:
    done = subprocess.run([Path(rust_programs) / "demo_agent", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: PROGRAM [--agents N]" in done.stderr
