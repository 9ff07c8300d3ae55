"""Figures of arms held against bands.

A band asks one question of an arm. It takes the first of its figures that the arm has, and goes through its steps in
order: the first that the value passes names the answer. Where none is passed, the band's last word holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentdyno.findings.bands.judge_figures import (
    BandFigure,
    episodes_to_target,
    memory_growth,
    summarised,
    variation_of_times,
)
from agentdyno.findings.bands.words import sentence
from agentdyno.model.findings import BandFinding, BandLevel
from agentdyno.model.result import LOAD_KIND, ArmResult, RunResult
from agentdyno.settings import bands as settings
from agentdyno.settings.setting import Setting

GOOD, FAIR, POOR = BandLevel.GOOD, BandLevel.FAIR, BandLevel.POOR
_GB = 1e9


@dataclass(frozen=True, slots=True)
class BandStep:
    """One threshold, and what a figure beyond it is called."""

    limit: Setting[float]
    label: str
    level: BandLevel


@dataclass(frozen=True, slots=True)
class Band:
    """``rising``: more is better, and a value above a step's limit passes it; else one below it does.

    ``scale`` brings limits to the unit of the figure, ``per_agent`` those of two agents to the number of agents.
    """

    name: str
    figures: tuple[Callable[[ArmResult], BandFigure | None], ...]
    steps: tuple[BandStep, ...]
    otherwise: tuple[str, BandLevel]
    rising: bool = False
    scale: float = 1.0
    per_agent: bool = False


_OF_LOADS = (
    Band(
        "latency_p95",
        (summarised("latency_p95_s", "median"),),
        (BandStep(settings.REAL_TIME_P95, "real time", GOOD),),
        ("not real time", FAIR),
    ),
    Band(
        "latency_p99",
        (summarised("latency_p99_s", "median"),),
        (BandStep(settings.POOR_P99, "short tail", FAIR),),
        ("long tail", POOR),
    ),
    Band(
        "throughput",
        (summarised("throughput_per_s", "median"),),
        (BandStep(settings.ENOUGH_THROUGHPUT, "enough", GOOD),),
        ("low", FAIR),
        rising=True,
    ),
    Band(
        "memory",
        (summarised("target_rss_bytes", "maximum"),),
        (BandStep(settings.MEMORY, "fits", GOOD),),
        ("large", FAIR),
        scale=_GB,
    ),
    Band(
        "ttft",
        (summarised("ttft_p50_s", "median"),),
        (BandStep(settings.TTFT_TARGET, "excellent", GOOD), BandStep(settings.TTFT_GOOD, "good", GOOD)),
        ("slow", FAIR),
    ),
)
_OF_ANSWERS = ("latency_p95", "latency_p99", "throughput")
_LATENCY = ("result.latency_s", "result.answer_s", "duration_s")
_STABILITY = (
    BandStep(settings.CV_EXCELLENT, "excellent", GOOD),
    BandStep(settings.CV_GOOD, "good", GOOD),
    BandStep(settings.CV_MODERATE, "moderate", FAIR),
)
_OF_OTHERS = (
    Band(
        "latency_p95",
        tuple(summarised(name, "p95") for name in _LATENCY),
        (BandStep(settings.REAL_TIME_P95, "real time", GOOD),),
        ("not real time", FAIR),
    ),
    Band(
        "latency_p99",
        tuple(summarised(name, "p99") for name in _LATENCY),
        (BandStep(settings.POOR_P99, "short tail", FAIR),),
        ("long tail", POOR),
    ),
    Band(
        "throughput",
        (summarised("result.throughput_per_s", "median"), summarised("throughput_per_s", "median")),
        (BandStep(settings.ENOUGH_THROUGHPUT, "enough", GOOD),),
        ("low", FAIR),
        rising=True,
    ),
    Band(
        "memory",
        tuple(
            summarised(f"{name}_bytes", "maximum") for name in ("result.gpu_memory", "result.server_rss", "peak_rss")
        ),
        (BandStep(settings.MEMORY, "fits", GOOD),),
        ("large", FAIR),
        scale=_GB,
    ),
    Band(
        "memory_growth",
        (memory_growth,),
        (BandStep(settings.MEMORY_GROWTH, "steady", FAIR),),
        ("growing", POOR),
    ),
    Band(
        "gpu_utilisation",
        (summarised("result.gpu_utilisation", "mean"),),
        (BandStep(settings.GPU_BUSY, "busy", GOOD), BandStep(settings.GPU_IDLE, "partly idle", FAIR)),
        ("idle", POOR),
        rising=True,
    ),
    Band("stability", (summarised("result.variation", "mean"), variation_of_times), _STABILITY, ("poor", POOR)),
    Band(
        "convergence",
        (episodes_to_target,),
        (
            BandStep(settings.EPISODES_OUTSTANDING, "outstanding", GOOD),
            BandStep(settings.EPISODES_EXCELLENT, "excellent", GOOD),
            BandStep(settings.EPISODES_GOOD, "good", GOOD),
        ),
        ("slow", FAIR),
    ),
    Band(
        "ttft",
        (summarised("result.ttft_s", "median"), summarised("ttft_s", "median")),
        (BandStep(settings.TTFT_TARGET, "excellent", GOOD), BandStep(settings.TTFT_GOOD, "good", GOOD)),
        ("slow", FAIR),
    ),
    Band(
        "speedup",
        (summarised("result.speedup", "median"),),
        (BandStep(settings.SPEEDUP_TARGET, "excellent", GOOD), BandStep(settings.SPEEDUP_TYPICAL, "typical", FAIR)),
        ("low", POOR),
        rising=True,
        per_agent=True,
    ),
    Band(
        "efficiency",
        (summarised("result.efficiency", "median"),),
        (
            BandStep(settings.EFFICIENCY_TARGET, "excellent", GOOD),
            BandStep(settings.EFFICIENCY_TYPICAL, "typical", FAIR),
        ),
        ("low", POOR),
        rising=True,
    ),
    Band(
        "contention",
        (summarised("result.contention_rate", "mean"),),
        (
            BandStep(settings.CONTENTION_ACCEPTABLE, "acceptable", GOOD),
            BandStep(settings.CONTENTION_PROBLEMATIC, "noticeable", FAIR),
        ),
        ("problematic", POOR),
    ),
)


def judge_bands(result: RunResult, thresholds: Mapping[str, float] | None = None) -> tuple[BandFinding, ...]:
    """What the figures of each arm mean; ``thresholds`` replace those of the settings, by name.

    Of a suite neither the spread nor the convergence is judged, because cases differ.
    """
    given = thresholds or {}
    bands: tuple[Band, ...] = _OF_LOADS if result.kind == LOAD_KIND else _OF_OTHERS
    if result.suite is not None:
        bands = tuple(band for band in bands if band.name not in ("stability", "convergence", "throughput"))
    found = [_judged(band, arm, given) for arm in result.arms for band in bands if _fits(band, arm)]
    return tuple(item for item in found if item is not None)


def _fits(band: Band, arm: ArmResult) -> bool:
    """The time of a whole training, or of several agents at work, is no latency of an answer."""
    is_training = episodes_to_target(arm) is not None
    if is_training and band.name == "stability":
        return "result.variation" in arm.metrics
    return band.name not in _OF_ANSWERS or not (is_training or "result.speedup" in arm.metrics)


def _judged(band: Band, arm: ArmResult, given: Mapping[str, float]) -> BandFinding | None:
    measured = next((found for figure in band.figures if (found := figure(arm)) is not None), None)
    agents = arm.params.get("agents")
    alone = isinstance(agents, int) and agents < 2
    if measured is None or (band.name in ("speedup", "efficiency", "contention") and alone):
        return None
    scale = band.scale
    if band.per_agent and isinstance(agents, int):
        scale = agents / 2
    (label, level), threshold = band.otherwise, 0.0
    for step in band.steps:
        threshold = given.get(step.limit.name, step.limit.default) * scale
        value = measured.value
        if value is not None and (value > threshold if band.rising else value < threshold):
            label, level = step.label, step.level
            break
    if measured.value is None:
        label, level = "not reached", POOR
    finding = BandFinding(
        band=band.name,
        arm_id=arm.arm_id,
        arm=arm.name,
        metric=measured.metric,
        figure=measured.figure,
        value=measured.value,
        unit=measured.unit,
        label=label,
        level=level,
        threshold=threshold,
        n=measured.n,
        sentence="",
    )
    return sentence(finding, simulated=measured.simulated)
