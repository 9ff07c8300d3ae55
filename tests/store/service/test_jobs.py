from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from agentdyno.errors import Conflict, LeaseLost, Unknown
from agentdyno.model.job import Job, JobStatus
from agentdyno.store import Store

from ..builders import begin, sample
from ..job_builders import LEASE_MS, NOW, OFFERS, PAIR, job, job_id, lease

ENDS = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)
FULL = job(
    configuration={"temperature": 0.5, "odd": "\x00ö"},
    options={"epochs": 2, "quick": True},
    priority=-3,
    workspace="team",
    idempotency_key="key-1",
    max_failures=1,
    error="\x00",
)


def later(store: Store, number: int = 1) -> Job:
    return store.service.job(job_id(number))


def test_a_job_comes_back_as_it_was_added(store_url: str) -> None:
    with Store.open(store_url) as store:
        assert store.service.add_job(FULL) == FULL
    with Store.open(store_url, must_exist=True) as store:
        assert store.service.job(FULL.job_id) == FULL
        assert store.service.jobs() == [FULL]


def test_what_adding_answers_is_what_reading_answers(store: Store) -> None:
    kept = store.service.add_job(job(configuration=MappingProxyType({"a": (1, 2), "b": float("nan")})))
    assert kept == store.service.job(kept.job_id)
    assert kept.configuration == {"a": [1, 2], "b": None}


def test_an_id_is_taken_once(store: Store) -> None:
    store.service.add_job(job())
    for again in (job(agent="other"), job(agent="other", idempotency_key="k")):
        with pytest.raises(Conflict, match=r"there is a job .* already"):
            store.service.add_job(again)
    assert later(store).agent == "quick"


def test_a_used_idempotency_key_answers_with_the_first_job_and_adds_nothing(store: Store) -> None:
    first = store.service.add_job(job(1, idempotency_key="k"))
    assert store.service.add_job(job(2, idempotency_key="k", agent="other")) == first
    assert store.service.add_job(job(1, idempotency_key="k")) == first
    lease(store)
    assert store.service.add_job(job(3, idempotency_key="k")).status is JobStatus.RUNNING
    assert [item.job_id for item in store.service.jobs()] == [first.job_id]


def test_idempotency_keys_belong_to_who_used_them(store: Store) -> None:
    store.service.add_job(job(1, idempotency_key="k"))
    assert store.service.add_job(job(2, idempotency_key="k", created_by="ana")).job_id == job_id(2)
    for number in (3, 4):
        assert store.service.add_job(job(number)).job_id == job_id(number)


def test_the_queue_counts_what_waits(store: Store) -> None:
    assert store.service.queue_depth() == 0
    for number in range(3):
        store.service.add_job(job(number))
    lease(store)
    assert store.service.queue_depth() == 2
    assert store.service.job_counts() == {
        **dict.fromkeys(JobStatus, 0),
        JobStatus.QUEUED: 2,
        JobStatus.RUNNING: 1,
    }


def test_a_lease_makes_a_job_run(store: Store) -> None:
    store.service.add_job(job())
    taken = lease(store, NOW + 5)
    assert taken == replace(
        job(), status=JobStatus.RUNNING, attempt=1, worker="w1", lease_until=NOW + 5 + LEASE_MS, started_at=NOW + 5
    )
    assert later(store) == taken
    assert store.service.lease_job("w2", OFFERS, now_ms=NOW + 5, lease_ms=LEASE_MS) is None


def test_priority_goes_first_then_age(store: Store) -> None:
    for number, priority in ((4, 0), (2, 0), (3, 7), (1, -1), (5, 7)):
        store.service.add_job(job(number, priority=priority))
    assert [lease(store).job_id for _ in range(5)] == [job_id(number) for number in (3, 5, 2, 4, 1)]


def test_jobs_of_the_same_moment_go_in_the_order_of_adding(store: Store) -> None:
    for number in (2, 1, 3):
        store.service.add_job(job(number, created_at=NOW))
    assert [lease(store).job_id for _ in range(3)] == [job_id(number) for number in (2, 1, 3)]


def test_a_worker_gets_only_what_it_offers(store: Store) -> None:
    store.service.add_job(job(1, agent_digest="a", suite_digest="s", priority=9))
    store.service.add_job(job(2, agent_digest="b", suite_digest="t"))

    def take(*offers: tuple[str, str]) -> str | None:
        taken = store.service.lease_job("w", offers, now_ms=NOW, lease_ms=LEASE_MS)
        return taken.job_id if taken else None

    assert take() is None
    assert take(("a", "t"), ("b", "s"), PAIR) is None
    assert take(("b", "t"), ("c", "s")) == job_id(2)
    assert take(*((f"x{number}", "s") for number in range(40_000)), ("a", "s")) == job_id(1)


def test_looking_for_work_writes_nothing_where_there_is_none(path: Path) -> None:
    with Store.open(path) as store, Store.open(path, busy_timeout_s=0.01) as idle, store.session as session:
        session.begin()
        assert idle.service.lease_job("w", OFFERS, now_ms=NOW, lease_ms=LEASE_MS) is None
        session.commit()


def test_a_heartbeat_holds_the_job_and_writes_progress_and_run(store: Store) -> None:
    store.service.add_job(job())
    taken = lease(store)
    assert store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW + 1_000, lease_ms=LEASE_MS) is False
    assert later(store) == replace(taken, lease_until=NOW + 1_000 + LEASE_MS)
    store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW, lease_ms=1, progress={"done": 3}, run_id="r-1")
    store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW, lease_ms=2)
    assert later(store) == replace(taken, lease_until=NOW + 2, progress={"done": 3}, run_id="r-1")
    store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW, lease_ms=2, progress={})
    assert later(store).progress == {}


def test_a_job_whose_lease_ran_out_goes_to_another_worker_with_what_it_had(store: Store) -> None:
    store.service.add_job(job(1))
    first = lease(store)
    store.service.heartbeat_job(first.job_id, 1, now_ms=NOW, lease_ms=LEASE_MS, progress={"done": 3}, run_id="r-1")
    end = NOW + LEASE_MS
    assert store.service.lease_job("w2", OFFERS, now_ms=end - 1, lease_ms=LEASE_MS) is None
    second = lease(store, end, "w2")
    assert second == replace(
        first,
        attempt=2,
        lost=1,
        worker="w2",
        lease_until=end + LEASE_MS,
        started_at=NOW,
        run_id="r-1",
        progress={"done": 3},
    )
    assert second.failures == 0


@pytest.mark.parametrize("status", ENDS)
def test_an_old_attempt_can_neither_heartbeat_nor_finish(store: Store, status: JobStatus) -> None:
    store.service.add_job(job())
    lease(store)
    current = lease(store, NOW + LEASE_MS, "w2")
    with pytest.raises(LeaseLost, match="w2 has it, at attempt 2"):
        store.service.heartbeat_job(
            current.job_id, 1, now_ms=NOW, lease_ms=LEASE_MS, run_id="mine", progress={"x": 1}
        )
    with pytest.raises(LeaseLost, match=r"attempt 1 of job .* is over"):
        store.service.finish_job(current.job_id, 1, status, now_ms=NOW, error="mine")
    assert later(store) == current
    done = store.service.finish_job(current.job_id, 2, status, now_ms=NOW + 9)
    for attempt in (1, 3):
        with pytest.raises(LeaseLost):
            store.service.finish_job(current.job_id, attempt, status, now_ms=NOW + 10)
    assert later(store) == done


def test_who_was_late_and_lost_nothing_goes_on(store: Store) -> None:
    store.service.add_job(job())
    taken = lease(store)
    assert store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW + 10 * LEASE_MS, lease_ms=LEASE_MS) is False
    assert store.service.lease_job("w2", OFFERS, now_ms=NOW + 10 * LEASE_MS, lease_ms=LEASE_MS) is None
    assert store.service.finish_job(taken.job_id, 1, JobStatus.SUCCEEDED, now_ms=NOW + 99 * LEASE_MS).lost == 0


def test_ten_lost_leases_use_up_no_failure_and_the_eleventh_ends_the_job(store: Store) -> None:
    store.service.add_job(job(max_failures=1))
    now = NOW
    for number in range(11):
        taken = lease(store, now)
        assert (taken.attempt, taken.lost, taken.failures) == (number + 1, number, 0)
        now += LEASE_MS
    assert store.service.lease_job("w", OFFERS, now_ms=now, lease_ms=LEASE_MS) is None
    ended = later(store)
    assert (ended.status, ended.lost, ended.failures, ended.finished_at) == (JobStatus.FAILED, 11, 0, now)
    assert ended.error == "its worker was lost more than 10 times"
    assert ended.lease_until is None
    with pytest.raises(LeaseLost, match="it is failed"):
        store.service.heartbeat_job(ended.job_id, 11, now_ms=now, lease_ms=LEASE_MS)


def test_a_job_that_is_lost_for_good_does_not_keep_the_next_one_waiting(store: Store) -> None:
    store.service.add_job(job(1, lost=10, status=JobStatus.RUNNING, attempt=11, lease_until=NOW, priority=5))
    store.service.add_job(job(2))
    assert lease(store, NOW).job_id == job_id(2)
    assert later(store, 1).status is JobStatus.FAILED


def test_a_worker_ends_lost_jobs_that_nobody_offers(store: Store) -> None:
    store.service.add_job(job(1, lost=10, status=JobStatus.RUNNING, attempt=11, lease_until=NOW))
    store.service.add_job(job(2, cancel_requested=True, status=JobStatus.RUNNING, attempt=1, lease_until=NOW))
    assert store.service.lease_job("w", {("other", "other")}, now_ms=NOW, lease_ms=LEASE_MS) is None
    assert [item.status for item in store.service.jobs()] == [JobStatus.CANCELLED, JobStatus.FAILED]


def test_a_failed_attempt_is_repeated_until_the_job_has_failed_often_enough(store: Store) -> None:
    store.service.add_job(job(max_failures=3))
    for failures in (1, 2):
        taken = lease(store, NOW + failures)
        assert taken.attempt == failures
        again = store.service.finish_job(
            taken.job_id, taken.attempt, JobStatus.FAILED, now_ms=NOW, error=f"no {failures}"
        )
        assert (again.status, again.failures, again.error) == (JobStatus.QUEUED, failures, f"no {failures}")
        assert (again.lease_until, again.finished_at) == (None, None)
        with pytest.raises(LeaseLost, match="waits for its next attempt"):
            store.service.heartbeat_job(taken.job_id, taken.attempt, now_ms=NOW, lease_ms=LEASE_MS)
        with pytest.raises(LeaseLost, match="waits for its next attempt"):
            store.service.finish_job(taken.job_id, taken.attempt, JobStatus.FAILED, now_ms=NOW)
    taken = lease(store, NOW + 3)
    ended = store.service.finish_job(taken.job_id, 3, JobStatus.FAILED, now_ms=NOW + 4, error="no more")
    assert (ended.status, ended.failures, ended.error) == (JobStatus.FAILED, 3, "no more")
    assert (ended.started_at, ended.finished_at) == (NOW + 1, NOW + 4)
    assert store.service.lease_job("w", OFFERS, now_ms=NOW + 10**9, lease_ms=LEASE_MS) is None


def test_an_attempt_that_succeeds_after_a_failure_leaves_no_error(store: Store) -> None:
    store.service.add_job(job())
    store.service.finish_job(job_id(1), lease(store).attempt, JobStatus.FAILED, now_ms=NOW, error="no")
    done = store.service.finish_job(job_id(1), lease(store).attempt, JobStatus.SUCCEEDED, now_ms=NOW + 7)
    assert (done.status, done.failures, done.error, done.finished_at) == (JobStatus.SUCCEEDED, 1, "", NOW + 7)
    assert done.worker == "w1"


@pytest.mark.parametrize("status", ENDS)
def test_an_end_can_be_told_again_and_changes_nothing(store: Store, status: JobStatus) -> None:
    store.service.add_job(job(max_failures=1))
    lease(store)
    ended = store.service.finish_job(job_id(1), 1, status, now_ms=NOW + 1, error="why")
    assert store.service.finish_job(job_id(1), 1, status, now_ms=NOW + 2, error="other") == ended
    assert later(store) == ended
    for other in set(ENDS) - {status}:
        with pytest.raises(LeaseLost, match=f"it is {status.value}"):
            store.service.finish_job(job_id(1), 1, other, now_ms=NOW + 3)


@pytest.mark.parametrize("status", [JobStatus.QUEUED, JobStatus.RUNNING])
def test_an_attempt_ends_with_an_end(store: Store, status: JobStatus) -> None:
    store.service.add_job(job())
    lease(store)
    with pytest.raises(ValueError, match="cannot end as"):
        store.service.finish_job(job_id(1), 1, status, now_ms=NOW)
    assert later(store).status is JobStatus.RUNNING


def test_a_mistake_ends_the_job_at_once_however_often_it_might_fail(store: Store) -> None:
    store.service.add_job(job(max_failures=3))
    lease(store)
    ended = store.service.finish_job(
        job_id(1), 1, JobStatus.FAILED, now_ms=NOW + 4, error="no such setting", final=True
    )
    assert (ended.status, ended.failures, ended.error) == (JobStatus.FAILED, 1, "no such setting")
    assert (ended.finished_at, ended.lease_until) == (NOW + 4, None)
    assert (
        store.service.finish_job(job_id(1), 1, JobStatus.FAILED, now_ms=NOW + 5, error="again", final=True) == ended
    )
    assert later(store) == ended


def test_a_released_job_waits_again_and_nothing_is_used_up(store: Store) -> None:
    store.service.add_job(job(max_failures=1))
    for attempt in range(1, 31):
        taken = lease(store, NOW + attempt)
        assert (taken.attempt, taken.lost, taken.failures) == (attempt, 0, 0)
        store.service.heartbeat_job(
            job_id(1), attempt, now_ms=NOW, lease_ms=LEASE_MS, progress={"done": 3}, run_id="r-1"
        )
        waits = store.service.release_job(job_id(1), attempt, now_ms=NOW + attempt)
        assert (waits.status, waits.lease_until, waits.finished_at) == (JobStatus.QUEUED, None, None)
        assert (waits.run_id, waits.progress, waits.started_at) == ("r-1", {"done": 3}, NOW + 1)
        assert store.service.release_job(job_id(1), attempt, now_ms=NOW) == waits == later(store)
    assert store.service.finish_job(job_id(1), lease(store).attempt, JobStatus.SUCCEEDED, now_ms=NOW).lost == 0


def test_who_released_a_job_writes_nothing_more_about_it(store: Store) -> None:
    store.service.add_job(job())
    lease(store)
    store.service.release_job(job_id(1), 1, now_ms=NOW)
    with pytest.raises(LeaseLost, match="waits for its next attempt"):
        store.service.heartbeat_job(job_id(1), 1, now_ms=NOW, lease_ms=LEASE_MS)
    with pytest.raises(LeaseLost, match="waits for its next attempt"):
        store.service.finish_job(job_id(1), 1, JobStatus.SUCCEEDED, now_ms=NOW)
    current = lease(store, NOW, "w2")
    with pytest.raises(LeaseLost, match="w2 has it, at attempt 2"):
        store.service.release_job(job_id(1), 1, now_ms=NOW)
    assert later(store) == current
    ended = store.service.finish_job(job_id(1), 2, JobStatus.SUCCEEDED, now_ms=NOW)
    for attempt in (1, 2):
        with pytest.raises(LeaseLost, match="it is succeeded"):
            store.service.release_job(job_id(1), attempt, now_ms=NOW)
    assert later(store) == ended


def test_a_job_to_be_cancelled_that_is_released_is_cancelled(store: Store) -> None:
    store.service.add_job(job())
    lease(store)
    store.service.cancel_job(job_id(1), NOW)
    ended = store.service.release_job(job_id(1), 1, now_ms=NOW + 2)
    assert (ended.status, ended.finished_at, ended.lease_until) == (JobStatus.CANCELLED, NOW + 2, None)


def test_a_job_is_found_by_who_asked_for_it_under_which_key(store: Store) -> None:
    first = store.service.add_job(job(1, idempotency_key="k"))
    store.service.add_job(job(2))
    assert store.service.job_asked("ci", "k") == first
    assert store.service.job_asked("ana", "k") is None
    assert store.service.job_asked("ci", "other") is None
    assert store.service.job_asked("ci", "") is None


def test_a_queued_job_is_cancelled_at_once(store: Store) -> None:
    store.service.add_job(job())
    cancelled = store.service.cancel_job(job_id(1), NOW + 3)
    assert (cancelled.status, cancelled.finished_at) == (JobStatus.CANCELLED, NOW + 3)
    assert later(store) == cancelled
    assert store.service.lease_job("w", OFFERS, now_ms=NOW + 10**9, lease_ms=LEASE_MS) is None


def test_the_holder_of_a_running_job_is_asked_to_stop(store: Store) -> None:
    store.service.add_job(job())
    taken = lease(store)
    assert store.service.cancel_job(taken.job_id, NOW) == replace(taken, cancel_requested=True)
    assert store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW, lease_ms=LEASE_MS) is True
    assert store.service.cancel_job(taken.job_id, NOW).status is JobStatus.RUNNING
    ended = store.service.finish_job(taken.job_id, 1, JobStatus.CANCELLED, now_ms=NOW + 1)
    assert (ended.status, ended.finished_at, ended.lease_until) == (JobStatus.CANCELLED, NOW + 1, None)


def test_a_job_that_was_done_before_it_could_be_cancelled_has_succeeded(store: Store) -> None:
    store.service.add_job(job())
    lease(store)
    store.service.cancel_job(job_id(1), NOW)
    assert store.service.finish_job(job_id(1), 1, JobStatus.SUCCEEDED, now_ms=NOW).status is JobStatus.SUCCEEDED


def test_a_job_that_fails_while_it_is_to_be_cancelled_is_not_repeated(store: Store) -> None:
    store.service.add_job(job())
    lease(store)
    store.service.cancel_job(job_id(1), NOW)
    ended = store.service.finish_job(job_id(1), 1, JobStatus.FAILED, now_ms=NOW + 1, error="no")
    assert (ended.status, ended.error, ended.finished_at) == (JobStatus.CANCELLED, "no", NOW + 1)


def test_a_running_job_that_nobody_holds_is_cancelled_at_once(store: Store) -> None:
    store.service.add_job(job())
    lease(store)
    ended = store.service.cancel_job(job_id(1), NOW + LEASE_MS)
    assert (ended.status, ended.finished_at) == (JobStatus.CANCELLED, NOW + LEASE_MS)
    with pytest.raises(LeaseLost, match="it is cancelled"):
        store.service.heartbeat_job(job_id(1), 1, now_ms=NOW + LEASE_MS, lease_ms=LEASE_MS)


def test_a_job_to_be_cancelled_whose_worker_is_lost_is_cancelled_by_the_next(store: Store) -> None:
    store.service.add_job(job())
    lease(store)
    store.service.cancel_job(job_id(1), NOW)
    assert store.service.lease_job("w2", OFFERS, now_ms=NOW + LEASE_MS, lease_ms=LEASE_MS) is None
    ended = later(store)
    assert (ended.status, ended.lost, ended.finished_at) == (JobStatus.CANCELLED, 1, NOW + LEASE_MS)


@pytest.mark.parametrize("status", ENDS)
def test_a_job_that_has_ended_stays_as_it_is_when_it_is_cancelled(store: Store, status: JobStatus) -> None:
    store.service.add_job(job(max_failures=1))
    lease(store)
    ended = store.service.finish_job(job_id(1), 1, status, now_ms=NOW)
    assert store.service.cancel_job(job_id(1), NOW + 9) == ended
    assert later(store) == ended


def test_a_job_is_found_by_a_beginning_of_its_id(store: Store) -> None:
    for number in (1, 2, 10):
        store.service.add_job(job(number))
    store.service.add_job(job(3, job_id="abc"))
    store.service.add_job(job(4, job_id="abcd"))
    assert store.service.job("01900000-0000-7000-8000-000000000002").created_at == NOW + 2
    assert store.service.job(job_id(10)[:-1]).job_id == job_id(10)
    assert store.service.job("abc").job_id == "abc"
    assert store.service.cancel_job("abcd", NOW).job_id == "abcd"
    with pytest.raises(Unknown, match="begins the id of more than one job") as caught:
        store.service.job("0190")
    assert job_id(2) in (caught.value.remedy or "")


def test_a_job_that_is_not_there_is_named_with_the_nearest(store: Store) -> None:
    for use in (store.service.job, lambda name: store.service.cancel_job(name, NOW)):
        with pytest.raises(Unknown, match="holds no job yet"):
            use("nope")
    store.service.add_job(job())
    for name in ("", "nope", "%", "_" * 36, "0190\x00"):
        with pytest.raises(Unknown, match="there is no job"):
            store.service.job(name)
    with pytest.raises(Unknown, match="there is no job") as caught:
        store.service.heartbeat_job(job_id(1)[:-1] + "9", 1, now_ms=NOW, lease_ms=LEASE_MS)
    assert job_id(1) in (caught.value.remedy or "")
    with pytest.raises(Unknown, match="there is no job"):
        store.service.finish_job(job_id(1)[:-1], 1, JobStatus.FAILED, now_ms=NOW)


def test_jobs_are_listed_newest_first_and_by_status(store: Store) -> None:
    for number in (2, 1, 3):
        store.service.add_job(job(number))
    lease(store)
    assert [item.job_id for item in store.service.jobs()] == [job_id(number) for number in (3, 2, 1)]
    assert [item.job_id for item in store.service.jobs(status=JobStatus.QUEUED)] == [job_id(3), job_id(2)]
    assert [item.job_id for item in store.service.jobs(status=JobStatus.RUNNING, limit=5)] == [job_id(1)]
    assert store.service.jobs(status=JobStatus.FAILED) == []
    assert len(store.service.jobs(limit=2)) == 2


def test_pages_stay_what_they_are_while_jobs_come_in_and_change(store: Store) -> None:
    """Many of the same moment, so that the id decides."""
    numbers = list(range(20))
    random.Random(7).shuffle(numbers)
    for number in numbers:
        store.service.add_job(job(number, created_at=NOW + number // 5))
    expected = [item.job_id for item in store.service.jobs(limit=100)]
    seen: list[str] = []
    before: tuple[int, str] | None = None
    while page := store.service.jobs(limit=3, before=before):
        seen += [item.job_id for item in page]
        before = (page[-1].created_at, page[-1].job_id)
        store.service.add_job(job(100 + len(seen), created_at=NOW + 100))
        lease(store)
    assert seen == expected


def test_jobs_are_synced_to_the_disk(store: Store) -> None:
    levels: list[bool] = []
    set_durable = store.session.backend.set_durable

    def note(connection: object, durable: bool) -> None:
        levels.append(durable)
        set_durable(connection, durable)  # type: ignore[arg-type]

    store.session.backend.set_durable = note  # type: ignore[method-assign]
    store.service.add_job(job(1))
    store.service.add_job(job(2))
    lease(store)
    store.service.heartbeat_job(job_id(1), 1, now_ms=NOW, lease_ms=LEASE_MS, run_id="r")
    store.service.finish_job(job_id(1), 1, JobStatus.SUCCEEDED, now_ms=NOW)
    store.service.cancel_job(job_id(2), NOW)
    assert levels == [True, False] * 6


def test_samples_that_were_appended_are_committed_with_a_change_of_a_job(store: Store, new_store_url: str) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    store.service.add_job(job())
    with Store.open(new_store_url) as other:
        assert len(other.runs.recorded(run)) == 1
