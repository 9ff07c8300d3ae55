"""What docs/guides/deploy.md promises of backups, upgrades, the systemd unit and the proxy.

The commands are taken from the page as they stand there.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentdyno.model.job import Scope
from agentdyno.store import Store
from agentdyno.store.location import path_url
from agentdyno.store.runs.schema import HEAD
from agentdyno.web.settings import ServiceSettings

from ..command import DYNO, Bench
from ..postgres import USER, Postgres
from ..seeded_service import Service, serving
from ..store.builders import FIRST_ID
from ..store.test_migrations import CREATE_0001, CREATE_0002, CREATE_0003, at_revision, fill

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "deploy.md"
AGENT = "def answer(text):\n    return text.upper()\n"
SUITE = "name: words\nscorer: exact\nepochs: 2\nwarmup: 0\ndataset: {cases: [{id: a, input: a, target: A}]}\n"
WORKSPACE = 'agents:\n  loud: {use: "agent.py@answer", version: "1"}\nsuites: [words.yaml]\n'
DATABASE = "dyno"
"""As the page calls it."""


@pytest.fixture(params=["sqlite", "postgresql"])
def bench(request: pytest.FixtureRequest, tmp_path: Path, loaded_bench: Bench) -> Iterator[Bench]:
    """A project whose store is not there yet, in a folder of its own or in a database called ``dyno``."""
    found = loaded_bench
    for name, text in {"agent.py": AGENT, "words.yaml": SUITE, "dyno.yaml": WORKSPACE}.items():
        found.write(name, text)
    if request.param == "sqlite":
        (tmp_path / ".dyno").mkdir()
        yield found
        return
    server: Postgres = request.getfixturevalue("postgres")
    server.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0")
    found.environ |= {"DYNO_STORE": server.url(DATABASE), "PGHOST": str(server.folder), "PGUSER": USER}
    found.environ["PATH"] = f"{server.programs}{os.pathsep}{found.environ['PATH']}"
    yield found
    server.drop_database(DATABASE)


def url_of(bench: Bench) -> str:
    return bench.environ.get("DYNO_STORE") or path_url(bench.folder / ".dyno" / "dyno.db")


def documented(language: str, section: str) -> list[str]:
    """Lines of the page's blocks in a section."""
    text = PAGE.read_text().split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def restore(bench: Bench) -> None:
    """By the commands of the page for this kind of store."""
    lines = documented("text", "Backup and restore")
    of_postgres = [line for line in lines if line.startswith("pg_restore")]
    wanted = of_postgres if "DYNO_STORE" in bench.environ else [line for line in lines if line not in of_postgres]
    assert wanted
    for line in wanted:
        subprocess.run(shlex.split(line), cwd=bench.folder, env=bench.environ, check=True, capture_output=True)


def post(service: Service, path: str, body: object) -> Any:
    headers = {"Authorization": f"Bearer {service.secret}", "Content-Type": "application/json"}
    request = urllib.request.Request(service.address + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def run(service: Service) -> str:
    """The id of a run that the service has made."""
    done = post(service, "/benchmarks/run", {"agent_id": "loud", "suite_id": "words"})
    assert done["job"]["status"] == "succeeded"
    found: str = done["job"]["run_id"]
    return found


def everything(service: Service) -> dict[str, Any]:
    """What the service tells about its store."""
    paths = ["/api/runs", "/api/jobs", "/api/agents", "/api/suites", "/api/baselines"]
    found = {path: service.get(path) for path in paths}
    found["board"] = service.get("/benchmarks/leaderboard")["entries"]
    for row in found["/api/runs"]["items"]:
        for path in (f"/api/runs/{row['run_id']}", f"/api/runs/{row['run_id']}/samples"):
            found[path] = service.get(path)
    found["keys"] = [(key["name"], key["scope"]) for key in service.get("/api/keys")["items"]]
    found["audit"] = [(item["who"], item["action"], item["subject"]) for item in service.get("/api/audit")["items"]]
    return found


def test_a_backup_made_while_the_service_runs_comes_back_whole(bench: Bench) -> None:
    with Store.open(url_of(bench)) as store:
        _, secret = store.service.add_key("owner", Scope.ADMIN, time.time_ns() // 1_000_000)
    copy = "backup.dump" if "DYNO_STORE" in bench.environ else "backup.db"
    wal = bench.folder / ".dyno" / "dyno.db-wal"
    with serving(bench, secret) as service:
        first = run(service)
        service_state = everything(service)
        assert [row["run_id"] for row in service_state["/api/runs"]["items"]] == [first]
        assert len(service_state[f"/api/runs/{first}/samples"]["items"]) == 2
        assert [job["run_id"] for job in service_state["/api/jobs"]["items"]] == [first]
        done = bench.dyno("store", "backup", copy)
        assert done.code == 0, done.err
        later = run(service)
        assert everything(service) != service_state
        left = wal.read_bytes() if wal.exists() else None
    if left is not None:  # as after a loss of power: it belongs to the store that the copy takes the place of
        wal.write_bytes(left)
    restore(bench)
    with serving(bench, secret) as service:
        assert everything(service) == service_state
        again = run(service)
        assert again not in (first, later)
        assert {row["run_id"] for row in service.get("/api/runs")["items"]} == {first, again}


def test_a_store_of_an_earlier_schema_is_backed_up_migrated_and_served(bench: Bench) -> None:
    engine = at_revision(url_of(bench), "0003")
    for statements in (CREATE_0001, CREATE_0002, CREATE_0003):
        fill(engine, statements)
    refused = bench.dyno("serve", "--port", "0")
    assert refused.code == 2
    commands = documented("bash", "Upgrade")
    for command in commands:
        assert command.removesuffix(" before-upgrade.db") in refused.err.replace("\n", " ")
    for command in commands:
        done = bench.dyno(*shlex.split(command)[1:])
        assert done.code == 0, done.err
    assert f"from 0003 to {HEAD}" in done.err
    with Store.open(url_of(bench)) as store:
        _, secret = store.service.add_key("owner", Scope.ADMIN, time.time_ns() // 1_000_000)
    with serving(bench, secret) as service:
        (row,) = service.get("/api/runs")["items"]
        assert (row["run_id"], row["name"], row["samples"]) == (FIRST_ID, "old", 1)
        (sample,) = service.get(f"/api/runs/{FIRST_ID}/samples")["items"]
        assert (sample["output"], sample["duration_s"]) == ("out", 0.25)
        (result,) = service.get("/benchmarks/agents/quick@1/results?timeframe=all")["items"]
        assert (result["accuracy"], result["accuracy_error"]) == (0.5, 0.25)
        (baseline,) = service.get("/api/baselines")["items"]
        assert (baseline["agent"], baseline["version"], baseline["note"]) == ("quick", "1", "kept")
        new = run(service)
        assert {row["run_id"] for row in service.get("/api/runs")["items"]} == {FIRST_ID, new}
    if "DYNO_STORE" in bench.environ:  # on a new server, as it were
        for program in ("dropdb", "createdb"):
            subprocess.run([program, DATABASE], env=bench.environ, check=True, capture_output=True)
        (bench.folder / "before-upgrade.db").rename(bench.folder / "backup.dump")
    else:
        (bench.folder / "before-upgrade.db").rename(bench.folder / "backup.db")
    restore(bench)
    again = bench.dyno("store", "migrate")
    assert f"from 0003 to {HEAD}" in again.err, "the copy is of the old schema"


def test_the_command_of_the_systemd_unit_starts_a_service_that_ends_at_once_and_cleanly(tmp_path: Path) -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string("\n".join(documented("ini", "systemd")))
    service = unit["Service"]
    program, *arguments = shlex.split(service["ExecStart"])
    assert program.endswith("/dyno")
    assert program.startswith(service["WorkingDirectory"])
    port = arguments.index("--port") + 1
    assert arguments[port] in "\n".join(documented("nginx", "Reverse proxy"))
    arguments[port] = "0"
    bench = Bench(tmp_path)
    process = subprocess.Popen(
        [DYNO, *arguments], cwd=tmp_path, env=bench.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    with urllib.request.urlopen(f"{address}/ready", timeout=30) as response:
        assert response.status == 200
    process.send_signal(getattr(signal, service["KillSignal"]))
    _, said = process.communicate(timeout=float(service["TimeoutStopSec"]))
    assert process.returncode == 0, said
    assert "Traceback" not in said


def test_through_the_documented_proxy_nobody_reads_without_a_key(tmp_path: Path) -> None:
    lines = [line.split("#")[0].strip() for line in documented("nginx", "Reverse proxy")]
    settings = dict(line.rstrip(";").split(maxsplit=1) for line in lines if line.endswith(";"))
    headers = dict(line.rstrip(";").split()[1:] for line in lines if line.startswith("proxy_set_header"))
    assert headers["Host"] == "$host"
    assert settings["client_max_body_size"] == f"{ServiceSettings('', tmp_path).max_import_bytes // 2**20}m"
    with serving(Bench(tmp_path)) as service:
        through = urllib.request.Request(f"{service.address}/api/runs", headers={"Host": settings["server_name"]})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(through, timeout=30)
        refused.value.close()
        assert refused.value.code == 421
        with Store.open(path_url(tmp_path / ".dyno" / "dyno.db")) as store:
            _, secret = store.service.add_key("reader", Scope.READ, time.time_ns() // 1_000_000)
        through.add_header("Authorization", f"Bearer {secret}")
        with urllib.request.urlopen(through, timeout=30) as response:
            assert json.load(response)["items"] == []
