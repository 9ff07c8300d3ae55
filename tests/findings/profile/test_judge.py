"""Phases, critical path, bottlenecks and use of resources, of planted spans exactly as planted."""

from __future__ import annotations

import pytest

from agentdyno.findings.profile.judge import ProfileSubject, compare_profiles, make_profile
from agentdyno.findings.profile.model import DEFINITIONS, ProfiledExecution
from agentdyno.model.codec import to_plain

from .planted import critical_of, execution, model_call, phases_of, profile_of, span


def test_phases_are_exactly_as_planted() -> None:
    profile = profile_of(
        execution(
            span("queue", 0.0, 0.010),
            model_call(0.010, 0.050),
            span("tool_call", 0.060, 0.030, "search"),
            span("retrieval", 0.090, 0.025, "index"),
            span("wait", 0.115, 0.040, "rate limit"),
            span("step", 0.155, 0.020, "own"),
            span("span", 0.175, 0.005, "nothing", phase="idle"),
            wall_s=0.180,
        )
    )
    assert phases_of(profile) == {
        "queue": 10,
        "model": 50,
        "tool": 30,
        "retrieval": 25,
        "retry_wait": 40,
        "own_code": 20,
        "idle": 5,
    }
    assert critical_of(profile) == phases_of(profile)
    shares = {phase.phase_name: phase.percentage_of_total for phase in profile.profile_data.execution_phases}
    assert shares["model"] == pytest.approx(100 * 50 / 180)
    assert sum(share or 0 for share in shares.values()) == pytest.approx(100)


def test_time_outside_all_spans_is_own_code_as_far_as_cpu_time_goes_and_idle_beyond() -> None:
    call = model_call(0.0, 0.050)
    assert phases_of(profile_of(execution(call, wall_s=0.1))) == {"model": 50, "own_code": 50}
    known = profile_of(execution(call, wall_s=0.1, readings={"cpu_s": 0.020}))
    assert phases_of(known) == {"model": 50, "own_code": 20, "idle": 30}
    assert known.cpu_known == 1


def test_cpu_time_of_a_local_models_server_is_not_the_agents() -> None:
    readings = {"cpu_s": 0.5, "server.cpu_s": 0.49}
    profile = profile_of(execution(model_call(0.0, 0.050), wall_s=0.1, readings=readings))
    assert phases_of(profile) == {"model": 50, "own_code": 10, "idle": 40}


def test_a_span_below_another_is_taken_off_it() -> None:
    profile = profile_of(
        execution(
            span("step", 0.0, 0.100, "plan", span="a"),
            model_call(0.020, 0.050, span="b", parent="a"),
            wall_s=0.100,
        )
    )
    assert phases_of(profile) == {"model": 50, "own_code": 50}
    tree = profile.trees[0]
    assert [(item.name, item.depth, item.parent) for item in tree.spans] == [("plan", 0, None), ("gpt-x", 1, 0)]


def test_calls_side_by_side_below_one_step() -> None:
    profile = profile_of(
        execution(
            span("step", 0.0, 0.100, "gather", span="s"),
            span("tool_call", 0.010, 0.060, "slow", span="a", parent="s"),
            span("tool_call", 0.010, 0.040, "fast", span="b", parent="s"),
            wall_s=0.100,
        )
    )
    assert phases_of(profile) == {"tool": 60, "own_code": 40}
    assert critical_of(profile) == {"tool": 60, "own_code": 40}
    by_name = {item.name: item for item in profile.trees[0].spans}
    assert by_name["slow"].self_s == pytest.approx(0.020 + 0.020)
    assert by_name["fast"].self_s == pytest.approx(0.020)
    assert by_name["slow"].critical_s == pytest.approx(0.060)
    assert by_name["fast"].critical_s == 0
    busy = {phase.phase_name: phase.busy_ms for phase in profile.profile_data.execution_phases}
    assert busy["tool"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("second_at_s", "score"),
    [(0.0, 1.0), (0.030, 0.0), (0.015, 0.5)],
)
def test_the_parallelization_score_is_what_was_saved_of_what_could_be(second_at_s: float, score: float) -> None:
    profile = profile_of(
        execution(
            span("step", 0.0, 0.1, "all", span="s"),
            span("tool_call", 0.0, 0.030, "one", parent="s"),
            span("tool_call", second_at_s, 0.030, "two", parent="s"),
        )
    )
    assert profile.profile_data.resource_utilization.parallelization_score == pytest.approx(score)


def test_one_call_has_no_parallelization_score() -> None:
    profile = profile_of(execution(model_call(0, 0.05), wall_s=0.1))
    assert profile.profile_data.resource_utilization.parallelization_score is None


def test_efficiencies_follow_their_definitions() -> None:
    def one(peak: float) -> ProfiledExecution:
        events = (model_call(0.0, 0.06), span("wait", 0.06, 0.02))
        return execution(*events, wall_s=0.1, readings={"cpu_s": 0.02, "peak_rss_bytes": peak, "read_bytes": 10})

    used = profile_of(one(100), one(200), one(400)).profile_data.resource_utilization
    assert used.cpu_efficiency == pytest.approx(0.2)
    assert used.memory_efficiency == pytest.approx(0.5)
    assert used.io_efficiency == pytest.approx(0.06 / 0.08)
    assert (used.peak_rss_bytes, used.read_bytes, used.gpu_percent) == (400, 10, None)


def test_a_measured_execution_that_tells_nothing_of_storage_used_none() -> None:
    wrote = execution(
        span("step", 0.0, 0.1), wall_s=0.1, readings={"cpu_s": 0.02, "read_bytes": 0, "write_bytes": 30}
    )
    quiet = execution(span("step", 0.0, 0.1), wall_s=0.1, readings={"cpu_s": 0.02})
    used = profile_of(wrote, quiet, quiet).profile_data.resource_utilization
    assert (used.read_bytes, used.write_bytes) == (0, 10)
    assert profile_of(quiet).profile_data.resource_utilization.write_bytes is None


def test_a_process_that_is_measured_and_never_tells_of_storage_used_none() -> None:
    measured = {"cpu_s": 0.02, "peak_rss_bytes": 100.0}
    quiet = execution(span("step", 0.0, 0.1), wall_s=0.1, readings=measured)
    steps = execution(span("step", 0.0, 0.1), wall_s=0.1, readings={**measured, "workflow.peak_rss_bytes": 100.0})
    assert profile_of(quiet).profile_data.resource_utilization.read_bytes == 0
    assert profile_of(steps).profile_data.resource_utilization.read_bytes is None


def test_an_agent_without_spans_has_used_what_was_measured_of_it() -> None:
    silent = execution(wall_s=0.1, readings={"cpu_s": 0.02, "peak_rss_bytes": 400.0, "write_bytes": 512.0})
    used = profile_of(silent).profile_data.resource_utilization
    assert used.cpu_efficiency == pytest.approx(0.2)
    assert (used.peak_rss_bytes, used.write_bytes) == (400, 512)
    told = execution(span("step", 0.0, 0.1), wall_s=0.1, readings={"cpu_s": 0.04})
    assert profile_of(silent, told).profile_data.resource_utilization.cpu_s == 0.04


def test_unknown_is_none_and_not_zero() -> None:
    used = profile_of(execution(span("step", 0.0, 0.1), wall_s=0.1)).profile_data.resource_utilization
    assert (used.cpu_efficiency, used.memory_efficiency, used.io_efficiency, used.cpu_s) == (None,) * 4
    usage = profile_of(execution(model_call(0.0, 0.1))).profile_data.execution_phases[0].resource_usage
    assert (usage.cpu_percent, usage.memory_mb, usage.io_operations) == (None, None, 1)


def test_what_spans_tell_of_cpu_and_memory_is_the_phases() -> None:
    told = span("tool_call", 0.0, 0.1, "t", cpu_s=0.05, peak_rss_bytes=3 * 1024**2)
    phases = {phase.phase_name: phase for phase in profile_of(execution(told)).profile_data.execution_phases}
    usage = phases["tool"].resource_usage
    assert usage.cpu_percent == pytest.approx(50)
    assert usage.memory_mb == 3


def test_bottlenecks_are_ranked_by_the_critical_path_with_their_share_and_evidence() -> None:
    def one(case_id: str, tool_s: float) -> ProfiledExecution:
        events = (model_call(0.0, 0.05), span("tool_call", 0.05, tool_s, "search"))
        return execution(*events, wall_s=0.05 + tool_s, case_id=case_id)

    first, second = profile_of(one("short", 0.1), one("long", 0.2)).profile_data.bottlenecks
    assert (first.location, first.calls) == ("tools search", 2)
    assert first.impact_ms == pytest.approx(150)
    assert first.share == pytest.approx(0.3 / 0.4)
    assert first.basis_ms == pytest.approx(200)
    assert first.evidence == ("2 times in 2 executions, 150 ms each", "longest 200 ms, in case long, epoch 1")
    assert second.location == "model gpt-x"
    assert first.cause
    assert first.optimization_suggestion


def test_executions_without_spans_are_counted_and_left_out() -> None:
    profile = profile_of(execution(wall_s=1.0), execution(model_call(0, 0.1), wall_s=0.1))
    assert (profile.executions, profile.without_spans) == (1, 1)
    assert profile.wall_s == pytest.approx(0.1)
    nothing = profile_of(execution(wall_s=1.0))
    assert nothing.profile_data.execution_phases == ()
    assert nothing.optimization_opportunities == ()


def test_times_that_make_no_sense_are_counted() -> None:
    odd = [span("step", 0.0, float("nan")), span("step", 0.0, -1.0), span("step", float("inf"), 1.0)]
    profile = profile_of(execution(*odd, model_call(0, 0.1)))
    assert profile.unreadable == 3
    assert phases_of(profile) == {"model": 100}


def test_spans_that_end_after_the_measured_end_are_said_to_be_the_agents_claim() -> None:
    profile = profile_of(execution(model_call(0, 3.0), wall_s=0.1), execution(model_call(0, 0.1005), wall_s=0.1))
    assert profile.beyond_measured == 1


@pytest.mark.parametrize("ids", [{"a": "a"}, {"a": "b", "b": "a"}])
def test_spans_that_say_they_are_their_own_parents_do_no_harm(ids: dict[str, str]) -> None:
    events = [span("step", 0.0, 0.1, name, span=name, parent=parent) for name, parent in ids.items()]
    assert phases_of(profile_of(execution(*events))) == {"own_code": 100}


def test_a_child_that_outlives_its_parent_keeps_its_time() -> None:
    profile = profile_of(
        execution(
            span("step", 0.0, 0.010, "start", span="a"),
            model_call(0.005, 0.095, span="b", parent="a"),
            wall_s=0.1,
        )
    )
    assert phases_of(profile) == {"own_code": 5, "model": 95}
    assert critical_of(profile) == {"own_code": 5, "model": 95}


def test_every_name_of_the_contract_is_there_with_its_definition() -> None:
    plain = to_plain(profile_of(execution(model_call(0, 0.1, (10, 5)), span("tool_call", 0.1, 0.1, "t"))))
    assert isinstance(plain, dict)
    data = plain["profile_data"]
    assert set(data) == {"execution_phases", "bottlenecks", "resource_utilization", "token_analysis"}
    assert {"phase_name", "duration_ms", "percentage_of_total", "resource_usage"} <= set(data["execution_phases"][0])
    assert set(data["execution_phases"][0]["resource_usage"]) == {"cpu_percent", "memory_mb", "io_operations"}
    assert {"location", "impact_ms", "cause", "optimization_suggestion"} <= set(data["bottlenecks"][0])
    efficiencies = {"cpu_efficiency", "memory_efficiency", "io_efficiency", "parallelization_score"}
    assert efficiencies <= set(data["resource_utilization"])
    tokens = {"input_tokens", "output_tokens", "cache_hits", "wasted_tokens", "token_efficiency"}
    assert tokens <= set(data["token_analysis"])
    for name in (*efficiencies, "percentage_of_total", "cache_hits", "wasted_tokens", "token_efficiency"):
        assert DEFINITIONS[name]
    assert plain["agent_id"] == "agent@1"


def test_two_profiles_side_by_side() -> None:
    before = profile_of(execution(model_call(0, 0.1, (100, 10)), wall_s=0.2))
    after = profile_of(execution(model_call(0, 0.05, (50, 10)), wall_s=0.15))
    found = {item.name: item for item in compare_profiles(before, after, 1).changes}
    assert found["wall time"].baseline == pytest.approx(0.2)
    assert found["wall time"].candidate == pytest.approx(0.15)
    assert found["model"].ratio == pytest.approx(0.5)
    assert found["input_tokens"].ratio == pytest.approx(0.5)
    assert "cpu_efficiency" not in found


def test_the_profile_of_nothing_is_empty() -> None:
    profile = make_profile(ProfileSubject("agent"), ())
    assert (profile.executions, profile.profile_data.bottlenecks) == (0, ())
