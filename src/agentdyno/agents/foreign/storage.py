"""What a running program has read from storage and written to it, as the kernel counts it (Linux)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Stored:
    """Bytes of one process, without those that it started."""

    read_bytes: int
    write_bytes: int

    def readings_since(self, before: Stored) -> dict[str, float]:
        """Both where there is either, as those of other agents."""
        read, written = self.read_bytes - before.read_bytes, self.write_bytes - before.write_bytes
        return {"read_bytes": float(read), "write_bytes": float(written)} if read > 0 or written > 0 else {}


def stored_by(pid: int) -> Stored | None:
    """``None`` where the process has ended, is another user's, or the kernel does not count."""
    try:
        with Path(f"/proc/{pid}/io").open("rb", buffering=0) as file:
            told = dict(line.split(b": ") for line in file.read(4096).splitlines())
        return Stored(int(told[b"read_bytes"]), int(told[b"write_bytes"]))
    except (OSError, KeyError, ValueError):
        return None
