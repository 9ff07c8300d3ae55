"""Agents of this process that answer as they are told, so that every figure of a run is known beforehand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from agentdyno.model import Case, RunResult
from agentdyno.runs.lineup import Named
from agentdyno.specs import LoadedSuite, parse_suite

from ..suites import Room


@dataclass
class Answerer:
    """Answers the target of every case, except those it gets ``wrong`` and those on which it ``fails``."""

    name: str
    version: str = "1.0"
    wrong: Collection[str] = ()
    fails: Collection[str] = ()
    asked: list[str] = field(default_factory=list)

    def run(self, case: Case) -> object:
        self.asked.append(case.id)
        if case.id in self.fails:
            raise RuntimeError("no answer")
        return "no" if case.id in self.wrong else case.target

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


def cases(count: int, start: int = 0) -> list[dict[str, str]]:
    """Rows of a dataset: ``c00``, ``c01`` and so on."""
    return [{"id": f"c{i:02d}", "input": f"word {i}", "target": f"WORD {i}"} for i in range(start, start + count)]


def ids(start: int, stop: int) -> list[str]:
    return [f"c{i:02d}" for i in range(start, stop)]


def put(room: Room, loaded: LoadedSuite, *agents: Named, **options: Any) -> RunResult:
    """A run of these agents, those of this process among them."""
    return room.run(loaded, *agents, **options)


def run(room: Room, *agents: Named, count: int = 4, **changes: object) -> RunResult:
    """A run of the first ``count`` cases."""
    return put(room, room.suite(dataset={"cases": cases(count)}, **changes), *agents)


def two_benchmarks(room: Room, count: int = 3) -> LoadedSuite:
    """``sums`` has the cases from ``c00`` on, ``talks`` those from ``c10`` on."""
    document = {
        "name": "pair",
        "scorer": "exact",
        "epochs": 1,
        "warmup": 0,
        "benchmarks": [
            {"name": "Sums", "category": "accuracy", "dataset": {"cases": cases(count)}},
            {"name": "Talks", "category": "speed", "dataset": {"cases": cases(count, 10)}},
        ],
    }
    return parse_suite(document, base_dir=room.folder)
