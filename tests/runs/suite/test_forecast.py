"""What a run is expected to cost, from the length of its inputs and the prices that are known."""

from __future__ import annotations

import pytest

from agentdyno.agents.versioning import AgentVersion
from agentdyno.model import AgentUse, Arm, Benchmark, Case, Price
from agentdyno.pricing import PriceBook
from agentdyno.runs.lineup import Entrant
from agentdyno.runs.suite.forecast import OUTPUT_TOKENS, expect, has_price

BOOK = PriceBook({"known": Price(input=1_000_000.0, output=10_000_000.0)})  # a dollar in, ten out, per token
LOCAL = "http://127.0.0.1:9/v1"


def entrant(uses: str, **config: object) -> Entrant:
    return Entrant(AgentUse("agent", uses, config=config), AgentVersion("1"))


def dollars(item: Entrant, *cases: Case, paid: bool = True) -> float | None:
    benchmark = Benchmark("b", cases or (Case("a", "12345678"),))
    expected = expect({"arm": (Arm("arm", "arm", "x"), benchmark, item)}, {"agent@1": paid}, BOOK)
    assert expected.unpriced == (() if "arm" in expected.usd_per_call else ("agent@1",))
    return expected.usd_per_call.get("arm")


def test_input_is_counted_by_length_and_output_by_its_limit() -> None:
    assert dollars(entrant("openai:known", base_url=LOCAL, max_tokens=2)) == pytest.approx(3 + 20)
    assert dollars(entrant("openai:known", base_url=LOCAL, options={"num_predict": 1})) == pytest.approx(3 + 10)
    assert dollars(entrant("openai:known", base_url=LOCAL)) == pytest.approx(3 + OUTPUT_TOKENS * 10)
    assert dollars(entrant("openai:", base_url=LOCAL, model="known", max_tokens=2)) == pytest.approx(23)


def test_what_goes_round_an_input_and_turns_that_are_sent_again_count() -> None:
    plain = dollars(entrant("openai:known", base_url=LOCAL, max_tokens=1))
    assert plain is not None
    framed = dollars(entrant("openai:known", base_url=LOCAL, max_tokens=1, system="x" * 40))
    assert framed == pytest.approx(plain + 10)
    turns = Case("t", "12345678", turns=("12345678", "12345678", "12345678"))
    assert dollars(entrant("openai:known", base_url=LOCAL, max_tokens=1), turns) == pytest.approx(13 + 10)
    structured = Case("s", {"a": [1, 2, 3]})
    assert dollars(entrant("openai:known", base_url=LOCAL, max_tokens=1), structured) == pytest.approx(5 + 10)


def test_free_agents_cost_nothing_and_unknown_prices_are_named() -> None:
    assert dollars(entrant("agent.py@answer"), paid=False) == 0.0
    assert dollars(entrant("openai:nobody-knows", base_url=LOCAL)) is None
    assert dollars(entrant("http://127.0.0.1:9/ask")) is None


def test_a_price_in_dyno_yaml_makes_an_agent_at_home_cost_money() -> None:
    assert has_price(entrant("openai:known", base_url=LOCAL), BOOK)
    assert not has_price(entrant("openai:other", base_url=LOCAL), BOOK)
    assert not has_price(entrant("agent.py@answer"), BOOK)
    assert not has_price(entrant("openai:gpt-5-mini", base_url=LOCAL), BOOK), "a local server is not the vendor"
