"""The process that one command of a workflow runs in, cut off from the machine. Needs the standard library only.

It reads a job (JSON) from standard input and answers on standard output with a report and the files that the command
changed. Three processes: this one makes namespaces and a root of its own; its child is the first process of the new
process space, copies the working folder in, watches, and reads back what changed; the command is the child's child.

- The root is an empty memory file system. System folders are in it read-only, and nothing else of the machine is.
- ``/work`` is memory of a fixed size with a *copy* of the working folder. So a full disk is a real ENOSPC inside and
  nothing outside, and nothing that a command leaves (sockets, devices, links, set-id bits) reaches the machine: plain
  files, folders and links that stay inside are read back, as bytes.
- Files read are known by their access times, which are set to 0 beforehand; files written by their change times,
  which no command can set.
- As root the command runs as a user without an account, since limits on processes do not bind root. As an ordinary
  user a user namespace gives the right to make the others; every capability is gone before the command starts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from agentdyno.sandbox.cell import kernel
from agentdyno.sandbox.cell.files import WORK, answer, copied_in, differences
from agentdyno.sandbox.cell.kernel import LIBC, Refused, call, mount, write_file
from agentdyno.sandbox.cell.watching import run

SOURCE_INSIDE = "/.source"
"""Where bubblewrap shows the working folder that is to be copied."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_MOUNTPOINTS = ("/mnt", "/media", "/srv", "/opt", "/var", "/home", "/tmp")
_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_FIRST_USER, _USERS = 60_000, 5_000
"""Users without an account: a range, so that commands at once do not share one limit of processes."""


def main() -> None:
    job: dict[str, Any] = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    try:
        if job["isolation"] == "bubblewrap":
            LIBC.prctl(kernel.DUMPABLE, 0, 0, 0, 0)
            _work(job, copied_in(SOURCE_INSIDE, WORK, None), None)
        else:
            _isolate(job)
    except Refused as error:
        answer({"refused": str(error)}, [])


def _isolate(job: dict[str, Any]) -> None:
    """Namespaces, a root of its own, and a first process in them."""
    root, uid, gid = os.geteuid() == 0, os.geteuid(), os.getegid()
    flags = (
        kernel.NEWNS | kernel.NEWUTS | kernel.NEWIPC | kernel.NEWPID | kernel.NEWNET | (0 if root else kernel.NEWUSER)
    )
    call(LIBC.unshare(flags), "no namespaces can be made")
    user: int | None = None
    if root:
        user = _FIRST_USER + os.getpid() % _USERS
    else:
        write_file("/proc/self/setgroups", "deny")
        write_file("/proc/self/uid_map", f"{uid} {uid} 1")
        write_file("/proc/self/gid_map", f"{gid} {gid} 1")
    call(mount(None, "/", None, kernel.REC | kernel.PRIVATE), "mounts cannot be made private")
    base = _make_root(job, user)
    child = os.fork()
    if child == 0:
        code = 70
        try:
            LIBC.prctl(kernel.PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.setsid()
            call(
                mount("proc", f"{base}/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC),
                "no /proc of its own",
            )
            snapshot = copied_in(job["source"], f"{base}{WORK}", user)
            _enter(base)
            _work(job, snapshot, user)
            code = 0
        except Refused as error:
            answer({"refused": str(error)}, [])
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _make_root(job: dict[str, Any], user: int | None) -> str:
    """Mounts the new root somewhere and returns where."""
    shown = [path for path in (*SYSTEM, *_ETC, *job["shared"]) if os.path.lexists(path)]
    needed = (*shown, job["source"])
    base = next(
        path
        for path in _MOUNTPOINTS
        if os.path.isdir(path) and not any(f"{item}/".startswith(f"{path}/") for item in needed)
    )
    _tmpfs(base, "size=4m,mode=755")
    for folder in ("proc", "dev", "etc", "tmp", "work", "run", "dev/shm"):
        os.makedirs(base + "/" + folder, exist_ok=True)
    for path in shown:
        _show(path, base)
    for name in _DEVICES:
        write_file(f"{base}/dev/{name}", "")
        call(mount(f"/dev/{name}", f"{base}/dev/{name}", None, kernel.BIND), f"/dev/{name} cannot be shown")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{base}/dev/{name}")
    number = os.getuid() if user is None else user
    write_file(f"{base}/etc/passwd", f"root:x:0:0::/:/bin/sh\nuser:x:{number}:{number}::/tmp:/bin/sh\n")
    write_file(f"{base}/etc/group", f"root:x:0:\nuser:x:{number}:\n")
    write_file(f"{base}/etc/hosts", "127.0.0.1 localhost\n")
    owner = "" if user is None else f",uid={user},gid={user}"
    _tmpfs(f"{base}/tmp", f"size={job['work_bytes']},nr_inodes={job['files']},mode=700{owner}")
    _tmpfs(f"{base}/dev/shm", f"size={job['work_bytes']},nr_inodes={job['files']},mode=700{owner}")
    _tmpfs(f"{base}{WORK}", f"size={job['work_bytes']},nr_inodes={job['files']},mode=700{owner}")
    for folder in (base, f"{base}/etc", f"{base}/dev"):
        os.chmod(folder, 0o555)
    return base


def _show(path: str, base: str) -> None:
    """A folder or file of the machine, read-only, at the same place; links stay links."""
    target = base + path
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        write_file(target, "")
    call(mount(path, target, None, kernel.BIND | kernel.REC), f"{path} cannot be shown")
    given = os.statvfs(target).f_flag
    kept = given & (kernel.NOSUID | kernel.NODEV | kernel.NOEXEC | kernel.NOATIME | kernel.NODIRATIME) | (
        kernel.RELATIME if given & kernel.ST_RELATIME else 0
    )
    flags = kernel.BIND | kernel.REMOUNT | kernel.RDONLY | kernel.NOSUID | kept
    call(mount(None, target, None, flags), f"{path} cannot be made read-only")


def _enter(base: str) -> None:
    call(
        mount(None, base, None, kernel.BIND | kernel.REMOUNT | kernel.RDONLY | kernel.NOSUID | kernel.NODEV),
        "the root cannot be made read-only",
    )
    os.chdir(base)
    number = kernel.SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise Refused(f"pivot_root is not known on {os.uname().machine}")
    call(LIBC.syscall(number, b".", b"."), "the root cannot be changed")
    call(LIBC.umount2(b".", kernel.DETACH), "the old root cannot be left")
    os.chdir("/")


def _work(job: dict[str, Any], snapshot: dict[str, tuple[int, ...]], user: int | None) -> None:
    report = run(job, user)
    changed, read, gone = differences(snapshot)
    size = sum(os.lstat(f"{WORK}/{path}").st_size for path in changed if not path.endswith("/"))
    if size > job["work_bytes"]:  # files with holes: larger than the space that they take
        report["full"], changed, gone = True, [], []
        report["status"] = report["status"] or 1
    well = report["status"] == 0 and report["ended_by"] is None and not report["full"]
    answer({**report, "read": read, "gone": gone}, changed, contents=well)


def _tmpfs(path: str, options: str) -> None:
    call(mount("tmpfs", path, "tmpfs", kernel.NOSUID | kernel.NODEV, options), f"no memory file system for {path}")
