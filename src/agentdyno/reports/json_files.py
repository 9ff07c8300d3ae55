"""JSON: the result file of a run, and a report of results with their findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.model import ArmResult, Phase, RunResult, RunWarning, Sample
from agentdyno.model.codec import encode
from agentdyno.model.result import SAMPLE_CAP
from agentdyno.reports.files import write_text

THINNED = "samples-thinned"
INDENTED_SAMPLES = 1_000


class JsonReporter:
    """Results and findings as one JSON document (report.json)."""

    name = "json"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        return [write_text(output_dir / "report.json", render_json(report))]


def render_json(report: Report) -> str:
    """``{"results": [...], "findings": {...}}``, samples thinned as in a result file."""
    results = [thinned(result) for result in report.results]
    return encode({"results": results, "findings": report.findings}, indent=1) + "\n"


def write_result(result: RunResult, path: Path, cap: int = SAMPLE_CAP) -> Path:
    """Writes the result file in one step; at most ``cap`` samples per arm, and a warning that says so."""
    kept = thinned(result, cap)
    # Indented JSON is written by slow code; a file this long is for programs.
    indent = 1 if sum(len(arm.samples) for arm in kept.arms) <= INDENTED_SAMPLES else None
    return write_text(path, encode(kept, indent=indent) + "\n")


def thinned(result: RunResult, cap: int = SAMPLE_CAP) -> RunResult:
    """The result with at most ``cap`` samples per arm, evenly spaced, and a warning that says how many are kept where
    that is not all; totals and metrics stay as they were. A suite's result may have come with fewer already."""
    arms = tuple(_thin(arm, cap) for arm in result.arms)
    held, taken = (sum(map(of, arms)) for of in (_held, _taken))
    if held == taken:
        return result
    warning = RunWarning(
        THINNED,
        f"this file holds {held:,} of {taken:,} samples, evenly spaced.",
        "The figures come from all samples, and the store keeps every one of them.",
    )
    kept = tuple(item for item in result.warnings if item.code != THINNED)
    return replace(result, arms=arms, warnings=(*kept, warning))


def _held(arm: ArmResult) -> int:
    return len(arm.samples)


def _taken(arm: ArmResult) -> int:
    return max(arm.samples_total, len(arm.samples))


def _thin(arm: ArmResult, cap: int) -> ArmResult:
    if len(arm.samples) <= cap:
        return arm
    # The few instrumented samples carry the profiles; thinning them away would empty whole sections.
    instrumented = sum(sample.phase is Phase.INSTRUMENTED for sample in arm.samples)
    spared = instrumented if instrumented < cap else 0
    thinnable = [i for i, sample in enumerate(arm.samples) if not (spared and sample.phase is Phase.INSTRUMENTED)]
    keep = set(_evenly(thinnable, cap - spared))
    samples: tuple[Sample, ...] = tuple(
        sample for i, sample in enumerate(arm.samples) if i in keep or (spared and sample.phase is Phase.INSTRUMENTED)
    )
    return replace(arm, samples=samples, samples_total=_taken(arm))


def _evenly(indices: list[int], number: int) -> list[int]:
    """``number`` of the indices, the first and the last among them."""
    if number >= len(indices):
        return indices
    if number == 1:
        return indices[:1]
    step = (len(indices) - 1) / (number - 1)
    return [indices[round(position * step)] for position in range(number)]
