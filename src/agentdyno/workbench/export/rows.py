"""Results as rows of plain values: one a sample, one a case, or one an arm. Units are those of the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.figures.suite_figures import figures_of
from agentdyno.model import ArmResult, RunResult, Sample
from agentdyno.model.case import CaseKey
from agentdyno.model.identity import canonical_json
from agentdyno.model.naming import with_shown_arms

Row = dict[str, object]
SAMPLES = "samples"


def rows_of(results: Sequence[RunResult], what: str = SAMPLES) -> list[Row]:
    """Rows of ``samples``, ``cases`` or ``arms``; each has the columns of all, ``None`` where it has no value.

    Agents are called as everywhere else where people read of them.
    """
    kinds: dict[str, Callable[[RunResult], Iterator[Row]]] = {
        SAMPLES: _samples,
        "cases": _cases,
        "arms": _arms,
    }
    if what not in kinds:
        raise SpecError(f"no rows of {what!r}", remedy=nearest(what, kinds))
    rows = [row for result in results for row in kinds[what](with_shown_arms(result))]
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def _head(result: RunResult, arm: ArmResult) -> Row:
    return {
        "run_id": result.run_id,
        "run": result.name,
        "kind": result.kind,
        "started_at_ms": result.started_at,
        "arm": arm.name,
        "experiment": arm.experiment,
        "params": canonical_json(arm.params),
        "benchmark": arm.benchmark,
        "agent": arm.agent,
        "side": None if arm.side is None else arm.side.value,
    }


def _samples(result: RunResult) -> Iterator[Row]:
    targets = _targets(result)
    for arm in result.arms:
        head = _head(result, arm)
        for sample in arm.samples:
            yield {**head, **_sample(sample), "target": targets.get(CaseKey(arm.benchmark or "", sample.case_id))}


def _sample(sample: Sample) -> Row:
    failure = sample.failure
    return {
        "phase": sample.phase.value,
        "iteration": sample.iteration,
        "case_id": sample.case_id or None,
        "status": sample.status.value,
        "sampled_at_ms": sample.started_at_ms,
        "process": sample.process,
        "inner_loops": sample.inner_loops,
        "attempts": sample.attempts,
        **sample.readings,
        **{f"score.{name}": value for name, value in sample.scores.items()},
        **{f"usage.{name}": value for name, value in sample.usage.items()},
        "output": _text(sample.output),
        "failure": None if failure is None else f"{failure.kind.value}: {failure.message}",
    }


def _targets(result: RunResult) -> dict[CaseKey, str | None]:
    benchmarks = result.suite.benchmarks if result.suite is not None else ()
    return {CaseKey(item.benchmark_id, case.id): _text(case.target) for item in benchmarks for case in item.cases}


def _cases(result: RunResult) -> Iterator[Row]:
    """Of a suite: every case that was tried, with its executions as one."""
    if result.suite is None:
        return
    for arm_id, figures in figures_of(result).items():
        arm = next(arm for arm in result.arms if arm.arm_id == arm_id)
        scores = figures.case_scores()
        for case_id, tally in figures.tallies.items():
            yield {
                **_head(result, arm),
                "case_id": case_id,
                "tries": tally.tries,
                "passed": tally.passed,
                "errors": tally.errors,
                "score": scores[case_id],
                "duration_s": tally.spent[0] / tally.tries if tally.tries else None,
            }


def _arms(result: RunResult) -> Iterator[Row]:
    for arm in result.arms:
        figures: Row = {}
        for name, metric in sorted(arm.metrics.items()):
            low, high = metric.ci or (None, None)
            figures |= {f"{name}.median": metric.median, f"{name}.low": low, f"{name}.high": high}
        passed = {} if arm.case_figures is None else {"passed": arm.case_figures.passed}
        yield {
            **_head(result, arm),
            "status": result.status.value,
            "samples": arm.samples_total,
            **passed,
            **{f"score.{name}": value for name, value in arm.scores.items()},
            **{f"total.{name}": value for name, value in arm.totals.items()},
            **figures,
        }


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
