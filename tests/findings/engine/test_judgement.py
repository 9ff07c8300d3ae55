"""One judgement: no p-value contradicts its interval, and everybody who asks is told the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.change.judge import judge_change
from agentdyno.findings.duel.judge import duel
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import more_cases
from agentdyno.findings.engine.judgement import PairJudgement, judgement
from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.history.judge_versions import version_rows
from agentdyno.model import Verdict
from agentdyno.model.codec import to_plain
from agentdyno.model.policy import AGENT_METRICS, GatePolicy, GateRule, Tier
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, QuantitySpread, RunSpread

from ...properties import examples
from ..duel_builders import answered, bench, record, scored, using

EVERYTHING = GatePolicy(tuple(GateRule(metric, Tier.SUPPORTING, 0.05) for metric in AGENT_METRICS))
KNOWN = RunSpread(
    "host",
    {
        name: QuantitySpread(0.05, 4, "own")
        for name in ("duration_s", "duration_norm_s", "ttft_s", "cpu_s", "cpu_norm_s", "peak_rss_bytes")
    },
)
TARGETS = {
    "duration_s": (0.1, 20.0),
    "cost_usd": (0.0001, 1.0),
    "total_tokens": (1.0, 10_000.0),
    "cpu_s": (0.01, 10.0),
    "peak_rss_bytes": (1e3, 1e9),
}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[AgentRecord, AgentRecord]:
    """Two agents with a random share of right answers, errors and readings, in one run or in two."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cases = draw(st.integers(1, 24))
    tries = draw(st.sampled_from([1, 3, 4]))
    group = draw(st.sampled_from([1, 1, 2]))
    benchmarks = draw(st.sampled_from([1, 2]))
    chances = draw(st.floats(0, 1)), draw(st.floats(0, 1))
    factor = draw(st.sampled_from([1.0, 1.0, 1.1, 2.0]))
    errors = draw(st.sampled_from([0.0, 0.0, 0.3]))
    coarse = draw(st.booleans())
    busy = draw(st.sampled_from([0.5, 0.95]))
    base = np.exp(random.normal(0.0, 0.7, cases))
    sides = []
    for agent, chance, times in (("mine@1", chances[0], 1.0), ("mine@2", chances[1], factor)):
        made = []
        for i in range(cases):
            failed = int(random.binomial(tries, errors))
            passed = int(random.binomial(tries - failed, chance))
            noise = 1.0 if coarse else float(np.exp(random.normal(0.0, 0.1)))
            used = {name: float(base[i] * times * noise) for name in TARGETS}
            used |= {"ttft_s": used["duration_s"] / 3, "duration_norm_s": used["duration_s"] * 0.9}
            used["cpu_norm_s"] = used["duration_norm_s"] * busy
            made.append(
                answered(
                    f"c{i:02}",
                    passed / (tries - failed) if tries > failed else None,
                    tries=tries,
                    passed=passed,
                    errors=failed,
                    group=f"g{i // group}" if group > 1 else None,
                    benchmark=f"b{(i // group) % benchmarks}",
                    used=used,
                )
            )
        names = dict.fromkeys(case.benchmark for case in made)
        sides.append(record(agent, made, [bench(name, targets=TARGETS) for name in names]))
    if draw(st.booleans()):
        apart = tuple(replace(item, run_id="run-2") for item in sides[1].benchmarks)
        sides[1] = replace(sides[1], benchmarks=apart)
    return sides[0], sides[1]


AT_TWO_SPEEDS = RunSpread(
    "host",
    {
        name: QuantitySpread(0.02, 5, "own", baseline_runs=6, speeds_apart=apart)
        for name, apart in (("duration_s", 0.5), ("cpu_s", 0.5), ("ttft_s", 0.0), ("peak_rss_bytes", 0.0))
    },
)
spreads = st.sampled_from([UNKNOWN_SPREAD, KNOWN, AT_TWO_SPEEDS])


def every_row(found: PairJudgement) -> Iterator[PairedRow]:
    yield from found.rows.values()
    yield from found.parts.values()


def leaves_zero(row: PairedRow) -> bool:
    return row.interval is not None and not row.interval[0] <= 0.0 <= row.interval[1]


@given(pairs(), spreads)
@examples(60)
def test_p_is_below_the_level_exactly_where_the_interval_leaves_zero(
    sides: tuple[AgentRecord, AgentRecord], spread: RunSpread
) -> None:
    for row in every_row(judgement(*sides, EVERYTHING, spread)):
        if row.p_value is None:
            assert row.interval is None
            assert row.verdict in (None, Verdict.SAME)  # the same where neither uses any
            continue
        assert (row.p_value < row.level) == leaves_zero(row), row
        assert row.adjusted_p is not None
        assert row.p_value <= row.adjusted_p <= 1.0
        assert row.family >= 1
        if row.interval is not None and row.change is not None:
            assert row.interval[0] - 1e-9 <= row.change <= row.interval[1] + 1e-9
        if row.verdict in (Verdict.BETTER, Verdict.WORSE):
            assert row.adjusted_p < row.level


@given(pairs(), spreads)
@examples(40)
def test_everybody_who_asks_is_told_the_same_numbers_and_verdict(
    sides: tuple[AgentRecord, AgentRecord], spread: RunSpread
) -> None:
    found = judgement(*sides, spread=spread)
    compared = duel(*sides, spread=spread)
    assert list(compared.rows) == [found.rows[row.metric] for row in compared.rows]
    accuracy, flips = found.rows["accuracy"], compared.flips
    assert (flips.p_value, flips.interval, flips.difference) == (accuracy.p_value, accuracy.interval, accuracy.change)
    assert (flips.adjusted_p, flips.family, flips.more_cases) == (
        accuracy.adjusted_p,
        accuracy.family,
        accuracy.more_cases,
    )
    assert flips.verdict is (accuracy.verdict or Verdict.INCONCLUSIVE)
    changed = judge_change(*sides, spread)
    for row in (*changed.rows, *(item for item in (changed.reliability, changed.error_rate) if item is not None)):
        assert row == found.rows[row.metric]
    for row in version_rows(*sides, spread):
        assert row == (found.parts[row.benchmark, row.metric] if row.benchmark else found.rows[row.metric])
    gate = judge_gate(*sides, GatePolicy(), spread)
    for item in gate.rows:
        assert item.row == found.row(item.rule.metric)
        if item.p_worse is not None and item.row.adjusted_p is not None:
            assert min(item.p_worse, 1 - item.p_worse) == pytest.approx(item.row.adjusted_p / 2)
    for row in gate.benchmark_rows:
        assert row == found.parts[row.benchmark, row.metric]


@given(pairs(), spreads)
@examples(15)
def test_judging_twice_says_the_same_to_the_last_byte(
    sides: tuple[AgentRecord, AgentRecord], spread: RunSpread
) -> None:
    first, second = (list(every_row(judgement(*sides, EVERYTHING, spread))) for _ in range(2))
    assert repr(to_plain(first)) == repr(to_plain(second))


CRITICAL = ("accuracy", "error_rate", "unscored")


def test_critical_metrics_are_one_family_the_other_rows_another_and_advisory_ones_alone() -> None:
    def mine(agent: str, wrong: int, errors: int) -> AgentRecord:
        cases = [
            answered(
                f"c{i:02}",
                None if i < errors else float(i >= wrong),
                tries=3,
                errors=3 if i < errors else 0,
                # Of a cost in which no case differs nothing is tested.
                used={"total_tokens": 10.0 + i, "cpu_s": 0.2 + i / 50, "cost_usd": 0.1 + (i + wrong) / 100},
            )
            for i in range(30)
        ]
        return record(agent, cases, [bench(targets=TARGETS)])

    found = judgement(mine("a@1", 0, 0), mine("a@2", 14, 7))
    assert found.rows["accuracy"].family == found.rows["error_rate"].family == 2
    others = [row for name, row in found.rows.items() if name not in (*CRITICAL, "total_tokens")]
    tested = [row for row in others if row.p_value is not None]
    assert {row.metric for row in tested} == {"efficiency", "cost", "reliability", "overall"}
    assert {row.family for row in tested} == {4}
    assert found.rows["total_tokens"].family == 1
    assert found.row("cost_usd") == replace(found.rows["cost"], metric="cost_usd")


def test_an_efficiency_of_one_resource_is_the_row_of_that_resource() -> None:
    sides = (
        using("a@1", "total_tokens", [10.0 + i for i in range(12)]),
        using("a@2", "total_tokens", [13.0 + i for i in range(12)]),
    )
    found = judgement(*sides)
    assert found.rows["total_tokens"] == replace(found.rows["efficiency"], metric="total_tokens")


def test_cases_needed_at_the_level_of_a_row_are_those_that_the_row_tells() -> None:
    found = judgement(scored("a@1", [1.0] * 30), scored("a@2", [0.0] * 4 + [1.0] * 26))
    row = found.rows["accuracy"]
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.p_value == 0.125
    assert row.more_cases == found.cases_needed("accuracy", 0.05)
    assert row.more_cases == more_cases(found.measured["accuracy"], 0.05)
    stricter = found.cases_needed("accuracy", 0.01)
    assert stricter is not None
    assert row.more_cases is not None
    assert stricter > row.more_cases


def timed(agent: str, run: str, factor: float = 1.0, **more: float) -> AgentRecord:
    cases = [
        answered(f"c{i:02}", tries=3, used={"duration_s": factor * (1 + i / 50), **more, "total_tokens": 50.0 + i})
        for i in range(20)
    ]
    return record(agent, cases, [bench(targets=TARGETS, run_id=run)])


@pytest.mark.parametrize("metric", ["speed", "ttft_s", "cpu_s", "peak_rss_bytes"])
def test_what_depends_on_the_machine_is_shown_and_not_judged_across_runs(metric: str) -> None:
    readings = {"ttft_s": 0.1, "cpu_s": 0.2, "peak_rss_bytes": 1e6}
    first, second = timed("mine@1", "r1", **readings), timed("mine@2", "r2", 1.5, **readings)
    row = judgement(first, second, EVERYTHING).row(metric)
    assert row.baseline is not None
    assert row.candidate is not None
    assert (row.p_value, row.adjusted_p, row.interval, row.verdict, row.family) == (None, None, None, None, 0)
    assert row.reason.startswith("separate runs, not judged: `dyno run SUITE --agent mine --against REF`")
    other = judgement(first, replace(second, agent="theirs@1", name="theirs"), EVERYTHING).row(metric)
    assert "`dyno run SUITE --agent theirs --agent mine` measures both interleaved" in other.reason
    assert judgement(first, timed("mine@2", "r1", 1.5, **readings), EVERYTHING).row(metric).p_value is not None


def test_nothing_that_is_not_judged_reaches_a_winner_a_change_a_regression_or_the_gate() -> None:
    first, second = timed("mine@1", "r1"), timed("mine@2", "r2", 3.0)
    found = duel(first, second)
    assert found.winner is None
    assert found.dimension_winners["speed"] is None
    assert judge_change(first, second).verdict != "worse"
    assert judge_gate(first, second, GatePolicy()).verdict == "PASS"
    assert duel(first, timed("mine@2", "r1", 3.0)).winner == "mine@1"


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.5, Verdict.WORSE), (0.6, Verdict.BETTER), (1.05, Verdict.INCONCLUSIVE)]
)
def test_a_known_spread_between_runs_judges_them_by_students_law_at_one_per_cent(
    factor: float, verdict: Verdict
) -> None:
    spread = RunSpread("host", {"duration_s": QuantitySpread(0.05, 6, "own")})
    row = judgement(timed("mine@1", "r1"), timed("mine@2", "r2", factor), spread=spread).rows["speed"]
    error = 0.05 * math.sqrt(2)
    law = scipy.stats.t(6)
    assert row.p_value == pytest.approx(2 * law.sf(abs(math.log(factor)) / error))
    reach = law.ppf(0.995) * error
    ends = math.expm1(math.log(factor) - reach), math.expm1(math.log(factor) + reach)
    assert row.interval == pytest.approx(ends)
    assert row.level == 0.01
    found = scipy.optimize.brentq(lambda shift: scipy.stats.nct.sf(law.ppf(0.995), 6, shift) - 0.8, 1.0, 20.0)
    assert row.detectable == pytest.approx(math.expm1(found * error), rel=1e-6)
    assert row.method == "student t over runs, spread 0.05 of its own earlier runs"
    assert row.verdict is verdict
    assert row.more_cases is None


def test_several_runs_a_side_make_the_figure_more_certain() -> None:
    def two(agent: str, runs: tuple[str, str], factor: float = 1.0) -> AgentRecord:
        cases = [answered(f"c{i:02}", benchmark=f"b{i % 2}", duration_s=factor * (1 + i / 50)) for i in range(20)]
        return record(agent, cases, [bench(f"b{i}", run_id=run) for i, run in enumerate(runs)])

    spread = RunSpread("host", {"duration_s": QuantitySpread(0.1, 6, "pooled")})
    first = two("mine@1", ("r1", "r2"))
    row = judgement(first, two("mine@2", ("r3", "r4"), 1.4), spread=spread).rows["speed"]
    assert row.p_value == pytest.approx(2 * scipy.stats.t(6).sf(math.log(1.4) / (0.1 * math.sqrt(1.0))))


def test_normalised_time_is_preferred_where_both_sides_and_the_spread_have_it() -> None:
    first = timed("mine@1", "r1", duration_norm_s=1.0)
    second = timed("mine@2", "r2", 1.5, duration_norm_s=1.02)
    row = judgement(first, second, spread=KNOWN).rows["speed"]
    assert (row.quantity, row.baseline, row.candidate) == ("duration_norm_s", 1.0, 1.02)
    raw = RunSpread("host", {"duration_s": QuantitySpread(0.05, 4, "own")})
    assert judgement(first, second, spread=raw).rows["speed"].quantity == "duration_s"
    assert judgement(first, timed("mine@2", "r2", 1.5), spread=KNOWN).rows["speed"].quantity == "duration_s"
    assert judgement(first, timed("mine@2", "r1", 1.5, duration_norm_s=9.0), spread=KNOWN).rows["speed"].quantity == (
        "duration_s"
    )


CPU_GATE = GatePolicy((GateRule("cpu_s", Tier.SUPPORTING, 0.05),))


def working(agent: str, run: str, time_s: float, cpu_s: float) -> AgentRecord:
    """Cases with such normalised times."""
    used = {"duration_s": 9.0, "cpu_s": 8.0, "duration_norm_s": time_s, "cpu_norm_s": cpu_s}
    return record(agent, [answered(f"c{i:02}", used=used) for i in range(12)], [bench(run_id=run)])


def test_cpu_time_of_separate_runs_is_normalised_too() -> None:
    found = judgement(working("mine@1", "r1", 4.0, 1.0), working("mine@2", "r2", 4.0, 2.0), CPU_GATE, KNOWN)
    row = found.rows["cpu_s"]
    assert row.quantity == "cpu_norm_s"
    assert row.change == pytest.approx(1.0)
    assert row.p_value == pytest.approx(2 * scipy.stats.t(4).sf(math.log(2.0) / (0.05 * math.sqrt(2))))
    assert (row.verdict, row.family) == (Verdict.WORSE, 2)  # with the time
    together = judgement(working("mine@1", "r1", 4.0, 1.0), working("mine@2", "r1", 4.0, 2.0), CPU_GATE, KNOWN)
    assert together.rows["cpu_s"].quantity == "cpu_s"


@pytest.mark.parametrize(("time_s", "cpu_s"), [(4.0, 3.9), (5.5, 5.4), (5.5, 5.0)])
def test_cpu_time_that_is_all_of_the_time_changes_only_where_the_time_does(time_s: float, cpu_s: float) -> None:
    found = judgement(working("mine@1", "r1", 4.0, 3.9), working("mine@2", "r2", time_s, cpu_s), CPU_GATE, KNOWN)
    time, cpu = found.rows["speed"], found.rows["cpu_s"]
    assert cpu.p_value is not None
    assert time.p_value is not None
    assert cpu.p_value >= time.p_value
    assert cpu.family == time.family == 1  # neither is corrected for the other
    assert (cpu.adjusted_p or 0.0) >= (time.adjusted_p or 0.0)
    assert cpu.method.endswith("only where the time changed too")


def test_cpu_time_that_parts_from_the_time_is_a_question_of_its_own() -> None:
    found = judgement(working("mine@1", "r1", 4.0, 3.9), working("mine@2", "r2", 4.0, 9.0), CPU_GATE, KNOWN)
    assert (found.rows["cpu_s"].verdict, found.rows["cpu_s"].family) == (Verdict.WORSE, 2)


def with_cpu(agent: str, run: str, middle: float, scatter: float, slow: float = 0.0) -> AgentRecord:
    """Nine cases of three tries; ``slow`` is what the mean of a case's tries is above their middle."""
    told = [middle + (slow if number else 100 * slow) for number in range(9)]
    cases = [answered(f"c{number}", duration_s=4.0, cpu_s=seconds) for number, seconds in enumerate(told)]
    return record(agent, [replace(case, spread={"cpu_s": scatter}) for case in cases], [bench(run_id=run)])


def test_cpu_time_of_separate_runs_changes_as_the_typical_case_does() -> None:
    """One case of nine whose tries were disturbed is no change of the code."""
    spread = RunSpread("host", {name: QuantitySpread(0.02, 6, "own") for name in ("duration_s", "cpu_s")})
    sides = with_cpu("mine@1", "r1", 2.0, 0.0), with_cpu("mine@2", "r2", 2.0, 0.0, 0.01)
    row = judgement(*sides, CPU_GATE, spread).rows["cpu_s"]
    assert row.baseline == pytest.approx(2.0)
    assert row.candidate == pytest.approx(2.01)
    assert row.change == pytest.approx(0.005)
    assert row.verdict in (Verdict.SAME, Verdict.INCONCLUSIVE)


def test_tries_that_are_far_apart_make_the_cpu_time_of_separate_runs_less_certain() -> None:
    """A third of the tries took twice as long, in all cases alike: more cases make the mean no surer."""
    spread = RunSpread("host", {name: QuantitySpread(0.02, 6, "own") for name in ("duration_s", "cpu_s")})
    calm = with_cpu("mine@1", "r1", 2.0, 0.01)
    surely = judgement(calm, with_cpu("mine@2", "r2", 2.6, 0.01), CPU_GATE, spread).rows["cpu_s"]
    assert surely.verdict is Verdict.WORSE
    disturbed = judgement(calm, with_cpu("mine@2", "r2", 2.6, 1.1), CPU_GATE, spread).rows["cpu_s"]
    assert disturbed.verdict is Verdict.INCONCLUSIVE
    assert (disturbed.p_value or 0.0) > 0.05


def test_cases_that_do_not_change_alike_make_the_time_less_certain() -> None:
    """By the quartiles of their changes, half as much again as of independent cases."""
    changes = np.linspace(-0.3, 0.3, 9)

    def tried(agent: str, run: str, times: Sequence[float]) -> AgentRecord:
        cases = [answered(f"c{i:02}", duration_s=seconds) for i, seconds in enumerate(times)]
        return record(agent, cases, [bench(run_id=run)])

    spread = RunSpread("host", {"duration_s": QuantitySpread(0.05, 9, "own", baseline_runs=4)})
    sides = tried("mine@1", "r1", [2.0] * 9), tried("mine@2", "r2", list(2.5 * np.exp(changes)))
    row = judgement(*sides, spread=spread).rows["speed"]
    between, within = 0.05 * math.sqrt(1 / 4 + 1), 1.5 * 0.3 / 1.349 / 3
    assert row.p_value == pytest.approx(2 * scipy.stats.t(9).sf(math.log(2.5 / 2.0) / math.hypot(between, within)))


def test_across_runs_efficiency_is_tokens_and_the_overall_score_leaves_the_machine_out() -> None:
    first = timed("mine@1", "r1", cpu_s=0.2, peak_rss_bytes=1e6)
    second = timed("mine@2", "r2", 3.0, cpu_s=0.9, peak_rss_bytes=9e6)
    found = judgement(first, second)
    assert found.rows["efficiency"].quantity == "total_tokens"
    assert found.rows["efficiency"].change == pytest.approx(0.0)
    assert found.rows["overall"].quantity == "accuracy · efficiency · reliability"
    assert found.rows["overall"].change == pytest.approx(0.0)
    together = judgement(first, timed("mine@2", "r1", 3.0, cpu_s=0.9, peak_rss_bytes=9e6))
    assert together.rows["efficiency"].quantity == "total_tokens · cpu_s · peak_rss_bytes"
    assert (together.rows["overall"].change or 0.0) < -0.05


def test_an_efficiency_of_nothing_but_the_machine_is_not_judged_across_runs() -> None:
    def only(agent: str, run: str, seconds: float) -> AgentRecord:
        return record(agent, [answered(f"c{i:02}", cpu_s=seconds) for i in range(12)], [bench(run_id=run)])

    row = judgement(only("mine@1", "r1", 1.0), only("mine@2", "r2", 2.0)).rows["efficiency"]
    assert row.candidate == pytest.approx(2.0)
    assert (row.p_value, row.verdict) == (None, None)


@pytest.mark.parametrize(("per_try", "told"), [(1.001, "0.1 % more"), (1.00001, "the same")])
def test_what_tells_the_pass_rate_again_is_no_surer_than_the_accuracy(per_try: float, told: str) -> None:
    """A thousandth that every case takes more makes the test significant, and four flips the change large."""

    def mine(agent: str, wrong: int, memory: float) -> AgentRecord:
        cases = [answered(f"c{i:02}", float(i >= wrong), tries=3, peak_rss_bytes=memory) for i in range(30)]
        return record(agent, cases, [bench()])

    first = mine("a@1", 0, 1e6)
    found = judgement(first, mine("a@2", 4, per_try * 1e6))
    row, accuracy = found.rows["efficiency"], found.rows["accuracy"]
    assert accuracy.verdict is Verdict.INCONCLUSIVE
    assert (row.change or 0.0) > 0.15
    assert (row.adjusted_p or 1.0) < row.level
    assert (row.verdict, row.more_cases) == (Verdict.INCONCLUSIVE, accuracy.more_cases)
    assert row.reason == f"the pass rate again, of which nothing is decided (a try takes {told})"
    assert duel(first, mine("a@2", 4, per_try * 1e6)).dimension_winners["efficiency"] is None
    worse = judgement(first, mine("a@2", 12, per_try * 1e6)).rows
    assert worse["efficiency"].verdict is worse["accuracy"].verdict is Verdict.WORSE
    dearer = judgement(first, mine("a@2", 4, 1.2e6)).rows["efficiency"]
    assert dearer.verdict is Verdict.WORSE  # a try takes more: that is no matter of the pass rate
