"""``dyno view`` opens what it is given, and takes nothing into the store."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from pathlib import Path

from tests.command import DYNO, Bench

EXPERIMENT = "def sorting(size: int = 200) -> float:\n    return float(sorted(range(size, 0, -1))[0])\n"


def shown(bench: Bench, *arguments: str) -> tuple[str, object]:
    """The address that is printed, and the run that the service behind it has there."""
    process = subprocess.Popen(
        [DYNO, "view", "--no-browser", *arguments],
        cwd=bench.folder,
        env=bench.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address.replace("/runs/", "/api/runs/"), timeout=60) as answer:
            found = json.load(answer)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0
    return address, found["run"]["run_id"]


def test_a_file_is_shown_without_a_store_and_a_run_from_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("sorting.py", EXPERIMENT)
    assert bench.dyno("run", "sorting.py@sorting", "--iterations", "3", "--warmup", "0").code == 0
    result = next((tmp_path / ".dyno" / "runs").glob("*/result.json"))
    run_id = json.loads(result.read_text())["run_id"]
    address, found = shown(bench, "last")
    assert (address.endswith(f"/runs/{run_id}"), found) == (True, run_id)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = Bench(elsewhere)
    other.write("mine.json", result.read_text())
    assert shown(other, "mine.json")[1] == run_id
    assert not (elsewhere / ".dyno").exists(), "nothing of it goes into a store"


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    done = bench.dyno("view", "nothing.json", "--no-browser")
    assert done.code == 2
    assert done.err.startswith("Error: there is no file nothing.json")
    bench.write("other.json", "{}")
    done = bench.dyno("view", "other.json", "--no-browser")
    assert (done.code, "not an agentdyno result" in done.err) == (2, True)
