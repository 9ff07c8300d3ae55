"""The environment of an imported run, as far as the file tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.model.identity import digest
from agentdyno.model.result import Environment
from agentdyno.version import __version__

UNKNOWN = "unknown"
UNKNOWN_MACHINE = "imported-unknown"


@dataclass(frozen=True, slots=True)
class Machine:
    """What a file says of the machine and the interpreter; empty and 0 are unknown. ``memory_bytes`` is all there is.

    ``os`` is the system and the architecture, such as ``Linux x86_64``; ``marks`` is anything else that tells
    machines apart and stays the same, such as the sizes of caches.
    """

    os: str = ""
    kernel: str = ""
    cpu_model: str = ""
    cpu_count: int = 0
    memory_bytes: int = 0
    python: str = ""
    implementation: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)
    marks: object = None

    @property
    def machine_id(self) -> str:
        """The id that the same machine has in runs made here, where enough is known; else one of what is known."""
        parts = [self.cpu_model, self.cpu_count, round(self.memory_bytes / 1024**3), self.os]
        if all(parts):
            return digest(parts, 16)
        known = [*parts, self.marks] if self.marks else parts
        return f"imported-{digest(known, 16)}" if any(known) else UNKNOWN_MACHINE

    def environment(self) -> Environment:
        return Environment(
            machine_id=self.machine_id,
            os=self.os or UNKNOWN,
            kernel=self.kernel or UNKNOWN,
            cpu_model=self.cpu_model or UNKNOWN,
            cpu_count=self.cpu_count,
            memory_bytes=self.memory_bytes,
            python=self.python or UNKNOWN,
            implementation=self.implementation or UNKNOWN,
            agentdyno=__version__,
            packages=dict(self.packages),
            details=dict(self.details),
        )
