"""A simulated model for programs: it serves as long as its block lasts."""

from __future__ import annotations

import asyncio

import pytest

from agentdyno import ChatModel, SimulatedModel


def test_a_simulated_model_answers_with_as_many_tokens_as_it_was_told() -> None:
    async def ask(url: str) -> int | None:
        client = ChatModel(url, "any")
        reply = await client.chat("What is 2 + 2?")
        await client.close()
        assert reply.simulated
        return reply.usage.output_tokens if reply.usage is not None else None

    with SimulatedModel(output_tokens=3) as model:
        assert model.openai_url == f"{model.url}/v1"
        assert asyncio.run(ask(model.openai_url)) == 3


def test_one_that_is_not_started_has_no_address() -> None:
    with pytest.raises(RuntimeError, match="with block"):
        _ = SimulatedModel().url
