"""A process that does nothing but hold memory, so that others have less of it."""

from __future__ import annotations

import subprocess
import sys

from agentdyno.errors import RunError


class Ballast:
    """Holds as many bytes as it is told, in a process of its own that ends with this one."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "agentdyno.load.target.ballast"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.pid = self._process.pid

    def hold(self, size_bytes: int) -> int:
        """Takes or gives back memory and returns what is held when that is done, in bytes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(b"%d\n" % size_bytes)
            self._process.stdin.flush()
            return int(self._process.stdout.readline())
        except (OSError, ValueError):
            raise RunError("the ballast is gone: there was not enough memory for it") from None

    def close(self) -> None:
        """Gives everything back."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _hold_what_is_asked() -> None:
    """Ends with the pipe, that is with its owner."""
    held = bytearray()
    for line in sys.stdin.buffer:
        held = bytearray()  # given back first, so that never both sizes are held
        held = bytearray(b"\x01") * int(line)  # written to: pages that are only promised take no memory
        sys.stdout.write(f"{len(held)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _hold_what_is_asked()
