"""A kind of run that another package brings: killed in the middle of a trial, resumed, listed, shown, reported."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings

from ..command import Bench
from ..waiting import wait_while_running

PROJECT = Path(__file__).parent.parent / "kind_package"
NAPS = "name: naps\nsleep: {seconds: [0.01, 0.02], trials: 2, until: awake}\n"
EVERY_HALF = {
    f"sleep-{seconds} {trial} {half}" for seconds in ("0.01", "0.02") for trial in range(2) for half in (0, 1)
}


@pytest.fixture
def plugged(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench where the package is installed, as an installer leaves it."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    for package in (PROJECT / "src").iterdir():
        shutil.copytree(package, site / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    info = site / "dyno_kind_example-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["agentdyno.kinds"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[agentdyno.kinds]", *lines]))
    bench.environ |= {"PYTHONPATH": str(site)}
    bench.write("naps.yaml", NAPS)
    return bench


def halves(bench: Bench) -> list[str]:
    """What the sleeper says it has begun, whether or not anybody recorded it."""
    log = bench.folder / "sleeps.log"
    return log.read_text().splitlines() if log.exists() else []


def kill_in_a_second_half(run: subprocess.Popen[str], bench: Bench) -> None:
    """The second half of a sleep lasts until the file ``awake`` is there, and it is not."""
    wait_while_running(run, lambda: any(line.endswith(" 1") for line in halves(bench)))
    run.send_signal(signal.SIGKILL)
    run.communicate()


def asked_of_service(bench: Bench, path: str) -> Any:
    """What the dashboard reads; the service has nothing of the package."""
    app = create_app(ServiceSettings(f"sqlite:///{bench.folder}/.dyno/dyno.db", bench.folder))
    with TestClient(app, base_url="http://127.0.0.1:8321") as client:
        answer = client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_the_kind_is_less_than_150_lines() -> None:
    source = PROJECT / "src" / "dyno_kind_example" / "sleep.py"
    assert len(source.read_text().splitlines()) < 150


def test_killed_in_the_middle_of_a_trial_it_goes_on_there_and_is_listed_shown_and_reported(plugged: Bench) -> None:
    kill_in_a_second_half(plugged.start("run", "naps.yaml"), plugged)
    (row,) = plugged.dyno("list", "runs", "--json").json
    assert (row["kind"], row["name"], row["status"], row["samples"]) == ("sleep", "naps", "running", 1)

    plugged.write("awake", "")
    done = plugged.dyno("resume", "last", "--json")
    assert done.code == 0, done.err
    result = done.json
    assert (result["run_id"], result["status"], result["stopped_because"]) == (row["run_id"], "complete", None)
    recorded = [
        f"{arm['arm_id']} {sample['iteration']} {sample.get('part', 0)}"
        for arm in result["arms"]
        for sample in arm["samples"]
    ]
    assert Counter(recorded) == Counter(EVERY_HALF)
    begun = Counter(halves(plugged))
    assert begun == Counter(EVERY_HALF) + Counter(["sleep-0.01 0 1"]), "only the half that was broken off is repeated"
    assert [arm["planned"] for arm in result["arms"]] == [4, 4]

    (row,) = plugged.dyno("list", "runs", "--json").json
    assert (row["status"], row["samples"], row["arms"]) == ("complete", 8, 2)
    listed = plugged.dyno("list", "runs")
    assert "naps" in listed.out
    shown = plugged.dyno("show", "last")
    assert shown.code == 0, shown.err
    assert "0.02 s" in shown.out
    assert plugged.dyno("show", "last", "--json").json["kind"] == "sleep"
    (told,) = asked_of_service(plugged, "/api/runs")["items"]
    assert (told["kind"], told["status"]) == ("sleep", "complete")
    page = asked_of_service(plugged, f"/api/runs/{result['run_id']}")
    assert [arm["samples_total"] for arm in page["run"]["arms"]] == [4, 4]
    written = plugged.dyno("report", "last", "--format", "html,md,csv,json", "--output-dir", "out")
    assert written.code == 0, written.err
    assert "0.02 s" in next((plugged.folder / "out").glob("*.html")).read_text()
    again = plugged.dyno("resume", "last")
    assert again.code == 2
    assert "is complete" in again.err


def test_it_runs_from_its_file_with_options_that_every_kind_has(plugged: Bench) -> None:
    plugged.write("awake", "")
    planned = plugged.dyno("run", "naps.yaml", "--dry-run")
    assert (planned.code, halves(plugged)) == (0, []), planned.err
    assert "4 sleeps. Nothing was run." in planned.err
    done = plugged.dyno("run", "naps.yaml", "--tag", "night", "--seed", "7", "--json")
    assert done.code == 0, done.err
    assert (done.json["kind"], done.json["tags"], done.json["seed"]) == ("sleep", ["night"], 7)
    assert Counter(halves(plugged)) == Counter(EVERY_HALF)


def test_mistakes_are_told_like_those_of_any_other_kind(plugged: Bench) -> None:
    plugged.write("odd.yaml", "sleep: well\n")
    odd = plugged.dyno("run", "odd.yaml")
    assert (odd.code, "a sleep has `seconds`" in odd.err) == (2, True)
    refused = plugged.dyno("run", "naps.yaml", "--epochs", "3")
    assert (refused.code, "--epochs means nothing for a sleep run" in refused.err) == (2, True)


def test_where_its_package_is_gone_its_runs_are_still_shown_and_not_resumed(plugged: Bench) -> None:
    kill_in_a_second_half(plugged.start("run", "naps.yaml"), plugged)
    del plugged.environ["PYTHONPATH"]
    assert plugged.dyno("show", "last").code == 0
    gone = plugged.dyno("resume", "last")
    assert gone.code == 2
    assert "no kind of run is called 'sleep' here" in gone.err
