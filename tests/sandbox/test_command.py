from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from agentdyno.sandbox import CannotStart, Command, CommandLauncher, Completed
from tests.runner.building import children, descriptors

T = TypeVar("T")
ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    open_before, children_before = descriptors(), children()
    yield
    assert children() == children_before
    assert descriptors() == open_before


def using(work: Callable[[CommandLauncher], Awaitable[T]]) -> T:
    async def whole() -> T:
        launcher = CommandLauncher()
        try:
            return await work(launcher)
        finally:
            await launcher.close()

    return asyncio.run(whole())


def run(*argv: str, data: bytes = b"") -> Completed:
    return using(lambda launcher: launcher.run(Command(argv, data, env=ENV)))


def test_output_error_output_and_status_are_kept_apart() -> None:
    done = run("sh", "-c", "cat; echo oops >&2; exit 3", data=b"in\xff")
    assert (done.status, done.stdout, done.stderr_tail, done.flooded) == (3, b"in\xff", "oops", False)


def test_one_launcher_runs_one_command_after_the_other() -> None:
    async def work(launcher: CommandLauncher) -> list[bytes]:
        return [(await launcher.run(Command(("echo", str(n)), env=ENV))).stdout for n in range(20)]

    assert using(work) == [f"{n}\n".encode() for n in range(20)]


def test_a_command_that_cannot_be_started_leaves_the_launcher_at_work() -> None:
    async def work(launcher: CommandLauncher) -> bytes:
        with pytest.raises(CannotStart, match="No such file") as caught:
            await launcher.run(Command(("/no/such/program",), env=ENV))
        assert caught.value.errno == 2
        with pytest.raises(CannotStart):
            await launcher.run(Command(("cat",), env=ENV, cwd="/no/such/folder"))
        assert launcher.is_open
        return (await launcher.run(Command(("echo", "on"), env=ENV))).stdout

    assert using(work) == b"on\n"


def test_a_job_larger_than_the_connection_holds_arrives_whole() -> None:
    size = 60_000
    env = {**ENV, **{f"V{n}": "x" * size for n in range(20)}}
    done = using(lambda launcher: launcher.run(Command(("sh", "-c", "echo ${#V0} ${#V19}"), env=env)))
    assert done.stdout == f"{size} {size}\n".encode()


def test_a_flood_ends_the_launcher_with_the_command() -> None:
    async def work(launcher: CommandLauncher) -> tuple[bool, int, bool]:
        done = await launcher.run(Command(("yes",), env=ENV, output_bytes=1 << 20))
        return done.flooded, len(done.stdout), launcher.is_open

    flooded, size, is_open = using(work)
    assert flooded
    assert not is_open
    assert size <= 1 << 20


def test_output_of_exactly_the_cap_is_no_flood() -> None:
    done = using(
        lambda launcher: launcher.run(Command(("head", "-c", "1048576", "/dev/zero"), env=ENV, output_bytes=1 << 20))
    )
    assert (done.flooded, len(done.stdout)) == (False, 1 << 20)


def test_the_environment_of_the_owner_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWNERS_SECRET", "x")
    assert b"OWNERS_SECRET" not in run("sh", "-c", "env; tr '\\0' '\\n' < /proc/$PPID/environ").stdout
