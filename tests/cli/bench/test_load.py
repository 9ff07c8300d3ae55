"""``dyno load`` as a user types it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest
import yaml

from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server
from tests.command import Bench
from tests.waiting import wait_while_running


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(ttft_s=0.005, itl_s=0.001, output_tokens=4)) as running:
        yield running


def test_a_load_prints_its_table_and_its_file_runs_again(bench: Bench, server: RunningServer) -> None:
    asked = ("load", server.openai_url, "--model", "m", "--rate", "40", "--duration", "0.6", "--window", "0.2")
    done = bench.dyno(*asked, "--format", "md,prometheus")
    assert done.code == 0, done.err
    assert "under load" in done.out
    assert "Requests" in done.out
    assert "Simulated" in done.out
    runs = list((bench.folder / ".dyno" / "runs").iterdir())
    assert {"report.md", "metrics.prom", "result.json"} <= {path.name for path in runs[0].iterdir()}

    printed = bench.dyno(*asked, "--print-spec")
    assert yaml.safe_load(printed.out)["load"]["rate"] == 40
    bench.write("load.yaml", printed.out)
    again = bench.dyno("run", "load.yaml", "--json")
    assert again.code == 0, again.err
    assert again.json["kind"] == "load"
    checked = bench.dyno("check", "load.yaml", "--against", again.json["run_id"], "--json")
    assert checked.code in (0, 1), checked.err
    assert json.loads(checked.out)[0]["verdict"] in ("PASS", "WARN", "BLOCK", "INCONCLUSIVE")
    compared = bench.dyno("compare", "last~1", "last")
    assert "latency_p50" in compared.out or "latency" in compared.out


def test_a_load_that_was_killed_is_closed_by_resume_with_what_is_there(bench: Bench, server: RunningServer) -> None:
    asked = ("--model", "m", "--rate", "20", "--duration", "600", "--window", "0.2")
    load = bench.start("load", server.openai_url, *asked)
    wait_while_running(load, lambda: any(run["samples"] for run in bench.dyno("list", "runs", "--json").json))
    load.kill()
    load.communicate()
    done = bench.dyno("resume")
    assert done.code == 0, done.err
    assert "Stopped early: the run was ended from outside" in done.err
    run = bench.dyno("list", "runs", "--json").json[0]
    assert (run["status"], run["samples"] > 0) == ("partial", True)
    assert bench.dyno("resume").code == 2


def test_a_dry_run_sends_nothing(bench: Bench, server: RunningServer) -> None:
    server.reset()
    done = bench.dyno("load", server.openai_url, "--model", "m", "--scenario", "spike_load", "--dry-run")
    assert done.code == 0
    assert "spike_load" in done.out
    assert "Nothing was sent" in done.err
    assert server.log() == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("http://127.0.0.1:9/v1", "--model", "m", "--rate", "5"), "127.0.0.1:9"),
        (("http://127.0.0.1:9", "--rate", "5", "--api-key-env", "DYNO_NO_SUCH_KEY"), "DYNO_NO_SUCH_KEY is not set"),
        (("https://example.com/v1", "--rate", "5"), "--i-own-this-target"),
        (("no-such-agent", "--rate", "5"), "no-such-agent"),
        (("http://127.0.0.1:9", "--slo", "fast", "--rate", "5"), "not an objective"),
        (("http://127.0.0.1:9", "--scenario", "spike"), "spike_load"),
        (("http://127.0.0.1:9", "--rate", "5", "--concurrency", "3"), "got both"),
        (("http://127.0.0.1:9", "--body", "{"), "not JSON"),
        (("http://127.0.0.1:9", "--trace", "none.csv"), "none.csv"),
    ],
)
def test_a_mistake_is_one_clear_message(bench: Bench, arguments: tuple[str, ...], said: str) -> None:
    done = bench.dyno("load", *arguments)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_ctrl_c_keeps_what_was_measured(bench: Bench, server: RunningServer) -> None:
    server.reset()
    running = bench.start(
        "load", server.openai_url, "--model", "m", "--rate", "40", "--duration", "600", "--window", "0.2"
    )
    wait_while_running(running, lambda: len(server.log()) >= 40, pause_s=0.1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert "under load" in out
    tables = out[out.index("Rates and times") :]
    assert tables.count("custom ") >= 2, out  # a row in each table, although nothing here is a terminal
    assert "Stopped early: interrupted" in err
    listed = bench.dyno("list", "runs", "--json").json
    assert listed[0]["status"] == "partial"
