"""A disk that can be filled: a small file system where it may be mounted, else a limit on the size of files."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SIZE_MB = 16
BLOCK = bytes(64 * 1024)


@dataclass(frozen=True)
class SmallDisk:
    """The file system at ``folder``, which is one of its own where it is ``mounted``."""

    folder: Path
    mounted: bool

    @contextlib.contextmanager
    def filled(self, pid: int) -> Iterator[None]:
        """Nothing more can be written to the disk; without one, no file of the process can grow."""
        if not self.mounted:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            yield  # the limit goes with the process
            return
        filler = self.folder / "filler"
        handle = os.open(filler, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            with contextlib.suppress(OSError):
                while True:
                    os.write(handle, BLOCK)
            yield
        finally:
            os.close(handle)
            filler.unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    folder.mkdir(parents=True, exist_ok=True)
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "none", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mounting, check=False, capture_output=True).returncode == 0
    try:
        yield SmallDisk(folder, mounted)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)
