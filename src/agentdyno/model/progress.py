"""Progress, as one frozen value that whoever shows it receives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``planned`` samples (``planned`` may shrink when a stop rule fires); times in seconds."""

    run_id: str
    done: int
    planned: int
    errors: int
    elapsed_s: float
    remaining_s: float | None
    doing: str = ""
