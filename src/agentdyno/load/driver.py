"""The seam between a scenario and what puts its load on a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from agentdyno.model.load import Step, Window


class Driver(Protocol):
    """Keeps the schedule of one step after the other against one target.

    ``open`` starts the clients and asks the target once: a target that is down, speaks another protocol or lacks the
    model is a ``DynoError`` before any load. ``run`` gives the windows of a step in order, each as soon as every
    request that was due in it has ended; ``index`` and ``starts_s`` go on from step to step. Closing the iterator
    stops the step within a second. ``began_ns`` (``perf_counter_ns``) is when the first step began, from which
    ``starts_s`` counts.
    """

    name: str
    simulated: bool
    began_ns: int | None

    def open(self) -> None: ...

    def run(self, step: Step) -> Iterator[Window]: ...

    def observed(self) -> Mapping[str, object]:
        """What the target was seen to be: the model that it names, the source of its token counts."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Levers:
    """What a scenario may do to the target besides asking it; ``None`` where this target does not allow it.

    ``set_memory`` leaves the target's process so many bytes (``None``: no limit) and returns what is in force.
    ``memory_limited_by`` says by which means.
    ``set_fault`` switches a fault of the target, or of the proxy in front of it, on (by name) or off (``""``);
    ``fault_struck`` says how often one has struck so far, ``None`` where that is not counted.
    ``limited_to`` is the largest input in words that makes sense to try.
    """

    set_memory: Callable[[int | None], int | None] | None = None
    memory_in_use: Callable[[], int] | None = None
    memory_limited_by: Callable[[], str] | None = None
    set_fault: Callable[[str], None] | None = None
    fault_struck: Callable[[str], int | None] | None = None
    limited_to: int | None = None
