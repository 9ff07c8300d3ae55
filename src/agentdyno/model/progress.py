"""How far a run is: one frozen value that a callback is given between samples."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.model.sample import Sample


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``planned`` trials (``planned`` may shrink when a stop rule fires); times in seconds.

    ``pass_rate`` (``None`` without agents), ``tokens`` and ``cost_usd`` are those of the agents so far. ``sample`` is
    the one that was just recorded; ``None`` at the start, and where a trial ended without another.
    """

    run_id: str
    done: int
    planned: int
    errors: int
    elapsed_s: float
    remaining_s: float | None
    doing: str = ""
    pass_rate: float | None = None
    tokens: int = 0
    cost_usd: float = 0.0
    sample: Sample | None = None
