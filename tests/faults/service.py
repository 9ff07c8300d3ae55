"""Faults that happen to a service on SQLite: its server, its workers, its store, while it has jobs to do."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..command import DYNO
from .campaign import Campaign
from .kinds import hold

CASES = 6
LEASE_S = 2
STOPPED_S = LEASE_S * 1.5
PATIENCE_S = 240.0
WORKERS = ("first", "second")
SUITE = "name: Tiny\nepochs: 1\nwarmup: 0\nscorer: exact\ndataset:\n  cases:\n" + "".join(
    f"    - {{id: c{number}, input: word {number}, target: word {number}}}\n" for number in range(CASES)
)
FAULTS = ("kill a worker", "kill the server", "stop a worker", "end a worker", "lock")


@dataclass
class Service:
    """A server and two workers in the folder of a campaign, and the jobs that are asked of them over HTTP."""

    campaign: Campaign
    port: int = 0
    key: str = ""
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def log(self) -> Path:
        return self.campaign.bench.folder / "service.log"

    def run(self, jobs: int, faults: int) -> None:
        """So many jobs, each asked for until the server has taken it, and so many faults meanwhile."""
        self.campaign.clear()
        self.log.unlink(missing_ok=True)
        bench = self.campaign.bench
        bench.write("tiny.yaml", SUITE)
        bench.write("dyno.yaml", "agents: {quick: subject.py@answer}\nsuites: [tiny.yaml]\n")
        self.key = bench.dyno("keys", "create", "referee", "--scope", "run", "--json").json["secret"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        try:
            for name in ("server", *WORKERS):
                self.start(name)
            self.disturb(jobs, faults)
        finally:
            for process in self.processes.values():
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                    process.terminate()
            for process in self.processes.values():
                process.wait(timeout=120)
        self.campaign.faults += self.faults
        self.judge(jobs)

    def start(self, name: str) -> None:
        arguments = (
            ["serve", "--port", str(self.port), "--workers", "0"] if name == "server" else ["worker", "--name", name]
        )
        with self.log.open("a") as log:
            self.processes[name] = subprocess.Popen(
                [DYNO, *arguments, "--lease", str(LEASE_S)],
                cwd=self.campaign.bench.folder,
                env=self.campaign.bench.environ,
                stdout=log,
                stderr=log,
                text=True,
            )

    def disturb(self, jobs: int, faults: int) -> None:
        rng, asked = self.campaign.rng, 0
        give_up = time.monotonic() + PATIENCE_S
        while asked < jobs or self.ended() < jobs:
            if time.monotonic() > give_up:
                self.campaign.wrong.append(f"service: {self.ended()} of {asked} jobs have ended in {PATIENCE_S:g} s")
                return
            asked += asked < jobs and self.ask(f"job-{asked}")
            due = self.faults.total() * jobs < self.campaign.calls() / CASES * faults
            if self.faults.total() < faults and due:
                time.sleep(rng.random() * 0.3)
                fault = rng.choice(FAULTS)
                self.happen(fault)
                self.faults[fault] += 1
            time.sleep(0.02)

    def happen(self, fault: str) -> None:
        rng = self.campaign.rng
        if fault == "lock":
            hold(self.campaign)
            return
        name = "server" if fault == "kill the server" else rng.choice(WORKERS)
        process = self.processes[name]
        if fault == "stop a worker":
            process.send_signal(signal.SIGSTOP)
            time.sleep(STOPPED_S)
            process.send_signal(signal.SIGCONT)
            return
        process.send_signal(signal.SIGTERM if fault == "end a worker" else signal.SIGKILL)
        process.wait(timeout=120)
        self.start(name)

    def ask(self, key: str) -> bool:
        """Whether the server has taken the job; asked again with the same key, it is the same job."""
        body = json.dumps({"agent_id": "quick", "suite_id": "tiny", "async_execution": True}).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", "Idempotency-Key": key}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/benchmarks/run", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return bool(answer.status == 202)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                self.campaign.wrong.append(f"service: {error.code} {error.read().decode()}")
            return False
        except OSError:
            return False

    def ended(self) -> int:
        return len(self.campaign.rows("SELECT id FROM jobs WHERE status IN ('succeeded', 'failed', 'cancelled')"))

    def judge(self, jobs: int) -> None:
        campaign = self.campaign
        told = campaign.wrong
        for table, status in (("jobs", "succeeded"), ("runs", "complete")):
            found = campaign.rows(f"SELECT status, count(*) FROM {table} GROUP BY 1")
            if found != [(status, jobs)]:
                told.append(f"service: of {jobs} {table} there are {found}")
        samples = campaign.rows("SELECT run, case_id, count(*) FROM samples JOIN arms ON arms.id = arm GROUP BY 1, 2")
        if len(samples) != jobs * CASES:
            told.append(f"service: {len(samples)} of {jobs * CASES} executions are there")
        told += [f"service: {row} is there more than once" for row in samples if row[2] != 1]
        asked, most = campaign.calls(), jobs * CASES + 2 * self.faults.total()
        if not jobs * CASES <= asked <= most:
            told.append(f"service: the subject was asked {asked} times for {jobs * CASES}, at most {most}")
        text = self.log.read_text()
        if "Traceback" in text:
            campaign.errors.append(text[text.index("Traceback") :][:3000])
        if campaign.rows("PRAGMA integrity_check") != [("ok",)]:
            told.append("service: the store is damaged")
        told += [f"service: process {pid} is left" for pid in campaign.left_over()]
