"""Workers that share the cases of one run: all of them, each once, whatever becomes of the others."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from agentdyno.cli.service.worker import command as worker_command
from agentdyno.jobs import sharing
from agentdyno.jobs.heartbeat import now_ms
from agentdyno.model import Phase, RunStatus, Trial
from agentdyno.model.job import Job, JobStatus
from agentdyno.runner.farm.driver import Told
from agentdyno.runs.cluster.order import WorkOrder
from agentdyno.store import Store

from ..command import DYNO
from ..postgres import Postgres
from ..suites import Room
from ..waiting import wait_until
from ..workbench.service import Service

CASES = 60
LEASE_MS = 10**9
"""Nothing is lost because a busy machine took its time."""
AGENT = """
import os, time
from pathlib import Path

def note(case):
    log = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{case.id} {os.getppid()}\\n".encode())
    os.close(log)

def right(case):
    note(case)
    if Path("hold").exists() and int(Path("hold").read_text()) == os.getppid():
        time.sleep(600)  # until its worker is killed
    while len({line.split()[1] for line in open("calls.log")}) < 2:
        time.sleep(0.01)  # until the other worker has a case, too
    return case.target
"""


@pytest.fixture
def service(room: Room, monkeypatch: pytest.MonkeyPatch) -> Service:
    return made_service(room.folder, room.store, monkeypatch)


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service on each database: a file is shared by the workers of one machine, a server by those of many."""
    if request.param == "sqlite":
        yield made_service(room.folder, room.store, monkeypatch)
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = server.create_database()
    with Store.open(server.url(name)) as store:
        yield made_service(room.folder, store, monkeypatch)
    server.drop_database(name)


def made_service(folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> Service:
    """One agent and a suite of ``CASES`` cases, registered in the folder."""
    monkeypatch.setattr(sharing, "COUNT_S", 0.05)
    made = Service.made(folder, store)
    (folder / "agent.py").write_text(AGENT)
    rows = "".join(f"    - {{id: c{i}, input: w{i}, target: W{i}}}\n" for i in range(CASES))
    head = (folder / "suite.yaml").read_text().partition("  cases:\n")[0]
    (folder / "suite.yaml").write_text(f"{head}  cases:\n{rows}")
    text = (folder / "dyno.yaml").read_text()
    (folder / "dyno.yaml").write_text(text.replace("  slow: agent.py@slow\n  broken: agent.py@broken\n", ""))
    return made


def owners(folder: Path) -> Counter[str]:
    """How many cases the agents of each worker were asked, by the id of the worker's process."""
    return Counter(line.split()[1] for line in (folder / "calls.log").read_text().splitlines())


def whole(store: Store, job: Job) -> bool:
    """Whether the run of the job has every case once."""
    done = store.service.job(job.job_id)
    run = store.runs.load(done.run_id)
    cases = Counter(sample.case_id for arm in run.arms for sample in arm.samples)
    assert (done.status, run.status) == (JobStatus.SUCCEEDED, RunStatus.COMPLETE)
    return cases == Counter({f"c{number}": 1 for number in range(CASES)})


def start_worker(service: Service, *more: str) -> subprocess.Popen[bytes]:
    command = [DYNO, "worker", "--share", "--lease", "1", "--store", service.store.url, *more]
    environ = {**os.environ, "DYNO_STATE": str(service.folder / "other-host")}
    return subprocess.Popen(command, cwd=service.folder, env=environ, stderr=subprocess.DEVNULL)


@contextmanager
def two_workers(service: Service) -> Iterator[tuple[Job, subprocess.Popen[bytes]]]:
    """A job that this process holds, and a worker beside it that can only help."""
    job, stop = service.submit(), threading.Event()
    holder = threading.Thread(target=replace(service.worker("holder", 1000), share=True).work, args=(stop,))
    holder.start()
    wait_until(lambda: service.store.service.job(job.job_id).status is JobStatus.RUNNING)
    helper = start_worker(service)
    try:
        yield job, helper
        wait_until(lambda: service.store.service.job(job.job_id).status.ended)
    finally:
        helper.terminate()
        helper.wait(60)
        stop.set()
        holder.join()


def test_two_workers_do_the_cases_of_one_run_together(shared: Service) -> None:
    with two_workers(shared) as (job, helper):
        pass
    assert whole(shared.store, job)
    assert set(owners(shared.folder)) == {str(os.getpid()), str(helper.pid)}
    assert [item.job_id for item in shared.store.service.jobs()] == [job.job_id], "batches are no jobs"
    run = shared.store.runs.load(shared.store.service.job(job.job_id).run_id)
    samples = [sample for arm in run.arms for sample in arm.samples]
    assert len({sample.details["host_id"] for sample in samples}) == 2
    timed = {sample.details["host_id"] for sample in samples if "duration_s" in sample.readings}
    assert timed == {run.environment.host_id}, "the times of one host count"


def test_cases_of_a_worker_that_is_killed_are_done_by_the_others(shared: Service) -> None:
    with two_workers(shared) as (job, helper):
        (shared.folder / "hold").write_text(str(helper.pid))
        wait_until(lambda: (shared.folder / "calls.log").exists() and str(helper.pid) in owners(shared.folder))
        helper.send_signal(signal.SIGKILL)
    assert whole(shared.store, job)


def test_a_worker_that_does_not_share_leaves_batches_alone(service: Service) -> None:
    job = service.submit()
    leased = service.store.service.lease_job("x", service.catalogue.offers, now_ms=1, lease_ms=10**15)
    assert leased is not None
    service.store.service.add_batch(leased, f"{job.job_id}.1.1", [], 2)
    assert service.worker().work(threading.Event(), once=True) == 0
    assert service.store.service.queue_depth() == 0
    given = {"now_ms": 3, "lease_ms": 1000, "batches": True}
    batch = service.store.service.lease_job("y", service.catalogue.offers, **given)  # type: ignore[arg-type]
    assert batch is not None
    assert batch.created_by == f"batch:{job.job_id}:1"
    service.store.service.drop_batches(leased)
    assert service.store.service.batches(leased) == []


def finish_batch(service: Service, said: str) -> None:
    """Another worker does the next batch of whoever shares, and says one thing about it."""
    given = {"now_ms": now_ms(), "lease_ms": LEASE_MS, "batches": True}
    batch = service.store.service.lease_job("other", service.catalogue.offers, **given)  # type: ignore[arg-type]
    assert batch is not None
    mine = (batch.job_id, batch.attempt)
    service.store.service.heartbeat_job(
        *mine, now_ms=now_ms(), lease_ms=LEASE_MS, progress={"items": [{"key": said}]}
    )
    service.store.service.finish_job(*mine, JobStatus.SUCCEEDED, now_ms=now_ms())


def test_every_batch_of_a_worker_that_was_sent_several_is_heard_of(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next cases go out as soon as it is known how quick they are, while the first are still being done."""
    monkeypatch.setattr(sharing, "LOOK_S", -1.0)
    monkeypatch.setattr(sharing, "COUNT_S", 10**6)
    service.submit()
    job = service.store.service.lease_job("x", service.catalogue.offers, now_ms=now_ms(), lease_ms=LEASE_MS)
    assert job is not None
    farm = sharing.WorkersFarm(
        service.worker().store_url, job, WorkOrder("run"), "x", 10**6, _counted_at=time.monotonic()
    )
    with Store.open(farm.url) as store:
        farm._store, farm._stations = store, ["worker-1"]
        farm.send("worker-1", [Trial("arm", Phase.MEASURED, 0, "c1")])
        farm.send("worker-1", [Trial("arm", Phase.MEASURED, 0, "c2")])
        finish_batch(service, "first")
        assert farm.receive(0.0) == [Told("worker-1", [{"key": "first"}])]
        assert farm.receive(0.0) == []
        finish_batch(service, "second")
        assert farm.receive(0.0) == [Told("worker-1", [{"key": "second"}])]
        assert service.store.service.batches(job) == []


PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "cluster.md").read_text()


def block(name: str) -> str:
    """The block of the page that is to be saved under this name."""
    return PAGE.split(f"Save this as `{name}`:")[1].split("```")[1].partition("\n")[2]


def test_the_documented_slurm_job_starts_workers_that_share_a_run(service: Service) -> None:
    """``srun`` is a script that starts as many processes as there are tasks, on this machine."""
    stub = service.folder / "bin" / "srun"
    stub.parent.mkdir()
    stub.write_text(
        "#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\n"
        "for _ in 1 2; do \"$@\" --lease 10 & done\ntrap 'kill $(jobs -p); wait' TERM\nwait; wait\n"
    )
    stub.chmod(0o700)
    (service.folder / "workers.sh").write_text(block("workers.sh"))
    job = service.submit()
    environ = {
        **os.environ,
        "PATH": f"{stub.parent}:{Path(DYNO).parent}:{os.environ['PATH']}",
        "DYNO_STORE": str(service.folder / "dyno.db"),
        "SLURM_SUBMIT_DIR": str(service.folder),
    }
    batch = subprocess.Popen(["bash", "workers.sh"], cwd=service.folder, env=environ, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: service.store.service.job(job.job_id).status.ended)
    finally:
        batch.terminate()
        batch.wait(60)
    assert whole(service.store, job)
    assert len(owners(service.folder)) == 2


def test_the_documented_deployment_is_one_and_its_command_is_ours() -> None:
    manifest = yaml.safe_load(block("workers.yaml"))
    assert (manifest["apiVersion"], manifest["kind"]) == ("apps/v1", "Deployment")
    template = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    (container,) = template["spec"]["containers"]
    volumes = {volume["name"] for volume in template["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    dyno, name, *options = container["command"]
    assert (dyno, name) == ("dyno", "worker")
    known = {spelled for item in worker_command.params for spelled in item.opts}
    assert set(options) <= known
    assert all(("value" in item) != ("valueFrom" in item) for item in container["env"])
