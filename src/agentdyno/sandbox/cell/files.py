"""Files of a cell: copied in, looked at before and after, and sent back where they have changed."""

from __future__ import annotations

import json
import os
import stat
import struct
import sys
from typing import Any

from agentdyno.sandbox.cell.kernel import Refused

HEADER = struct.Struct("<I")
WORK = "/work"
_CHUNK = 1 << 20


def copied_in(source: str, target: str, user: int | None) -> dict[str, tuple[int, ...]]:
    """Copies the working folder; returns what each path is like, by which changes are seen later."""
    folders = [""]
    for place, names, files in os.walk(source):
        inside = os.path.relpath(place, source)
        inside = "" if inside == "." else inside + "/"
        for name in [*names, *files]:
            _copy_one(f"{place}/{name}", f"{target}/{inside}{name}", user)
            if name in names and not os.path.islink(f"{place}/{name}"):
                folders.append(inside + name)
    for folder in reversed(folders):  # the inner ones first: making them changed the outer ones
        os.utime(f"{target}/{folder}", ns=(0, os.stat(f"{target}/{folder}").st_mtime_ns))
    return _look(target)


def _copy_one(source: str, target: str, user: int | None) -> None:
    info = os.lstat(source)
    try:
        if stat.S_ISLNK(info.st_mode):
            os.symlink(os.readlink(source), target)
        elif stat.S_ISDIR(info.st_mode):
            os.mkdir(target)
        elif stat.S_ISREG(info.st_mode):
            with open(source, "rb") as given, open(target, "wb") as made:
                while chunk := given.read(_CHUNK):
                    made.write(chunk)
        else:
            return
    except OSError as error:
        raise Refused(
            f"the working folder does not fit into the space that steps may use ({error.strerror})"
        ) from None
    if user is not None:
        os.chown(target, user, user, follow_symlinks=False)
    if not stat.S_ISLNK(info.st_mode):
        os.chmod(target, stat.S_IMODE(info.st_mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)
        os.utime(target, ns=(0, info.st_mtime_ns))


def _look(top: str) -> dict[str, tuple[int, ...]]:
    """By path: kind and mode, size, inode, and times of change, of modification and of the last reading."""
    seen = {}
    for place, names, files in os.walk(top):
        inside = os.path.relpath(place, top)
        inside = "" if inside == "." else inside + "/"
        info = os.stat(place)
        seen[inside] = _facts(info)
        for name in [*(name for name in names if os.path.islink(f"{place}/{name}")), *files]:
            seen[inside + name] = _facts(os.lstat(f"{place}/{name}"))
        names.sort()
    for path in [path for path in seen if path == "" or path.endswith("/")]:  # looking was a reading, too
        info = os.stat(f"{top}/{path}")
        os.utime(f"{top}/{path}", ns=(0, info.st_mtime_ns))
    return {path: (*facts[:4], 0) if path == "" or path.endswith("/") else facts for path, facts in seen.items()}


def _facts(info: os.stat_result) -> tuple[int, ...]:
    changed = 0 if stat.S_ISDIR(info.st_mode) else info.st_ctime_ns
    return (
        info.st_mode,
        info.st_size if not stat.S_ISDIR(info.st_mode) else 0,
        info.st_ino,
        changed,
        info.st_atime_ns,
    )


def differences(before: dict[str, tuple[int, ...]]) -> tuple[list[str], list[str], list[str]]:
    """Paths that were made or changed, paths whose content was read (folders end in a slash), paths that are gone."""
    read = []
    for path, facts in before.items():
        try:
            info = os.lstat(f"{WORK}/{path}")
        except OSError:
            continue
        if info.st_ino == facts[2] and info.st_atime_ns != facts[4]:
            read.append(path or "./")
    after = _look(WORK)
    changed = [path for path, facts in after.items() if path and before.get(path, ())[:4] != facts[:4]]
    return changed, read, [path for path in before if path and path not in after]


def answer(report: dict[str, Any], changed: list[str], contents: bool = True) -> None:
    """Report with a list of files, then their contents one after the other, where anybody wants them."""
    entries: list[dict[str, Any]] = []
    for path in changed:
        info = os.lstat(f"{WORK}/{path}")
        mode = stat.S_IMODE(info.st_mode) & 0o777
        if stat.S_ISDIR(info.st_mode):
            entries.append({"path": path.rstrip("/"), "kind": "folder", "mode": mode})
        elif stat.S_ISLNK(info.st_mode):
            entries.append({"path": path, "kind": "link", "target": os.readlink(f"{WORK}/{path}")})
        elif stat.S_ISREG(info.st_mode):
            entries.append({"path": path, "kind": "file", "mode": mode, "size": info.st_size if contents else 0})
    report = {**report, "changed": entries}
    payload = json.dumps(report).encode("utf-8", "surrogatepass")
    out = sys.stdout.buffer
    out.write(HEADER.pack(len(payload)) + payload)
    for entry in entries:
        if entry["kind"] == "file" and contents:
            os.chmod(f"{WORK}/{entry['path']}", 0o600)
            with open(f"{WORK}/{entry['path']}", "rb") as file:
                while chunk := file.read(_CHUNK):
                    out.write(chunk)
    out.flush()
