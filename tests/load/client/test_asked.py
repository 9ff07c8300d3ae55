from __future__ import annotations

import asyncio

from agentdyno.load.client.asked import AskedRequests
from agentdyno.load.client.backlog import Item
from agentdyno.load.client.hot import COMPLETE


def ended(number: int) -> Item:
    return 1, 2, 3, number, 0, 0, COMPLETE, [(3, b"")], "", 0, 0


def test_ends_that_come_at_once_are_told_one_in_each_turn_of_the_loop() -> None:
    told: list[str] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        asked = AskedRequests(loop)
        numbers = [asked.add(b"x", lambda item, name=name: told.append(name)) for name in "abc"]  # type: ignore[misc]
        assert asked.data(numbers[1]) == b"x"
        for number in numbers:
            assert asked.take_end(ended(number))
        assert not asked
        for turn in range(3):
            await asyncio.sleep(0)
            assert told == list("abc"[: turn + 1])

    asyncio.run(run())


def test_an_end_that_comes_while_another_is_told_is_told_too() -> None:
    told: list[str] = []

    async def run() -> None:
        asked = AskedRequests(asyncio.get_running_loop())
        second = asked.add(b"", lambda item: told.append("second"))

        def first(item: Item | None) -> None:
            told.append("first")
            asked.take_end(ended(second))

        asked.take_end(ended(asked.add(b"", first)))
        for _ in range(3):
            await asyncio.sleep(0)

    asyncio.run(run())
    assert told == ["first", "second"]


def test_what_is_dropped_is_told_once_and_what_nobody_asked_for_is_not_theirs() -> None:
    told: list[Item | None] = []

    async def run() -> None:
        asked = AskedRequests(asyncio.get_running_loop())
        number = asked.add(b"", told.append)
        asked.add(b"", told.append)
        assert not asked.take_end(ended(number + 7))
        asked.drop(number)
        asked.drop(number)
        assert not asked.take_end(ended(number))
        asked.drop_all()
        await asyncio.sleep(0)

    asyncio.run(run())
    assert told == [None, None]
