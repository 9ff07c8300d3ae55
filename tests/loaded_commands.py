"""Running ``dyno`` many times without paying for its start and its end each time.

Starting Python, loading the libraries and taking them apart at the end is most of what a short command costs. One
process loads everything and runs each command in a fork of itself, through the entry point of the real one. What is
to happen at the end of a process happens; only its modules are not taken apart.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from .command import DYNO, Bench, Done

_SERVER = """
import atexit, gc, importlib, json, os, pkgutil, sys, threading, traceback
import agentdyno
for module in pkgutil.walk_packages(agentdyno.__path__, "agentdyno."):
    importlib.import_module(module.name)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
from agentdyno.cli.main import main
sys.path[0] = os.path.dirname(sys.executable)  # as it is in the command itself, which does not look where it is run
gc.freeze()

def command(job):
    os.environ.clear()
    os.environ.update(job["environ"])
    os.chdir(job["folder"])
    for fd, path in ((1, job["stdout"]), (2, job["stderr"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = job["arguments"]
    code = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        command(job)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
_LOADED_WHEN_NEEDED = (
    *("matplotlib.figure", "rich.console", "rich.progress", "rich.table", "scipy.special"),
    *("sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite"),
)
"""Libraries that commands import only where they need them."""


class Commands:
    """Runs ``dyno`` in forks of a process of its own; ``scratch`` is a folder for what they print."""

    def __init__(self, scratch: Path) -> None:
        self._scratch, self._out, self._err = scratch, scratch / "out.txt", scratch / "err.txt"
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, json.dumps(_LOADED_WHEN_NEEDED)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, arguments: list[str], folder: Path, environ: dict[str, str], into: Path | None = None
    ) -> tuple[int, str]:
        """Its exit status and what it printed to both streams, as on a terminal; what goes to stdout is written
        ``into`` a file, where one is given."""
        code = self._fork(arguments, folder, environ, into or self._err, self._err)
        return code, self._err.read_text()

    def run_apart(self, arguments: list[str], folder: Path, environ: dict[str, str]) -> tuple[int, str, str]:
        """Its exit status, and what it printed to stdout and to stderr."""
        code = self._fork(arguments, folder, environ, self._out, self._err)
        return code, self._out.read_text(), self._err.read_text()

    def close(self) -> None:
        self._server.communicate()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _fork(self, arguments: list[str], folder: Path, environ: dict[str, str], out: Path, err: Path) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        for path in (out, err):
            path.write_text("")
        streams = {"stdout": str(out), "stderr": str(err)}
        job = {"arguments": arguments, "folder": str(folder), "environ": environ, **streams}
        self._server.stdin.write(json.dumps(job) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


@cache
def commands_of_this_process() -> Commands:
    """One that serves all tests of a process, those of every package; it ends when the process does."""
    atexit.register(close_commands)
    return Commands(Path(tempfile.mkdtemp(prefix="dyno-commands-")))


def close_commands() -> None:
    if commands_of_this_process.cache_info().currsize:
        commands_of_this_process().close()
        commands_of_this_process.cache_clear()


class LoadedBench(Bench):
    """A folder whose commands are run by a process that has loaded everything. ``start`` starts a real one."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        super().__init__(folder)
        self._commands = commands

    def dyno(self, *arguments: str, **environ: str) -> Done:
        given = {**self.environ, **environ}
        if _read_at_start(given) != _read_at_start(os.environ):
            return super().dyno(*arguments, **environ)
        code, out, err = self._commands.run_apart([DYNO, *arguments], self.folder, given)
        return Done(code, out, err)


def _read_at_start(environ: Mapping[str, str]) -> dict[str, str]:
    """What a Python reads when it starts: a fork of one that runs would not know of it."""
    return {name: value for name, value in environ.items() if name.startswith("PYTHON")}
