"""Workers: jobs are run once, gone on with by the next one, stopped when asked, and left alone when lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import LeaseLost, StoreError
from agentdyno.jobs import worker as worker_module
from agentdyno.jobs.heartbeat import Heartbeat, StopReason
from agentdyno.jobs.processes import WorkerPool
from agentdyno.model import Progress, RunResult, RunStatus
from agentdyno.model.job import Job, JobStatus
from agentdyno.runs.kind import Choices, Prepared, RunKind, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.prepare import PreparedSuite, suite_request
from agentdyno.store.service.fenced import FencedStore, Superseded
from agentdyno.store.service.repository import ServiceRepository
from agentdyno.store.service.schema import jobs

from ..suites import Room
from ..waiting import PATIENCE_S, wait_until
from ..workbench.service import Service

NEVER = threading.Event()


@pytest.fixture
def service(room: Room) -> Service:
    return Service.made(room.folder, room.store)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_a_job_is_run_and_says_how_far_it_came(service: Service) -> None:
    job = service.submit()
    assert service.worker("ada").work(NEVER, once=True) == 1
    done = service.store.service.job(job.job_id)
    assert (done.status, done.worker, done.attempt, done.failures, done.error) == (
        *(JobStatus.SUCCEEDED, "ada"),
        *(1, 0, ""),
    )
    assert (done.progress["done"], done.progress["planned"], done.progress["pass_rate"]) == (6, 6, 1.0)
    result = service.store.runs.load(done.run_id)
    assert (result.status, result.workspace, result.suite and result.suite.suite_id) == (
        *(RunStatus.COMPLETE, "bench"),
        "first",
    )
    assert service.told == [(job.job_id, "begins"), (job.job_id, "succeeded")]


def test_options_and_configuration_of_the_job_are_those_of_the_run(service: Service) -> None:
    quick = service.submit(options={"quick": True, "epochs": 2})
    styled = service.submit("styled", configuration={"depth": 7})
    service.worker().work(NEVER, once=True)
    run = service.store.runs.load(service.store.service.job(quick.job_id).run_id)
    assert [len(arm.samples) for arm in run.arms] == [4]
    suite = service.store.runs.load(service.store.service.job(styled.job_id).run_id).suite
    assert suite is not None
    assert suite.agents[0].config == {"style": "short", "depth": 7, "base_url": "http://x"}


def test_only_jobs_whose_agent_and_suite_are_here_with_the_same_content_are_taken(service: Service) -> None:
    job = service.submit()
    (service.folder / "agent.py").write_text((service.folder / "agent.py").read_text() + "\n# changed\n")
    assert service.worker().work(NEVER, once=True) == 0
    assert service.store.service.job(job.job_id).status is JobStatus.QUEUED


def test_an_agent_that_cannot_answer_fails_the_job_with_its_message(service: Service) -> None:
    job = service.submit("broken")
    service.worker().work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert (done.status, done.attempt, done.failures) == (JobStatus.FAILED, 1, 1)
    assert "the agent's own mistake" in done.error


def test_a_mistake_that_would_be_the_same_every_time_ends_the_job_at_once(service: Service) -> None:
    """Whether a key is there shows only where the worker runs, when the run begins."""
    text = (service.folder / "dyno.yaml").read_text()
    (service.folder / "dyno.yaml").write_text(text.replace("agents:", 'agents:\n  keyed: "openai:some-model"', 1))
    job = service.submit("keyed")
    replace(service.worker(), environ={}).work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert (done.status, done.attempt, done.failures) == (JobStatus.FAILED, 1, 1)
    assert "OPENAI_API_KEY is not set" in done.error


def test_a_scorer_that_raises_on_every_answer_fails_the_job_and_keeps_the_answers(service: Service) -> None:
    (service.folder / "judge.py").write_text("def valid(output):\n    return output.missing\n")
    text = (service.folder / "suite.yaml").read_text()
    (service.folder / "suite.yaml").write_text(text.replace("scorer: exact", "scorer: judge.py@valid"))
    job = service.submit()
    service.worker().work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert (done.status, done.attempt, done.failures) == (JobStatus.FAILED, 1, 1), "it is not tried again"
    assert "scorer judge.py@valid raised AttributeError" in done.error
    assert "(judge.py:2) on all 6 answers of all agents" in done.error
    assert len(service.store.runs.load(done.run_id).arms[0].samples) == 6


def test_what_nobody_expected_fails_the_attempt_and_is_tried_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = service.submit()
    calls = []

    def unlucky(kind: RunKind[PreparedSuite], prepared: Prepared[PreparedSuite], tools: Tools) -> RunResult:
        calls.append(kind)
        if len(calls) == 1:
            raise ZeroDivisionError("a defect")
        return start(kind, prepared, tools)

    monkeypatch.setattr("agentdyno.jobs.worker.start", unlucky)
    service.worker().work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert (done.status, done.failures, done.attempt) == (JobStatus.SUCCEEDED, 1, 2)


def when_it_hangs(service: Service, action: Callable[[], object]) -> None:
    """Does something while the agent ``slow`` is at the case that it does not answer."""

    def watch() -> None:
        wait_until(lambda: "c2" in service.calls())
        action()

    threading.Thread(target=watch, daemon=True).start()


def answered(service: Service, run_id: str) -> list[str]:
    result = service.store.runs.load(run_id)
    return sorted(sample.case_id for arm in result.arms for sample in arm.samples if sample.status == "ok")


def test_a_cancelled_job_stops_in_the_middle_of_a_call_and_keeps_what_it_has(service: Service) -> None:
    job = service.submit("slow")
    when_it_hangs(service, lambda: service.store.service.cancel_job(job.job_id, now_ms()))
    service.worker(lease_ms=1000).work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert done.status is JobStatus.CANCELLED
    assert service.store.runs.load(done.run_id).status is RunStatus.PARTIAL
    assert answered(service, done.run_id) == sorted(service.calls()[:-1])


def test_a_stopped_worker_gives_its_job_back_and_the_next_one_asks_only_what_is_missing(service: Service) -> None:
    job = service.submit("slow")
    stop = threading.Event()
    when_it_hangs(service, stop.set)
    service.worker("first", lease_ms=60_000).work(stop)
    left = service.store.service.job(job.job_id)
    assert (left.status, left.worker, left.lost) == (JobStatus.QUEUED, "first", 0)
    before = service.calls()
    assert answered(service, left.run_id) == sorted(before[:-1])
    (service.folder / "hurry").touch()
    service.worker("second").work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert (done.status, done.worker, done.attempt, done.run_id) == (
        *(JobStatus.SUCCEEDED, "second"),
        *(2, left.run_id),
    )
    assert (done.lost, done.failures) == (0, 0)
    assert sorted([*before[:-1], *service.calls()[len(before) :]]) == [f"c{i}" for i in range(6)]
    assert service.store.runs.load(done.run_id).status is RunStatus.COMPLETE


def test_a_run_that_was_named_and_never_begun_is_begun(service: Service) -> None:
    job = service.submit()
    taken = service.store.service.lease_job("dead", service.catalogue.offers, now_ms=now_ms(), lease_ms=0)
    assert taken is not None
    missing = "0198c3a1-7f2b-7000-8000-000000000000"
    service.store.service.heartbeat_job(job.job_id, 1, now_ms=now_ms(), lease_ms=0, run_id=missing)
    service.worker().work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert (done.status, done.lost, done.run_id != missing) == (JobStatus.SUCCEEDED, 1, True)
    assert [row.run_id for row in service.store.runs.newest()] == [done.run_id]


def test_a_job_whose_run_was_closed_already_is_only_ended(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    job = service.submit()
    finish = Heartbeat.finish

    def die(_heartbeat: Heartbeat, _status: JobStatus, _error: str = "", *, final: bool = False) -> None:
        raise StoreError("gone at the last moment")

    monkeypatch.setattr(Heartbeat, "finish", die)
    stop = threading.Event()
    first = replace(service.worker("first"), on_job=lambda _job, what: stop.set() if what != "begins" else None)
    first.work(stop)
    assert service.store.service.job(job.job_id).status is JobStatus.RUNNING
    monkeypatch.setattr(Heartbeat, "finish", finish)
    asked = service.calls()
    told = dict(service.store.service.job(job.job_id).progress)
    with service.store.session as session, session.transaction():  # as if it had died before its first heartbeat
        session.execute(jobs.update().values(progress={}))
    service.worker("second").work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    assert done.status is JobStatus.SUCCEEDED
    assert service.calls() == asked
    assert (done.progress["done"], done.progress["planned"], done.progress["errors"]) == (6, 6, 0)
    same = ("pass_rate", "tokens", "cost_usd", "doing")
    assert [done.progress[name] for name in same] == [told[name] for name in same]


def test_a_worker_that_lost_its_lease_writes_nothing_more(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    job = service.submit()
    offers = service.catalogue.offers
    rival: list[Job | None] = []
    note = worker_module._Attempt._on_progress

    def robbed(attempt: worker_module._Attempt, progress: Progress) -> None:
        """After the second sample another takes the job, as if this worker had been paused for two minutes."""
        note(attempt, progress)
        if progress.done == 2 and not rival:
            rival.append(service.store.service.lease_job("rival", offers, now_ms=now_ms() + 120_000, lease_ms=60_000))

    monkeypatch.setattr(worker_module._Attempt, "_on_progress", robbed)
    stop = threading.Event()
    loser = replace(service.worker("loser"), on_job=lambda _job, what: stop.set() if what != "begins" else None)
    loser.work(stop)
    held = service.store.service.job(job.job_id)
    assert rival[0] is not None
    assert (held.status, held.worker, held.attempt) == (JobStatus.RUNNING, "rival", 2)
    run = service.store.runs.load(held.run_id)
    assert run.status is RunStatus.RUNNING, "the loser has closed the run of the winner"
    assert sum(len(arm.samples) for arm in run.arms) == 2
    assert not list(service.folder.rglob("result.json"))
    assert not list(service.folder.rglob("unsaved-samples.jsonl"))


def test_an_attempt_that_is_over_is_not_interrupted_any_more(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.submit()
    job = service.store.service.lease_job("w", service.catalogue.offers, now_ms=now_ms(), lease_ms=60_000)
    assert job is not None
    attempt = worker_module._Attempt(service.worker("w"), service.catalogue, job, NEVER)

    def lose() -> None:
        """In the middle of the run, while somebody waits whether it is stuck."""
        attempt._open_to_interrupts = True
        attempt._wake()
        raise LeaseLost("another has it")

    killed: list[int] = []
    monkeypatch.setattr(worker_module, "STUCK_S", 2.0)
    monkeypatch.setattr(signal, "pthread_kill", lambda _thread, number: killed.append(number))
    monkeypatch.setattr(attempt, "_conclude", lose)
    attempt.make()
    wait_until(lambda: all(thread.name != "interrupt" for thread in threading.enumerate()))
    assert killed == [], "nobody handles the signal by now: it would end the process"


def test_every_write_of_a_fenced_store_needs_the_lease_and_what_it_reads_for_one_too(service: Service) -> None:
    job = service.submit()
    service.worker().work(NEVER, once=True)
    done = service.store.service.job(job.job_id)
    result = service.store.runs.load(done.run_id)
    with FencedStore.open_for(service.store.url, job.job_id, done.attempt) as fenced:
        writes: list[Callable[[], object]] = [
            lambda: fenced.runs.append(done.run_id, result.arms[0].samples[0]),
            lambda: fenced.runs.finish(result),
            lambda: fenced.runs.reopen(done.run_id),
            lambda: fenced.runs.begin(result, (), {}),
            lambda: fenced.runs.update_scores(done.run_id, result.arms[0].samples),
            lambda: fenced.boards.rebuild_summaries(),
            lambda: fenced.runs.load(done.run_id),
            lambda: fenced.runs.recorded(done.run_id),
        ]
        for write in writes:
            with pytest.raises(Superseded):
                write()
    assert service.store.runs.load(done.run_id) == result


def test_a_fenced_store_tells_of_a_run_before_it_is_begun(service: Service) -> None:
    job = service.submit()
    taken = service.store.service.lease_job("w", service.catalogue.offers, now_ms=now_ms(), lease_ms=60_000)
    assert taken is not None
    told: list[tuple[str, bool]] = []
    with FencedStore.open_for(
        service.store.url, job.job_id, 1, lambda run_id: told.append((run_id, service.store.runs.has(run_id)))
    ) as fenced:
        catalogue = service.catalogue
        loaded = catalogue.suites["first"].loaded
        assert loaded is not None
        choices = Choices((catalogue.agents["right"].use,))
        tools = Tools(fenced, service.folder / "runs", catalogue.workspace, choices=choices)
        kind = kind_named(SUITE)
        with kind.prepare(suite_request(loaded), tools) as prepared:
            result = start(kind, prepared, tools)
    assert told == [(result.run_id, False)]


def test_a_heartbeat_hears_of_cancelling_stopping_and_losing(service: Service) -> None:
    job = service.submit()
    taken = service.store.service.lease_job("w", service.catalogue.offers, now_ms=now_ms(), lease_ms=60_000)
    assert taken is not None
    stopping = threading.Event()
    woken = threading.Event()
    heartbeat = Heartbeat(service.store.url, taken, 300, stopping, woken.set)
    heartbeat.start()
    try:
        stopping.set()
        wait_until(lambda: heartbeat.why is StopReason.STOPPED)
        assert woken.wait(PATIENCE_S)
    finally:
        heartbeat.close()
    service.store.service.cancel_job(job.job_id, now_ms())
    heartbeat = Heartbeat(service.store.url, taken, 300, NEVER, lambda: None)
    heartbeat.start()
    wait_until(lambda: heartbeat.why is StopReason.CANCELLED)
    heartbeat.close()
    other = replace(taken, attempt=taken.attempt + 1)
    heartbeat = Heartbeat(service.store.url, other, 300, NEVER, lambda: None)
    heartbeat.start()
    wait_until(lambda: heartbeat.why is StopReason.LOST)
    with pytest.raises(LeaseLost):
        heartbeat.finish(JobStatus.SUCCEEDED)
    heartbeat.close()


def test_a_pool_starts_dead_workers_again_and_ends_them_all(service: Service) -> None:
    job = service.submit()
    environ = {**os.environ, "DYNO_STORE": service.store.url}
    with WorkerPool(service.store.url, service.folder, 1, 1000, environ) as pool:
        (first,) = pool.pids
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: pool.pids != [first])
        (second,) = pool.pids
        wait_until(lambda: service.store.service.job(job.job_id).status is JobStatus.SUCCEEDED)
    assert not Path(f"/proc/{second}").exists()


def test_workers_end_with_a_parent_that_is_killed(service: Service) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom agentdyno.jobs.processes import WorkerPool\n"
        "with WorkerPool(sys.argv[1], Path(sys.argv[2]), 1, 1000) as pool:\n"
        "    print(pool.pids[0], flush=True)\n    time.sleep(600)\n"
    )
    job = service.submit()
    with subprocess.Popen(
        [sys.executable, "-c", code, service.store.url, str(service.folder)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        wait_until(lambda: service.store.service.job(job.job_id).status is JobStatus.SUCCEEDED)
        parent.kill()
    wait_until(lambda: not _alive(child))


def _alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_store_that_does_not_answer_is_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    job = service.submit()
    lease, calls = ServiceRepository.lease_job, []

    def away(store: ServiceRepository, *given: object, **named: object) -> Job | None:
        calls.append(store)
        if len(calls) < 3:
            raise StoreError("no answer")
        return lease(store, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(ServiceRepository, "lease_job", away)
    stop = threading.Event()
    worker = replace(service.worker(), on_job=lambda _job, what: stop.set() if what == "succeeded" else None)
    worker.work(stop)
    assert service.store.service.job(job.job_id).status is JobStatus.SUCCEEDED
    assert len(calls) == 3
