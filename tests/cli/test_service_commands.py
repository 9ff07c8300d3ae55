"""``dyno serve``, ``worker``, ``jobs``, ``keys`` and ``run --server``, as a user types them."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agentdyno.cli.service.following import job_exit_code, progress_of
from agentdyno.cli.service.remote import RemoteService, ServiceAway
from agentdyno.errors import RunError, SpecError
from agentdyno.jobs.catalogue import Catalogue
from agentdyno.jobs.submitting import submit
from agentdyno.model.job import Job, JobStatus
from agentdyno.store import Store

from ..command import Bench
from ..waiting import wait_while_running

AGENT = "def answer(text):\n    return text.upper()\n\ndef broken(text):\n    raise RuntimeError('it is broken')\n"
DYNO = "agents: {mine: agent.py@answer, broken: agent.py@broken}\nsuites: [suite.yaml]\n"
SUITE = "name: Tiny\nepochs: 1\nwarmup: 0\nretries: 0\nscorer: exact\ndataset:\n  cases:\n" + "".join(
    f"    - {{id: c{i}, input: w{i}, target: W{i}}}\n" for i in range(3)
)
JOB = Job("0198c3a1-7f2b", "mine@1", "a", "tiny", "b", 1_000)


@pytest.fixture
def ready(bench: Bench) -> Bench:
    bench.write("agent.py", AGENT)
    bench.write("dyno.yaml", DYNO)
    bench.write("suite.yaml", SUITE)
    return bench


@contextlib.contextmanager
def serving(bench: Bench, *arguments: str) -> Iterator[str]:
    """A service in the background; its address."""
    server = bench.start("serve", "--port", "0", *arguments)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address), server.communicate()[1]
        yield address
    finally:
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=60)
        assert (server.returncode, out) == (0, ""), err
        assert err.endswith("Stopped.\n")
        assert "Traceback" not in err


def test_a_run_is_asked_for_followed_and_listed_at_a_service(ready: Bench) -> None:
    key = ready.dyno("keys", "create", "ci", "--scope", "run")
    assert key.code == 0, key.err
    ready.write("key.txt", key.out)
    with serving(ready, "--lease", "2") as address:
        nobody = ready.dyno("run", "tiny", "--agent", "mine", "--server", address)
        assert nobody.code == 2
        assert "DYNO_KEY" in nobody.err
        done = ready.dyno("run", "tiny", "--agent", "mine", "--server", address, "--key-file", "key.txt", "--json")
        assert done.code == 0, done.err
        assert (done.json["status"], done.json["created_by"], done.json["progress"]["done"]) == ("succeeded", "ci", 3)
        assert f"{address}/runs/{done.json['run_id']}" in done.err
        failed = ready.dyno(
            *("run", "tiny", "--agent", "broken", "--server", address, "--json"), DYNO_KEY=key.out.strip()
        )
        assert (failed.code, failed.json["status"]) == (2, "failed")
        assert "it is broken" in failed.err
        typo = ready.dyno("run", "tinny", "--agent", "mine", "--server", address, "--key-file", "key.txt")
        assert typo.code == 2
        assert "tiny" in typo.err
        there = ready.dyno("jobs", "list", "--server", address, "--key-file", "key.txt", "--json").json
        here = ready.dyno("jobs", "list", "--json").json
        assert there == here
        assert [row["status"] for row in here] == ["failed", "succeeded"]
        followed = ready.dyno("jobs", "follow", done.json["job_id"], "--server", address, "--key-file", "key.txt")
        assert followed.code == 0
        assert "succeeded" in followed.err


def test_a_service_without_workers_leaves_jobs_to_a_worker_and_cancels_what_waits(ready: Bench) -> None:
    secret = ready.dyno("keys", "create", "ci", "--scope", "run").out.strip()
    with serving(ready, "--workers", "0") as address:
        service = RemoteService(address, secret)
        first = service.submit({"agent_id": "mine", "suite_id": "tiny"}, "one")
        assert service.submit({"agent_id": "mine", "suite_id": "tiny"}, "one") == first
        second = service.submit({"agent_id": "mine", "suite_id": "tiny"}, "two")
        assert service.cancel(second.job_id).status is JobStatus.CANCELLED
        worked = ready.dyno("worker", "--once", "--name", "helper", "--json")
        assert worked.json == {"worker": "helper", "attempts": 1, "jobs": {first.job_id: "succeeded"}}
        assert [job.status for job in service.follow(first.job_id)] == [JobStatus.SUCCEEDED]
        assert [job.job_id for job in service.jobs(5, "cancelled")] == [second.job_id]
    local = ready.dyno("jobs", "cancel", first.job_id)
    assert local.code == 0
    assert "is succeeded" in local.err
    followed = ready.dyno("jobs", "follow", second.job_id[:30], "--json")
    assert (followed.code, followed.json["status"]) == (130, "cancelled")


def test_a_job_that_no_worker_offers_says_so_where_jobs_are_listed_and_followed(ready: Bench) -> None:
    with Store.open(f"sqlite:///{ready.folder / '.dyno' / 'dyno.db'}") as store:
        store.service.add_job(JOB)
        store.service.note_worker("w", ["a"], ["other"], 2**50)
        said = "no worker offers it: none of 1 has suite tiny with the content that was asked for"
        assert said in " ".join(ready.dyno("jobs", "list", COLUMNS="200").out.split())
        assert ready.dyno("jobs", "list", "--json").json[0]["waits_because"] == said
        following = ready.start("jobs", "follow", JOB.job_id)
        assert following.stderr is not None
        lines = [following.stderr.readline().strip() for _ in range(2)]
        store.service.cancel_job(JOB.job_id, 3_000)
        assert following.communicate(timeout=60)[0] == ""
    assert lines == [f"{JOB.job_id}: queued", f"{JOB.job_id}: {said}"]
    assert following.returncode == 130


def test_a_worker_that_is_told_to_stop_gives_its_job_back_and_nothing_is_used_up(ready: Bench) -> None:
    ready.write("agent.py", "import time\n\ndef answer(text):\n    time.sleep(60)\n\ndef broken(text):\n    pass\n")
    with Store.open(f"sqlite:///{ready.folder / '.dyno' / 'dyno.db'}") as store:
        job = submit(
            store,
            Catalogue.load(ready.folder, {}),
            agent="mine",
            suite="tiny",
            configuration={},
            options={},
            who="test",
            idempotency_key="",
            now_ms=1_000,
        )
        worker = ready.start("worker", "--name", "w", "--lease", "1")
        wait_while_running(worker, lambda: store.service.job(job.job_id).progress.get("planned") == 3)
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=60)
        left = store.service.job(job.job_id)
        assert store.service.seen_workers(since_ms=0, now_ms=1_000) == []
    assert (worker.returncode, "goes back to the queue" in err, "Traceback" in err) == (0, True, False), err
    assert (left.status, left.attempt, left.lost, left.failures) == (JobStatus.QUEUED, 1, 0, 0)


def test_it_does_not_listen_beyond_this_machine_without_a_key(ready: Bench) -> None:
    refused = ready.dyno("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.code == 2
    assert "dyno keys create" in refused.err
    assert ready.dyno("keys", "create", "admin", "--scope", "admin").code == 0
    assert ready.dyno("keys", "revoke", "admin").code == 0
    assert ready.dyno("serve", "--host", "0.0.0.0", "--port", "0").code == 2


def test_a_port_that_is_taken_is_said(ready: Bench) -> None:
    with serving(ready, "--workers", "0") as address:
        taken = ready.dyno("serve", "--port", address.rpartition(":")[2])
    assert taken.code == 2
    assert "--port" in taken.err


def test_keys_are_shown_once_and_listed_by_their_beginning(ready: Bench) -> None:
    made = ready.dyno("keys", "create", "ci", "--scope", "run", "--json").json
    assert made["secret"].startswith(made["key"]["prefix"])
    again = ready.dyno("keys", "create", "ci")
    assert again.code == 2
    assert "already" in again.err
    listed = ready.dyno("keys", "list")
    assert made["key"]["prefix"] in listed.out
    assert made["secret"] not in listed.out + ready.dyno("keys", "list", "--json").out
    assert made["secret"].encode() not in b"".join(
        path.read_bytes() for path in (ready.folder / ".dyno").iterdir() if path.is_file()
    )
    assert ready.dyno("keys", "revoke", "cii").code == 2
    assert ready.dyno("keys", "revoke", "ci").code == 0
    assert ready.dyno("keys", "list", "--json").json[0]["revoked_at"] is not None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "tiny", "--server", "http://127.0.0.1:9"), "--agent"),
        (("run", "tiny", "--agent", "a", "--server", "http://127.0.0.1:9", "--epochs", "2", "--case", "x"), "--case"),
        (("run", "tiny", "--agent", "a", "--server", "ftp://x"), "not the address"),
        (("run", "tiny", "--agent", "a", "--server", "http://me:secret@x"), "password"),
        (("run", "suite.yaml", "--key-file", "key.txt"), "--server"),
        (("jobs", "list", "--server", "http://127.0.0.1:9", "--store", "x.db"), "not both"),
        (("jobs", "list", "--server", "http://127.0.0.1:9"), "dyno serve"),
        (("jobs", "list", "--server", "http://127.0.0.1:9", "--key-file", "none.txt"), "cannot be read"),
        (("jobs", "follow", "nothing", "--store", "none.db"), "no store"),
    ],
)
def test_mistakes_are_said_before_anything_happens(ready: Bench, arguments: tuple[str, ...], said: str) -> None:
    done = ready.dyno(*arguments)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert "secret" not in done.err


def test_exit_codes_say_how_a_job_ended() -> None:
    codes = {status: job_exit_code(replace(JOB, status=status)) for status in JobStatus if status.ended}
    assert codes == {JobStatus.SUCCEEDED: 0, JobStatus.FAILED: 2, JobStatus.CANCELLED: 130}


def test_progress_is_what_the_worker_wrote() -> None:
    assert progress_of(JOB) is None
    told = {"done": 3, "planned": 10, "pass_rate": 0.5, "remaining_s": 4.0, "cost_usd": 0.25, "doing": "tiny"}
    progress = progress_of(replace(JOB, progress=told))
    assert progress is not None
    assert (progress.done, progress.planned, progress.pass_rate, progress.remaining_s) == (3, 10, 0.5, 4.0)
    assert (progress.cost_usd, progress.errors, progress.doing) == (0.25, 0, "tiny")


class _Answers(BaseHTTPRequestHandler):
    """Answers with what the test has put there, the last one again and again."""

    answers: list[tuple[int, dict[str, str], str]]
    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization", "")))
        status, headers, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def there() -> Iterator[tuple[str, type[_Answers]]]:
    handler = type("Handler", (_Answers,), {"answers": [], "seen": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", handler
        finally:
            server.shutdown()
            thread.join()


def test_a_key_is_not_sent_on_to_another_address(there: tuple[str, type[_Answers]]) -> None:
    url, handler = there
    handler.answers = [(302, {"Location": f"{url}/elsewhere"}, "")]
    with pytest.raises(SpecError):
        RemoteService(url, "dyno_secret").job("1")
    assert handler.seen == [("/api/jobs/1", "Bearer dyno_secret")]


def test_a_service_that_restarts_is_waited_for_while_a_job_is_followed(there: tuple[str, type[_Answers]]) -> None:
    url, handler = there
    ended = json.dumps({**_plain(JOB), "status": "succeeded"})
    handler.answers = [(200, {}, json.dumps(_plain(JOB))), (503, {}, ""), (200, {}, ended)]
    waits: list[float] = []
    statuses = [job.status.value for job in RemoteService(url, wait=waits.append).follow("1")]
    assert statuses == ["queued", "succeeded"]
    assert len(waits) == 2


def test_patience_has_an_end(there: tuple[str, type[_Answers]]) -> None:
    url, handler = there
    handler.answers = [(503, {}, "")]
    moments = iter([0.0, 59.0, 61.0])
    with pytest.raises(ServiceAway):
        list(RemoteService(url, wait=lambda _: None, clock=lambda: next(moments)).follow("1"))


def test_what_is_no_service_of_ours_is_said(there: tuple[str, type[_Answers]]) -> None:
    url, handler = there
    handler.answers = [(200, {}, "<html>")]
    with pytest.raises(RunError, match="not a service"):
        RemoteService(url).job("1")


def test_ids_cannot_leave_their_place_in_the_path(there: tuple[str, type[_Answers]]) -> None:
    url, handler = there
    handler.answers = [(404, {}, '{"detail": "no job", "remedy": "Known: none."}')]
    with pytest.raises(SpecError, match="no job") as caught:
        RemoteService(url).job("../keys?x")
    assert caught.value.remedy == "Known: none."
    assert handler.seen[0][0] == "/api/jobs/..%2Fkeys%3Fx"


def test_ctrl_c_ends_a_worker_cleanly(ready: Bench) -> None:
    worker = ready.start("worker", "--name", "idle")
    assert worker.stderr is not None
    assert "waits for jobs" in worker.stderr.readline()
    worker.send_signal(signal.SIGINT)
    _, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    assert "Traceback" not in err


def test_a_workspace_that_cannot_be_read_is_said_by_the_worker(ready: Bench) -> None:
    ready.write("dyno.yaml", "agentz: {}\n")
    done = ready.dyno("worker", "--once", "--store", "x.db")
    assert done.code == 2
    assert "agents" in done.err


def _plain(job: Job) -> dict[str, object]:
    from agentdyno.model.codec import to_plain

    plain = to_plain(job)
    assert isinstance(plain, dict)
    return plain
