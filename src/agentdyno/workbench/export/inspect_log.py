"""Runs of suites as logs of Inspect: one JSON file for each agent in each benchmark, for ``inspect view``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.model import ArmResult, Benchmark, Case, Phase, RunResult, RunStatus, Sample, Status
from agentdyno.model.naming import shown_result
from agentdyno.model.sample import scoring_items
from agentdyno.version import __version__

Plain = dict[str, object]
_STATUSES = {RunStatus.COMPLETE: "success", RunStatus.RUNNING: "started", RunStatus.FAILED: "error"}
_TOKENS = ("input_tokens", "output_tokens", "total_tokens")


def write_inspect(result: RunResult, folder: Path) -> list[Path]:
    """Writes ``folder/AGENT-BENCHMARK.json`` for every arm of a suite's run."""
    if result.suite is None:
        raise SpecError(
            f"run {result.run_id[:13]} is no run of a suite: logs of Inspect hold answers of agents",
            where="--format inspect",
            remedy="--format csv or --format parquet writes any run.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    suite = result.suite
    for arm in shown_result(result).arms:
        benchmark = next(item for item in suite.benchmarks if item.benchmark_id == arm.benchmark)
        side = f"-{arm.side.value}" if arm.side is not None else ""
        name = re.sub(r"[^\w.@-]+", "_", f"{arm.agent}-{benchmark.benchmark_id}{side}")
        file = folder / f"{name}.json"
        file.write_text(json.dumps(_log(result, arm, benchmark), ensure_ascii=False, indent=1), encoding="utf-8")
        written.append(file)
    return written


def _log(result: RunResult, arm: ArmResult, benchmark: Benchmark) -> Plain:
    samples = [item for item in arm.samples if item.phase is Phase.MEASURED and item.status is not Status.CANCELLED]
    names = sorted({name for sample in samples for name in sample.scores})
    # The score that decides comes first, as it does here.
    names.sort(key=lambda name: name != "score")
    usage = {name: sum(sample.usage.get(name, 0.0) for sample in samples) for name in _TOKENS}
    return {
        "version": 2,
        "status": _STATUSES.get(result.status, "cancelled"),
        "eval": _asked(result, arm, benchmark, samples),
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": arm.planned,
            "completed_samples": len(samples),
            "scores": [_metric(name, samples) for name in names],
        },
        "stats": {
            "started_at": _iso(result.started_at),
            "completed_at": "" if result.finished_at is None else _iso(result.finished_at),
            "model_usage": {_model(arm): {name: int(value) for name, value in usage.items()}}
            if any(usage.values())
            else {},
        },
        "samples": list(_samples(arm, benchmark, samples)),
    }


def _asked(result: RunResult, arm: ArmResult, benchmark: Benchmark, samples: list[Sample]) -> Plain:
    ids = list(dict.fromkeys(sample.case_id for sample in samples))
    return {
        "eval_id": f"{result.run_id}-{arm.arm_id[:12]}",
        "run_id": result.run_id,
        "created": _iso(result.started_at),
        "task": benchmark.benchmark_id,
        "task_id": arm.arm_id,
        "task_version": 0,
        "dataset": {"name": benchmark.name, "samples": len(ids), "sample_ids": ids, "shuffled": False},
        "model": _model(arm),
        "model_args": {},
        "config": {"epochs": max((sample.iteration for sample in samples), default=0) + 1},
        "packages": {"agentdyno": __version__},
        "metadata": {"agentdyno_run": result.run_id, "side": None if arm.side is None else arm.side.value},
        "tags": list(result.tags),
    }


def _model(arm: ArmResult) -> str:
    """Inspect has models where we have agents; it wants a provider before the slash."""
    return f"agentdyno/{arm.agent or arm.name}"


def _metric(name: str, samples: list[Sample]) -> Plain:
    values = [value for sample in samples if (value := sample.scores.get(name)) is not None]
    mean = sum(values) / len(values) if values else None
    metrics = {} if mean is None else {"mean": {"name": "mean", "value": mean, "params": {}}}
    return {"name": name, "scorer": name, "params": {}, "metrics": metrics, "scored_samples": len(values)}


def _samples(arm: ArmResult, benchmark: Benchmark, samples: list[Sample]) -> Iterator[Plain]:
    cases: Mapping[str, Case] = {case.id: case for case in benchmark.cases}
    for sample in samples:
        case = cases.get(sample.case_id)
        answer = _text(sample.output)
        why = [str(item["explanation"]) for _, item in scoring_items(sample.details) if item.get("explanation")]
        usage = {name: int(sample.usage[name]) for name in _TOKENS if name in sample.usage}
        plain: Plain = {
            "id": sample.case_id,
            "epoch": sample.iteration + 1,
            "input": "" if case is None else _text(case.input),
            "target": "" if case is None else _text(case.target),
            "messages": [
                {"role": "user", "content": "" if case is None else _text(case.input)},
                {"role": "assistant", "content": answer, "source": "generate", "model": _model(arm)},
            ],
            "output": {
                "model": _model(arm),
                "choices": [{"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}],
                "completion": answer,
                "time": sample.readings.get("duration_s"),
            },
            "scores": {
                name: {"value": value, "answer": answer, "explanation": "; ".join(why) or None}
                for name, value in sample.scores.items()
                if value is not None
            },
            "metadata": {} if case is None else dict(case.metadata),
            "store": {},
            "events": [],
            "model_usage": {_model(arm): usage} if usage else {},
            "total_time": sample.readings.get("duration_s"),
        }
        if sample.failure is not None:
            trace = sample.failure.traceback or ""
            plain["error"] = {"message": sample.failure.message, "traceback": trace, "traceback_ansi": trace}
        yield plain


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _iso(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()
