"""What a load says before its clients on other machines are asked for anything."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agentdyno.errors import RunError, SpecError
from agentdyno.runs.kind import Source, Tools
from agentdyno.runs.load.kind import LoadKind
from agentdyno.runs.load.prepare import PreparedLoad
from agentdyno.runs.place import Place
from agentdyno.specs.load.build import LoadedLoad, load_document, parse_load

URL = "http://127.0.0.1:9/v1"


def opened(folder: Path, environ: dict[str, str], **load: object) -> None:
    """As far as a run goes before anything is stored."""
    kind = LoadKind()
    document = {"load": {"target": URL, "rate": 5, "duration_s": 1, **load}}
    request = kind.read(Source(document=document), {})
    with kind.prepare(request, Tools(environ=environ)) as prepared:
        executor = kind.executor(prepared, Place("r1", folder))
        try:
            executor.open()
        finally:
            executor.close()


def test_clients_are_part_of_the_file_that_says_the_same() -> None:
    loaded = parse_load({"load": {"target": URL, "rate": 5, "clients": "a:1,b:2", "processes": 2}})
    again = parse_load(yaml.safe_load(yaml.safe_dump(load_document(loaded))))
    assert isinstance(again, LoadedLoad)
    assert (again.load.clients, again.load.options.processes) == ("a:1,b:2", 2)


def test_an_agent_of_this_process_cannot_be_asked_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text("def answer(text):\n    return text\n")
    with pytest.raises(SpecError, match="is called from this process, which other machines cannot do") as caught:
        opened(tmp_path, {}, target="agent.py@answer", clients="127.0.0.1:1")
    assert caught.value.where == "--clients"


def test_workers_are_not_asked_without_a_token(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no token in DYNO_CLIENTS_TOKEN") as caught:
        opened(tmp_path, {}, clients="127.0.0.1:1")
    assert "openssl rand" in (caught.value.remedy or "")


def test_a_worker_that_does_not_answer_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"nothing answers at 127\.0\.0\.1:1: Connection refused"):
        opened(tmp_path, {"DYNO_CLIENTS_TOKEN": "x" * 16}, clients="127.0.0.1:1")


def test_a_scenario_that_needs_the_proxy_of_this_machine_is_left_out_and_said() -> None:
    kind = LoadKind()
    document = {"load": {"target": URL, "model": "m", "clients": "a:1", "profile": "quick"}}
    with kind.prepare(kind.read(Source(document=document), {}), Tools()) as prepared:
        assert isinstance(prepared.work, PreparedLoad)
        assert "failure_recovery" not in [job.scenario.name for job in prepared.work.jobs]
        assert any("failure_recovery was left out: its faults" in warning.message for warning in prepared.warnings)
