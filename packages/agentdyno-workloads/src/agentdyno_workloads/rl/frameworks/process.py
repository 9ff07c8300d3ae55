"""A framework at work in its own process, watched from outside: time, CPU and memory of all that it starts."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import psutil

from agentdyno_workloads.rl.frameworks.environments import TrainingFramework
from agentdyno_workloads.rl.tooldesk import Floats, Ints

_WATCH_EVERY_S = 0.1
_KEPT = 2000
"""Characters of what it printed that go into an error."""


class FrameworkFailed(RuntimeError):
    """The process ended, or said something that was not asked for; with the last that it printed."""


class TrainingProcess:
    """Starts with the block and ends with it, with every process it started."""

    def __init__(self, framework: TrainingFramework, python: str, job: Mapping[str, object], folder: Path) -> None:
        self._framework, self._python, self._job, self._folder = framework, python, job, folder
        self._ended = threading.Event()
        self.peak_bytes = 0

    def __enter__(self) -> TrainingProcess:
        ours = Path(__file__).parent
        core = find_spec("agentdyno")
        assert core is not None
        assert core.origin is not None
        paths = (ours.parent, ours / "integrations", ours.parents[2], Path(core.origin).parents[1])
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}
        environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""}
        self._printed = (self._folder / "printed.txt").open("w+", encoding="utf-8", errors="replace")
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [self._python, str(self._framework.integration), json.dumps(self._job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            text=True,
            env=environ,
            cwd=self._folder,
            start_new_session=True,
        )
        self._tree = psutil.Process(self._process.pid)
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                process.kill()
        self._process.kill()
        self._process.communicate()
        self._printed.close()

    def cpu_s(self) -> float:
        """CPU time of all its processes so far, of those that have ended too."""
        total = 0.0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                spent = process.cpu_times()
                total += spent.user + spent.system
                if process.pid == self._process.pid:
                    total += spent.children_user + spent.children_system
        return total

    def next_event(self) -> dict[str, Any]:
        """What it says next; raises ``FrameworkFailed`` where it ends instead."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise FrameworkFailed(f"{self._framework.name} ended with status {code}: {self._last_words()}")
        event: dict[str, Any] = json.loads(line)
        return event

    def ask(self, **question: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # its end is told by what it says next
        return self.next_event()

    def next_logits(self, tokens: Ints, slot: int) -> Floats:
        """What its policy scores each token; rewards are worked out on this side alone."""
        return np.array(self.ask(ask="logits", rows=tokens.tolist(), slot=slot)["logits"])

    def _last_words(self) -> str:
        self._printed.seek(0)
        return self._printed.read()[-_KEPT:].strip()

    def _processes(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            return [self._tree, *self._tree.children(recursive=True)]
        return []

    def _watch(self) -> None:
        while not self._ended.wait(_WATCH_EVERY_S):
            total = 0
            for process in self._processes():
                with contextlib.suppress(psutil.Error):
                    total += process.memory_info().rss
            self.peak_bytes = max(self.peak_bytes, total)
