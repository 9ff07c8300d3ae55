from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from agentdyno.load.client.connections import Links
from agentdyno.load.client.hot import ExchangeEnding, LoadConnection
from agentdyno.load.plan.orders import ClientSettings
from agentdyno.model.load import Dialect


class Owner:
    def ended(self, link: LoadConnection, ending: ExchangeEnding, now_ns: int) -> None: ...

    def dropped(self, link: LoadConnection) -> None: ...


def holding(most: int, story: Callable[[Links, list[int]], Awaitable[None]]) -> None:
    """``story`` gets connections to a server, as many as ``most``, and a list that counts those that were spare."""

    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:  # the kernel accepts for it
            settings = ClientSettings(0, 1, ("127.0.0.1",), server.getsockname()[1], Dialect.HTTP, connections=most)
            spares: list[int] = []
            links = Links(asyncio.get_running_loop(), settings, Owner(), lambda: spares.append(1))
            assert await links.warm_up(1) == ""
            await story(links, spares)
            links.keep_spare = False
            links.abort_all()
            for _ in range(5):
                await asyncio.sleep(0)

    asyncio.run(run())


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)


def test_another_connection_is_opened_when_the_last_idle_one_is_taken() -> None:
    async def story(links: Links, spares: list[int]) -> None:
        links.keep_spare = True
        first = links.take()
        assert first is not None
        assert links.take() is None
        await until(lambda: spares)
        second = links.take()
        assert second is not None
        assert second is not first
        await until(lambda: len(spares) == 2)

    holding(10, story)


@pytest.mark.parametrize(("most", "kept"), [(1, True), (10, False)], ids=["none may be opened", "not wanted"])
def test_no_connection_is_opened_that_may_not_be(most: int, kept: bool) -> None:
    async def story(links: Links, spares: list[int]) -> None:
        links.keep_spare = kept
        assert links.take() is not None
        assert links.room == (most > 1)
        for _ in range(20):
            await asyncio.sleep(0)
        assert not spares

    holding(most, story)


def test_one_that_is_being_opened_takes_a_place() -> None:
    async def story(links: Links, spares: list[int]) -> None:
        links.keep_spare = True
        assert links.take() is not None
        assert not links.room
        await until(lambda: spares)
        assert not links.room

    holding(2, story)
