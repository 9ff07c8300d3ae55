"""What a station does with what it is sent, and what is said where that cannot work. No cluster is needed for it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentdyno import extras
from agentdyno.errors import DynoError, RunError, SpecError
from agentdyno.model import AgentUse, Case, Constraints, Phase, Sample, Status, Trial
from agentdyno.model.codec import encode, to_plain
from agentdyno.model.sample import ELSEWHERE
from agentdyno.runner.farm.hosts import TimingHosts
from agentdyno.runs.cluster import ray_farm
from agentdyno.runs.cluster.files import FilesHere, ShippedFiles
from agentdyno.runs.cluster.order import OrderedAgent, OrderedArm, WorkOrder
from agentdyno.runs.cluster.ray_cluster import TOKEN, RayConnection
from agentdyno.runs.cluster.station import Station, versions
from agentdyno.runs.kind import is_remote

AGENT = """
import os
from beside import word

def told(case):
    return f"{word()} {os.environ['SECRET_NAME']}"
"""


def order(folder: Path, uses: str = "agent.py@told") -> WorkOrder:
    use = AgentUse("told", uses, "1", env=("SECRET_NAME",), base_dir=str(folder))
    arms = {"arm": OrderedArm(0, "b", Constraints(), 0)}
    return WorkOrder("run", arms, (OrderedAgent(use),), {"b": (Case("c", "x"),)})


def load(station: Station, asked: WorkOrder, files: ShippedFiles) -> dict[str, Any]:
    told = encode({"order": to_plain(asked), "digests": dict(files.digests)}).encode()
    reply: dict[str, Any] = json.loads(station.load(told, files.contents))
    return reply


@pytest.fixture
def shipped(tmp_path: Path) -> ShippedFiles:
    """Files of a folder that is not there any more when they arrive."""
    folder = tmp_path / "driver"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "beside.py").write_text("def word():\n    return 'hello'\n")
    files = ShippedFiles.of([folder / "agent.py", folder / "beside.py"])
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return files


def test_an_agent_runs_from_the_files_that_were_sent_and_keeps_the_secrets_of_its_machine(
    tmp_path: Path, shipped: ShippedFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_NAME", "hunter2-hunter2")
    station = Station()
    try:
        assert load(station, order(tmp_path / "driver"), shipped) == {"ok": {}}
        trial = Trial("arm", Phase.MEASURED, 0, "c")
        station.push(json.dumps([to_plain(trial)]).encode())
        said = station.pull(60)
    finally:
        station.close()
    (item,) = json.loads(said)
    assert item["key"] == trial.key
    assert item["call"]["response"]["output"] == "hello [SECRET_NAME]"
    assert b"hunter2" not in said


def test_files_that_arrive_with_another_content_are_refused(tmp_path: Path, shipped: ShippedFiles) -> None:
    changed = replace(shipped, contents={name: text + b"#" for name, text in shipped.contents.items()})
    reply = load(Station(), order(tmp_path / "driver"), changed)
    assert "agent.py has arrived with another content than it was sent with" in reply["error"]["message"]
    with pytest.raises(RunError, match=r"beside\.py has not arrived"):
        FilesHere(replace(shipped, contents={k: v for k, v in shipped.contents.items() if "beside" not in k}))


HOLDER = """
import time
from agentdyno.runs.cluster.files import FilesHere, ShippedFiles
files = FilesHere(ShippedFiles())
print(files.root, flush=True)
time.sleep(600)
"""


def test_files_of_a_process_that_was_killed_are_removed_by_the_next_and_those_of_others_stay() -> None:
    live = FilesHere(ShippedFiles())
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        left = Path(holder.stdout.readline().strip())
        FilesHere(ShippedFiles()).close()
        kept = left.is_dir()
        holder.kill()
    assert kept, "its process lived"
    FilesHere(ShippedFiles()).close()
    assert not left.exists()
    assert live.root.is_dir()
    live.close()
    live.close()
    assert not live.root.exists()


def test_a_file_that_is_missing_there_is_named(tmp_path: Path) -> None:
    station = Station()
    missing = load(station, order(tmp_path, f"{tmp_path}/not_there.py@told"), ShippedFiles())
    station.close()
    assert "not_there.py" in json.dumps(missing["error"])
    told = ray_farm._error(missing["error"], "node-7")
    assert str(told).startswith("node-7")


def test_another_version_of_python_or_of_agentdyno_is_told_with_both() -> None:
    for name, shown in (("python", "Python 3.9"), ("agentdyno", "agentdyno 3.9")):
        with pytest.raises(RunError, match=rf"node-7 has {shown}, and this machine has {versions()[name]}"):
            ray_farm.check_versions({**versions(), name: "3.9"}, "node-7")


def test_what_is_no_executor_is_told_with_the_nearest() -> None:
    assert not is_remote("local")
    assert is_remote("ray")
    assert is_remote("ray://head:10001")
    with pytest.raises(SpecError, match="no executor is called 'rai'") as error:
        is_remote("rai")
    assert error.value.remedy == "Did you mean ray? Or give ray://HOST:PORT."


def message(executor: str, environ: dict[str, str]) -> str:
    with pytest.raises(DynoError) as error:
        RayConnection(executor, environ).open()
    return str(error.value)


def test_an_address_is_not_even_tried_without_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert "no token for ray://127.0.0.1:1: whoever reaches" in message("ray://127.0.0.1:1", {})
    assert "no token for 127.0.0.1:1" in message("ray", {"RAY_ADDRESS": "127.0.0.1:1"})


def test_an_address_that_does_not_answer_or_is_none_is_told() -> None:
    assert "nothing answers at ray://127.0.0.1:1: Connection refused" in message("ray://127.0.0.1:1", {TOKEN: "t"})
    assert "ray://nowhere is no address" in message("ray://nowhere", {TOKEN: "t"})


def test_without_ray_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.EXTRAS, "ray", ("ray_that_is_not_there",))
    told = message("ray", {})
    assert "a cluster needs ray-that-is-not-there, which is not installed" in told
    assert "pip install 'agentdyno[ray]'" in told


def sample(arm: str) -> Sample:
    readings = {"duration_s": 1.0, "cpu_s": 0.5, "total_tokens": 7.0}
    return Sample(arm, Phase.MEASURED, 0, Status.OK, 0, readings, scores={"score": 1.0})


def test_times_of_a_second_host_stay_with_the_sample_and_out_of_the_figures() -> None:
    timing = TimingHosts({"a": "one", "b": "one", "c": "other"}.__getitem__)
    assert timing.marked(sample("a"), "h1").readings["duration_s"] == 1.0
    elsewhere = timing.marked(sample("b"), "h2")
    assert (elsewhere.readings, elsewhere.scores) == ({"total_tokens": 7.0}, {"score": 1.0})
    assert elsewhere.details == {"host_id": "h2", ELSEWHERE: {"duration_s": 1.0, "cpu_s": 0.5}}
    assert timing.marked(sample("c"), "h2").readings["duration_s"] == 1.0, "another comparison has its own host"
    again = TimingHosts(lambda _arm: "one")
    again.observe(elsewhere)
    again.observe(timing.marked(sample("a"), "h1"))
    assert "duration_s" not in again.marked(sample("a"), "h2").readings, "a resumed run knows its host"
