"""The property of the one judgement on pairs that are not alike: ties, groups, epochs, holes, hardly any cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.findings.engine.judgement import judgement
from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.gate.model import GateVerdict
from agentdyno.model import Verdict
from agentdyno.model.policy import AGENT_METRICS, GatePolicy, GateRule, Tier
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, CaseRecord, QuantitySpread, RunSpread

from ...properties import examples
from ..duel_builders import answered, bench, record

POLICY = GatePolicy(tuple(GateRule(metric, Tier.CRITICAL, 0.02) for metric in AGENT_METRICS))
KNOWN = RunSpread(
    "host", {name: QuantitySpread(0.04, 5, "own") for name in ("duration_s", "cpu_s", "peak_rss_bytes")}
)
TARGETS = {"duration_s": (0.1, 20.0), "cost_usd": (0.001, 10.0), "total_tokens": (1.0, 1e4), "cpu_s": (0.01, 10.0)}
MEASURED = (*TARGETS, "peak_rss_bytes", "ttft_s")


@dataclass(frozen=True)
class Odd:
    """How a pair differs from what is usual. ``tries`` are the epochs of either side, drawn per case where several;
    ``group`` is how many cases share a group on average; ``scores`` how a case is judged."""

    seed: int
    cases: int
    tries: tuple[tuple[int, ...], tuple[int, ...]]
    scores: str
    group: int = 1
    benchmarks: int = 1
    errors: float = 0.0
    missing: float = 0.0
    unscored: float = 0.0
    unknown: float = 0.0
    equal_times: bool = False
    free: bool = False
    apart: bool = False


EPOCHS = st.sampled_from([(1,), (3,), (5,), (1, 2, 5)])
odd_pairs = st.builds(
    Odd,
    seed=st.integers(0, 2**32 - 1),
    cases=st.sampled_from([1, 2, 3, 5, 6, 7, 12, 13, 20]),
    tries=st.tuples(EPOCHS, EPOCHS),
    scores=st.sampled_from(["wrong", "right", "tenths", "drawn", "drawn"]),
    group=st.sampled_from([1, 1, 2, 6]),
    benchmarks=st.sampled_from([1, 1, 2, 3]),
    errors=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    missing=st.sampled_from([0.0, 0.0, 0.2]),
    unscored=st.sampled_from([0.0, 0.0, 0.2]),
    unknown=st.sampled_from([0.0, 0.3]),
    equal_times=st.booleans(),
    free=st.booleans(),
    apart=st.booleans(),
)


def made(odd: Odd) -> tuple[AgentRecord, AgentRecord]:
    random = np.random.default_rng(odd.seed)
    base = np.exp(random.normal(0.0, 0.7, odd.cases))
    groups = np.sort(random.integers(0, max(1, odd.cases // odd.group), odd.cases))
    homes = random.integers(0, odd.benchmarks, odd.cases)
    factor = float(random.choice([1.0, 1.0, 1.1, 2.0]))
    sides = []
    for place, agent in enumerate(("mine@1", "mine@2")):
        chance = float(random.random())
        cases = [
            _case(random, odd, place, f"ü {i}", (chance, base[i] * (factor if place else 1.0)), groups[i], homes[i])
            for i in range(odd.cases)
            if random.random() >= odd.missing
        ]
        names = dict.fromkeys(case.benchmark for case in cases)
        run = "run-2" if odd.apart and place else "run-1"
        sides.append(record(agent, cases, [bench(name, targets=TARGETS, run_id=run) for name in names]))
    return sides[0], sides[1]


def _case(
    random: np.random.Generator,
    odd: Odd,
    place: int,
    name: str,
    drawn: tuple[float, float],
    group: int,
    home: int,
) -> CaseRecord:
    chance, size = drawn
    tries = int(random.choice(odd.tries[place]))
    failed = int(random.binomial(tries, odd.errors))
    answers = tries - failed
    passed = {"wrong": 0, "right": answers}.get(odd.scores, int(random.binomial(answers, chance)))
    score = passed / answers if answers else None
    if odd.scores == "tenths" and score is not None:
        score = float(random.choice([0.1, 0.3, 0.3, 0.7, round(random.random(), 1)]))
    if random.random() < odd.unscored:
        score, passed = None, 0
    noise = 1.0 if odd.equal_times else float(np.exp(random.normal(0.0, 0.1)))
    used = dict.fromkeys(MEASURED, float(size) * noise)
    if random.random() < odd.unknown:
        used.pop(str(random.choice(MEASURED)))
    if odd.free and place and "cost_usd" in used:
        used["cost_usd"] = 0.0
    return answered(
        name,
        score,
        tries=tries,
        passed=passed,
        errors=failed,
        group=f"g{group}" if odd.group > 1 else None,
        benchmark=f"b{home}",
        used=used,
    )


def numbers(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


@given(odd_pairs, st.sampled_from([UNKNOWN_SPREAD, KNOWN]))
@example(Odd(1, 1, ((1,), (5,)), "drawn"), UNKNOWN_SPREAD)
@example(Odd(2, 20, ((5,), (1,)), "right", group=6, errors=1.0), KNOWN)
@examples(120)
def test_p_and_interval_agree_whatever_two_agents_have_in_common(odd: Odd, spread: RunSpread) -> None:
    first, second = made(odd)
    found = judgement(first, second, POLICY, spread)
    for row in (*found.rows.values(), *found.parts.values()):
        if row.p_value is None:
            assert row.interval is None
            assert row.verdict in (None, Verdict.SAME)
            continue
        leaves = row.interval is not None and not row.interval[0] <= 0.0 <= row.interval[1]
        assert (row.p_value < row.level) == leaves, row
        assert all(map(math.isfinite, numbers([row.baseline, row.candidate, row.change, row.effect])))
        assert row.p_value <= (row.adjusted_p or 0.0) <= 1.0
        assert row.clusters <= row.cases <= odd.cases
        if row.verdict in (Verdict.BETTER, Verdict.WORSE):
            assert (row.adjusted_p or 0.0) < row.level
            assert leaves


@given(odd_pairs)
@examples(60)
def test_the_other_way_round_everything_is_the_other_way_round(odd: Odd) -> None:
    """Equal agents stay equal, and better becomes worse: p does not depend on who is called the baseline."""
    first, second = made(replace(odd, apart=False))
    there, back = judgement(first, second, POLICY), judgement(second, first, POLICY)
    turned = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    for name, row in there.rows.items():
        other = back.rows[name]
        if row.clusters <= 12 and row.p_value is not None and other.p_value is not None:  # above, patterns are drawn
            assert row.p_value == other.p_value, name
            verdict = row.verdict
            assert other.verdict == (turned.get(verdict, verdict) if verdict is not None else None), name


@given(odd_pairs)
@examples(40)
def test_a_gate_over_odd_pairs_never_blocks_an_agent_that_is_set_against_itself(odd: Odd) -> None:
    first, _ = made(odd)
    if not any(case.tries for case in first.cases):
        return
    again = replace(first, agent="mine@2", version="2")
    assert judge_gate(first, again, POLICY).verdict is not GateVerdict.BLOCK
