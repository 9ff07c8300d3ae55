"""How a process ended, in words."""

from __future__ import annotations

import signal

from agentdyno.model.sample import FailureKind


def cause_of_death(code: int | None) -> tuple[FailureKind, str]:
    """From an exit status, negative for a signal; ``None`` where the process only stopped talking."""
    if code is None:
        return FailureKind.EXIT, "broke off its connection and went on running"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the system may have run out of memory" if -code == signal.SIGKILL else ""
        return FailureKind.SIGNAL, f"killed by {name}{hint}"
    return FailureKind.EXIT, f"ended its process with status {code}"
