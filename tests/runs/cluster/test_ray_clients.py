"""Load from the cores of a real cluster of two nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agentdyno.errors import DynoError, RunError, SpecError
from agentdyno.model import RunResult
from agentdyno.runs.kind import Source, Tools
from agentdyno.runs.load.kind import LoadKind
from agentdyno.runs.pipeline import start
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server
from agentdyno.store import Store

from .nodes import TwoNodes


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(output_tokens=3)) as running:
        yield running


def loaded(folder: Path, document: dict[str, object]) -> RunResult:
    kind = LoadKind()
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(f"sqlite:///{folder / 'dyno.db'}"))
        tools = Tools(store, folder)
        prepared = stack.enter_context(kind.prepare(kind.read(Source(document={"load": document}), {}), tools))
        return start(kind, prepared, tools)


def test_each_core_is_a_client_and_the_result_says_which_and_how_exactly_they_started(
    nodes: TwoNodes, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    result = loaded(
        tmp_path,
        {"target": server.openai_url, "model": "m", "rate": 60, "duration_s": 1, "clients": "ray", "window_s": 0.5},
    )
    (arm,) = result.arms
    told = arm.observed["clients"]
    assert isinstance(told, list)
    assert len(told) == 4, "two nodes of two cores"
    assert len({one["name"].partition(" ")[0] for one in told}) == 2
    assert all(0 < one["clock_error_s"] < 5 for one in told)
    windows = [json.loads(json.dumps(sample.details["window"])) for sample in arm.samples]
    assert all(set(window["outcomes"]) == {"ok"} and len(window["clients"]) == 4 for window in windows)
    asked = sum(window["asked"] for window in windows)
    assert asked == sum(part["asked"] for window in windows for part in window["clients"].values())


@pytest.mark.parametrize(
    ("clients", "more", "kind", "said"),
    [
        ("ray://127.0.0.1:1", {}, RunError, "nothing answers at ray://127.0.0.1:1"),
        ("ray://nowhere", {}, SpecError, "ray://nowhere is no address"),
        ("ray", {"processes": 2}, SpecError, "a cluster has a client for each of its cores"),
        ("a,b", {}, SpecError, "'a' is no address"),
        ("10.0.0.1:7700,10.0.0.1:7700", {}, SpecError, "10.0.0.1:7700 is named twice"),
    ],
)
def test_clients_that_cannot_be_are_said_in_one_sentence_and_leave_no_run(
    nodes: TwoNodes,
    server: RunningServer,
    tmp_path: Path,
    clients: str,
    more: dict[str, object],
    kind: type[DynoError],
    said: str,
) -> None:
    del nodes  # their token is in the environment
    document = {"target": server.openai_url, "model": "m", "rate": 10, "duration_s": 1, "clients": clients, **more}
    with pytest.raises(kind, match=said) as caught:
        loaded(tmp_path, document)
    assert caught.value.where == "--clients"
    with Store.open(f"sqlite:///{tmp_path / 'dyno.db'}") as store:
        assert not store.runs.newest(10)
