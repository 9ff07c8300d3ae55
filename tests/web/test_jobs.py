"""Jobs as they are listed, followed and cancelled."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient

from agentdyno.errors import StoreError
from agentdyno.model.job import Job, JobStatus, Scope
from agentdyno.web.watching import JobWatch, told_of_shutdown

from .service import NOW, Bench, until
from .test_running import ASKED, take


def job(number: int, status: JobStatus = JobStatus.QUEUED) -> Job:
    return Job(f"job-{number:03}", "echo@1", "a", "sums", "s", NOW + number // 2, status)


def test_jobs_are_listed_newest_first_page_by_page(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store() as store:
        for number in range(7):
            store.service.add_job(job(number))
    with bench.client() as client:
        seen, cursor = [], ""
        while True:
            page = client.get("/api/jobs", params={"limit": 3, "cursor": cursor}).json()
            seen += [item["job_id"] for item in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert seen == [f"job-{number:03}" for number in reversed(range(7))]
        assert client.get("/api/jobs?status=running").json() == {"items": [], "next": None}
        assert client.get("/api/jobs/job-004").json()["created_at"] == NOW + 2


def test_a_job_that_no_worker_offers_says_what_the_workers_lack(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store() as store:
        store.service.add_job(replace(job(1), created_at=NOW - 60_000))
        store.service.note_worker("w", ["other"], ["s"], NOW)
    told = "no worker offers it: none of 1 has agent echo@1 with the content that was asked for"
    with bench.client() as client:
        assert client.get("/api/jobs/job-001").json()["waits_because"] == told
        assert [item["waits_because"] for item in client.get("/api/jobs").json()["items"]] == [told]
        assert [found.waits_because for found in bench.app.state.services.jobs(["job-001"])] == [told]
        with bench.store() as store:
            store.service.note_worker("w", ["a"], ["s"], NOW)
        assert client.get("/api/jobs/job-001").json()["waits_because"] == ""


def test_a_job_is_cancelled_once_and_that_is_noted(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store() as store:
        store.service.add_job(job(1))
    with bench.client(bench.key(Scope.RUN, "ci")) as client:
        assert client.post("/api/jobs/job-001/cancel").json()["status"] == "cancelled"
        assert client.post("/api/jobs/job-001/cancel").json()["finished_at"] == NOW
        assert client.post("/api/jobs/job-9/cancel").status_code == 404
    with bench.store() as store:
        assert [(entry.who, entry.action, entry.subject) for entry in store.service.audit()] == [
            ("ci", "cancel", "job-001")
        ]


def test_a_stream_follows_a_job_to_its_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client(bench.key(Scope.RUN)) as client:
        url = client.post("/benchmarks/run", json=ASKED).json()["url"]
        streamed: list[str] = []
        following = threading.Thread(target=_follow, args=(client, f"{url}/events", streamed))
        following.start()
        watch: JobWatch = bench.app.state.watch
        with bench.store() as store:
            until(lambda: watch.followers == 1)
            taken = take(store)
            store.service.heartbeat_job(taken.job_id, taken.attempt, now_ms=NOW, lease_ms=9999, progress={"done": 1})
            store.service.finish_job(taken.job_id, taken.attempt, JobStatus.SUCCEEDED, now_ms=NOW + 5)
        following.join(20)
        assert watch.followers == 0
    (text,) = streamed
    events = [part for part in text.split("\n\n") if part]
    assert all(part.startswith("event: job\ndata: ") for part in events)
    states = [json.loads(part.partition("data: ")[2]) for part in events]
    assert states[0]["status"] == "queued"
    assert states[-1]["status"] == "succeeded"
    assert states[-1]["progress"] == {"done": 1}
    assert text.endswith("\n\n")


def test_the_stream_of_a_job_that_has_ended_says_so_and_ends(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store() as store:
        store.service.add_job(job(1, JobStatus.FAILED))
    with bench.client() as client:
        answer = client.get("/api/jobs/job-001/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.text.count("event: job") == 1
        missing = client.get("/api/jobs/other/events")
        assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")


class Board:
    """What the watch reads."""

    def __init__(self) -> None:
        self.now = job(1)
        self.asked: list[Sequence[str]] = []
        self.down = False
        self.outages = 0

    def read(self, job_ids: Sequence[str]) -> list[Job]:
        self.asked.append(list(job_ids))
        if self.down:
            raise StoreError("down")
        return [self.now]

    def noted(self) -> None:
        self.outages += 1


def test_many_followers_of_a_job_cost_one_look() -> None:
    board = Board()

    async def scene() -> list[list[str]]:
        watch = JobWatch(board.read, 0.001, board.noted)

        async def one() -> list[str]:
            return [news.status.value async for news in watch.follow(board.now, 60) if news is not None]

        followers = [asyncio.create_task(one()) for _ in range(50)]
        while watch.followers < 50 or not board.asked:
            await asyncio.sleep(0)
        board.now = job(1, JobStatus.SUCCEEDED)
        return await asyncio.gather(*followers)

    assert asyncio.run(scene()) == [["queued", "succeeded"]] * 50
    assert all(asked == ["job-001"] for asked in board.asked)


def test_silence_is_filled_with_signs_of_life_and_who_leaves_is_forgotten() -> None:
    board = Board()

    async def scene() -> list[Job | None]:
        watch = JobWatch(board.read, 0.001, board.noted)
        stream = watch.follow(board.now, 0.1)
        seen = [await anext(stream) for _ in range(3)]
        await stream.aclose()
        assert watch.followers == 0
        return seen

    assert asyncio.run(scene()) == [board.now, None, None]


def test_a_store_that_is_down_for_a_while_ends_no_stream() -> None:
    board = Board()
    board.down = True

    async def scene() -> list[str]:
        watch = JobWatch(board.read, 0.001, board.noted)
        seen = []
        async for news in watch.follow(board.now, 0.005):
            if news is None and board.outages:
                board.down, board.now = False, job(1, JobStatus.CANCELLED)
            elif news is not None:
                seen.append(news.status.value)
        return seen

    assert asyncio.run(scene()) == ["queued", "cancelled"]


def test_streams_end_when_the_service_stops() -> None:
    board = Board()

    async def scene() -> int:
        watch = JobWatch(board.read, 0.001, board.noted)
        threading.Timer(0.01, watch.stop).start()
        return len([news async for news in watch.follow(board.now, 60)])

    assert asyncio.run(scene()) == 1


def test_the_server_s_own_handler_still_runs_after_ours() -> None:
    said: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: said.append("server"))
    try:
        with told_of_shutdown(lambda: said.append("streams")):
            signal.raise_signal(signal.SIGTERM)
        assert said == ["streams", "server"]
        signal.raise_signal(signal.SIGTERM)
        assert said == ["streams", "server", "server"]
    finally:
        signal.signal(signal.SIGTERM, before)


def _follow(client: TestClient, url: str, into: list[str]) -> None:
    into.append(client.get(url).text)
