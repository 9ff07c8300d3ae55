"""Two dialects, one span tree; tokens of parents are not counted a second time."""

from __future__ import annotations

import pytest

from agentdyno.findings.profile.judge import ProfileSubject, make_profile
from agentdyno.findings.profile.model import ProfiledExecution
from agentdyno.model.case import Event
from agentdyno.servers.otlp.document import spans_of
from agentdyno.servers.otlp.trajectory import answered, asked, events_of

from .traces import request, span

GEN_AI = (
    span("01", 100.0, 100.3, name="invoke_agent helper", gen_ai__operation__name="invoke_agent"),
    span(
        "02",
        100.0,
        100.1,
        parent="01",
        gen_ai__operation__name="chat",
        gen_ai__response__model="gpt-x",
        gen_ai__usage__input_tokens=100,
        gen_ai__usage__output_tokens=20,
        gen_ai__usage__cache_read__input_tokens=40,
        gen_ai__response__finish_reasons=["length"],
    ),
    span(
        "03",
        100.1,
        100.2,
        parent="01",
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="search",
        gen_ai__tool__call__arguments='{"q": 1}',
    ),
)
OPENINFERENCE = (
    span("01", 100.0, 100.3, name="run", openinference__span__kind="AGENT", llm__token_count__prompt=100),
    span(
        "02",
        100.0,
        100.1,
        parent="01",
        openinference__span__kind="LLM",
        llm__model_name="gpt-x",
        llm__token_count__prompt=100,
        llm__token_count__completion=20,
        llm__token_count__prompt_details__cache_read=40,
    ),
    span(
        "03",
        100.1,
        100.2,
        parent="01",
        openinference__span__kind="TOOL",
        tool__name="search",
        input__value='{"q": 1}',
    ),
)


def events(*items: dict[str, object]) -> tuple[Event, ...]:
    return events_of(spans_of(request(*items)), 100_000_000_000)


@pytest.mark.parametrize("dialect", [GEN_AI, OPENINFERENCE], ids=["gen_ai", "openinference"])
def test_both_dialects_give_one_span_tree(dialect: tuple[dict[str, object], ...]) -> None:
    found = events(*dialect)
    assert [(event.kind, event.name) for event in found] == [
        ("step", str(dialect[0]["name"])),
        ("model_call", "gpt-x"),
        ("tool_call", "search"),
    ]
    assert found[1].details["usage"] == {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 40}
    assert found[2].content == {"q": 1}
    assert found[1].details["parent"] == found[0].details["span"]
    execution = ProfiledExecution("c", wall_s=0.3, events=found)
    profile = make_profile(ProfileSubject("a"), [execution], keep_trees=True)
    assert [item.depth for item in profile.trees[0].spans] == [0, 1, 1]
    phases = {item.phase_name: item.duration_ms for item in profile.profile_data.execution_phases}
    assert (round(phases["model"]), round(phases["tool"]), round(phases["own_code"])) == (100, 100, 100)
    assert profile.profile_data.token_analysis.input_tokens == 100


def test_tokens_that_a_parent_repeats_are_told_once() -> None:
    outer = span("01", 100.0, 100.2, gen_ai__operation__name="chat", gen_ai__usage__input_tokens=150)
    inner = [
        span(f"0{n}", 100.0, 100.1, parent="01", openinference__span__kind="LLM", llm__token_count__prompt=75)
        for n in (2, 3)
    ]
    found = events(outer, *inner)
    assert [event.kind for event in found] == ["span", "model_call", "model_call"]
    assert "usage" not in found[0].details


def test_traces_that_were_split_are_one_tree_of_the_case() -> None:
    found = events(span("01", 100.0, 100.1, trace="aa"), span("02", 100.1, 100.2, trace="bb"))
    assert [event.at_s for event in found] == pytest.approx([0.0, 0.1])


def test_failures_and_first_tokens_are_kept() -> None:
    (event,) = events(
        span(
            "01",
            100.0,
            100.1,
            error="429",
            gen_ai__operation__name="chat",
            gen_ai__request__model="m",
            gen_ai__server__time_to_first_token=0.05,
        )
    )
    assert event.details == {"span": "0" * 14 + "01", "status": "error", "error": "429", "ttft_s": 0.05}


def test_a_span_of_neither_dialect_is_work_of_its_own() -> None:
    (event,) = events(span("01", 100.0, 100.1, name="GET /", http__request__method="GET"))
    assert (event.kind, event.name) == ("span", "GET /")


def test_question_and_answer_are_those_of_the_outermost_span_that_tells_them() -> None:
    spans = spans_of(
        request(
            span("01", 100.0, 100.3),
            span("02", 100.0, 100.2, parent="01", input__value="inner", output__value="inner answer"),
            span("03", 100.0, 100.3, input__value='{"question": 1}', output__value="outer"),
        )
    )
    assert asked(spans) == {"question": 1}
    assert answered(spans) == "outer"
    assert asked(spans[:1]) is None
