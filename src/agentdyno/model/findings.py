"""What analysis concludes. Findings are values: every reporter shows the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.form import RunWarning
from agentdyno.model.metric import Metric, Verdict
from agentdyno.model.sample import LEFT_OUT


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric of one arm on both sides.

    ``ratio`` is candidate / baseline with its ``interval``, which leaves 1 exactly where ``p_value`` is below
    ``level``; ``adjusted_p`` is that p-value corrected over the ``family`` rows that were judged together: the
    verdict rests on it. ``threshold`` is the relative change that counts (the larger of tolerance and noise floor);
    ``detectable`` the smallest relative change that these samples could have shown; ``more_samples`` how many more
    per side would decide. What is counted are samples or, where an arm ran in several processes, processes
    (``unit``). ``verdict`` is null for a metric that is shown and not judged, and ``reason`` says why.
    """

    metric: Metric
    baseline_n: int
    candidate_n: int
    baseline: float
    candidate: float
    ratio: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    verdict: Verdict | None
    reason: str
    threshold: float
    detectable: float | None = None
    more_samples: int | None = None
    paired: bool = False
    method: str = ""
    unit: str = "samples"
    level: float = 0.01
    adjusted_p: float | None = None
    family: int = 0


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """Two arms with the same experiment and parameters (``differing`` names those that differ on purpose)."""

    name: str
    baseline_arm_id: str
    candidate_arm_id: str
    params: Mapping[str, object] = field(default_factory=dict)
    differing: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    metrics: tuple[MetricComparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Baseline against candidate. ``paired`` when both sides ran interleaved in one run."""

    baseline: str
    candidate: str
    paired: bool
    arms: tuple[ArmComparison, ...]
    only_in_baseline: tuple[str, ...] = ()
    only_in_candidate: tuple[str, ...] = ()
    noise_floor: float | None = None
    warnings: tuple[RunWarning, ...] = ()

    def __repr__(self) -> str:
        """Short: the rows of a comparison fill pages."""
        rows = [
            f"{row.metric.name} {'' if row.ratio is None else f'×{row.ratio:.3g} '}{row.verdict}"
            for arm in self.arms
            for row in arm.metrics
            if row.verdict is not None
        ]
        told = ", ".join(rows[:3]) + (", …" if len(rows) > 3 else "")
        return f"<Comparison {self.baseline!r} → {self.candidate!r}: {told or 'nothing judged'}>"

    @property
    def verdict(self) -> Verdict:
        """Worse if anything is worse, else inconclusive if anything is, else better if anything is, else same."""
        verdicts = {row.verdict for arm in self.arms for row in arm.metrics if row.verdict is not None}
        if Verdict.WORSE in verdicts:
            return Verdict.WORSE
        if Verdict.INCONCLUSIVE in verdicts or not verdicts:
            return Verdict.INCONCLUSIVE
        return Verdict.BETTER if Verdict.BETTER in verdicts else Verdict.SAME


@dataclass(frozen=True, slots=True)
class Calibration:
    """What comparing a machine with itself showed. Ratios are relative: 0.02 is 2 %."""

    machine_id: str
    measured_at: int
    comparisons: int
    samples_per_side: int
    noise_floor: float
    false_alarms: int

    @property
    def false_alarm_rate(self) -> float:
        return self.false_alarms / self.comparisons if self.comparisons else 0.0


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``dyno doctor``: what was looked at, what was seen, what to do."""

    name: str
    level: Level
    seen: str
    remedy: str = ""


class BandLevel(StrEnum):
    """``poor`` is a red flag; ``fair`` is neither good nor one."""

    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"


@dataclass(frozen=True, slots=True)
class BandFinding:
    """What one figure of an arm means. ``band`` names the question (``latency_p95``), ``label`` the answer in a word.

    ``value`` is ``figure`` (median, p95, cv, …) of ``metric``, in ``unit``; ``None`` where it was never reached.
    ``threshold`` is the limit that it was held against last, and ``n`` counts samples.
    """

    band: str
    arm_id: str
    arm: str
    metric: str
    figure: str
    value: float | None
    unit: str
    label: str
    level: BandLevel
    threshold: float
    n: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything concluded about one or more results, as reporters receive it."""

    warnings: tuple[RunWarning, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    bands: tuple[BandFinding, ...] = field(default=(), metadata=LEFT_OUT)
