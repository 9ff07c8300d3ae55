"""Runs in the environment of a framework: makes its subject, then does what it is asked to.

``python task_process.py SUBJECT`` answers every line of JSON on its standard input, as in ``{"do": "tasks", "texts":
[...], "at_once": 1}``, with one on its standard output: the time that it took, CPU time, resident memory, and for
each text the answer, or what was raised instead. What the framework prints goes to the standard error. Standard
library only.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

WRONG_TOOL: Any = 5
MESSAGE_CAP = 300


class SubjectsAtWork:
    """The subjects that were made, and what they are asked."""

    def __init__(self, listed: Any, runner: asyncio.Runner) -> None:
        self._listed, self._runner = listed, runner
        self._made: dict[str, list[Any]] = {}

    def subjects(self, count: int = 1) -> list[Any]:
        """Made for the model that is used now, as many as may be asked at the same time."""
        made = self._made.setdefault(os.environ["OPENAI_BASE_URL"], [])
        while len(made) < (1 if self._listed.shares else count):
            made.append(self._listed.make())
        return made * count if self._listed.shares else made[:count]

    def tasks(self, texts: list[str], at_once: int) -> list[dict[str, object]]:
        free = self.subjects(at_once)
        if inspect.iscoroutinefunction(free[0].call):
            return self._runner.run(_in_loop(free, texts, at_once))
        if at_once == 1:
            return [_caught(partial(free[0].call, text)) for text in texts]

        def one(text: str) -> dict[str, object]:
            subject = free.pop()
            try:
                return _caught(partial(subject.call, text))
            finally:
                free.append(subject)

        with ThreadPoolExecutor(at_once) as threads:
            return list(threads.map(one, texts))

    def streams(self, texts: list[str]) -> list[dict[str, object]]:
        stream = self.subjects()[0].stream
        return [] if stream is None else [self._streamed(stream, text) for text in texts]

    def _streamed(self, stream: Callable[..., Any], text: str) -> dict[str, object]:
        arrived: list[float] = []
        began = time.perf_counter()
        told = self._one(lambda: stream(text, lambda: arrived.append(time.perf_counter())))
        return told | {"deltas": len(arrived), "first_s": arrived[0] - began if arrived else None}

    def conversation(self, texts: list[str]) -> list[dict[str, object]]:
        converse = self.subjects()[0].converse
        return [] if converse is None else [self._one(partial(converse, texts))]

    def structured(self, texts: list[str]) -> list[dict[str, object]]:
        ask = self.subjects()[0].structured
        return [] if ask is None else [self._one(partial(ask, text)) for text in texts]

    def builds(self, texts: list[str]) -> list[dict[str, object]]:
        """One more agent for each text, made and thrown away."""
        return [_caught(lambda: self._listed.make() and "made") for _ in texts]

    def build_wrong(self) -> list[dict[str, object]]:
        return [_caught(lambda: self._listed.make(WRONG_TOOL) and "made")]

    def _one(self, call: Callable[[], Any]) -> dict[str, object]:
        return self._runner.run(_awaited(call)) if _is_async(self.subjects()[0]) else _caught(call)


def main(name: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    began = time.perf_counter()
    _make_importable()
    from agentdyno_workloads.frameworks.subjects.catalogue import SUBJECTS
    from agentdyno_workloads.frameworks.subjects.task import RECEIVED

    listed = SUBJECTS[name]
    with asyncio.Runner() as runner:
        asked = SubjectsAtWork(listed, runner)
        asked.subjects()
        facts = {"start_s": time.perf_counter() - began, "python": sys.version.split()[0]}
        _say(answers, {**facts, "version": version(listed.package)})
        for line in sys.stdin:
            question = json.loads(line)
            if question["do"] == "use":
                os.environ["OPENAI_BASE_URL"] = question["url"]
                asked.subjects()
                _say(answers, {})
                continue
            asked.subjects(question.get("at_once", 1))
            RECEIVED.clear()
            cpu_s, wall_s = time.process_time(), time.perf_counter()
            told = _done(asked, question)
            spent = {"wall_s": time.perf_counter() - wall_s, "cpu_s": time.process_time() - cpu_s}
            wrong = sum(not all(isinstance(item, int) for item in pair) for pair in RECEIVED)
            _say(answers, {**spent, "rss_bytes": _rss_bytes(), "told": told, "wrong_calls": wrong})


def _done(asked: SubjectsAtWork, question: dict[str, Any]) -> list[dict[str, object]]:
    if question["do"] == "tasks":
        return asked.tasks(question["texts"], question["at_once"])
    if question["do"] == "build_wrong":
        return asked.build_wrong()
    chosen: dict[str, Callable[[list[str]], list[dict[str, object]]]] = {
        "streams": asked.streams,
        "conversation": asked.conversation,
        "structured": asked.structured,
        "builds": asked.builds,
    }
    return chosen[question["do"]](question["texts"])


async def _in_loop(free: list[Any], texts: list[str], at_once: int) -> list[dict[str, object]]:
    if at_once == 1:
        return [await _awaited(partial(free[0].call, text)) for text in texts]
    places = asyncio.Semaphore(at_once)

    async def one(text: str) -> dict[str, object]:
        async with places:
            subject = free.pop()
            try:
                return await _awaited(partial(subject.call, text))
            finally:
                free.append(subject)

    return list(await asyncio.gather(*(one(text) for text in texts)))


def _caught(call: Callable[[], object]) -> dict[str, object]:
    try:
        return {"answer": call()}
    except Exception as error:  # noqa: BLE001  (whatever a framework raises is its answer)
        return {"answer": None, "error": f"{type(error).__name__}: {error}"[:MESSAGE_CAP]}


async def _awaited(call: Callable[[], Coroutine[Any, Any, object]]) -> dict[str, object]:
    try:
        return {"answer": await call()}
    except Exception as error:  # noqa: BLE001  (whatever a framework raises is its answer)
        return {"answer": None, "error": f"{type(error).__name__}: {error}"[:MESSAGE_CAP]}


def _is_async(subject: Any) -> bool:
    return inspect.iscoroutinefunction(subject.call)


def _make_importable() -> None:
    """Lets the modules beside this one be imported, and nothing else of the place where they are installed."""
    package = ModuleType("agentdyno_workloads")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules["agentdyno_workloads"] = package


def _rss_bytes() -> int:
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _say(answers: Any, value: dict[str, object]) -> None:
    answers.write(json.dumps(value, default=str) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
