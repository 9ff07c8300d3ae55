from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.case.tables import attempt_tables, case_plain, case_tables
from agentdyno.findings.figures.suite_figures import close_suite
from agentdyno.model import Case, Failure, FailureKind, Rubric, RunResult, ScorerUse, Status
from agentdyno.model.codec import encode
from agentdyno.reports import render_console

from ...given_results import Factory
from ...reports.suites import EVENTS, comprehensive
from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

RUN = comprehensive()


def shown(run: RunResult, case_id: str, agent: str | None = None, width: int = 100) -> str:
    return render_console(case_tables(run, case_id, agent), width)


def one(*samples: object, case: Case | None = None) -> RunResult:
    own = benchmark(case or Case("a", "2 + 2\nas a number", {"value": 4}), name="sums")
    own = replace(own, rubric=Rubric((ScorerUse("json", options={"strict": True}),)))
    return close_suite(suite_result(suite_of(own), arm("x@1", "sums", samples)))  # type: ignore[arg-type]


def test_a_case_is_shown_with_input_target_and_every_answer() -> None:
    text = shown(one(sample("a", 1.0, 0, output="4"), sample("a", 0.0, 1, output="line one\nline two")), "a")
    assert "2 + 2\nas a number" in text
    assert '{\n  "value": 4\n}' in text
    assert "json (strict=True); passes from 0.5" in text
    assert "x@1, epoch 1: ok, score 1.000\n4\n" in text
    assert "x@1, epoch 2: failed, score 0.000\nline one\nline two\n" in text


def test_a_recorded_call_says_what_of_it_is_out_of_the_ordinary() -> None:
    recorded = {
        "recorded": True,
        "status": 200,
        "ended": "complete",
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }
    events = [
        {"kind": "model_call", "name": "m", "details": {"recorded": True, "status": 429, "ended": "complete"}},
        {"kind": "wait", "at_s": 1.0, "name": "before another try", "duration_s": 2.0, "details": {"recorded": True}},
        {"kind": "model_call", "name": "m", "details": {**recorded, "retry_of": "call-1"}},
        {"kind": "model_call", "name": "m", "details": {**recorded, "ended": "client"}},
        {"kind": "model_call", "name": "m", "details": {"provenance": "reported"}},
    ]
    text = shown(one(sample("a", 1.0, details={"events": events})), "a", width=160)
    for words in (
        "status 429",
        "before another try",
        "5 tokens in, 2 out, another try of call-1",
        "5 tokens in, 2 out, the agent did not wait for its end",
        "as the agent reports it; not counted",
    ):
        assert words in text, words


def test_the_whole_trajectory_is_shown_with_arguments_results_and_times() -> None:
    text = shown(one(sample("a", 1.0, details={"events": EVENTS})), "a")
    for words in (
        "What is 17 * 23?",
        '{"expression": "17 * 23"}',
        "tool result",
        "391",
        "120 tokens in, 9 out, first token after 50 ms",
        "420 ms",
        "440 ms",
    ):
        assert words in text


def test_scorers_explain_themselves() -> None:
    text = shown(RUN, "sum-02", "rules")
    assert "correctness 0.000" in text
    assert "391 is not 390" in text


def test_costs_say_where_they_come_from() -> None:
    assert "(priced)" in shown(RUN, "sum-03", "rules")
    judged = one(sample("a", 1.0, readings={"cost_usd": 0.25}, details={"judge_cost_usd": 0.125}))
    assert "judging cost  $0.12" in shown(judged, "a")


def test_earlier_tries_are_listed_with_what_was_waited() -> None:
    tries = [{"kind": "rate_limited", "message": "429: slow down", "waited_s": 2.5}]
    text = shown(one(sample("a", 1.0, details={"attempts": tries}, attempts=2)), "a")
    assert "Earlier tries" in text
    assert "429: slow down" in text
    assert "2.50 s" in text


def test_a_failure_is_shown_with_its_traceback_and_what_had_arrived() -> None:
    failure = Failure(FailureKind.EXCEPTION, "boom", traceback="Traceback:\n  line 1", output_tail="last words")
    broken = replace(sample("a", Status.ERROR), failure=failure, output="half an ans")
    text = shown(one(broken), "a")
    assert "x@1, epoch 1: error\nexception: boom\nTraceback:\n  line 1\nlast words" in text
    assert "half an ans" in text


def test_turns_of_a_conversation_are_shown_one_by_one() -> None:
    text = shown(RUN, "memory-00", "rules")
    assert "Turn 1\nMy name is Ada." in text
    assert "Turn 2\nWho am I?" in text


def test_chat_messages_read_as_a_conversation() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert "system: Be brief.\nuser: Hi" in shown(one(sample("a"), case=Case("a", messages)), "a")


def test_one_agent_can_be_picked_by_name_or_with_its_version() -> None:
    assert shown(RUN, "sum-03", "smollm2-tools@0.9").count("smollm2-tools@1.1") == 0
    assert "smollm2-tools@1.1" in shown(RUN, "sum-03", "smollm2-tools")
    with pytest.raises(SpecError, match=r"no agent 'smolm2@1\.0'") as caught:
        case_tables(RUN, "sum-03", "smolm2@1.0")
    assert "smollm2@1.0" in (caught.value.remedy or "")


def test_an_unknown_case_names_the_nearest() -> None:
    with pytest.raises(SpecError) as caught:
        case_tables(RUN, "sum-3")
    assert "no case 'sum-3'" in caught.value.message
    assert "sum-03" in (caught.value.remedy or "")


def test_a_run_of_experiments_has_no_cases(make: Factory) -> None:
    with pytest.raises(SpecError, match="no run of a suite"):
        case_tables(make.result([make.arm()]), "a")


def test_a_case_that_was_never_reached_says_so() -> None:
    own = benchmark("a", "b", name="sums")
    run = close_suite(suite_result(suite_of(own), arm("x@1", "sums", [sample("a")])))
    assert "No execution of this case is recorded" in shown(run, "b")


def test_the_same_id_in_two_benchmarks_shows_both_or_the_one_that_is_named() -> None:
    two = suite_of(benchmark("a"), benchmark("a", name="sums"))
    run = close_suite(
        suite_result(
            two, arm("x@1", "facts", [sample("a", output="f")]), arm("x@1", "sums", [sample("a", output="s")])
        )
    )
    assert shown(run, "a").count("Case a") == 2
    assert shown(run, "sums/a").count("Case a") == 1
    assert "epoch 1: ok, score 1.000\ns\n" in shown(run, "sums/a")
    plain = case_plain(run, "a")
    assert isinstance(plain, list)
    assert [item["benchmark"] for item in plain] == ["facts", "sums"]


def test_plain_data_holds_everything_and_is_json() -> None:
    plain = case_plain(one(sample("a", 1.0, details={"events": EVENTS})), "a")
    assert isinstance(plain, dict)
    assert plain["case"]["target"] == {"value": 4}
    execution = plain["executions"][0]
    assert (execution["agent"], execution["epoch"]) == ("x@1", 0)
    assert execution["sample"]["details"]["events"] == EVENTS
    assert encode(plain)


def test_one_answer_alone_is_shown_with_what_it_took() -> None:
    answer = sample(
        "try", 1.0, readings={"ttft_s": 0.05, "input_tokens": 12.0}, details={"events": EVENTS, "model": "m"}
    )
    text = render_console(attempt_tables(answer), 100)
    assert "time to first token  50 ms" in text
    assert "Trajectory" in text
    assert attempt_tables(replace(answer, readings={}, details={})) == ()


@pytest.mark.parametrize("width", [40, 80])
def test_hostile_content_cannot_move_the_cursor(width: int) -> None:
    bad = "\x1b[2J\x00\x07 evil \u202e"
    events = [{"kind": bad, "at_s": "soon", "name": bad, "content": {bad: bad}, "duration_s": None}, "no event"]
    details = {
        "events": events,
        "scoring": [{"scorer": bad, "values": {bad: None}, "explanation": bad}],
        "model": bad,
    }
    run = one(sample("a", 0.0, output=bad * 40, details=details), case=Case("a", bad, bad, {bad: bad}))
    text = shown(run, "a", width=width)
    assert not any(ord(character) < 32 and character != "\n" for character in text)
    assert "\u202e" not in text


def test_epochs_that_are_alike_are_shown_once() -> None:
    samples = [sample("a", 0.0, epoch, output="no") for epoch in range(3)] + [sample("a", 1.0, 3, output="yes")]
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", samples)))
    titles = [table.title for table in case_tables(run, "a")]
    assert [title for title in titles if title.startswith("x@1")] == [
        "x@1, epochs 1–3 alike: failed, score 0.000",
        "x@1, epoch 4: ok, score 1.000",
    ]


def test_what_was_used_is_said_of_one_of_several_epochs_that_are_alike() -> None:
    samples = [sample("a", 0.0, epoch, output="no") for epoch in (0, 1, 2, 5)]
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", samples)))
    titles = [table.title for table in case_tables(run, "a")]
    assert titles[-2:] == ["x@1, epochs 1–3, 6 alike: failed, score 0.000", "Used in epoch 1"]


def test_answers_have_no_column_of_which_nothing_is_known() -> None:
    def columns(**readings: float) -> list[str]:
        run = one(sample("a", 1.0, 0, output="4", readings=readings), sample("a", 1.0, 1, output="4"))
        answers = next(table for table in case_tables(run, "a") if table.title == "Answers")
        return [column.header for column in answers.columns]

    assert columns() == ["agent", "epoch", "status", "score", "duration", "tries"]
    assert columns(cost_usd=0.0, total_tokens=3.0)[-3:] == ["tokens", "cost", "tries"]
