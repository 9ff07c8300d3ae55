"""Experiments run and resumed without the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentdyno.model import Progress, RunResult, Spec
from agentdyno.runs.kind import RunRequest, Tools
from agentdyno.runs.kinds import EXPERIMENT, kind_named
from agentdyno.runs.pipeline import resume, start
from agentdyno.store import Store


def measure(
    store: Store, root: Path, spec: Spec, on_progress: Callable[[Progress], None] = lambda _: None
) -> RunResult:
    """A new run of a spec; ``root`` is where its folder goes."""
    tools = Tools(store, root, on_progress=on_progress)
    kind = kind_named(EXPERIMENT)
    with kind.prepare(RunRequest(EXPERIMENT, spec), tools) as prepared:
        return start(kind, prepared, tools)


def go_on(store: Store, root: Path, *, retry_errors: bool = False) -> RunResult:
    """The newest run, resumed."""
    return resume("last", Tools(store, root), retry_errors=retry_errors)
