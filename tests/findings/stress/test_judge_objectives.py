"""Objectives as people write them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.findings.stress.judge_objectives import TIMES, format_slo, parse_slo, request_limits
from agentdyno.model.load import Objective

from ...properties import examples

limits = st.floats(1e-9, 1e6)
times = st.builds(
    Objective,
    st.sampled_from(TIMES),
    limits,
    st.none() | st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.28, 0.57, 1.0]),
)
shares = st.builds(Objective, st.just("error_rate"), st.floats(1e-9, 1.0))


@examples(100)
@given(st.lists(times | shares, min_size=1, max_size=6, unique_by=lambda one: one.name))
def test_what_is_written_reads_back_as_the_same(objectives: list[Objective]) -> None:
    assert parse_slo(format_slo(objectives)) == tuple(objectives)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ttft_p95<200ms, error_rate<1%", (Objective("ttft", 0.2, 0.95), Objective("error_rate", 0.01))),
        ("latency_p99.9 <= 2s", (Objective("latency", 2.0, 0.999),)),
        ("itl_mean<50us; tpot<0.02", (Objective("itl", 5e-5), Objective("tpot", 0.02, 0.95))),
        (
            "QUEUED_TTFT_median<1min and service_p50<.5",
            (Objective("queued_ttft", 60.0, 0.5), Objective("service", 0.5, 0.5)),
        ),
        ("error_rate<0.05,", (Objective("error_rate", 0.05),)),
        ("latency_p99<1.5e3ms", (Objective("latency", 1.5, 0.99),)),
    ],
)
def test_units_quantiles_and_separators(text: str, expected: tuple[Objective, ...]) -> None:
    found = parse_slo(text)
    assert [one.name for one in found] == [one.name for one in expected]
    assert [one.limit for one in found] == pytest.approx([one.limit for one in expected])
    assert [one.quantile for one in found] == [one.quantile for one in expected]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no objective"),
        (" , ", "no objective"),
        ("ttft_p95>200ms", "upper limit"),
        ("ttft_p95", "'ttft_p95' is not an objective"),
        ("tfft_p95<1s", "Did you mean ttft"),
        ("ttft_p95<1h", "'h' is no unit of ttft"),
        ("error_rate<5ms", "'ms' is no unit of error_rate"),
        ("error_rate<120%", "at most 100 %"),
        ("error_rate_p95<1%", "has no p95"),
        ("latency_p0<1s", "p0 is no quantile"),
        ("latency_p101<1s", "no quantile"),
        ("latency_p9.9.9<1s", "no quantile"),
        ("latency_p99<0s", "more than 0"),
        ("latency_p99<-1s", "is not an objective"),
        ("latency_p99<1s, latency_p99<2s", "limited twice"),
        ("latency_p99<1e999s", "more than 0"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises(SpecError, match="slo") as raised:
        parse_slo(text)
    assert message in str(raised.value)


@examples(100)
@given(st.text(max_size=40))
def test_any_text_is_objectives_or_a_clear_refusal(text: str) -> None:
    with contextlib.suppress(SpecError):
        assert parse_slo(text)


def test_a_request_is_held_to_the_loosest_limit_of_each_time() -> None:
    found = request_limits(parse_slo("ttft_p50<100ms, ttft_p99<1s, latency_mean<2s, error_rate<1%"))
    assert found == {"ttft": 1.0, "latency": 2.0}


def test_a_quantile_alone_is_one_of_latency() -> None:
    assert parse_slo("p95<300ms, median<1s") == parse_slo("latency_p95<300ms, latency_median<1s")
