"""Whatever the spans: self times and the critical path add up to the wall time."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.findings.profile.judge import ProfileSubject, make_profile
from agentdyno.findings.profile.judge_spans import arrange
from agentdyno.findings.profile.model import ProfiledExecution
from agentdyno.model.case import Event
from tests.properties import examples

from .planted import execution, span

KINDS = ("model_call", "tool_call", "tool_result", "retrieval", "step", "span", "wait", "queue", "retry", "note")
TIMES = st.one_of(st.integers(0, 20).map(lambda value: value / 10), st.floats(0, 2, allow_nan=False))


@st.composite
def random_executions(draw: st.DrawFn) -> ProfiledExecution:
    """Trees by id, by time and mixed, with siblings that overlap, children that outlive parents, cycles of ids."""
    count = draw(st.integers(0, 12))
    names = [str(number) for number in range(count)]
    events = []
    for name in names:
        details: dict[str, object] = {}
        if draw(st.booleans()):
            details["span"] = name
        if draw(st.booleans()):
            details["parent"] = draw(st.sampled_from([*names, "unknown"]))
        events.append(Event(draw(st.sampled_from(KINDS)), draw(TIMES), name, None, draw(TIMES), details))
    wall_s = draw(st.one_of(st.none(), TIMES))
    readings = draw(st.one_of(st.just({}), st.builds(lambda cpu: {"cpu_s": cpu}, TIMES)))
    return ProfiledExecution("case", "b", 0, wall_s, tuple(events), readings)


@examples(300)
@given(random_executions())
@example(execution(span("step", 0, 1, span="0", parent="1"), span("step", 0, 1, span="1", parent="0"), wall_s=2.0))
def test_self_times_and_the_critical_path_add_up_to_the_wall_time(case: ProfiledExecution) -> None:
    tree = arrange(case).tree
    assert math.fsum(item.self_s for item in tree.spans) + tree.outside_s == pytest.approx(tree.wall_s, abs=1e-9)
    critical_s = math.fsum(item.critical_s for item in tree.spans) + tree.outside_critical_s
    assert critical_s == pytest.approx(tree.wall_s, abs=1e-9)
    for item in tree.spans:
        assert -1e-12 <= item.self_s <= item.busy_s + 1e-9 <= item.duration_s + 2e-9
        assert item.parent is None or item.parent < item.index
        assert item.critical_s <= item.duration_s + 1e-9
    assert tree.outside_critical_s == pytest.approx(tree.outside_s, abs=1e-9)


@examples(100)
@given(st.lists(random_executions(), max_size=4))
def test_phases_add_up_to_the_wall_time_of_the_profiled_executions(cases: list[ProfiledExecution]) -> None:
    profile = make_profile(ProfileSubject("agent"), cases)
    assert profile.executions + profile.without_spans == len(cases)
    whole_ms = 1000 * profile.wall_s / profile.executions if profile.executions else 0.0
    assert math.fsum(item.duration_ms for item in profile.profile_data.execution_phases) == pytest.approx(whole_ms)
    assert math.fsum(item.critical_ms for item in profile.profile_data.execution_phases) == pytest.approx(whole_ms)
    assert math.fsum(item.share for item in profile.profile_data.bottlenecks) <= 1 + 1e-9
    for item in profile.optimization_opportunities:
        assert 0 <= item.estimated_impact <= 1


def test_an_event_belongs_to_the_shortest_span_that_contains_it_in_time() -> None:
    tree = arrange(
        execution(
            span("step", 0.0, 1.0, "long"), span("step", 0.1, 0.5, "short"), span("tool_call", 0.2, 0.1, "tool")
        )
    ).tree
    assert [(item.name, item.parent) for item in tree.spans] == [("long", None), ("short", 0), ("tool", 1)]


def test_ids_count_more_than_time() -> None:
    tree = arrange(
        execution(
            span("step", 0.0, 1.0, "long", span="l"),
            span("step", 0.1, 0.5, "short", span="s"),
            span("tool_call", 0.2, 0.1, "tool", parent="l"),
        )
    ).tree
    assert {item.name: item.parent for item in tree.spans} == {"long": None, "short": 0, "tool": 0}


def test_the_critical_path_follows_what_ended_last_before_the_next_began() -> None:
    """first [0,3] and other [0,5] begin together; second [3,8] could begin when first had ended."""
    tree = arrange(
        execution(
            span("step", 0.0, 8.0, "all", span="all"),
            span("tool_call", 0.0, 3.0, "first", span="1", parent="all"),
            span("tool_call", 0.0, 5.0, "other", span="2", parent="all"),
            span("tool_call", 3.0, 5.0, "second", span="3", parent="all"),
        )
    ).tree
    assert {item.name: item.critical_s for item in tree.spans} == {"all": 0, "first": 3, "other": 0, "second": 5}


@pytest.mark.parametrize(
    ("details", "failed"),
    [
        ({}, None),
        ({"status": 200}, False),
        ({"status": 429}, True),
        ({"status": "error"}, True),
        ({"error": "reset by peer"}, True),
    ],
)
def test_what_tells_that_a_call_failed(details: dict[str, object], failed: bool | None) -> None:
    assert arrange(execution(Event("model_call", 0, "m", None, 1.0, details))).tree.spans[0].failed is failed
