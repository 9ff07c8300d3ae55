"""Metrics as a person reads them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.agents.commands.agent import readings_of as command_readings
from agentdyno.agents.hosting.worker import start_metering
from agentdyno.findings.figures.cases import SPENT
from agentdyno.findings.figures.dimensions import TARGETED
from agentdyno.model import Direction, Metric, Provenance, known_metric
from agentdyno.model.metric import format_value, is_reserved, reported_name
from agentdyno.runner.bench.arm import timing_readings
from agentdyno.runner.bench.timing import TimedCalls
from agentdyno.sandbox.command import Completed
from agentdyno.wire.timing import StreamTiming
from agentdyno.workers.reference import References


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "s", "-"),
        (0, "s", "0 ns"),
        (1, "s", "1 s"),
        (1.234, "s", "1.23 s"),
        (12.34, "s", "12.3 s"),
        (7265.4, "s", "7,265 s"),
        (0.5, "s", "500 ms"),
        (0.00175, "s", "1.75 ms"),
        (1.53e-5, "s", "15.3 µs"),
        (3e-9, "s", "3 ns"),
        (1e-12, "s", "0.001 ns"),
        (-0.0025, "s", "-2.50 ms"),
        (1e30, "s", "1e+30 s"),
        (0, "bytes", "0 B"),
        (1023, "bytes", "1023 B"),
        (1024, "bytes", "1 KiB"),
        (20 * 1024**2 + 512 * 1024, "bytes", "20.5 MiB"),
        (-3 * 1024**3, "bytes", "-3 GiB"),
        (5e16, "bytes", "46,566,129 GiB"),
        (0.5, "bytes", "0.50 B"),
        (0, "usd", "$0"),
        (0.0002675, "usd", "$0.27 per 1,000"),
        (1.561e-07, "usd", "$0.16 per 1,000,000"),
        (1.5e-5, "usd", "$0.015 per 1,000"),
        (0.00123456, "usd", "$1.23 per 1,000"),
        (0.01, "usd", "$0.01"),
        (0.1, "usd", "$0.10"),
        (0.0125, "usd", "$0.013"),
        (12.5, "usd", "$12.50"),
        (-2, "usd", "-$2.00"),
        (1e-12, "usd", "$1e-06 per 1,000,000"),
        (1234567.8, "usd", "$1,234,568"),
        (0.97312, "ratio", "0.973"),
        (-1, "ratio", "-1.000"),
        (0, "", "0"),
        (12, "", "12"),
        (9999, "", "9999"),
        (12345, "", "12.3 k"),
        (123456789, "", "123 M"),
        (5e13, "", "50,000 G"),
        (-20000, "", "-20 k"),
        (0.123456, "", "0.12"),
        (0.00123456, "", "0.00123"),
        (1e-300, "", "1e-300"),
        (1e300, "", "1e+291 G"),
        (20000, "/s", "20 k/s"),
        (3.14159, "rows", "3.14 rows"),
        (15e6, "bytes/s", "15 Mbytes/s"),
    ],
)
def test_values_have_few_digits_and_a_fitting_unit(value: float | None, unit: str, shown: str) -> None:
    assert format_value(value, unit) == shown
    assert Metric("x", unit).format(value) == shown


@pytest.mark.parametrize("unit", ["s", "bytes", "usd", "ratio", "", "/s"])
def test_what_is_no_number_reads_as_unknown_and_infinity_as_itself(unit: str) -> None:
    assert format_value(math.nan, unit) == "-"
    assert format_value(math.inf, unit) == "∞"
    assert format_value(-math.inf, unit) == "-∞"


@given(value=st.floats(), unit=st.sampled_from(["s", "bytes", "usd", "ratio", "", "/s"]))
def test_every_number_can_be_shown_in_a_table_cell(value: float, unit: str) -> None:
    assert 1 <= len(format_value(value, unit)) <= 24 or unit in ("usd", "ratio")


@pytest.mark.parametrize(
    ("name", "unit", "direction", "provenance"),
    [
        ("duration_s", "s", Direction.LOWER, Provenance.MEASURED),
        ("cpu_s", "s", Direction.LOWER, Provenance.MEASURED),
        ("peak_rss_bytes", "bytes", Direction.LOWER, Provenance.MEASURED),
        ("throughput_per_s", "/s", Direction.HIGHER, Provenance.DERIVED),
        ("result.rows_per_s", "/s", Direction.UNKNOWN, Provenance.MEASURED),
        ("psutil.read_bytes_per_s", "bytes/s", Direction.UNKNOWN, Provenance.MEASURED),
        ("result.price_usd", "usd", Direction.UNKNOWN, Provenance.MEASURED),
        ("result.wait_s", "s", Direction.UNKNOWN, Provenance.MEASURED),
        ("result.hits", "", Direction.UNKNOWN, Provenance.MEASURED),
        ("result.s", "", Direction.UNKNOWN, Provenance.MEASURED),
    ],
)
def test_a_name_tells_its_unit_and_only_known_metrics_have_a_direction(
    name: str, unit: str, direction: Direction, provenance: Provenance
) -> None:
    assert known_metric(name) == Metric(name, unit, direction, provenance)


def test_every_name_that_the_bench_writes_itself_is_reserved() -> None:
    written = {
        *StreamTiming(1.0, 1.0, 1.0).readings(),
        *start_metering(References(0.3))(),
        *command_readings(Completed(0, b"", "")),
        *timing_readings(TimedCalls(1, 1, 1, None)),
        *(*SPENT, *TARGETED, "input_tokens", "output_tokens", "score", "rss_bytes", "involuntary_switches"),
        *("server.load_s", "server.cpu_s", "result.rows", "pressure.steal_s", "reported.duration_s"),
    }
    assert [name for name in sorted(written) if not is_reserved(name)] == []
    assert not is_reserved("steps")


def test_a_claim_has_the_name_of_what_it_is_about_and_a_mark() -> None:
    assert reported_name("duration_s") == "reported.duration_s"
    assert reported_name("server.load_s") == "reported.server.load_s"
    assert reported_name("steps") == "steps"
    assert reported_name("reported.duration_s") == "reported.duration_s"
    assert known_metric("reported.duration_s") == Metric("reported.duration_s", "s", provenance=Provenance.REPORTED)
