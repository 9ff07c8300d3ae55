"""A folder with registered agents and a suite, its catalogue, and jobs for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentdyno.jobs.catalogue import Catalogue
from agentdyno.jobs.submitting import submit
from agentdyno.jobs.worker import Worker
from agentdyno.model.job import Job
from agentdyno.store import Store

AGENTS = """
import os, time
from pathlib import Path

def note(case):
    log = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{case.id}\\n".encode())
    os.close(log)

def right(case):
    note(case)
    return case.target

def slow(case):
    note(case)
    time.sleep(60 if case.id == "c2" and not Path("hurry").exists() else 0)
    return case.target

def broken(case):
    raise RuntimeError("the agent's own mistake")
"""
DYNO = """
workspace: bench
agents:
  right: {use: agent.py@right, description: Always right}
  styled: {use: "cmd:cat", config: {style: short, depth: 2, base_url: "http://x"}}
  slow: agent.py@slow
  broken: agent.py@broken
  model: {use: "openai:some-model", version: "1.0", config: {base_url: "http://127.0.0.1:9/v1"}}
  "pair@1": agent.py@right
  "pair@2": agent.py@right
suites: [suite.yaml]
"""
SUITE = """
suite_id: first
name: First steps
version: "3"
epochs: 1
warmup: 0
retries: 0
scorer: exact
quick: {limit: 2}
dataset:
  cases:
""" + "".join(f"    - {{id: c{i}, input: w{i}, target: W{i}}}\n" for i in range(6))


@dataclass
class Service:
    """What a server and its workers share."""

    folder: Path
    store: Store
    told: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def made(cls, folder: Path, store: Store) -> Service:
        for name, text in (("agent.py", AGENTS), ("dyno.yaml", DYNO), ("suite.yaml", SUITE)):
            (folder / name).write_text(text)
        return cls(folder, store)

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue.load(self.folder, {})

    def submit(self, agent: str = "right", suite: str = "first", **changes: Any) -> Job:
        request = {
            "configuration": {},
            "options": {},
            "who": "tester",
            "idempotency_key": "",
            "now_ms": time.time_ns() // 1_000_000,
            **changes,
        }
        return submit(self.store, self.catalogue, agent=agent, suite=suite, **request)

    def worker(self, name: str = "w", lease_ms: int = 2000) -> Worker:
        return Worker(
            self.store.url,
            self.folder,
            name,
            lease_ms,
            poll_s=0.05,
            on_job=lambda job, what: self.told.append((job.job_id, what)),
        )

    def calls(self) -> list[str]:
        log = self.folder / "calls.log"
        return log.read_text().split() if log.exists() else []
