"""What the store answers besides the values of the model."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.model import RunStatus


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of a list of runs. Times are UTC milliseconds.

    ``samples`` counts everything recorded; ``errors`` those of them that gave no answer (status ``error``,
    ``timeout`` or ``limit``).
    """

    run_id: str
    kind: str
    name: str
    status: RunStatus
    started_at: int
    finished_at: int | None
    arms: int
    samples: int
    errors: int
    tags: tuple[str, ...] = ()
