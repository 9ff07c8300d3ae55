"""Calls of the kernel that Python has no names for."""

from __future__ import annotations

import ctypes
import os

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    *(0x00020000, 0x04000000, 0x08000000),
    *(0x10000000, 0x20000000, 0x40000000),
)
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, NOATIME, NODIRATIME, BIND, REC, PRIVATE, RELATIME = (
    *(1, 2, 4, 8, 32, 1024, 2048, 4096),
    *(16384, 1 << 18, 1 << 21),
)
ST_RELATIME = 4096
DETACH = 2
PDEATHSIG, DUMPABLE, CAPBSET_DROP, NO_NEW_PRIVS = 1, 4, 24, 38
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
LIBC = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The cell cannot be made as the policy says."""


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> int:
    texts = [None if item is None else os.fsencode(item) for item in (source, target, kind, options)]
    return int(LIBC.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]))


def call(result: int, why: str) -> None:
    if result != 0:
        raise Refused(f"{why} ({os.strerror(ctypes.get_errno())})")


def write_file(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror})") from None
