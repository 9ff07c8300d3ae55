"""Figures of workflow executions: a row for each, and what the rows of each model come to.

What nobody knows is ``None``: a price that is not listed, a check that a free prompt does not have.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentdyno.model import ArmResult, Phase, RunResult, Sample
from agentdyno.stats.intervals import median_interval, wilson

Row = dict[str, object]
_READINGS = {
    "execution_time_s": "duration_s",
    "planner_s": "workflow.planner_s",
    "critical_path_s": "workflow.critical_path_s",
    "idle_s": "workflow.idle_s",
    "steps_planned": "workflow.steps_planned",
    "steps_executed": "workflow.steps_executed",
    "steps_failed": "workflow.steps_failed",
    "repairs": "workflow.repairs",
    "completed_steps_detected": "resume.recall",
    "resume_precision": "resume.precision",
    "steps_completed_before_fault": "resume.steps_completed",
    "steps_skipped": "resume.steps_skipped",
    "wrongly_skipped": "resume.wrongly_skipped",
    "time_saved_s": "resume.time_saved_s",
    "cpu_s": "cpu_s",
    "command_count": "commands.count",
    "average_command_length": "commands.average_length",
    "unknown_tools": "commands.unknown_tools",
    "dangerous_patterns": "commands.dangerous",
    "unparsed_commands": "commands.unparsed",
    "shellcheck_findings": "commands.shellcheck_findings",
    "idempotent": "commands.idempotent",
    "tokens": "total_tokens",
    "cost_usd": "cost_usd",
}
"""Column of a row and the reading that it is."""
_MEDIANS = tuple(
    name for name in (*_READINGS, "memory_mb", "cpu_percent", "steps_skipped_ratio") if name != "idempotent"
)


class BenchmarkMetrics:
    """Reads a run of workflows. ``rows`` has one row for each execution, ``summary`` the figures of each model."""

    def __init__(self, result: RunResult, names: Mapping[str, str] | None = None) -> None:
        self.rows: list[Row] = list(_rows(result, names or {}))

    def summary(self) -> dict[str, dict[str, object]]:
        """By model: executions, success with its interval, and the median of every other figure with its interval."""
        models = dict.fromkeys(str(row["model"]) for row in self.rows)
        return {model: _summary([row for row in self.rows if row["model"] == model]) for model in models}

    def write_csv(self, path: Path) -> Path:
        """The rows as a table."""
        columns = list(self.rows[0]) if self.rows else ["model"]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.rows)
        return path


def _rows(result: RunResult, names: Mapping[str, str]) -> Iterator[Row]:
    for arm in result.arms:
        agent = arm.agent or arm.name
        asked = names.get(agent, names.get(agent.rpartition("@")[0], agent))
        for sample in arm.samples:
            if sample.phase is Phase.MEASURED:
                yield _row(arm, sample, asked)


def _row(arm: ArmResult, sample: Sample, model: str) -> Row:
    output = sample.output if isinstance(sample.output, Mapping) else {}
    commands = output.get("commands")
    quality = commands if isinstance(commands, Mapping) else {}
    score = sample.scores.get("score")
    readings = sample.readings
    row: Row = {
        "model": model,
        "agent": arm.agent,
        "task": sample.case_id,
        "repetition": sample.iteration + 1,
        "status": sample.status.value,
        "outcome": output.get("outcome"),
        "reason": output.get("reason") or (sample.failure.message if sample.failure else ""),
        "model_answered": sample.details.get("model"),
        "simulated": sample.details.get("simulated") is True,
        "score": score,
        "success": None if score is None else sample.usable and score >= 0.5,
    }
    row |= {name: readings.get(reading) for name, reading in _READINGS.items()}
    row["memory_mb"] = _scaled(readings.get("workflow.peak_rss_bytes"), 2**20)
    executed, cpu = readings.get("workflow.execution_s"), readings.get("workflow.cpu_s")
    row["cpu_percent"] = None if not executed or cpu is None else 100.0 * cpu / executed
    skipped, planned = readings.get("resume.steps_skipped"), readings.get("workflow.steps_planned")
    row["steps_skipped_ratio"] = None if skipped is None or not planned else skipped / planned
    row |= {"tools": _joined(quality.get("tools")), "flags": _joined(quality.get("flags"))}
    return row


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit


def _joined(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else ""


def _summary(rows: Sequence[Row]) -> dict[str, object]:
    judged = [row["success"] for row in rows if row["success"] is not None]
    right = sum(bool(item) for item in judged)
    interval = wilson(right, len(judged)) if judged else None
    found: dict[str, object] = {
        "executions": len(rows),
        "judged": len(judged),
        "success_rate": right / len(judged) if judged else None,
        "success_rate_interval": None if interval is None else [interval.low, interval.high],
        "models_answered": sorted({str(row["model_answered"]) for row in rows if row["model_answered"]}),
        "simulated": any(row["simulated"] for row in rows),
    }
    for name in _MEDIANS:
        values = [float(value) for row in rows if isinstance(value := row[name], (int, float))]
        around = median_interval(values) if values else None
        found[name] = {
            "n": len(values),
            "median": statistics.median(values) if values else None,
            "interval": None if around is None else [around.low, around.high],
        }
    return found
