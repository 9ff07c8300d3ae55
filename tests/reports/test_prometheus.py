"""The OpenMetrics file: names, labels, times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.model import ArmResult, Findings, Phase, RunResult, Sample, Status
from agentdyno.reports.prometheus import PrometheusReporter, metric_name, openmetrics
from tests.given_results import Factory


def sampled(*times: int) -> RunResult:
    samples = tuple(
        Sample("a1", Phase.MEASURED, n, Status.OK, at, {"latency_p99_s": 0.5 + n, "asked_per_s": 10.0})
        for n, at in enumerate(times)
    )
    arm = ArmResult("a1", 'spike "x"', "spike_load", agent="me@1", samples=samples, observed={"simulated": True})
    return replace(Factory().result(()), run_id="run-1", name="night", arms=(arm,))


def test_names_carry_their_unit_in_full() -> None:
    assert metric_name("latency_p99_s") == "dyno_latency_p99_seconds"
    assert metric_name("asked_per_s") == "dyno_asked_per_second"
    assert metric_name("psutil.rss_bytes") == "dyno_psutil_rss_bytes"
    assert metric_name("cost_usd") == "dyno_cost_dollars"


def test_every_sample_is_a_line_with_its_time_and_the_file_ends() -> None:
    text = openmetrics([sampled(1_700_000_000_000, 1_700_000_001_000)])
    labels = r'run="run-1",name="night",experiment="spike_load",arm="spike \"x\"",agent="me@1",simulated="true"'
    assert text.splitlines() == [
        "# TYPE dyno_asked_per_second gauge",
        f"dyno_asked_per_second{{{labels}}} 10.0 1700000000.000",
        f"dyno_asked_per_second{{{labels}}} 10.0 1700000001.000",
        "# TYPE dyno_latency_p99_seconds gauge",
        f"dyno_latency_p99_seconds{{{labels}}} 0.5 1700000000.000",
        f"dyno_latency_p99_seconds{{{labels}}} 1.5 1700000001.000",
        "# EOF",
    ]


def test_no_two_samples_of_a_series_share_a_time() -> None:
    text = openmetrics([sampled(5_000, 5_000, 4_000)])
    times = [line.split()[-1] for line in text.splitlines() if line.startswith("dyno_asked")]
    assert times == ["4.000", "5.000", "5.001"]


def test_the_reporter_writes_one_file(tmp_path: Path) -> None:
    written = PrometheusReporter().write(Report((sampled(1000),), Findings()), tmp_path)
    assert [path.name for path in written] == ["metrics.prom"]
    assert written[0].read_text().endswith("# EOF\n")
