"""Which workers are there, and what they offer."""

from __future__ import annotations

from agentdyno.model.job import WorkerSeen
from agentdyno.store import Store

from ..job_builders import LEASE_MS, NOW, job, lease

DAY_MS = 86_400_000


def seen(store: Store, since_ms: int = NOW, now_ms: int = NOW) -> list[WorkerSeen]:
    return store.service.seen_workers(since_ms=since_ms, now_ms=now_ms)


def test_a_worker_is_there_with_what_it_told_last(store: Store) -> None:
    assert seen(store) == []
    store.service.note_worker("b", ["x"], ["s"], NOW)
    store.service.note_worker("a", [], [], NOW)
    store.service.note_worker("b", {"y", "z"}, {"t"}, NOW + 5)
    assert seen(store) == [
        WorkerSeen("a", NOW, frozenset(), frozenset()),
        WorkerSeen("b", NOW + 5, frozenset({"y", "z"}), frozenset({"t"})),
    ]
    assert [worker.name for worker in seen(store, since_ms=NOW + 1)] == ["b"]


def test_a_worker_that_has_gone_is_there_no_more(store: Store) -> None:
    store.service.note_worker("a", ["x"], ["s"], NOW)
    for _ in range(2):
        store.service.forget_worker("a")
        assert seen(store) == []


def test_a_worker_that_holds_a_job_is_there_however_long_it_was_silent(store: Store) -> None:
    store.service.note_worker("w1", ["x"], ["s"], NOW)
    store.service.add_job(job())
    lease(store)
    (busy,) = seen(store, since_ms=NOW + 1, now_ms=NOW + LEASE_MS - 1)
    assert busy.busy
    assert seen(store, since_ms=NOW + 1, now_ms=NOW + LEASE_MS) == []


def test_a_worker_that_was_killed_is_forgotten_after_a_day(store: Store) -> None:
    store.service.note_worker("killed", ["x"], ["s"], NOW)
    store.service.note_worker("other", ["x"], ["s"], NOW + DAY_MS)
    assert [worker.name for worker in seen(store)] == ["killed", "other"]
    store.service.note_worker("other", ["x"], ["s"], NOW + DAY_MS + 1)
    assert [worker.name for worker in seen(store)] == ["other"]
