"""Finished requests to windows."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.figures.histograms import mean, merged
from agentdyno.load.windows.collect import WindowBuilder, window_edges
from agentdyno.load.windows.records import OUTCOME_CODES, TOKEN_SOURCE_CODES, UNSENT, Gaps, Records
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.load import Arrivals, Objective, Outcome, Stage, Step, TokenSource, Window

from ...properties import examples
from ..unsent import empty_records

quick = examples(60)
MS = 10**6
S = 10**9
NO_GAPS: Gaps = np.zeros(0, dtype=np.int64)
STEP = Step("step", (Stage("steady", 3.0, 1.0),), Arrivals.CONSTANT)


def one(outcome: Outcome | None = Outcome.OK, **fields: int) -> Records:
    """A request due at 0, sent at once and done after 100 ms, unless ``fields`` say otherwise."""
    record = empty_records(1)
    for name, value in {"due": 0, "sent": 0, "done": 100 * MS, **fields}.items():
        record[name] = value
    record["outcome"] = UNSENT if outcome is None else OUTCOME_CODES[outcome]
    return record


def windows_of(
    *records: Records, step: Step = STEP, gaps: Gaps = NO_GAPS, objectives: tuple[Objective, ...] = ()
) -> list[Window]:
    builder = WindowBuilder(step, 1.0, objectives=objectives)
    builder.add(np.concatenate(records), gaps)
    return builder.finish()


def test_a_request_is_counted_where_it_was_due_and_its_completion_where_it_ended() -> None:
    first, second, third = windows_of(one(due=900 * MS, sent=950 * MS, done=2100 * MS))
    assert [window.asked for window in (first, second, third)] == [1, 0, 0]
    assert [window.completed for window in (first, second, third)] == [0, 0, 1]
    assert [window.in_flight for window in (first, second, third)] == [1, 1, 0]
    assert first.outcomes == {"ok": 1}
    assert first.latency.total == pytest.approx(1.2)
    assert first.service.total == pytest.approx(1.15)
    assert first.lag.total == pytest.approx(0.05)
    assert (first.sent, first.late, first.unsent) == (1, 1, 0)


def test_an_answer_at_the_very_end_of_a_window_is_not_in_flight_any_more_and_counts_in_the_next() -> None:
    first, second, _ = windows_of(one(done=1 * S), one(done=1 * S + 1))
    assert (first.in_flight, second.in_flight) == (1, 0)
    assert (first.completed, second.completed) == (0, 2)


def test_an_answer_after_the_last_stage_is_an_outcome_but_no_throughput() -> None:
    *_, last = windows_of(one(due=2900 * MS, sent=2900 * MS, done=3001 * MS))
    assert (last.outcomes, last.completed, last.in_flight) == ({"ok": 1}, 0, 1)


def test_late_is_more_than_a_millisecond_and_waiting_for_a_connection_is_no_lag() -> None:
    window = windows_of(
        one(sent=1 * MS), one(sent=1 * MS + 1), one(sent=50 * MS, blocked=1), one(None, sent=-1, done=-1)
    )[0]
    assert (window.asked, window.sent, window.late, window.unsent) == (4, 3, 2, 1)
    assert window.lag.count == 2
    assert window.lag.maximum == pytest.approx(0.001000001)


def test_failures_are_counted_by_outcome_and_have_no_latency() -> None:
    failures = [outcome for outcome in Outcome if outcome is not Outcome.OK]
    window = windows_of(*(one(outcome, bytes=10) for outcome in failures), one(bytes=5))[0]
    assert window.outcomes == {outcome.value: 1 for outcome in Outcome}
    assert (window.ok, window.failed, window.latency.count, window.completed) == (1, len(failures), 1, 1)
    assert window.received_bytes == 10 * len(failures) + 5


def test_a_request_that_found_no_server_counts_as_sent_and_failed() -> None:
    window = windows_of(one(Outcome.HTTP_ERROR, sent=-1))[0]
    assert (window.sent, window.unsent, window.outcomes, window.lag.count) == (1, 0, {"http_error": 1}, 0)


def test_time_to_first_token_and_per_token_follow_their_definitions() -> None:
    record = one(
        due=10 * MS,
        sent=30 * MS,
        first_content=80 * MS,
        last_content=200 * MS,
        done=210 * MS,
        output_tokens=4,
        gaps=2,
    )
    record["token_source"] = TOKEN_SOURCE_CODES[TokenSource.USAGE]
    window = windows_of(record, gaps=np.array([20 * MS, 100 * MS]))[0]
    assert mean(window.ttft) == pytest.approx(0.050)
    assert mean(window.queued_ttft) == pytest.approx(0.070)
    assert mean(window.tpot) == pytest.approx(0.120 / 3)
    assert window.itl.count == 2
    assert mean(window.itl) == pytest.approx(0.060)


def test_one_token_has_no_time_per_token_and_no_content_no_first_one() -> None:
    window = windows_of(one(first_content=5 * MS, last_content=5 * MS, output_tokens=1), one())[0]
    assert (window.tpot.count, window.ttft.count, window.itl.count) == (0, 1, 0)


def test_gaps_are_pooled_over_successes_only_whatever_request_they_belong_to() -> None:
    batch = [one(gaps=1), one(Outcome.TRUNCATED, gaps=2), one(due=S, sent=S, done=S + 1, gaps=3)]
    first, second, _ = windows_of(*batch, gaps=np.array([1, 2, 3, 4, 5, 6]) * MS)
    assert (first.itl.count, second.itl.count) == (1, 3)
    assert [first.itl.total, second.itl.total] == pytest.approx([0.001, 0.015])


def tokens(count: int, chunks: int, source: TokenSource) -> Records:
    record = one(output_tokens=count, chunks=chunks, input_tokens=7)
    record["token_source"] = TOKEN_SOURCE_CODES[source]
    return record


def test_tokens_are_summed_and_claim_the_weakest_of_their_sources() -> None:
    window = windows_of(tokens(5, 5, TokenSource.USAGE), tokens(6, 6, TokenSource.CHUNKS), one())[0]
    assert (window.input_tokens, window.output_tokens) == (14, 11)
    assert window.token_source is TokenSource.CHUNKS
    nothing = windows_of(one())[0]
    assert (nothing.input_tokens, nothing.output_tokens, nothing.token_source) == (None, None, None)


@pytest.mark.parametrize(
    ("records", "alike"),
    [
        ([tokens(5, 5, TokenSource.USAGE), tokens(6, 5, TokenSource.USAGE)], True),
        ([tokens(5, 5, TokenSource.USAGE), tokens(9, 5, TokenSource.OLLAMA)], False),
        ([tokens(5, 5, TokenSource.CHUNKS)], None),
        ([tokens(5, 0, TokenSource.USAGE)], None),
    ],
)
def test_chunks_are_tokens_where_the_servers_count_agrees(records: list[Records], alike: bool | None) -> None:
    assert windows_of(*records)[0].chunks_are_tokens is alike


def test_good_requests_meet_every_objective_that_a_request_can_meet() -> None:
    objectives = (Objective("latency", 0.1, 0.5), Objective("latency", 0.2, 0.99), Objective("ttft", 0.05, 0.95))
    records = (
        one(done=200 * MS, first_content=50 * MS),  # at both limits: the looser one of latency counts
        one(done=200 * MS + 1, first_content=50 * MS),
        one(done=100 * MS, first_content=51 * MS),
        one(done=100 * MS),  # never had content
        one(Outcome.STREAM_ERROR, first_content=1),
    )
    assert windows_of(*records, objectives=objectives)[0].slo_met == 1
    assert windows_of(*records)[0].slo_met is None
    assert windows_of(*records, objectives=(Objective("error_rate", 0.01),))[0].slo_met == 4


def test_the_limit_of_gaps_is_on_a_requests_mean_and_no_gap_meets_it() -> None:
    flowing = one(first_content=0, last_content=90 * MS, gaps=3)
    objective = (Objective("itl", 0.030, 0.99),)
    none = one(first_content=0, last_content=0)
    assert windows_of(flowing, none, gaps=np.full(3, 30 * MS), objectives=objective)[0].slo_met == 2
    assert (
        windows_of(flowing, gaps=np.full(3, 30 * MS), objectives=(replace(objective[0], limit=0.029),))[0].slo_met
        == 0
    )


def test_windows_divide_each_stage_evenly_and_carry_its_label() -> None:
    step = Step(
        "s", (Stage("ramp", 2.4, 1.0), Stage("spike", 0.3, 9.0), Stage("recovery", 1.0, 1.0)), note={"fault": "reset"}
    )
    edges, labels = window_edges(step, 1.0)
    assert (edges / S).tolist() == pytest.approx([0.0, 1.2, 2.4, 2.7, 3.7])
    assert labels == ("ramp", "ramp", "spike", "recovery")
    builder = WindowBuilder(step, 1.0, first_index=7, starts_s=100.0)
    windows = builder.finish()
    assert [(window.index, window.step, window.stage) for window in windows] == [
        (7, "s", "ramp"),
        (8, "s", "ramp"),
        (9, "s", "spike"),
        (10, "s", "recovery"),
    ]
    assert [window.starts_s for window in windows] == pytest.approx([100.0, 101.2, 102.4, 102.7])
    assert all(window.note == {"fault": "reset"} for window in windows)
    assert builder.next_index == 11


def test_a_window_waits_for_the_last_request_that_was_due_in_it() -> None:
    builder = WindowBuilder(STEP, 1.0)
    assert builder.pop_finished(1500 * MS, 990 * MS) == []
    assert builder.pop_finished(999 * MS, None) == []
    builder.add(one(due=990 * MS, sent=990 * MS, done=1600 * MS), NO_GAPS)
    (first,) = builder.pop_finished(1700 * MS, 1200 * MS)
    assert (first.index, first.asked, first.in_flight) == (0, 1, 1)
    assert [window.index for window in builder.pop_finished(10 * S, None)] == [1]
    assert [window.index for window in builder.finish()] == [2]


def test_what_comes_after_its_window_went_out_is_not_lost() -> None:
    builder = WindowBuilder(STEP, 1.0)
    assert len(builder.pop_finished(10 * S, None)) == 2
    builder.add(one(), NO_GAPS)
    (last,) = builder.finish()
    assert (last.asked, last.completed, last.outcomes) == (1, 1, {"ok": 1})


def test_a_step_that_is_broken_off_ends_there() -> None:
    builder = WindowBuilder(STEP, 1.0)
    builder.add(one(), NO_GAPS)
    windows = builder.finish(stopped_ns=1250 * MS)
    assert [(window.asked, window.duration_s) for window in windows] == [(1, 1.0), (0, 0.25)]
    assert builder.next_index == 2
    kept = WindowBuilder(STEP, 1.0)
    kept.add(one(due=2 * S, sent=2 * S, done=2 * S), NO_GAPS)
    assert [window.asked for window in kept.finish(stopped_ns=10 * MS)] == [0, 0, 1]


def test_the_first_example_of_a_failure_is_kept_in_its_window() -> None:
    builder = WindowBuilder(STEP, 1.0)
    builder.example(0, Outcome.RESET, "first")
    builder.example(1, Outcome.RESET, "second")
    builder.simulated = True
    first, *_ = builder.finish()
    assert first.examples == {"reset": "first"}
    assert first.simulated
    assert from_plain(Window, to_plain(first)) == first


def some_records(rng: random.Random, count: int) -> tuple[Records, list[Gaps]]:
    records = empty_records(count)
    gaps: list[Gaps] = []
    for record in records:
        record["due"] = rng.randrange(3 * S)
        record["outcome"] = rng.choice([*range(7), 0, 0, 0, UNSENT])
        record["gaps"] = rng.choice([0, 0, 1, 3])
        gaps.append(np.array([rng.randrange(1, S) for _ in range(record["gaps"])], dtype=np.int64))
        if record["outcome"] != UNSENT:
            record["sent"] = record["due"] + rng.randrange(3 * MS)
            record["done"] = record["sent"] + rng.randrange(2 * S)
    return records, gaps


@quick
@given(st.integers(0, 60), st.randoms(use_true_random=False))
def test_every_request_is_counted_exactly_once_in_whatever_order_and_batches_it_comes(
    count: int, rng: random.Random
) -> None:
    records, gaps = some_records(rng, count)
    whole = WindowBuilder(STEP, 0.5, objectives=(Objective("latency", 0.5, 0.95),))
    whole.add(records, np.concatenate([NO_GAPS, *gaps]))
    expected = whole.finish()
    assert sum(window.asked for window in expected) == count
    assert sum(sum(window.outcomes.values()) + window.unsent for window in expected) == count

    order = list(range(count))
    rng.shuffle(order)
    if rng.random() < 0.5:  # as they come where nothing is held up
        order.sort(key=lambda number: int(records["done"][number]))
    parts = WindowBuilder(STEP, 0.5, objectives=(Objective("latency", 0.5, 0.95),))
    found: list[Window] = []
    while order:
        size = rng.randrange(1, 9)
        batch, order = order[:size], order[size:]
        parts.add(records[batch], np.concatenate([NO_GAPS, *(gaps[number] for number in batch)]))
        still = [int(records["due"][number]) for number in order]
        ends = [int(records["done"][number]) for number in order if records["done"][number] >= 0]
        found += parts.pop_finished(min(ends, default=10 * S), min(still, default=None))
    found += parts.finish()
    assert found == expected


def test_windows_of_a_step_add_up_to_its_pooled_distribution() -> None:
    records, gaps = some_records(random.Random(3), 200)
    builder = WindowBuilder(STEP, 0.25)
    builder.add(records, np.concatenate(gaps))
    windows = builder.finish()
    good = records["outcome"] == 0
    latency = merged(window.latency for window in windows)
    assert latency.total == pytest.approx(float((records["done"] - records["due"])[good].sum()) / S)
    assert sum(window.itl.count for window in windows) == int(records["gaps"][good].sum())
