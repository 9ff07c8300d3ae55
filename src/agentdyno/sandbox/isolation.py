"""Running commands in a cell: which isolation the machine offers, what a command may use, and what came of it."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import struct
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.sandbox.command import CannotStart, Command, Completed, LauncherPool

_PACKAGE = Path(__file__).parents[1]
_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from agentdyno.sandbox.cell.main import main; main()"
_HEADER = struct.Struct("<I")
_BEYOND_BYTES = 16 * 1024 * 1024
"""What a cell may print besides the files that it gives back: its report, with their names."""
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class CellIsolation(StrEnum):
    """How commands are kept apart from the machine. There is no way to run them without."""

    AUTO = "auto"
    NAMESPACES = "namespaces"
    BUBBLEWRAP = "bubblewrap"


@dataclass(frozen=True, slots=True)
class CellLimits:
    """What one command may use. ``work_bytes`` is the size of its working folder, and of ``/tmp`` beside it;
    ``memory_bytes`` and ``cpu_s`` are those of each of its processes."""

    time_limit_s: float = 60.0
    work_bytes: int = 256 * 1024 * 1024
    memory_bytes: int = 1024 * 1024 * 1024
    cpu_s: float = 120.0
    processes: int = 64
    files: int = 20_000
    output_bytes: int = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """Something that a command made or changed. ``kind`` is ``file``, ``folder`` or ``link``."""

    path: str
    kind: str
    mode: int = 0o644
    content: bytes = b""
    target: str = ""


@dataclass(frozen=True, slots=True)
class CellResult:
    """How a command ended. ``ended_by`` is ``time`` or ``output`` where a limit ended it; ``full`` says that no room
    was left in its working folder. Contents of ``changed`` are there where it ended well. ``read`` are paths that it
    read (folders, whose names it read, end in a slash)."""

    status: int
    output: str
    duration_s: float
    cpu_s: float
    peak_rss_bytes: int
    ended_by: str | None = None
    full: bool = False
    read: tuple[str, ...] = ()
    changed: tuple[ChangedPath, ...] = ()
    gone: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)


class CellRefused(Exception):
    """The machine does not let the cell be made as the policy says; nothing has run."""


def chosen_environment() -> dict[str, str]:
    """The variables that commands see: none of this process's own."""
    here = str(Path(sys.base_prefix) / "bin")
    path = _SYSTEM_PATH if here in _SYSTEM_PATH.split(":") else f"{_SYSTEM_PATH}:{here}"
    return {"PATH": path, "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


class Cells:
    """Runs commands in cells, as many at a time as there are callers.

    ``isolation`` is settled by ``start``: what was asked for, or the first that works. ``used`` says it in words.
    """

    def __init__(self, isolation: CellIsolation = CellIsolation.AUTO) -> None:
        self._asked = isolation
        self.isolation: CellIsolation | None = None
        self._launchers = LauncherPool()

    @property
    def used(self) -> str:
        """What keeps commands apart, for people."""
        if self.isolation is None:
            return "nothing yet"
        if self.isolation is CellIsolation.BUBBLEWRAP:
            return "bubblewrap (mount, process, network and user namespaces)"
        if os.geteuid() == 0:
            return "namespaces (mount, process, network), as a user without an account"
        return "namespaces (user, mount, process, network)"

    async def start(self) -> None:
        """Tries the isolation; raises ``RunError`` where none can be had, so that nothing runs without."""
        ways = (
            [self._asked]
            if self._asked is not CellIsolation.AUTO
            else [CellIsolation.NAMESPACES, CellIsolation.BUBBLEWRAP]
        )
        reasons = []
        for way in ways:
            try:
                await self._try(way)
            except CellRefused as error:
                reasons.append(f"{way.value}: {error}")
            else:
                self.isolation = way
                return
        raise RunError(
            f"commands cannot be isolated on this machine, so none is run ({'; '.join(reasons)})",
            where="sandbox",
            remedy="Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1 or user.max_user_namespaces), "
            "or install bubblewrap: scripts/workflow_tools.sh bubblewrap.",
        )

    async def run(self, command: str, folder: Path, limits: CellLimits | None = None) -> CellResult:
        """Runs ``command`` in a copy of ``folder``, which itself stays as it is. Raises ``CellRefused``."""
        assert self.isolation is not None, "start() comes first"
        return await self._run(self.isolation, command, folder, limits or CellLimits())

    async def close(self) -> None:
        await self._launchers.close()

    async def _try(self, way: CellIsolation) -> None:
        with tempfile.TemporaryDirectory(prefix="dyno-cell-") as name:
            folder, outside = Path(name, "work"), Path(name, "outside")
            folder.mkdir()
            outside.touch()
            probe = f'echo made > probe; test ! -e {shlex.quote(str(outside))} && test "$(id -u)" != 0'
            result = await self._run(way, probe, folder, CellLimits())
        made = [item.path for item in result.changed]
        if result.status != 0 or made != ["probe"]:
            raise CellRefused(f"a command sees more than it may, or fails: {result.output.strip()[-200:] or made}")

    async def _run(self, way: CellIsolation, command: str, folder: Path, limits: CellLimits) -> CellResult:
        job = _job(way, command, folder, limits)
        argv: tuple[str, ...] = (sys.executable, "-I", "-S", "-c", _BOOT, str(_PACKAGE.parent))
        if way is CellIsolation.BUBBLEWRAP:
            argv = _bubblewrap(folder, limits)
        payload = json.dumps(job).encode("utf-8", "surrogatepass")
        asked = Command(argv, payload, "/", {}, output_bytes=limits.work_bytes + _BEYOND_BYTES)
        try:
            completed = await self._launchers.run(asked)
        except CannotStart as error:
            raise CellRefused(str(error)) from None
        return _result(completed)


def _job(way: CellIsolation, command: str, folder: Path, limits: CellLimits) -> dict[str, object]:
    return {
        "isolation": way.value,
        "command": command,
        "shell": shutil.which("bash") or "/bin/sh",
        "source": str(folder.resolve()),
        "env": chosen_environment(),
        "shared": [] if shutil.which("python3", path=_SYSTEM_PATH) else _interpreter(),
        "time_limit_s": limits.time_limit_s,
        "work_bytes": limits.work_bytes,
        "memory_bytes": limits.memory_bytes,
        "cpu_s": max(1, math.ceil(limits.cpu_s)),
        "processes": limits.processes,
        "files": limits.files,
        "output_bytes": limits.output_bytes,
    }


def _interpreter() -> list[str]:
    """Where this Python lies, if not among the system's folders, so that steps find one everywhere."""
    home = str(Path(sys.base_prefix).resolve())
    return [] if home == "/" or home.startswith("/usr") else [home]


def _bubblewrap(folder: Path, limits: CellLimits) -> tuple[str, ...]:
    program = shutil.which("bwrap")
    if program is None:
        raise CellRefused("bwrap is not installed")
    if os.geteuid() == 0:
        raise CellRefused("bwrap would run the command as root")
    shown = []
    for path in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache"):
        if Path(path).is_symlink():
            shown += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            shown += ["--ro-bind", path, path]
    for path in (*_interpreter(), str(_PACKAGE)):
        shown += ["--ro-bind", path, path]
    size = str(limits.work_bytes)
    return (
        *(program, "--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"),
        *("--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/work"),
        # Without these two, /dev is memory without a limit.
        *("--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--ro-bind", str(folder.resolve()), "/.source", *shown, "--remount-ro", "/"),
        *(str(Path(sys.executable).resolve()), "-I", "-S", "-c", _BOOT, str(_PACKAGE.parent)),
    )


def _result(completed: Completed) -> CellResult:
    if completed.flooded:
        return CellResult(-9, "", completed.duration_s, 0.0, 0, "output")
    data = completed.stdout
    if completed.status != 0 or len(data) < _HEADER.size:
        raise CellRefused(f"the cell ended with status {completed.status}: {completed.stderr_tail[-500:]}")
    size = _HEADER.unpack(data[: _HEADER.size])[0]
    report = json.loads(data[_HEADER.size : _HEADER.size + size].decode("utf-8", "surrogatepass"))
    if "refused" in report:
        raise CellRefused(str(report["refused"]))
    at = _HEADER.size + size
    changed = []
    for entry in report["changed"]:
        length = int(entry.get("size", 0))
        content = data[at : at + length]
        at += length
        changed.append(
            ChangedPath(entry["path"], entry["kind"], int(entry.get("mode", 0)), content, entry.get("target", ""))
        )
    return CellResult(
        status=int(report["status"]),
        output=str(report["output"]),
        duration_s=float(report["duration_s"]),
        cpu_s=float(report["cpu_s"]),
        peak_rss_bytes=int(report["peak_rss_bytes"]),
        ended_by=report["ended_by"],
        full=bool(report["full"]),
        read=tuple(report["read"]),
        changed=tuple(changed),
        gone=tuple(report["gone"]),
        details={"output_bytes": report["output_bytes"]},
    )
