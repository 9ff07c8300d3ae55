"""Figures held against bands: which word they get, and from where they are red flags."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.bands.judge import judge_bands
from agentdyno.findings.bands.tables import bands_table, sections
from agentdyno.model import ArmResult, Findings, RunResult
from agentdyno.model.findings import BandFinding, BandLevel
from agentdyno.model.metric import Provenance, known_metric
from agentdyno.model.result import LOAD_KIND

from ..builders import arm_of, result, samples, summary

GOOD, FAIR, POOR = BandLevel.GOOD, BandLevel.FAIR, BandLevel.POOR


def run_with(metric: str, figure: str, value: float, **arm: object) -> RunResult:
    """A run of one arm that has one figure; every other figure of the metric is a value that nobody asks for."""
    shown = replace(summary(known_metric(metric)), n=40, **{figure: value})  # type: ignore[arg-type]
    return result(replace(ArmResult("a", "work", "work", metrics={metric: shown}), **arm))  # type: ignore[arg-type]


def found(run: RunResult, band: str, **thresholds: float) -> BandFinding:
    return next(item for item in judge_bands(run, thresholds) if item.band == band)


@pytest.mark.parametrize(
    ("band", "metric", "figure", "value", "label", "level"),
    [
        ("latency_p95", "duration_s", "p95", 0.199, "real time", GOOD),
        ("latency_p95", "duration_s", "p95", 0.2, "not real time", FAIR),
        ("latency_p99", "duration_s", "p99", 0.99, "short tail", FAIR),
        ("latency_p99", "duration_s", "p99", 1.01, "long tail", POOR),
        ("throughput", "throughput_per_s", "median", 10.1, "enough", GOOD),
        ("throughput", "throughput_per_s", "median", 10.0, "low", FAIR),
        ("memory", "peak_rss_bytes", "maximum", 29.9e9, "fits", GOOD),
        ("memory", "peak_rss_bytes", "maximum", 30.1e9, "large", FAIR),
        ("gpu_utilisation", "result.gpu_utilisation", "mean", 0.81, "busy", GOOD),
        ("gpu_utilisation", "result.gpu_utilisation", "mean", 0.7, "partly idle", FAIR),
        ("gpu_utilisation", "result.gpu_utilisation", "mean", 0.49, "idle", POOR),
        ("stability", "duration_s", "cv", 0.049, "excellent", GOOD),
        ("stability", "duration_s", "cv", 0.099, "good", GOOD),
        ("stability", "duration_s", "cv", 0.149, "moderate", FAIR),
        ("stability", "result.variation", "mean", 0.151, "poor", POOR),
        ("ttft", "result.ttft_s", "median", 0.44, "excellent", GOOD),
        ("ttft", "result.ttft_s", "median", 0.49, "good", GOOD),
        ("ttft", "result.ttft_s", "median", 1.4, "slow", FAIR),
        ("efficiency", "result.efficiency", "median", 0.96, "excellent", GOOD),
        ("efficiency", "result.efficiency", "median", 0.9, "typical", FAIR),
        ("efficiency", "result.efficiency", "median", 0.5, "low", POOR),
        ("contention", "result.contention_rate", "mean", 0.0, "acceptable", GOOD),
        ("contention", "result.contention_rate", "mean", 0.2, "noticeable", FAIR),
        ("contention", "result.contention_rate", "mean", 0.5, "problematic", POOR),
    ],
)
def test_a_figure_is_in_the_band_that_the_documents_name(
    band: str, metric: str, figure: str, value: float, label: str, level: BandLevel
) -> None:
    item = found(run_with(metric, figure, value), band)
    assert (item.label, item.level) == (label, level)
    assert (item.metric, item.figure, item.value, item.n) == (metric, figure, value, 40)
    assert item.sentence


@pytest.mark.parametrize(
    ("agents", "speedup", "label"), [(2, 1.91, "excellent"), (2, 1.6, "low"), (4, 3.3, "typical")]
)
def test_a_speed_up_is_held_against_the_number_of_agents(agents: int, speedup: float, label: str) -> None:
    item = found(run_with("result.speedup", "median", speedup, params={"agents": agents}), "speedup")
    assert item.label == label
    assert found(run_with("result.speedup", "median", 3.9, params={"agents": 4}), "speedup").threshold == 3.8


def test_one_agent_has_no_speed_up_to_judge() -> None:
    assert judge_bands(run_with("result.speedup", "median", 1.0, params={"agents": 1})) == ()


@pytest.mark.parametrize(
    ("episodes", "label"), [(249, "outstanding"), (299, "excellent"), (399, "good"), (400, "slow")]
)
def test_convergence_is_the_median_over_trainings(episodes: float, label: str) -> None:
    values = (100.0, episodes, 900.0)
    taken = tuple(
        replace(sample, output={"episodes_to_target": {"value": value, "reached": value < 900}})
        for sample, value in zip(samples({"duration_s": [1.0] * 3}), values, strict=True)
    )
    item = found(result(arm_of(taken)), "convergence")
    assert (item.value, item.label, item.n) == (episodes, label, 3)
    assert not {"latency_p95", "throughput", "stability"} & {
        other.band for other in judge_bands(result(arm_of(taken)))
    }, "the time of a training is no latency"


def test_trainings_that_never_got_there_are_a_red_flag() -> None:
    (sample,) = samples({"duration_s": [1.0]})
    taken = (replace(sample, output={"episodes_to_target": {"value": 400, "reached": False}}),)
    item = found(result(arm_of(taken)), "convergence")
    assert (item.value, item.label, item.level) == (None, "not reached", POOR)
    assert item.sentence == "Not half of the trainings reached 80 % of the reward; good is below 400."


def test_memory_that_grows_with_every_sample_is_a_red_flag_and_steady_memory_is_none() -> None:
    mib = 1024.0**2
    growing = [100 * mib + 2 * mib * i for i in range(20)]
    item = found(result(arm_of(samples({"rss_bytes": growing}))), "memory_growth")
    # The first four of twenty are left out: from 108 to 138 MiB.
    assert (item.label, item.level) == ("growing", POOR)
    assert item.value == pytest.approx(30 / 108)
    steady = [100 * mib + (i % 2) * mib for i in range(20)]
    assert found(result(arm_of(samples({"rss_bytes": steady}))), "memory_growth").label == "steady"
    few = result(arm_of(samples({"rss_bytes": growing[:9]})))
    assert not [item for item in judge_bands(few) if item.band == "memory_growth"]


def test_thresholds_can_be_replaced() -> None:
    run = run_with("duration_s", "p95", 0.3)
    assert found(run, "latency_p95").label == "not real time"
    item = found(run, "latency_p95", latency_p95_s=0.5)
    assert (item.label, item.threshold) == ("real time", 0.5)
    assert item.sentence == "95 % of answers take at most 300 ms, below 500 ms: fit for real-time use."


def test_a_load_is_held_against_its_windows() -> None:
    run = replace(run_with("latency_p95_s", "median", 0.1), kind=LOAD_KIND)
    (item,) = judge_bands(run)
    assert (item.band, item.metric, item.figure) == ("latency_p95", "latency_p95_s", "median")


def test_a_simulated_figure_says_so() -> None:
    metric = replace(known_metric("duration_s"), provenance=Provenance.SIMULATED)
    shown = replace(summary(metric), p95=0.1)
    item = found(result(ArmResult("a", "work", "work", metrics={"duration_s": shown})), "latency_p95")
    assert item.sentence.endswith("Simulated.")


def test_reports_show_red_flags_first_of_all() -> None:
    flags = judge_bands(run_with("duration_s", "p99", 2.0))
    (section,) = sections(Findings(bands=flags))
    assert section.lead.text.startswith("1 red flag,")
    table = bands_table(flags)
    assert table is not None
    assert "✗ long tail" in {cell.text for row in table.rows for cell in row}
    assert bands_table(()) is None
