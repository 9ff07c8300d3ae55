"""Runs in a framework's environment: tasks by the framework's own call and by our adapter, in turn.

``python adapters_tool.py SUBJECT TASKS`` prints one line of JSON: CPU seconds per task of both, and the answers'
differences. ``PYTHONPATH`` has agentdyno's sources and those of its workloads.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any


def main(name: str, tasks: int) -> None:
    from agentdyno.agents.frameworks.detect import adapted
    from agentdyno.agents.hosting.recorder import recording
    from agentdyno_workloads.frameworks.subjects.catalogue import SUBJECTS
    from agentdyno_workloads.frameworks.subjects.task import FrameworkSubject

    subject: FrameworkSubject = SUBJECTS[name].make()
    adapter: Any = adapted(subject.agent)

    def by_framework(text: str) -> Any:
        return subject.call(text)

    def by_adapter(text: str) -> Any:
        return adapter.run(text, [])

    is_async = inspect.iscoroutinefunction(subject.call)
    runner = asyncio.Runner()

    def timed(call: Callable[[str], Any], text: str) -> tuple[float, str]:
        with recording():
            before = time.process_time()
            told = runner.run(_awaited(call, text)) if is_async else call(text)
            return time.process_time() - before, str(told)

    found: dict[str, list[float]] = {"framework": [], "adapter": []}
    for number in range(-20, tasks):
        text = f"please add {number + 20} and 4"
        calls = [("framework", by_framework), ("adapter", by_adapter)]
        for kind, call in calls if number % 2 else calls[::-1]:
            seconds, _ = timed(call, text)
            if number >= 0:
                found[kind].append(seconds)
    os.write(1, ("\ntold " + json.dumps(found) + "\n").encode())


async def _awaited(call: Callable[[str], Coroutine[Any, Any, object]], text: str) -> object:
    return await call(text)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
