"""The subject under pytest-benchmark; started by ``bench_overhead.py`` with the sizes in the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.subjects import SUBJECTS


class Fixture(Protocol):
    def pedantic(self, target: Callable[[], None], *, rounds: int, iterations: int, warmup_rounds: int) -> None: ...


def test_subject(benchmark: Fixture) -> None:
    subject, rounds, loops = os.environ["BENCH_SUBJECT"].split(",")
    benchmark.pedantic(SUBJECTS[subject], rounds=int(rounds), iterations=int(loops), warmup_rounds=1)
