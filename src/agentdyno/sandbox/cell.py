"""The process that one command of a workflow runs in, cut off from the machine. Standard library only, run as a script.

It reads a job (JSON) from standard input and answers on standard output with a report and the files that the command
changed. Three processes: this one makes namespaces and a root of its own; its child is the first process of the new
process space, copies the working folder in, watches, and reads back what changed; the command is the child's child.

- The root is an empty memory file system. System folders are in it read-only; of the machine's files nothing else is.
- ``/work`` is memory of a fixed size that holds a *copy* of the working folder. So a full disk is a real ENOSPC inside
  and nothing outside, and nothing that a command leaves (sockets, devices, links, set-id bits) reaches the machine:
  plain files, folders and links that stay inside are read back, as bytes.
- Files read are known by their access times, which are set to 0 beforehand; files written by their change times, which
  no command can set.
- As root the command runs as a user without an account, since limits on processes do not bind root. As an ordinary
  user a user namespace gives the right to make the others; every capability is gone before the command starts.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import stat
import struct
import sys
import time
from typing import Any

HEADER = struct.Struct("<I")
WORK = "/work"
SOURCE_INSIDE = "/.source"
"""Where bubblewrap shows the working folder that is to be copied."""
_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    *(0x00020000, 0x04000000, 0x08000000),
    *(0x10000000, 0x20000000, 0x40000000),
)
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _NOATIME, _NODIRATIME, _BIND, _REC, _PRIVATE, _RELATIME = (
    *(1, 2, 4, 8, 32, 1024, 2048, 4096),
    *(16384, 1 << 18, 1 << 21),
)
_ST_RELATIME = 4096
_DETACH = 2
_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _NO_NEW_PRIVS = 1, 4, 24, 38
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNTPOINTS = ("/mnt", "/media", "/srv", "/opt", "/var", "/home", "/tmp")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_FIRST_USER, _USERS = 60_000, 5_000
"""Users without an account: a range, so that commands at once do not share one limit of processes."""
_WATCH_S = 0.02
_CHUNK = 1 << 20
_TAIL = 8 * 1024
LIBC = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The cell cannot be made as the policy says."""


def main() -> None:
    job: dict[str, Any] = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    try:
        if job["isolation"] == "bubblewrap":
            LIBC.prctl(_DUMPABLE, 0, 0, 0, 0)
            _work(job, _copied_in(SOURCE_INSIDE, WORK, None), None)
        else:
            _isolate(job)
    except Refused as error:
        _answer({"refused": str(error)}, [])


def _isolate(job: dict[str, Any]) -> None:
    """Namespaces, a root of its own, and a first process in them."""
    root, uid, gid = os.geteuid() == 0, os.geteuid(), os.getegid()
    flags = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET | (0 if root else _NEWUSER)
    _call(LIBC.unshare(flags), "no namespaces can be made")
    user: int | None = None
    if root:
        user = _FIRST_USER + os.getpid() % _USERS
    else:
        _write_file("/proc/self/setgroups", "deny")
        _write_file("/proc/self/uid_map", f"{uid} {uid} 1")
        _write_file("/proc/self/gid_map", f"{gid} {gid} 1")
    _call(_mount(None, "/", None, _REC | _PRIVATE), "mounts cannot be made private")
    base = _make_root(job, user)
    child = os.fork()
    if child == 0:
        code = 70
        try:
            LIBC.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.setsid()
            _call(_mount("proc", f"{base}/proc", "proc", _NOSUID | _NODEV | _NOEXEC), "no /proc of its own")
            snapshot = _copied_in(job["source"], f"{base}{WORK}", user)
            _enter(base)
            _work(job, snapshot, user)
            code = 0
        except Refused as error:
            _answer({"refused": str(error)}, [])
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
        path for path in _MOUNTPOINTS if os.path.isdir(path) and not any(f"{item}/".startswith(f"{path}/") for item in needed)
    )
    _tmpfs(base, "size=4m,mode=755")
    for folder in ("proc", "dev", "etc", "tmp", "work", "run", "dev/shm"):
        os.makedirs(base + "/" + folder, exist_ok=True)
    for path in shown:
        _show(path, base)
    for name in _DEVICES:
        _write_file(f"{base}/dev/{name}", "")
        _call(_mount(f"/dev/{name}", f"{base}/dev/{name}", None, _BIND), f"/dev/{name} cannot be shown")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{base}/dev/{name}")
    number = os.getuid() if user is None else user
    _write_file(f"{base}/etc/passwd", f"root:x:0:0::/:/bin/sh\nuser:x:{number}:{number}::/tmp:/bin/sh\n")
    _write_file(f"{base}/etc/group", f"root:x:0:\nuser:x:{number}:\n")
    _write_file(f"{base}/etc/hosts", "127.0.0.1 localhost\n")
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
        _write_file(target, "")
    _call(_mount(path, target, None, _BIND | _REC), f"{path} cannot be shown")
    given = os.statvfs(target).f_flag
    kept = given & (_NOSUID | _NODEV | _NOEXEC | _NOATIME | _NODIRATIME) | (_RELATIME if given & _ST_RELATIME else 0)
    flags = _BIND | _REMOUNT | _RDONLY | _NOSUID | kept
    _call(_mount(None, target, None, flags), f"{path} cannot be made read-only")


def _enter(base: str) -> None:
    _call(_mount(None, base, None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV), "the root cannot be made read-only")
    os.chdir(base)
    number = _SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise Refused(f"pivot_root is not known on {os.uname().machine}")
    _call(LIBC.syscall(number, b".", b"."), "the root cannot be changed")
    _call(LIBC.umount2(b".", _DETACH), "the old root cannot be left")
    os.chdir("/")


def _work(job: dict[str, Any], snapshot: dict[str, tuple[int, ...]], user: int | None) -> None:
    report = _run(job, user)
    changed, read, gone = _differences(snapshot)
    size = sum(os.lstat(f"{WORK}/{path}").st_size for path in changed if not path.endswith("/"))
    if size > job["work_bytes"]:  # files with holes: larger than the space that they take
        report["full"], changed, gone = True, [], []
        report["status"] = report["status"] or 1
    _answer({**report, "read": read, "gone": gone}, changed)


def _copied_in(source: str, target: str, user: int | None) -> dict[str, tuple[int, ...]]:
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
            with open(source, "rb") as given, open(target, "wb") as made:  # noqa: PTH123  (pathlib is slow to load)
                while chunk := given.read(_CHUNK):
                    made.write(chunk)
        else:
            return
    except OSError as error:
        raise Refused(f"the working folder does not fit into the space that steps may use ({error.strerror})") from None
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
    return (info.st_mode, info.st_size if not stat.S_ISDIR(info.st_mode) else 0, info.st_ino, changed, info.st_atime_ns)


def _differences(before: dict[str, tuple[int, ...]]) -> tuple[list[str], list[str], list[str]]:
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


def _run(job: dict[str, Any], user: int | None) -> dict[str, Any]:
    reading, writing = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(job, user, writing)
    os.close(writing)
    watch = _Watch(job, reading, started)
    status = watch.until_ended(pid)
    duration_s = time.perf_counter() - started
    _end_all()
    watch.drain(last=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "status": status,
        "ended_by": watch.ended_by,
        "duration_s": duration_s,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_rss_bytes": max(watch.peak_bytes, used.ru_maxrss * 1024),
        "output": bytes(watch.tail).decode("utf-8", "replace"),
        "output_bytes": watch.count,
        "full": _is_full(),
    }


class _Watch:
    """What goes on while the command runs: its output, its time, the memory of all its processes."""

    def __init__(self, job: dict[str, Any], reading: int, started: float) -> None:
        self._job, self._fd, self._deadline = job, reading, started + job["time_limit_s"]
        os.set_blocking(reading, False)
        self._poller = select.poll()
        self._poller.register(reading, select.POLLIN)
        self.tail = bytearray()
        self.count = self.peak_bytes = 0
        self.ended_by: str | None = None

    def until_ended(self, pid: int) -> int:
        exit_fd = os.pidfd_open(pid)
        self._poller.register(exit_fd, select.POLLIN)
        while True:
            ready = {fd for fd, _ in self._poller.poll(_WATCH_S * 1000)}
            self.drain()
            self._measure()
            if exit_fd in ready:
                break
            if self.ended_by is None and time.perf_counter() > self._deadline:
                self.ended_by = "time"
            if self.ended_by is not None:
                os.kill(pid, signal.SIGKILL)
                _end_all(but=pid)
        self._poller.unregister(exit_fd)
        os.close(exit_fd)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)

    def drain(self, last: bool = False) -> None:
        for _ in range(1 if not last else 64):
            try:
                chunk = os.read(self._fd, 65_536)
            except OSError:
                return
            if not chunk:
                return self._closed()
            self.count += len(chunk)
            self.tail = (self.tail + chunk)[-_TAIL:]
            if self.count > self._job["output_bytes"] and self.ended_by is None:
                self.ended_by = "output"
        return None

    def _closed(self) -> None:
        try:
            self._poller.unregister(self._fd)
        except KeyError:
            return

    def _measure(self) -> None:
        total = 0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                try:
                    with open(f"/proc/{name}/statm") as file:  # noqa: PTH123
                        total += int(file.read().split()[1])
                except (OSError, ValueError, IndexError):
                    continue
        self.peak_bytes = max(self.peak_bytes, total * resource.getpagesize())


def _become(job: dict[str, Any], user: int | None, writing: int) -> None:
    """Turns the child into the command; never returns."""
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        for target, fd in ((0, nothing), (1, writing), (2, writing)):
            os.dup2(fd, target)
        os.closerange(3, 256)
        limits = (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, job["cpu_s"]),
            (resource.RLIMIT_DATA, job["memory_bytes"]),
            (resource.RLIMIT_FSIZE, job["work_bytes"]),
            (resource.RLIMIT_NOFILE, 256),
            (resource.RLIMIT_NPROC, job["processes"]),
        )
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        _drop_capabilities()
        os.chdir(WORK)
        os.execve(job["shell"], [job["shell"], "-c", job["command"]], job["env"])
    except BaseException as error:  # noqa: BLE001  (nobody above would see it)
        os.write(2, f"the command cannot be started: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(126)


def _drop_capabilities() -> None:
    for number in range(64):
        LIBC.prctl(_CAPBSET_DROP, number, 0, 0, 0)
    _call(LIBC.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    header = struct.pack("=Ii", 0x20080522, 0)
    _call(LIBC.capset(header, bytes(24)), "capabilities cannot be given up")


def _end_all(but: int = 0) -> None:
    """Kills every process of this process space except the first, and waits for them."""
    if os.getpid() != 1:  # never outside a process space of its own
        return
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    while not but:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _is_full() -> bool:
    for folder in (WORK, "/tmp"):
        room = os.statvfs(folder)
        if room.f_bavail * room.f_frsize < 16_384 or (room.f_files and room.f_ffree < 2):
            return True
    return False


def _answer(report: dict[str, Any], changed: list[str]) -> None:
    """Report with a list of files, then their content one after the other."""
    entries: list[dict[str, Any]] = []
    for path in changed:
        info = os.lstat(f"{WORK}/{path}")
        mode = stat.S_IMODE(info.st_mode) & 0o777
        if stat.S_ISDIR(info.st_mode):
            entries.append({"path": path.rstrip("/"), "kind": "folder", "mode": mode})
        elif stat.S_ISLNK(info.st_mode):
            entries.append({"path": path, "kind": "link", "target": os.readlink(f"{WORK}/{path}")})
        elif stat.S_ISREG(info.st_mode):
            entries.append({"path": path, "kind": "file", "mode": mode, "size": info.st_size})
    report = {**report, "changed": entries}
    payload = json.dumps(report).encode("utf-8", "surrogatepass")
    out = sys.stdout.buffer
    out.write(HEADER.pack(len(payload)) + payload)
    for entry in entries:
        if entry["kind"] == "file":
            os.chmod(f"{WORK}/{entry['path']}", 0o600)
            with open(f"{WORK}/{entry['path']}", "rb") as file:  # noqa: PTH123
                while chunk := file.read(_CHUNK):
                    out.write(chunk)
    out.flush()


def _tmpfs(path: str, options: str) -> None:
    _call(_mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV, options), f"no memory file system for {path}")


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> int:
    texts = [None if item is None else os.fsencode(item) for item in (source, target, kind, options)]
    return int(LIBC.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]))


def _call(result: int, why: str) -> None:
    if result != 0:
        raise Refused(f"{why} ({os.strerror(ctypes.get_errno())})")


def _write_file(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:  # noqa: PTH123
            file.write(text)
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror})") from None


if __name__ == "__main__":
    main()
