"""Workers and servers killed at any moment lose no job, end none twice, and repeat no answer that is stored.

``make test`` kills three workers while they do 20 jobs, ``make soak`` four workers and the server while 200 are done,
in SQLite and in PostgreSQL, which is restarted once. In ``make soak`` workers are also stopped for longer than their
lease now and then, and go on without knowing that another has their job.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from agentdyno.errors import StoreError
from agentdyno.jobs.catalogue import Catalogue
from agentdyno.jobs.submitting import submit
from agentdyno.model import RunStatus
from agentdyno.model.job import Job, JobStatus
from agentdyno.store import Store

from ..command import DYNO, Bench
from ..postgres import Postgres, _identity, running_postgres

SOAK = bool(os.environ.get("DYNO_SOAK"))
JOBS = 200 if SOAK else 20
WORKERS = 4 if SOAK else 3
KILL_EVERY_S = 3.0
KILL_EVERY_JOBS = 4
"""In the short form, kills follow the jobs and not the clock: a fast machine sees as many as a slow one."""
LEASE_S = 2
PAUSE_S = LEASE_S * 1.75
PAUSE_EVERY = 3
"""With how many kills another worker is paused; only in the long form."""
CASES = 6
PATIENCE_S = 1500.0 if SOAK else 240.0
AGENT = """
import os, time

def answer(text):
    time.sleep(0.05)
    log = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, b"x")
    os.close(log)
    return text.upper()
"""
ENDS = "CREATE TABLE ends (job_id TEXT NOT NULL)"
ENDED = "NEW.status IN ('succeeded', 'failed', 'cancelled')"
COUNTING = {
    "sqlite": [
        f"CREATE TRIGGER note_end AFTER UPDATE ON jobs WHEN {ENDED} BEGIN INSERT INTO ends VALUES (NEW.job_id); END",
    ],
    "postgresql": [
        "CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN INSERT INTO ends VALUES (NEW.job_id); RETURN NEW; END $$",
        f"CREATE TRIGGER note_end AFTER UPDATE ON jobs FOR EACH ROW WHEN ({ENDED}) EXECUTE FUNCTION note_end()",
    ],
}
"""The database itself notes each write that ends a job, or that touches one which had ended."""
SUITE = "name: Tiny\nepochs: 1\nwarmup: 0\nscorer: exact\ndataset:\n  cases:\n" + "".join(
    f"    - {{id: c{i}, input: word {i}, target: WORD {i}}}\n" for i in range(CASES)
)


@dataclass
class Campaign:
    """Workers on one store, killed and started again."""

    bench: Bench
    url: str
    rng: random.Random = field(default_factory=lambda: random.Random(5))
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    server: subprocess.Popen[bytes] | None = None
    kills: int = 0
    server_kills: int = 0
    pauses: int = 0
    paused: dict[str, float] = field(default_factory=dict)
    """Until when each is stopped."""

    def count_ends(self) -> None:
        with Store.open(self.url) as store, store.session as link, link.transaction():
            for statement in (ENDS, *COUNTING[self.url.partition(":")[0]]):
                link.connection.exec_driver_sql(statement)

    def ends(self) -> Counter[str]:
        """How often each job was ended."""
        with Store.open(self.url) as store, store.session as link:
            return Counter(link.connection.exec_driver_sql("SELECT job_id FROM ends").scalars())

    def submit(self, count: int) -> list[str]:
        catalogue = Catalogue.load(self.bench.folder, os.environ)
        with Store.open(self.url) as store:
            return [
                submit(
                    store,
                    catalogue,
                    agent="quick",
                    suite="tiny",
                    configuration={},
                    options={},
                    who="test",
                    idempotency_key=f"job {i}",
                    now_ms=time.time_ns() // 1_000_000,
                    queue_limit=count + 1,
                ).job_id
                for i in range(count)
            ]

    def start_worker(self, name: str) -> None:
        self.workers[name] = self._start("worker", "--name", name, "--lease", str(LEASE_S), "--store", self.url)

    def start_server(self) -> None:
        self.server = self._start("serve", "--port", "0", "--lease", str(LEASE_S), "--store", self.url)

    def kill_a_worker(self, jobs: list[Job]) -> None:
        """One that is at work, where there is one."""
        name = self.rng.choice(self._busy(jobs) or sorted(self.workers))
        self.paused.pop(name, None)
        kill(self.workers[name])
        self.start_worker(name)
        self.kills += 1

    def pause_a_worker(self, jobs: list[Job]) -> None:
        """One that is at work is stopped for longer than its lease, where there is one."""
        busy = [name for name in self._busy(jobs) if name not in self.paused]
        if busy:
            name = self.rng.choice(busy)
            self.workers[name].send_signal(signal.SIGSTOP)
            self.paused[name] = time.monotonic() + PAUSE_S
            self.pauses += 1

    def wake(self, now: float) -> None:
        for name in [name for name, until in self.paused.items() if now >= until]:
            del self.paused[name]
            self.workers[name].send_signal(signal.SIGCONT)

    def _busy(self, jobs: list[Job]) -> list[str]:
        return sorted({job.worker for job in jobs if job.status is JobStatus.RUNNING} & self.workers.keys())

    def jobs(self) -> list[Job]:
        with Store.open(self.url) as store:
            return store.service.jobs(limit=JOBS + 10)

    def close(self) -> None:
        for process in [*self.workers.values(), *filter(None, [self.server])]:
            kill(process)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.bench.folder / "workers.log").open("ab") as log:
            return subprocess.Popen(
                [DYNO, *arguments], cwd=self.bench.folder, env=self.bench.environ, stdout=log, stderr=log
            )


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture
def ready(bench: Bench) -> Bench:
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE)
    bench.write("dyno.yaml", "agents: {quick: agent.py@answer}\nsuites: [suite.yaml]\n")
    return bench


@contextlib.contextmanager
def campaign(bench: Bench, url: str) -> Iterator[Campaign]:
    running = Campaign(bench, url)
    try:
        yield running
    finally:
        running.close()


def fight(run: Campaign, at_half: Callable[[], None] = lambda: None) -> list[Job]:
    """Kills until every job has ended; the jobs. What has ended must stay as it is.

    In the short form a worker is killed whenever a few more jobs have ended: on a busy machine they might else be
    killed before they have begun.
    """
    run.count_ends()
    submitted = run.submit(JOBS)
    if SOAK:
        run.start_server()
    for i in range(WORKERS):
        run.start_worker(f"worker-{i}")
    ended: dict[str, Job] = {}
    jobs: list[Job] = []
    halved, at_last_kill = False, 0
    give_up, next_kill = time.monotonic() + PATIENCE_S, time.monotonic() + KILL_EVERY_S
    while len(ended) < JOBS:
        if time.monotonic() > give_up:
            pytest.fail(f"only {len(ended)} of {JOBS} jobs have ended")
        time.sleep(0.2)
        run.wake(time.monotonic())
        with contextlib.suppress(StoreError):  # a database that restarts
            jobs = run.jobs()
        for job in jobs:
            assert job == ended.get(job.job_id, job), "a job that had ended has changed"
        ended |= {job.job_id: job for job in jobs if job.status.ended}
        if not halved and len(ended) * 2 >= JOBS:
            halved = True
            at_half()
        if run.server is not None and run.server_kills < 2 and len(ended) * 3 >= JOBS * (run.server_kills + 1):
            kill(run.server)
            run.start_server()
            run.server_kills += 1
        due = time.monotonic() >= next_kill if SOAK else len(ended) >= at_last_kill + KILL_EVERY_JOBS
        if due and len(ended) < JOBS:
            run.kill_a_worker(jobs)
            if SOAK and run.kills % PAUSE_EVERY == 0:
                run.pause_a_worker(jobs)
            next_kill, at_last_kill = time.monotonic() + KILL_EVERY_S, len(ended)
    assert set(ended) == set(submitted)
    if run.paused:
        run.wake(float("inf"))
        time.sleep(LEASE_S)  # what a late one writes now would be seen
        assert {job.job_id: job for job in run.jobs()} == ended
    return list(ended.values())


def verify(run: Campaign, jobs: list[Job]) -> None:
    assert Counter(job.status for job in jobs) == {JobStatus.SUCCEEDED: JOBS}
    assert run.ends() == dict.fromkeys((job.job_id for job in jobs), 1), "a job was ended twice, or never"
    assert len({job.run_id for job in jobs}) == JOBS
    with Store.open(run.url) as store:
        assert {row.run_id for row in store.runs.newest(JOBS * 3)} == {job.run_id for job in jobs}
        for job in jobs:
            result = store.runs.load(job.run_id)
            assert result.status is RunStatus.COMPLETE
            assert sorted(sample.case_id for arm in result.arms for sample in arm.samples) == [
                f"c{i}" for i in range(CASES)
            ]
            assert job.progress["done"] == job.progress["planned"] == CASES
    again = sum(job.attempt - 1 for job in jobs)
    calls = len((run.bench.folder / "calls.log").read_bytes())
    lost = [job.lost for job in jobs]
    print(
        f"{JOBS} jobs, {JOBS * CASES} samples, {calls} calls; {run.kills} kills of {WORKERS} workers,"
        f" {run.server_kills} of the server, {run.pauses} pauses; {again} attempts repeated,"
        f" {sum(lost)} leases lost, {max(lost)} at most by one job"
    )
    assert run.kills > 2, "the campaign was over too soon to show anything"
    assert run.server_kills == (2 if SOAK else 0)
    # A call in flight is repeated; one more may be made by a worker that has lost its lease and not heard of it.
    assert calls <= JOBS * CASES + 2 * again, "answers that were stored were asked for again"


@pytest.mark.timeout(PATIENCE_S + 60)
def test_killed_workers_lose_no_job_and_double_no_sample(ready: Bench) -> None:
    with campaign(ready, f"sqlite:///{ready.folder / '.dyno' / 'dyno.db'}") as run:
        verify(run, fight(run))


if SOAK:

    @pytest.mark.timeout(PATIENCE_S + 60)
    def test_killed_workers_and_a_restarted_postgresql_lose_no_job_and_double_no_sample(ready: Bench) -> None:
        with running_postgres() as postgres:
            try:
                with campaign(ready, postgres.url(postgres.create_database())) as run:
                    verify(run, fight(run, lambda: restart(postgres)))
            finally:
                _control(postgres, "stop")


def restart(postgres: Postgres) -> None:
    _control(postgres, "restart")


def _control(postgres: Postgres, what: str) -> None:
    command = [str(postgres.programs / "pg_ctl"), "-D", str(postgres.folder / "data"), "-w", "-m", "fast", what]
    if what == "restart":
        command += ["-l", str(postgres.folder / "data" / "restarted.log")]
    done = subprocess.run(command, cwd=postgres.folder, check=False, capture_output=True, timeout=120, **_identity())
    assert what == "stop" or done.returncode == 0, done.stderr
