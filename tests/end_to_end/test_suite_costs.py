"""Money: told before it is spent, asked for above a dollar, never more than was allowed."""

from __future__ import annotations

from typing import Any

import pytest

from ..chat_server import Asked, Reply, serving
from ..command import Bench

USD_PER_CALL = 0.4  # 1,000 tokens in for $100 a million, 1,000 out for $300
SUITE = """
name: dear
scorer: exact
epochs: 5
dataset:
  cases: [{id: a, input: a, target: A}, {id: b, input: b, target: B}, {id: c, input: c, target: C}]
"""
WORKSPACE = """
agents:
  dear: {use: "openai:small", config: {base_url: "%s", max_tokens: 1000}}
prices:
  small: {input: 100, output: 300}
"""


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """Commands of these tests are run often and do little."""
    return loaded_bench


def shouted(asked: Asked) -> Reply:
    return Reply(asked.text.upper())


def spent(result: Any) -> float:
    return sum(float(sample["readings"]["cost_usd"]) for arm in result["arms"] for sample in arm["samples"])


def test_a_run_above_a_dollar_wants_a_yes_and_a_dry_run_spends_nothing(bench: Bench) -> None:
    bench.write("suite.yaml", SUITE)
    with serving(shouted) as server:
        bench.write("dyno.yaml", WORKSPACE % server.url)
        asked = bench.dyno("run", "suite.yaml")
        assert asked.code == 2
        assert "dear: 1 agent × 3 cases, 15 calls, about $4.50" in asked.err
        assert "this run may cost about $4.50; add --yes, or --max-cost" in asked.err

        dry = bench.dyno("run", "suite.yaml", "--dry-run", "--json")
        assert dry.code == 0, dry.err
        assert dry.json["expected"]["calls"] == 15
        assert dry.json["expected"]["usd"] == pytest.approx(4.5, rel=0.01)
        assert "Nothing was run." in bench.dyno("run", "suite.yaml", "--dry-run").err
        assert server.asked == []
        assert bench.dyno("list", "runs", "--json").json == []

        cheap = bench.dyno("run", "suite.yaml", "--limit", "1", "--epochs", "1", "--json")
    assert cheap.code == 0, cheap.err
    assert "1 call, about $0.30" in cheap.err
    assert len(server.asked) == 1, "an agent that costs money has no warm-ups"
    (sample,) = cheap.json["arms"][0]["samples"]
    assert sample["details"]["cost"] == {"usd": pytest.approx(USD_PER_CALL), "source": "priced"}
    assert cheap.json["pricing"]["models"]["small"]["input"] == 100


def test_a_limit_of_dollars_is_never_passed_and_resume_goes_on_from_there(bench: Bench) -> None:
    bench.write("suite.yaml", SUITE)
    with serving(shouted) as server:
        bench.write("dyno.yaml", WORKSPACE % server.url)
        first = bench.dyno("run", "suite.yaml", "--max-cost", "2.1", "--concurrency", "2")
        assert first.code == 0, first.err
        assert "Stopped early: the next call could pass the limit of $2.1" in first.err
        assert len(server.asked) == 5
        partial = bench.dyno("show", "last", "--json").json
        assert partial["status"] == "partial"
        assert spent(partial) == pytest.approx(2.0)

        second = bench.dyno("resume", "last", "--max-cost", "4.1", "--json")
        assert second.code == 0, second.err
        assert len(server.asked) == 10, "what was spent before counts"
        assert spent(second.json) == pytest.approx(4.0)

        rest = bench.dyno("resume", "last", "--json")
    assert rest.json["status"] == "complete"
    assert len(server.asked) == 15
    assert rest.json["arms"][0]["statuses"] == {"ok": 15}
