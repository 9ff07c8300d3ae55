"""Runs in the environment of a framework: makes its subject, then does tasks as they are asked for.

``python task_process.py SUBJECT`` answers every line of JSON on its standard input (``{"tasks": [...], "at_once":
1}``) with one on its standard output. What the framework prints goes to the standard error. Standard library only.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any


def main(name: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    began = time.perf_counter()
    subjects = _subjects()
    listed = subjects.SUBJECTS[name]
    call = listed.make().call
    started_s = time.perf_counter() - began
    facts = {"start_s": started_s, "version": version(listed.package), "python": sys.version.split()[0]}
    _say(answers, facts)
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            asked = json.loads(line)
            cpu_s, wall_s = time.process_time(), time.perf_counter()
            told = _done(runner, call, asked["tasks"], asked["at_once"])
            spent = {"wall_s": time.perf_counter() - wall_s, "cpu_s": time.process_time() - cpu_s}
            _say(answers, {**spent, "answers": told, "rss_bytes": _rss_bytes()})


def _done(runner: asyncio.Runner, call: Callable[[str], Any], tasks: list[str], at_once: int) -> list[str]:
    if inspect.iscoroutinefunction(call):
        return runner.run(_in_loop(call, tasks, at_once))
    if at_once == 1:
        return [str(call(text)) for text in tasks]
    with ThreadPoolExecutor(at_once) as threads:
        return [str(told) for told in threads.map(call, tasks)]


async def _in_loop(call: Callable[[str], Any], tasks: list[str], at_once: int) -> list[str]:
    if at_once == 1:
        return [str(await call(text)) for text in tasks]
    free = asyncio.Semaphore(at_once)

    async def one(text: str) -> str:
        async with free:
            return str(await call(text))

    return list(await asyncio.gather(*(one(text) for text in tasks)))


def _subjects() -> Any:
    """The file beside this one, and nothing else of its package or its environment."""
    spec = importlib.util.spec_from_file_location("subjects", Path(__file__).with_name("subjects.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["subjects"] = module
    spec.loader.exec_module(module)
    return module


def _rss_bytes() -> int:
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _say(answers: Any, value: dict[str, object]) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
