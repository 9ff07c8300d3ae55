"""A whole stress test read from its result: scores, limits, advice, and nothing that JSON cannot hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.figures.histograms import histogram
from agentdyno.findings.figures.window_readings import window_readings
from agentdyno.findings.stress.judge import READERS, stress_report
from agentdyno.findings.stress.judge_client import client_limited, client_remedy, own_part
from agentdyno.findings.stress.judge_steps import StepJudgement, judge, merge_windows
from agentdyno.findings.stress.model import LimitedBy, StressReport
from agentdyno.findings.stress.tables import stress_tables
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.scenarios import FIND_LIMIT, SCENARIOS
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.load import Objective, Outcome, SelfCheck, Stage, Window
from agentdyno.model.metric import Provenance
from agentdyno.model.result import RunResult

from ..properties import examples
from .queueing import QueueDriver, QueueModel
from .stress_runs import arm_of, own_load, result_of, windows_from

MODELS = {
    "high_load": QueueModel(),
    "sustained_load": QueueModel(leak_bytes=5000.0, drift_per_s=0.01),
    "memory_pressure": QueueModel(needs_bytes=105_000_000),
    "large_inputs": QueueModel(max_words=3000),
    "rate_limiting": QueueModel(slots=100, limit_per_s=100.0),
    "failure_recovery": QueueModel(heals_s=100.0),
}


@pytest.fixture(scope="module")
def whole() -> RunResult:
    arms = []
    for name in SCENARIOS:
        profile = "standard" if name == "sustained_load" else "quick"
        windows, values = windows_from(name, MODELS.get(name, QueueModel()), profile=profile)
        arms.append(arm_of(name, windows, values))
    check = to_plain(SelfCheck(1e-5, 1e-4, 1e-5, 1e-4, 5000.0, 1000))
    return result_of([replace(arm, observed={"self_check": check}) for arm in arms])


def test_a_report_has_every_scenario_in_the_order_of_the_run(whole: RunResult) -> None:
    report = stress_report(whole)
    assert [scenario.scenario for scenario in report.scenarios] == list(SCENARIOS)
    assert (report.agent_id, report.run_id) == ("model", "r1")
    assert report.self_check is not None
    assert report.self_check.rate_per_s == 5000.0


def test_the_resilience_score_is_the_mean_of_the_scenarios_scores(whole: RunResult) -> None:
    report = stress_report(whole)
    scores = [scenario.score for scenario in report.scenarios if scenario.score is not None]
    assert len(scores) == 8
    assert report.resilience_score == pytest.approx(sum(scores) / 8)


def test_limits_are_by_axis_and_a_rate_limit_is_apart_from_the_capacity(whole: RunResult) -> None:
    limits = stress_report(whole).scaling_limits
    assert set(limits) >= {"rate", "size", "memory", "rate_limit"}
    assert limits["rate"].value == pytest.approx(200.0, rel=0.15)
    assert limits["rate_limit"].value == pytest.approx(100.0, rel=0.15)
    assert limits["size"].unit == "words"


def test_of_two_limits_on_one_axis_the_narrower_is_kept(whole: RunResult) -> None:
    windows, values = windows_from("find_limit", QueueModel(), profile="quick")
    both = [arm_of("find_limit", windows, values), *whole.arms]
    precise = stress_report(result_of(both[:1])).scaling_limits["rate"]
    for arms in (both, both[::-1]):
        assert stress_report(result_of(arms)).scaling_limits["rate"] == precise


def verdict_of(name: str, windows: list[Window], values: Mapping[str, object]) -> str:
    report = stress_report(result_of([arm_of(name, windows, values)]))
    (row,) = stress_tables(report)[0].rows
    return row[1].text


def test_nothing_that_was_not_tried_is_said_to_have_held() -> None:
    windows, values = windows_from("sustained_load", QueueModel(), profile="quick")
    assert verdict_of("sustained_load", windows, values) == "held"
    idle = [replace(window, asked=0, sent=0, completed=0, outcomes={}) for window in windows]
    assert verdict_of("custom", idle, {}) == "nothing asked"
    unlimited, values = windows_from("memory_pressure", QueueModel(), profile="quick")
    base = [window for window in unlimited if "level" not in window.note]
    assert verdict_of("memory_pressure", unlimited, values) == "held"
    assert verdict_of("memory_pressure", base, values) == "not judged"


def test_a_target_that_refuses_connections_is_limited_by_errors_and_not_by_the_number_of_connections() -> None:
    """Each of its requests waited for a connection of its own, in vain."""
    windows, values = windows_from("sustained_load", QueueModel(), profile="quick")
    nobody = histogram(np.zeros(0, np.int64))
    half = len(windows) // 3
    dead = [replace(one, outcomes={"http_error": one.asked}, lag=nobody, latency=nobody) for one in windows[half:]]
    report = stress_report(result_of([arm_of("sustained_load", [*windows[:half], *dead], values)])).scenarios[0]
    assert report.broke
    assert report.limited_by is LimitedBy.ERRORS


def test_goodput_is_a_part_of_the_throughput_however_much_ends_after_the_step() -> None:
    """Half of what is due in two seconds is answered after them, and within the objective all the same."""
    slo = (Objective("latency", 60.0, 0.95),)
    windows, values = windows_from(own_load(Stage("steady", 2.0, rate=40.0)), QueueModel(slots=1), slo=slo)
    found = stress_report(result_of([arm_of("custom", windows, values)], slo)).scenarios[0].headline
    assert found["throughput_per_s"] == pytest.approx(20.0, rel=0.1)
    assert found["goodput_per_s"] == found["throughput_per_s"]


def test_what_grows_is_told_in_its_unit_a_second() -> None:
    windows, values = windows_from("sustained_load", QueueModel(leak_bytes=40_000), profile="quick")
    report = stress_report(result_of([arm_of("sustained_load", windows, values)]))
    figures = next(table for table in stress_tables(report) if table.title == "Figures")
    shown = {row[1].text: row[2].text for row in figures.rows}
    assert shown["rss slope"].endswith("KiB/s")
    assert shown["latency slope"].endswith("s/s")


def test_every_recommendation_names_its_scenario_and_figures(whole: RunResult) -> None:
    advice = stress_report(whole).recommendations
    assert all(any(letter.isdigit() for letter in one.evidence) or "fault" in one.evidence for one in advice)
    assert all(one.evidence.startswith(one.scenario) for one in advice)
    assert any("memory leak" in one.text for one in advice)
    assert any("recover from refuse" in one.text for one in advice)
    priorities = [one.priority for one in advice]
    assert priorities == sorted(priorities, key=["high", "medium", "low"].index)


def test_a_report_survives_json(whole: RunResult) -> None:
    report = stress_report(whole)
    again = from_plain(StressReport, json.loads(encode(report)))
    assert again.resilience_score == report.resilience_score
    assert again.scenarios[0].curve == report.scenarios[0].curve
    assert again.scenarios[0].breaking_point == report.scenarios[0].breaking_point


def test_what_a_simulated_target_did_is_marked_so(whole: RunResult) -> None:
    report = stress_report(whole)
    assert report.simulated
    assert {scenario.provenance for scenario in report.scenarios} == {Provenance.SIMULATED}


def test_counts_add_up(whole: RunResult) -> None:
    for scenario in stress_report(whole).scenarios:
        assert scenario.requests == sum(scenario.outcomes.values())
        assert scenario.asked == scenario.requests + scenario.unsent
        assert scenario.over_time[0].at_s == 0.0
        assert scenario.phases[0][1] == 0.0


def test_the_objectives_of_the_run_are_used_and_told() -> None:
    slo = (Objective("latency", 0.06, 0.95), Objective("error_rate", 0.05))
    windows, values = windows_from("high_load", QueueModel(), profile="quick", slo=slo)
    report = stress_report(result_of([arm_of("high_load", windows, values)], slo))
    assert report.objectives == slo
    found = report.scenarios[0].objectives
    assert set(found) == {"latency_p95", "error_rate", "shortfall"}
    assert found["latency_p95"][1] is False
    assert found["error_rate"] == (0.0, True)


def test_a_run_without_windows_has_no_score() -> None:
    report = stress_report(result_of([arm_of("high_load", [], {})]))
    assert report.scenarios == ()
    assert report.resilience_score is None
    assert report.recommendations == ()


@pytest.mark.parametrize("name", [*SCENARIOS, "find_limit", "custom"])
def test_a_run_that_was_broken_off_is_read_as_far_as_it_went(name: str) -> None:
    windows, values = windows_from(name if name != "custom" else "high_load", QueueModel(), profile="quick")
    for count in (1, 2, len(windows) // 2):
        report = stress_report(result_of([arm_of(name, windows[:count], values)]))
        json.loads(encode(report))
        assert len(report.scenarios) == 1


@pytest.mark.parametrize("name", [*SCENARIOS, "find_limit", "custom"])
def test_a_target_that_answers_nothing_breaks_without_a_made_up_figure(name: str) -> None:
    windows, values = windows_from(
        name if name != "custom" else "high_load", QueueModel(error_rate=1.0), profile="quick"
    )
    report = stress_report(result_of([arm_of(name, windows, values)])).scenarios[0]
    assert report.headline["latency_p50_s"] is None
    assert report.score in (None, 0.0) or report.score < 35.0
    json.loads(encode(report))


def test_every_scenario_is_described_and_read() -> None:
    for scenario in (*SCENARIOS.values(), FIND_LIMIT):
        assert scenario.description == DESCRIPTIONS[scenario.name]
        assert scenario.name in READERS


class TestClientLimited:
    @staticmethod
    def window(own_s: float, ttft_s: float, *, sent: int = 100, unsent: int = 0, waited: int = 0) -> Window:
        lag = histogram(np.full(sent - waited, round(own_s * 1e9)))
        ttft = histogram(np.full(sent, round(ttft_s * 1e9)))
        return Window(
            0,
            "s",
            "s",
            0.0,
            1.0,
            asked=sent + unsent,
            sent=sent,
            unsent=unsent,
            outcomes={Outcome.OK: sent},
            lag=lag,
            latency=ttft,
            ttft=ttft,
            queued_ttft=ttft,
            client_cpu=0.97,
        )

    def test_a_tenth_of_what_is_reported_is_allowed_however_many_milliseconds_that_is(self) -> None:
        assert client_limited([self.window(0.0049, 0.05)]) == ""
        assert client_limited([self.window(0.19, 2.0)]) == ""
        assert "5.49 ms at the median" in client_limited([self.window(0.0055, 0.05)])
        assert "its own" in client_limited([self.window(0.0003, 0.001)])

    def test_a_tenth_of_the_room_below_an_objective_is_allowed(self) -> None:
        slack = (Objective("latency", 0.3, 0.95),)
        assert client_limited([self.window(0.02, 0.05)]) != ""
        assert client_limited([self.window(0.02, 0.05)], None, slack) == ""
        assert "room below the objective" in client_limited([self.window(0.03, 0.05)], None, slack)

    def test_an_objective_that_is_missed_without_the_client_too_is_the_target_s(self) -> None:
        objective = (Objective("latency", 0.3, 0.95),)
        assert client_limited([self.window(0.3, 1.42)], None, objective) == ""
        assert client_limited([self.window(0.1, 0.35)], None, objective) != ""

    def test_waiting_to_be_read_is_the_client_s_part_as_well(self) -> None:
        window = self.window(0.003, 0.05)
        waiting = replace(window, wait=histogram(np.full(100, 3_000_000)))
        assert own_part([waiting], 0.5) == pytest.approx(0.006, rel=0.01)
        assert client_limited([window]) == ""
        assert client_limited([waiting]) != ""

    def test_bytes_that_waited_with_a_stamp_of_the_kernel_are_no_part_of_a_latency(self) -> None:
        window = replace(self.window(0.003, 0.05), unread=histogram(np.full(100, 40_000_000)))
        assert client_limited([window]) == ""
        assert window_readings(window)["unread_p99_s"] == pytest.approx(0.04, rel=0.01)

    @pytest.mark.parametrize("closed", [False, True])
    def test_failures_are_the_target_s_however_late_the_client_was(self, closed: bool) -> None:
        window = self.window(0.02, 0.05)

        def judged(**outcomes: int) -> StepJudgement:
            return judge(merge_windows([replace(window, outcomes=outcomes)]), (), open_loop=not closed)

        assert judged(ok=100).client
        for kind in ("http_error", "reset", "truncated", "stream_error", "rate_limited"):
            found = judged(ok=46, **{kind: 54})
            assert (found.met, found.client) == (False, "")
            assert found.missed[0] == "error_rate"
        assert judged(ok=46, timeout=54).client, "a late client may be why there was no time left"

    def test_more_processes_are_advised_only_to_a_client_that_had_much_to_do(self) -> None:
        window = self.window(0.02, 0.05)
        assert "more processes would not help" in client_remedy([replace(window, client_cpu=0.02)])
        assert client_remedy([replace(window, client_cpu=0.8)]).startswith("Use more processes")

    def test_a_closed_loop_at_the_end_of_its_core_is_the_client_s_unless_the_target_is_as_busy(self) -> None:
        window = self.window(1e-6, 0.0109)
        assert "97% of a core" in client_limited([window], closed=True)
        assert client_limited([replace(window, client_cpu=0.85)], closed=True) == ""
        assert client_limited([replace(window, target_cpu=0.99)], closed=True) == ""
        assert client_limited([replace(window, target_cpu=0.2)], closed=True) != ""

    def test_a_client_that_waits_for_a_core_is_as_saturated_as_one_that_has_it(self) -> None:
        window = replace(self.window(1e-6, 0.0109), client_cpu=0.62)
        assert client_limited([window], closed=True) == ""
        said = client_limited([replace(window, client_held=0.35)], closed=True)
        assert said == "it used 62% of a core, and waited for one 35% of the time: the pace is its own"
        assert client_limited([replace(window, client_held=0.2)], closed=True) == ""
        assert "more processes would not help" in client_remedy([replace(window, client_held=0.35)])

    def test_a_target_of_many_threads_is_no_excuse_while_answers_wait_for_the_client(self) -> None:
        window = replace(self.window(1e-6, 0.0109), target_cpu=1.6, service=histogram(np.full(100, 10_900_000)))
        assert client_limited([replace(window, unread=histogram(np.full(100, 1_000_000)))], closed=True) == ""
        assert client_limited([replace(window, unread=histogram(np.full(100, 2_000_000)))], closed=True) != ""

    def test_one_request_in_a_hundred_may_be_later(self) -> None:
        on_time, late = self.window(1e-5, 0.05, sent=995), self.window(0.5, 0.05, sent=5)
        assert client_limited([on_time, late]) == ""
        assert client_limited([on_time, replace(late, lag=histogram(np.full(20, 10**9)))]) != ""

    def test_unsent_requests_are_the_clients_only_while_connections_are_free(self) -> None:
        assert "98.0%" in client_limited([self.window(1e-5, 0.05, sent=98, unsent=2)])
        assert client_limited([self.window(1e-5, 0.05, sent=98, unsent=2, waited=60)]) == ""
        assert client_limited([self.window(1e-5, 0.05, sent=995, unsent=5)]) == ""

    def test_the_reason_tells_how_busy_the_client_was_and_what_loopback_gave(self) -> None:
        check = SelfCheck(1e-5, 2e-4, 1e-5, 2e-4, 5000.0, 1000)
        reason = client_limited([self.window(0.01, 0.05)], check)
        assert "97%" in reason
        assert "0.20 ms" in reason

    def test_nothing_asked_is_nothing_to_blame(self) -> None:
        assert client_limited([]) == ""

    @given(own_us=st.integers(1, 10**6), ttft_ms=st.integers(1, 10**4), limit_ms=st.none() | st.integers(1, 10**4))
    @examples(80)
    def test_the_rule_is_the_written_one(self, own_us: int, ttft_ms: int, limit_ms: int | None) -> None:
        own, seen = own_us / 1e6, ttft_ms / 1e3
        objectives = () if limit_ms is None else (Objective("latency", limit_ms / 1e3, 0.95),)
        limit = seen if limit_ms is None else limit_ms / 1e3
        edges = (0.1 * max(seen, limit - seen), seen - limit)
        if all(
            edge <= 0.0 or not 0.97 < own / edge < 1.03 for edge in edges
        ):  # a histogram is right to half a percent
            missed_anyway = limit_ms is not None and seen - own >= limit
            expected = own > edges[0] and not missed_anyway
            assert bool(client_limited([self.window(own, seen)], None, objectives)) == expected


def test_the_client_is_blamed_before_the_target() -> None:
    windows, values = windows_from("high_load", QueueModel(slots=2), profile="quick")
    slow = [replace(window, lag=histogram(np.full(max(window.sent, 1), 10**9))) for window in windows]
    report = stress_report(result_of([arm_of("high_load", slow, values)])).scenarios[0]
    assert report.limited_by is LimitedBy.CLIENT
    assert not report.broke


def test_a_client_that_spoils_several_scenarios_is_one_piece_of_advice() -> None:
    arms = []
    for name in ("sustained_load", "spike_load"):
        windows, values = windows_from(name, QueueDriver(QueueModel(), client_lag_s=0.01), profile="quick")
        arms.append(arm_of(name, windows, values))
    report = stress_report(result_of(arms))
    assert [(advice.scenario, advice.priority) for advice in report.recommendations] == [("sustained_load", "high")]
    assert "So it was in spike_load." in report.recommendations[0].evidence
    assert report.resilience_score is None


def test_a_search_that_the_client_cut_short_has_an_interval_and_no_score() -> None:
    windows, values = windows_from("high_load", QueueModel(), profile="quick", params={"normal_rate": 20.0})
    spoilt = [
        replace(window, lag=histogram(np.full(max(window.sent, 1), 10**9))) if "#" in window.step else window
        for window in windows
    ]
    report = stress_report(result_of([arm_of("high_load", spoilt, values)])).scenarios[0]
    assert report.broke
    assert report.score is None
    assert report.breaking_point is not None
    assert report.breaking_point.interval == (20.0, 200.0)
    assert "the client was the limit" in report.evidence


class TestThroughput:
    @staticmethod
    def windows(completed: list[int], service_s: float, length_s: float = 0.25) -> list[Window]:
        took = histogram(np.full(8, round(service_s * 1e9)))
        return [
            Window(n, "s", "s", n * length_s, length_s, asked=5, sent=5, completed=count, latency=took, service=took)
            for n, count in enumerate(completed)
        ]

    def test_the_start_up_is_left_out_where_the_rest_is_long(self) -> None:
        step = merge_windows(self.windows([0, 3, *[5] * 40], 0.1))
        assert step.throughput_per_s == pytest.approx(20.0)
        assert step.per_s(step.completed) < 20.0

    def test_a_short_step_counts_from_its_beginning_so_that_it_is_never_too_high(self) -> None:
        # 20 a second in bursts of two: what was under way when the start-up ended would make 24 of it.
        step = merge_windows(self.windows([4, 6, 4, 6], 0.1))
        assert step.throughput_per_s == pytest.approx(20.0)
        assert merge_windows(self.windows([0, 6, 6, 6], 0.1)).throughput_per_s <= 20.0

    def test_a_load_of_several_stages_is_counted_as_a_whole(self) -> None:
        windows = self.windows([0, *[5] * 40], 0.05)
        changed = [replace(window, stage="spike") if window.index > 20 else window for window in windows]
        assert merge_windows(changed).throughput_per_s == pytest.approx(200 / 10.25)
