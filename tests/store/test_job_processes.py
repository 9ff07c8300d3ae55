"""Many workers at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from agentdyno.errors import StoreError
from agentdyno.model.job import Job, JobStatus, Scope
from agentdyno.store import Store

from .job_builders import LEASE_MS, NOW, OFFERS, job, job_id

TAKER = Path(__file__).with_name("job_taker.py")
JOBS = 100


def start_taker(url: str, worker: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(TAKER), url, worker]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_four_processes_take_every_job_exactly_once(store_url: str) -> None:
    with Store.open(store_url) as store:
        for number in range(JOBS):
            store.service.add_job(job(number))
        takers = [start_taker(store_url, f"w{number}") for number in range(4)]
        for taker in takers:
            assert taker.stdout is not None
            assert taker.stdout.readline() == "ready\n"
        for taker in takers:
            assert taker.stdin is not None
            taker.stdin.write("go\n")
            taker.stdin.flush()
        finished: list[str] = []
        for taker in takers:
            with taker:
                finished += taker.communicate()[0].split()
        assert [taker.returncode for taker in takers] == [0, 0, 0, 0]
        assert sorted(finished) == [job_id(number) for number in range(JOBS)]
        ended = store.service.jobs(limit=1_000)
    assert Counter((item.status, item.attempt, item.lost) for item in ended) == {(JobStatus.SUCCEEDED, 1, 0): JOBS}


def test_threads_with_stores_of_their_own_lease_a_lost_job_once(store_url: str) -> None:
    """All look at the queue before any takes the job: what they saw must not be what decides."""
    with Store.open(store_url) as store:
        store.service.add_job(job(1, status=JobStatus.RUNNING, attempt=1, lease_until=NOW, worker="dead"))
        workers = [Store.open(store_url, busy_timeout_s=60) for _ in range(4)]
        together = threading.Barrier(4)
        taken: list[Job | None] = []

        def take(number: int) -> None:
            together.wait()
            taken.append(workers[number].service.lease_job(f"w{number}", OFFERS, now_ms=NOW, lease_ms=LEASE_MS))

        threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.close()
        (winner,) = [item for item in taken if item is not None]
        assert len(taken) == 4
        assert (winner.attempt, winner.lost) == (2, 1)
        assert store.service.job(winner.job_id) == winner


def test_callers_that_repeat_a_request_at_once_get_one_job(store_url: str) -> None:
    with Store.open(store_url) as store:
        callers = [Store.open(store_url, busy_timeout_s=60) for _ in range(4)]
        together = threading.Barrier(4)
        given: list[str] = []

        def ask(number: int) -> None:
            together.wait()
            given.append(callers[number].service.add_job(job(number, idempotency_key="k")).job_id)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for caller in callers:
            caller.close()
        assert len(given) == 4
        assert set(given) == {item.job_id for item in store.service.jobs()}
        assert len(store.service.jobs()) == 1


def test_threads_share_a_store_for_everything_a_service_does(store: Store) -> None:
    """What a thread pool does with one store: reads, leases, heartbeats and keys, all mixed."""
    failures: list[Exception] = []
    finished: list[str] = []
    for number in range(20):
        store.service.add_job(job(number))
    _, secret = store.service.add_key("ci", Scope.RUN, NOW)

    def work(name: str) -> None:
        try:
            while (taken := store.service.lease_job(name, OFFERS, now_ms=NOW, lease_ms=LEASE_MS)) is not None:
                assert store.service.find_key(secret, NOW) is not None
                store.service.heartbeat_job(
                    taken.job_id, taken.attempt, now_ms=NOW, lease_ms=LEASE_MS, progress={"n": 1}
                )
                assert store.service.job(taken.job_id).worker == name
                store.service.jobs(limit=3)
                store.boards.agents()
                finished.append(
                    store.service.finish_job(taken.job_id, taken.attempt, JobStatus.SUCCEEDED, now_ms=NOW).job_id
                )
        except (StoreError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(finished) == [job_id(number) for number in range(20)]
