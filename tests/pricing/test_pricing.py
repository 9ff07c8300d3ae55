from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from agentdyno.model.case import Event, Response, Usage
from agentdyno.model.metric import Provenance
from agentdyno.model.workspace import Price
from agentdyno.pricing import Cost, PriceBook

NOON = datetime(2025, 11, 3, 12, 0, tzinfo=UTC)


def book(prices: Mapping[str, Price] | None = None, cpu_hour_usd: float | None = None) -> PriceBook:
    return PriceBook(prices or {}, cpu_hour_usd, clock=lambda: NOON)


def call(model: str, **tokens: int) -> Event:
    return Event("model_call", name=model, details={"usage": tokens})


def test_what_the_agent_reports_is_kept_beside_the_price_and_never_takes_its_place() -> None:
    response = Response("x", Usage(1_000_000, 0), cost=0.0123, model="m")
    cost = book({"m": Price(5.0, 5.0)}, cpu_hour_usd=1.0).cost(response, cpu_s=10)
    assert cost == Cost(5.0, "priced", Provenance.DERIVED, "m", reported_usd=0.0123)


def test_a_cost_that_only_the_agent_knows_of_is_reported_and_no_cost() -> None:
    response = Response("x", Usage(1000, 0), cost=0.0, model="in-house")
    assert book().cost(response) == Cost(None, "reported", Provenance.REPORTED, "in-house", reported_usd=0.0)


def test_an_agent_that_says_it_paid_is_not_priced_by_its_cpu_time_alone() -> None:
    paying, idle = Response("x", cost=0.5), Response("x", cost=0.0)
    prices = book(cpu_hour_usd=3600.0)
    assert prices.cost(paying, cpu_s=2.0) == Cost(None, "reported", Provenance.REPORTED, reported_usd=0.5)
    assert prices.cost(idle, cpu_s=2.0) == Cost(2.0, "derived", Provenance.DERIVED, reported_usd=0.0)


@pytest.mark.parametrize("reported", [float("nan"), float("inf"), -0.5])
def test_a_reported_cost_that_is_no_amount_is_not_believed(reported: float) -> None:
    response = Response("x", Usage(1000, 0), cost=reported, model="m")
    assert book({"m": Price(2.0, 8.0)}).cost(response).usd == 0.002


def test_tokens_are_priced_by_the_exact_name() -> None:
    # 1,200 × 2 $/M + 300 × 8 $/M = 0.0024 + 0.0024
    cost = book({"m": Price(2.0, 8.0)}).cost(Response("x", Usage(1200, 300), model="m"))
    assert cost == Cost(0.0048, "priced", Provenance.DERIVED, "m")


def test_cached_input_and_calls_have_their_own_price() -> None:
    prices = {"m": Price(2.0, 8.0, cached=0.5, request=0.01)}
    response = Response("x", Usage(1200, 300, cached_tokens=200), model="m", api_calls=3)
    # 1,000 × 2 $/M + 200 × 0.5 $/M + 300 × 8 $/M + 3 × 0.01 = 0.002 + 0.0001 + 0.0024 + 0.03
    assert book(prices).cost(response).usd == 0.0345


def test_cached_input_without_a_price_of_its_own_costs_as_input() -> None:
    response = Response("x", Usage(1200, 300, cached_tokens=200), model="m")
    assert book({"m": Price(2.0, 8.0)}).cost(response).usd == 0.0048


def test_the_exact_name_comes_before_patterns_and_the_longest_pattern_before_others() -> None:
    prices = {
        "gpt-5*": Price(1.0, 0.0),
        "gpt-5-mini*": Price(2.0, 0.0),
        "gpt-5-mini-x": Price(3.0, 0.0),
    }
    mine = book(prices)
    million = Usage(1_000_000, 0)
    assert mine.cost(Response("", million, model="gpt-5-nano")).usd == 1.0
    assert mine.cost(Response("", million, model="gpt-5-mini-2025")).usd == 2.0
    assert mine.cost(Response("", million, model="gpt-5-mini-x")).usd == 3.0


def test_a_listed_model_is_priced_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("pricing opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    response = Response("x", Usage(1000, 500, cached_tokens=100), model="gpt-4o-2024-08-06")
    # 900 × 2.5 $/M + 100 × 1.25 $/M + 500 × 10 $/M
    assert book().cost(response) == Cost(0.007375, "priced", Provenance.DERIVED, "gpt-4o-2024-08-06")


def test_a_listed_price_per_call_counts_every_call() -> None:
    response = Response("x", Usage(1000, 1000), model="sonar", api_calls=3)
    # 1,000 × 1 $/M + 1,000 × 1 $/M + 3 × 0.012
    assert book().cost(response, provider_hint="perplexity").usd == 0.038


def test_a_local_server_is_not_billed_as_the_vendor_of_its_model() -> None:
    response = Response("x", Usage(1000, 500), model="gpt-4o")
    assert book().cost(response, provider_hint="http://127.0.0.1:8080/v1").usd is None
    assert book().cost(response, provider_hint="ollama").usd is None
    assert book().cost(response, provider_hint="https://api.openai.com/v1").usd == 0.0075
    assert book().cost(response, provider_hint="openai").usd == 0.0075


def test_long_inputs_are_priced_call_by_call_not_by_their_sum() -> None:
    # Each call stays under the 200,000 tokens at which this model's price doubles.
    calls = (
        call("gemini-2.5-pro", input_tokens=150_000, output_tokens=0),
        call("gemini-2.5-pro", input_tokens=150_000, output_tokens=0),
    )
    response = Response("x", Usage(300_000, 0), events=calls, model="gemini-2.5-pro")
    assert book().cost(response).usd == 0.375
    assert book().cost(Response("x", Usage(300_000, 0), model="gemini-2.5-pro")).usd == 0.75


def test_several_models_are_priced_each_by_its_own_calls() -> None:
    prices = {"big": Price(10.0, 30.0), "small": Price(1.0, 3.0)}
    calls = (call("big", input_tokens=100, output_tokens=10), call("small", input_tokens=1000, output_tokens=100))
    response = Response("x", Usage(1100, 110), events=calls, model="small")
    # (1,000 + 300) / M + (1,000 + 300) / M
    assert book(prices).cost(response) == Cost(0.0026, "priced", Provenance.DERIVED, "big + small")


def test_one_unknown_model_among_several_makes_the_cost_unknown() -> None:
    calls = (call("big", input_tokens=100), call("in-house", input_tokens=1000))
    cost = book({"big": Price(10.0, 30.0)}).cost(Response("x", Usage(1100, 0), events=calls, model="big"))
    assert cost == Cost(None, "unknown", Provenance.MEASURED, "big + in-house")


def test_calls_that_do_not_account_for_all_tokens_are_not_summed() -> None:
    prices = {"big": Price(10.0, 0.0), "small": Price(1.0, 0.0)}
    two = (call("big", input_tokens=100), call("small", input_tokens=100))
    assert book(prices).cost(Response("x", Usage(900, 0), events=two, model="big")).usd is None
    one = (call("big", input_tokens=100), Event("model_call", name="big"))
    assert book(prices).cost(Response("x", Usage(900, 0), events=one, model="big")).usd == 0.009


def test_cpu_time_prices_what_has_no_price_of_tokens() -> None:
    response = Response("x", Usage(10, 10), model="smollm2")
    assert book(cpu_hour_usd=0.09).cost(response, cpu_s=20.0) == Cost(
        0.0005, "derived", Provenance.DERIVED, "smollm2"
    )
    assert book(cpu_hour_usd=0.09).cost(response) == Cost(None, "unknown", Provenance.MEASURED, "smollm2")


def test_what_nobody_can_price_is_unknown_and_not_free() -> None:
    assert book().cost(Response("x")) == Cost(None, "unknown", Provenance.MEASURED, None)
    assert book().cost(Response("x", Usage(5, 5))).usd is None


def test_a_price_of_zero_is_free() -> None:
    cost = book({"smollm2": Price(0.0, 0.0)}).cost(Response("x", Usage(10, 10), model="smollm2"))
    assert (cost.usd, cost.source) == (0.0, "free")
    nothing_used = book({"m": Price(1.0, 1.0)}).cost(Response("x", Usage(), model="m"))
    assert (nothing_used.usd, nothing_used.source) == (0.0, "priced")


def test_a_simulated_answer_is_priced_as_simulated() -> None:
    response = Response("x", Usage(1200, 300), model="m", simulated=True)
    assert book({"m": Price(2.0, 8.0)}).cost(response) == Cost(0.0048, "priced", Provenance.SIMULATED, "m")
    reported = Response("x", cost=1.0, simulated=True)
    assert book().cost(reported).provenance is Provenance.SIMULATED


def test_a_model_that_is_not_sold_by_the_token_is_unknown() -> None:
    assert book().cost(Response("x", Usage(10, 10), model="whisper-1"), provider_hint="openai").usd is None


def test_an_estimate_says_that_it_is_one() -> None:
    assert book().estimate("gpt-4o", 1000, 500) == Cost(0.0075, "priced", Provenance.ESTIMATED, "gpt-4o")
    assert book().estimate("in-house", 1000, 500) == Cost(None, "unknown", Provenance.ESTIMATED, "in-house")


def test_the_snapshot_shows_every_price_that_was_used() -> None:
    mine = book({"mine-*": Price(2.0, 8.0, cached=0.5)}, cpu_hour_usd=0.09)
    assert mine.snapshot() == {"models": {}}
    for model in ("mine-1", "gpt-4o", "gemini-2.5-pro", "in-house"):
        mine.cost(Response("x", Usage(1, 1), model=model), cpu_s=1.0)
    snapshot = mine.snapshot()
    models = snapshot["models"]
    assert isinstance(models, dict)
    assert models["mine-1"] == {
        "input": 2.0,
        "output": 8.0,
        "cached": 0.5,
        "request": 0.0,
        "source": "dyno.yaml",
        "pattern": "mine-*",
    }
    assert models["gpt-4o"] == {
        "input": 2.5,
        "output": 10.0,
        "cached": 1.25,
        "request": 0.0,
        "source": "genai-prices",
        "provider": "openai",
        "listed_as": "gpt-4o",
    }
    assert models["gemini-2.5-pro"]["input"] == {"0": 1.25, "200000": 2.5}
    assert models["in-house"] == {"source": "unknown"}
    assert snapshot["cpu_hour_usd"] == 0.09
    listed = snapshot["genai_prices"]
    assert isinstance(listed, dict)
    assert listed["version"]
    assert listed["priced_at"] == "2025-11-03T12:00:00+00:00"


def test_prices_of_the_project_need_no_list() -> None:
    code = (
        "import sys; from agentdyno.pricing import PriceBook; from agentdyno.model.case import Response, Usage;"
        "from agentdyno.model.workspace import Price;"
        "PriceBook({'m': Price(1.0, 1.0)}).cost(Response('x', Usage(1, 1), model='m'));"
        "print('genai_prices' in sys.modules, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_price_of_every_model_is_that_of_a_model_without_a_name() -> None:
    response = Response("x", Usage(1_000_000, 0))
    assert book({"*": Price(5.0, 5.0)}).cost(response) == Cost(5.0, "priced", Provenance.DERIVED)
    assert book({"m*": Price(5.0, 5.0)}).cost(response).usd is None, "nobody knows that it is this one"
    named = Response("x", Usage(1_000_000, 0), model="other")
    assert book({"*": Price(2.0, 5.0)}).cost(named).model == "other"
