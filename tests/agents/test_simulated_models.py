"""Answers of a simulated model stay simulated behind agents whose calls nobody here sees."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator

import pytest

from agentdyno.agents.resolve import make_agent
from agentdyno.agents.simulated_models import addresses, any_simulated, marked
from agentdyno.model.case import Case, Response
from agentdyno.model.suite import AgentUse
from agentdyno.servers.simulated.server import RunningServer, simulated_server
from tests.agents.place import Place

PRINTS = "print('yes')"
ANSWERS = "def answer(text, base_url=''):\n    return 'yes'\n"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with simulated_server() as running:
        yield running


def answered(place: Place, use: AgentUse, **environ: str) -> Response:
    async def whole() -> Response:
        agent = make_agent(use, environ={**place.environ, **environ})
        await agent.start()
        try:
            return await agent.run(Case("a", "x"))
        finally:
            await agent.close()

    return asyncio.run(whole())


def command(place: Place, text: str, *arguments: str, env: tuple[str, ...] = (), **config: object) -> AgentUse:
    place.write("bot.py", text)
    line = " ".join((f"cmd:{sys.executable} -S bot.py", *arguments))
    return AgentUse("bot", line, config=config, env=env, base_dir=str(place.folder))


def python(place: Place, **config: object) -> AgentUse:
    place.write("subject.py", ANSWERS)
    return AgentUse("subject", "subject.py@answer", config=config, base_dir=str(place.folder))


def test_a_command_that_is_given_the_address_of_a_simulated_server_answers_simulated(
    place: Place, server: RunningServer
) -> None:
    assert answered(place, command(place, PRINTS, "--base-url", server.openai_url)).simulated
    assert answered(place, command(place, PRINTS, endpoint={"url": server.url})).simulated
    by_variable = command(place, PRINTS, env=("OPENAI_BASE_URL",))
    assert answered(place, by_variable, OPENAI_BASE_URL=server.openai_url).simulated
    unseen = command(place, PRINTS)
    assert not answered(place, unseen, OPENAI_BASE_URL=server.openai_url).simulated, "it does not see the variable"


def test_so_does_a_python_agent_whatever_its_client(place: Place, server: RunningServer) -> None:
    assert answered(place, python(place, base_url=server.openai_url)).simulated
    assert answered(place, python(place), OLLAMA_HOST=server.url.removeprefix("http://")).simulated
    assert not answered(place, python(place)).simulated


@pytest.mark.parametrize("told", [{"simulated": True}, {"model": "simulated/gemma3"}])
def test_an_answer_that_says_it_is_simulated_is_believed(place: Place, told: dict[str, object]) -> None:
    text = f"print('yes')\nprint({json.dumps(told)!r})"
    assert answered(place, command(place, text)).simulated


def test_an_answer_that_denies_it_is_not_believed(place: Place, server: RunningServer) -> None:
    text = "print('yes')\nprint('{\"simulated\": false}')"
    assert answered(place, command(place, text, server.url)).simulated


def test_addresses_of_this_machine_are_found_in_any_text() -> None:
    texts = (
        "--url=http://127.0.0.1:8081/v1",
        '{"a": "http://localhost:80", "b": "http://[::1]:9000/"}',
        "127.0.0.1:8081",
    )
    assert addresses(texts, {}) == (("127.0.0.1", 8081), ("localhost", 80), ("::1", 9000))
    environ = {"OLLAMA_HOST": "127.0.0.1:11434", "NOTES": "localhost:1234", "HTTP_PROXY": "http://127.0.0.1:3128"}
    assert addresses((), environ) == (("127.0.0.1", 11434),)
    assert addresses(("http://example.org:8081", "1127.0.0.1:8081", "127.0.0.1:808123"), {}) == ()


def test_a_place_where_nobody_listens_is_not_simulated() -> None:
    assert not asyncio.run(any_simulated([("127.0.0.1", 1), ("127.0.0.1", 99_999)]))
    assert not asyncio.run(any_simulated([]))
    assert marked(Response("x", model="gemma3"), behind=False) == Response("x", model="gemma3")
