"""An agent's record in the form that may be committed: small, stable, and without traces of this machine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agentdyno.model.codec import to_plain
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord, ErrorClass

_DIGITS = 6
# An absolute path of this machine, with at least one folder; not the part of a web address behind its host.
_PATH = re.compile(r"(?<![\w:/.\\])(?:[A-Za-z]:[\\/]|/)(?:[^\s/\\\"'<>|:*?]+[\\/])+([^\s/\\\"'<>|:*?]*)")


def committable(record: AgentRecord) -> AgentRecord:
    """The record as a file keeps it: floats at 6 significant digits, benchmarks and cases in order, the folders of
    this machine cut from texts, and of errors no example, which may quote what was asked."""
    return replace(
        record,
        benchmarks=tuple(_benchmark(item) for item in sorted(record.benchmarks, key=lambda item: item.benchmark_id)),
        cases=tuple(_case(item) for item in sorted(record.cases, key=lambda item: (item.benchmark, item.case_id))),
        configuration=_without_paths(to_plain(dict(record.configuration))),
        origin=_PATH.sub(r"…/\1", record.origin),
    )


def _benchmark(item: BenchmarkRecord) -> BenchmarkRecord:
    return replace(
        item,
        pass_threshold=_rounded(item.pass_threshold),
        scores={name: _known(value) for name, value in sorted(item.scores.items())},
        targets={
            name: (_rounded(low), _rounded(high))
            for name, (low, high) in sorted(item.targets.items())
            if math.isfinite(low) and math.isfinite(high)
        },
        errors=tuple(replace(found, example="", message=_cut(found)) for found in item.errors),
    )


def _case(case: CaseRecord) -> CaseRecord:
    return replace(
        case,
        score=_known(case.score),
        statuses=dict(sorted(case.statuses.items())),
        used=_numbers(case.used.items()),
        spread=_numbers(case.spread.items()),
    )


def _numbers(items: Iterable[tuple[str, float]]) -> dict[str, float]:
    return {name: _rounded(value) for name, value in sorted(items) if math.isfinite(value)}


def _known(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else _rounded(value)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _cut(found: ErrorClass) -> str:
    return _PATH.sub(r"…/\1", found.message)


def _without_paths(value: Any) -> Any:
    if isinstance(value, str):
        return _PATH.sub(r"…/\1", value)
    if isinstance(value, dict):
        return {key: _without_paths(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_without_paths(item) for item in value]
    return value
