"""Experiments that the tests run in workers: well-behaved ones and all kinds of others. Standard library only."""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agentdyno.contracts import Experiment, ExperimentContext
from agentdyno.model import Phase
from agentdyno.registry import register_instrument


def note(file: str, text: object) -> None:
    with Path(file).open("a") as log:
        log.write(f"{text}\n")


def wait_for_ever() -> None:
    threading.Event().wait()


def nothing() -> None:
    pass


def answer(value: int = 42) -> dict[str, Any]:
    return {"value": value, "pid": os.getpid()}


def facts() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "hash_seed": os.environ["PYTHONHASHSEED"],
        "hash": hash("agentdyno") % 2**40,
        "cpus": sorted(os.sched_getaffinity(0)),
        "modules": sorted(name for name in sys.modules if name in ("numpy", "pydantic", "psutil", "rich")),
    }


def printing(count: int = 1) -> dict[str, Any]:
    """Writes what could pass for messages of the harness to both streams."""
    for stream in (sys.stdout, sys.stderr):
        stream.write('\x05\x00\x00\x00{"a"}{"sample": 1}\n' * count)
    return {"printed": True}


def big(size: int = 16_000) -> dict[str, Any]:
    return {"text": "é" * (size // 6)}


def hang() -> None:
    wait_for_ever()


class Logged(Experiment):
    """Writes down what is called, and with which seeds."""

    def __init__(self, log: str, fail: str = "") -> None:
        super().__init__()
        self.log, self.fail = log, fail

    def setup(self, context: ExperimentContext) -> None:
        self._note("setup", context)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        self._note("execute", context)
        return {"random": random.random(), "rng": context.rng.random(), "seed": context.seed}

    def teardown(self, context: ExperimentContext) -> None:
        self._note("teardown", context)

    def _note(self, what: str, context: ExperimentContext) -> None:
        note(self.log, f"{what} {context.phase} {context.iteration}")
        if what == self.fail:
            raise ValueError(f"deliberate in {what}")


class LoggedAsync(Experiment):
    def __init__(self, log: str) -> None:
        super().__init__()
        self.log = log

    async def setup(self, context: ExperimentContext) -> None:
        self.loop = asyncio.get_running_loop()
        await asyncio.sleep(0)
        note(self.log, "setup")

    async def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        await asyncio.sleep(0)
        assert asyncio.get_running_loop() is self.loop
        note(self.log, "execute")
        return {"seed": context.seed}

    async def teardown(self, context: ExperimentContext) -> None:
        await asyncio.sleep(0)
        note(self.log, "teardown")


class Broken(Experiment):
    """Goes wrong in one ``way``: the first time it is set up, or in the measured trial of iteration 1."""

    def __init__(self, way: str, folder: str, when: str = "execute") -> None:
        super().__init__()
        self.way, self.when, self.folder = way, when, Path(folder)

    def setup(self, context: ExperimentContext) -> None:
        first = self.folder / "first"
        if self.when == "setup" and not first.exists():
            first.touch()
            go_wrong(self.way, self.folder)

    def execute_once(self, context: ExperimentContext) -> Any:
        if self.when == "execute" and context.phase is Phase.MEASURED and context.iteration == 1:
            return go_wrong(self.way, self.folder)
        return {"pid": os.getpid()}

    def teardown(self, context: ExperimentContext) -> None:
        note(str(self.folder / "teardown"), os.getpid())


def go_wrong(way: str, folder: Path) -> Any:
    return getattr(Ways, way)(folder)


class Ways:
    """All that an experiment may do to its worker."""

    @staticmethod
    def raises(_: Path) -> None:
        raise ValueError("deliberate")

    @staticmethod
    def hangs(_: Path) -> None:
        wait_for_ever()

    @staticmethod
    def exits(_: Path) -> None:
        os._exit(3)

    @staticmethod
    def calls_sys_exit(_: Path) -> None:
        sys.exit("enough")

    @staticmethod
    def crashes(_: Path) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.string_at(0)

    @staticmethod
    def eats_memory(_: Path) -> int:
        return len(bytearray(2 << 30))

    @staticmethod
    def returns_object(_: Path) -> Any:
        return {"thing": object()}

    @staticmethod
    def returns_deep(_: Path) -> Any:
        deep: list[Any] = []
        for _level in range(700):
            deep = [deep]
        return {"deep": deep}

    @staticmethod
    def returns_more_than_fits(_: Path) -> Any:
        return {"text": ["x" * 1000] * 250_000}  # its JSON alone is more than the limit

    @staticmethod
    def floods(_: Path) -> None:
        for _block in range(50):
            sys.stdout.write("x" * (1 << 20))

    @staticmethod
    def floods_without_end(_: Path) -> None:
        while True:
            os.write(1, b"y" * (1 << 16))

    @staticmethod
    def ignores_interrupts(_: Path) -> None:
        while True:
            with suppress(BaseException):
                wait_for_ever()

    @staticmethod
    def stops_itself(_: Path) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    @staticmethod
    def interrupts_itself(_: Path) -> None:
        raise KeyboardInterrupt

    @staticmethod
    def becomes_another_program(_: Path) -> None:
        os.execv("/bin/sh", ["sh", "-c", "exit 7"])

    @staticmethod
    def closes_descriptors(_: Path) -> dict[str, bool]:
        os.closerange(3, 256)
        return {"closed": True}

    @staticmethod
    def closes_output(_: Path) -> dict[str, bool]:
        os.close(1)
        os.close(2)
        return {"closed": True}

    @staticmethod
    def takes_stdout_away(_: Path) -> dict[str, bool]:
        sys.stdout = None
        del sys.stderr
        return {"taken": True}

    @staticmethod
    def writes_to_every_descriptor(_: Path) -> None:
        for fd in range(3, 64):
            with suppress(OSError):
                os.write(fd, b"\x04\x00\x00\x00true")
        wait_for_ever()

    @staticmethod
    def forks_and_forgets(folder: Path) -> dict[str, str]:
        """Both the worker and its child go on into the harness."""
        pid = os.fork()
        if pid:
            note(str(folder / "pids"), pid)
            os.waitpid(pid, 0)
        return {"who": "parent" if pid else "child"}

    @staticmethod
    def starts_children(folder: Path) -> dict[str, bool]:
        forked = os.fork()
        if forked == 0:
            wait_for_ever()
        spawned = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
        spawned.returncode = 0  # nobody will wait for it
        for pid in (forked, spawned.pid):
            note(str(folder / "pids"), pid)
        return {"started": True}

    @staticmethod
    def starts_daemon(folder: Path) -> dict[str, bool]:
        """A grandchild in a session of its own that holds every descriptor of the worker."""
        reading, writing = os.pipe()
        middle = os.fork()
        if middle == 0:
            os.setsid()
            daemon = os.fork()
            if daemon == 0:
                wait_for_ever()
            os.write(writing, str(daemon).encode())
            os._exit(0)
        os.waitpid(middle, 0)
        note(str(folder / "pids"), os.read(reading, 20).decode())
        return {"started": True}

    @staticmethod
    def starts_daemon_and_exits(folder: Path) -> None:
        Ways.starts_daemon(folder)
        os._exit(3)

    @staticmethod
    def leaves_thread(_: Path) -> dict[str, bool]:
        threading.Thread(target=wait_for_ever).start()
        return {"left": True}


class StuckTeardown(Experiment):
    """Ends in one ``way`` when it is torn down."""

    def __init__(self, way: str, folder: str) -> None:
        super().__init__()
        self.way, self.folder = way, Path(folder)

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:
        return {"iteration": context.iteration}

    def teardown(self, context: ExperimentContext) -> None:
        go_wrong(self.way, self.folder)


class AsyncHang(Experiment):
    """Its coroutine is waiting when time is up; what it does afterwards is written down."""

    def __init__(self, log: str) -> None:
        super().__init__()
        self.log = log

    async def execute_once(self, context: ExperimentContext) -> None:
        if context.phase is not Phase.MEASURED:
            return
        try:
            await asyncio.Event().wait()
        finally:
            note(self.log, "cancelled")

    async def teardown(self, context: ExperimentContext) -> None:
        await asyncio.sleep(0)
        note(self.log, "teardown")


def _digest(rounds: int = 8) -> None:
    for _ in range(rounds):
        hashlib.sha256(b"x" * (1 << 21)).digest()


def two_threads() -> dict[str, Any]:
    """Burns CPU in two threads at once, outside the interpreter's lock."""
    threads = [threading.Thread(target=_digest) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return facts()


def one_thread() -> dict[str, Any]:
    _digest(1)
    return facts()


def with_child() -> dict[str, Any]:
    subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
    return facts()


class KeepsChild(Experiment):
    def setup(self, context: ExperimentContext) -> None:
        self.child = subprocess.Popen([sys.executable, "-S", "-c", "import threading; threading.Event().wait()"])

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        return facts()

    def teardown(self, context: ExperimentContext) -> None:
        self.child.kill()
        self.child.wait()


class Observing(Experiment):
    def setup(self, context: ExperimentContext) -> None:
        context.observe(journal="wal", kinds={"b", "a"}, thing=Path("x"))

    def execute_once(self, context: ExperimentContext) -> None:
        context.observe(last=context.iteration, ratio=float("nan"))


class SlowWarmup(Experiment):
    """Its warm-up calls pause, each for less than is allowed and all together for more."""

    def __init__(self, pause_s: float) -> None:
        super().__init__()
        self.pause_s = pause_s

    def execute_once(self, context: ExperimentContext) -> None:
        threading.Event().wait(self.pause_s if context.phase is Phase.WARMUP else 0)


@register_instrument("quiet", perturbs=False)
@contextmanager
def quiet(readings: dict[str, Any]) -> Any:
    yield
    readings["seen"] = 1
    readings["words"] = "calm"


@register_instrument("loud", perturbs=True)
@contextmanager
def loud(readings: dict[str, Any]) -> Any:
    yield
    readings["seen"] = 2.5
    readings["huge"] = 10**400


class Stepping(Experiment):
    """Yields how often it was asked and a draw; raises, waits for ever, exits or prints at one of its steps."""

    def __init__(self, steps: int = 3, at: int = -1, how: str = "raise", log: str = "") -> None:
        super().__init__({"steps": steps})
        self.steps, self.at, self.how, self.log = steps, at, how, log

    def execute_once(self, context: ExperimentContext) -> Any:
        if self.log:
            note(self.log, f"{context.phase} {context.part}")
        for number in range(context.part, self.steps):
            if number == self.at:
                self._misbehave()
            context.observe(seen=number)
            yield {"number": number, "drawn": random.random()}

    def _misbehave(self) -> None:
        if self.how == "wait":
            wait_for_ever()
        elif self.how == "exit":
            os._exit(3)
        raise ValueError("the reward is not a number at step 17")


def stepping(steps: int = 2) -> Any:
    yield from ({"number": number} for number in range(steps))
