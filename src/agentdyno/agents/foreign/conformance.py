"""Whether a program keeps to the protocol: what every language's agent can be put through before it is measured."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentdyno.agents.foreign.agent import ForeignAgent
from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError
from agentdyno.model.case import Case, Response

AT_ONCE = 8
"""Cases that are put to a program at the same time, if it says that it can take as many."""
LIMIT_S = 30.0
"""Seconds for each check."""
_TEXTS = {
    "text": "Hello",
    "a text with line breaks of every kind": "one\ntwo\r\nthree\u2028four\u2029five\x85six",
    "quotes, backslashes and control characters": '"a" \\b\\ \t\x01\x7f',
    "characters beyond ASCII": "Grüße, 世界, 😀",
    "an empty text": "",
    "a text of 1 MB": "x" * 1_000_000,
}


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """``problem`` is ``None`` where the program did as it should."""

    name: str
    problem: str | None = None


async def check_conformance(agent: ForeignAgent) -> tuple[ConformanceCheck, ...]:
    """Goes through the protocol with a program that was not started yet; what it answers does not matter."""
    checks: list[ConformanceCheck] = []

    async def check(name: str, work: Callable[[], Awaitable[str | None]]) -> bool:
        try:
            async with asyncio.timeout(LIMIT_S):
                problem = await work()
        except TimeoutError:
            problem = f"nothing came within {LIMIT_S:g} s"
        except (CaseFailed, PluginError) as error:
            problem = str(error)
        checks.append(ConformanceCheck(name, problem))
        return problem is None

    try:
        if not await check("answers hello", lambda: _nothing_wrong(agent.start())):
            return tuple(checks)
        for name, text in _TEXTS.items():
            await check(f"answers {name}", lambda text=text: _answered(agent, text))  # type: ignore[misc]
        await check("answers a JSON value", lambda: _answered(agent, {"rows": [1, None, 2.5, True]}))
        await check("answers a conversation", lambda: _answered(agent, "one", ("one", "two")))
        await check("answers after a message that it does not know", lambda: _after_unknown(agent))
        if agent.in_flight > 1:
            many = min(AT_ONCE, agent.in_flight)
            await check(f"answers {many} cases at the same time", lambda: _at_once(agent, many))
        await check("ends by itself when it is told to close", lambda: _ended(agent))
    finally:
        await agent.close()
    return tuple(checks)


async def _nothing_wrong(work: Awaitable[None]) -> None:
    await work


async def _answered(agent: ForeignAgent, value: object, turns: tuple[str, ...] = ()) -> str | None:
    await agent.run(Case("conformance", value, turns=turns))
    return None


async def _after_unknown(agent: ForeignAgent) -> str | None:
    agent.say_unknown()
    return await _answered(agent, "Hello")


async def _at_once(agent: ForeignAgent, many: int) -> str | None:
    cases = [Case(f"conformance-{number}", f"Hello {number}") for number in range(many)]
    results = await asyncio.gather(*(agent.run(case) for case in cases), return_exceptions=True)
    failed = [result for result in results if not isinstance(result, Response)]
    return f"{len(failed)} of {many} were not answered: {failed[0]}" if failed else None


async def _ended(agent: ForeignAgent) -> str | None:
    return None if await agent.ends_by_itself() else "it went on running and had to be killed"
