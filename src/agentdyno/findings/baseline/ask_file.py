"""Baseline files: agent records as a small text that is committed beside the code.

The history of versions:

1. the first. Every benchmark and every case has a line of its own, so that a difference of two files reads case by
   case. The metrics of ``used`` and ``spread`` are named once per record; a case has its values in that order.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentdyno.errors import ResultError
from agentdyno.findings.baseline.judge import committable
from agentdyno.model.codec import encode, from_plain, left_out, to_plain
from agentdyno.model.record import AgentRecord, CaseRecord

SCHEMA = "agentdyno.baseline"
SCHEMA_VERSION = 1
_AGAIN = "`dyno baseline export FILE` writes it again."
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)
_HEAD = tuple(field.name for field in fields(AgentRecord) if field.name not in ("benchmarks", "cases"))


def write_baseline(path: Path, records: Sequence[AgentRecord]) -> Path:
    """Replaces ``path`` with the records, in one step. Raises ``RunError`` where it cannot be written."""
    from agentdyno.reports.files import write_text

    return write_text(path, render_baseline(records))


def read_baseline(path: Path) -> tuple[AgentRecord, ...]:
    """The records of a file, sorted by suite and agent. Raises ``ResultError``."""
    where = str(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        remedy = "Give the path of a file that `dyno baseline export FILE` wrote."
        raise ResultError("no such baseline file", where=where, remedy=remedy) from None
    except OSError as error:
        raise ResultError(
            f"cannot be read: {error.strerror or error}", where=where, remedy="Check the path and its permissions."
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ResultError("not a text in UTF-8, so not a baseline file", where=where, remedy=_AGAIN) from None
    return parse_baseline(text, where)


def render_baseline(records: Sequence[AgentRecord]) -> str:
    """The text of a baseline file; the same records give the same text."""
    kept = sorted((committable(item) for item in records), key=lambda item: (item.suite_name, item.agent, item.suite))
    parts = ",\n".join(_record(item) for item in kept)
    return f'{{\n"schema": "{SCHEMA}",\n"schema_version": {SCHEMA_VERSION},\n"records": [\n{parts}\n]\n}}\n'


def parse_baseline(text: str, where: str) -> tuple[AgentRecord, ...]:
    """The inverse of ``render_baseline``; ``where`` names the file in errors."""
    plain = _parse(text, where)
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        remedy = f"Give a file that `dyno baseline export FILE` wrote; it begins with {SCHEMA}."
        raise ResultError("not a baseline file of agentdyno", where=where, remedy=remedy)
    version = plain.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ResultError(
            f"damaged: schema_version: expected a whole number, got {version!r}", where=where, remedy=_AGAIN
        )
    if version > SCHEMA_VERSION:
        raise ResultError(
            f"schema version {version} is newer than this agentdyno reads (up to {SCHEMA_VERSION})",
            where=where,
            remedy="Upgrade agentdyno.",
        )
    records = plain.get("records")
    if not isinstance(records, list) or not records:
        raise ResultError("damaged: records: expected a list of records", where=where, remedy=_AGAIN)
    try:
        return tuple(_read_record(item, f"records[{i}]") for i, item in enumerate(records))
    except (TypeError, ValueError, RecursionError) as error:
        raise ResultError(f"damaged: {error}", where=where, remedy=_AGAIN) from None


def _parse(text: str, where: str) -> Any:
    if not text.strip():
        raise ResultError("the file is empty", where=where, remedy=_AGAIN)
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        remedy = f"Resolve the conflict, or make the file anew: {_AGAIN}"
        raise ResultError("has the marks of a merge conflict", where=f"{where}: line {line}", remedy=remedy)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        problem, at = "not JSON of ours: nested too deep", where
    except json.JSONDecodeError as error:
        body = text.rstrip()
        cut = body.lstrip().startswith("{") and (error.pos >= len(body) or not body.endswith("}"))
        problem = "the file is cut off" if cut else f"not JSON: {error.msg}"
        at = f"{where}: line {error.lineno}, column {error.colno}"
    except ValueError as error:
        problem, at = f"not JSON: {error}", where
    raise ResultError(problem, where=at, remedy=_AGAIN)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _record(record: AgentRecord) -> str:
    head = {name: getattr(record, name) for name in _HEAD}
    for name, default in left_out(AgentRecord):
        if head[name] == default:
            del head[name]
    metrics = sorted({name for case in record.cases for name in (*case.used, *case.spread)})
    lines = [f'"{name}": {encode(value)},' for name, value in head.items()]
    lines.append('"benchmarks": [')
    lines.append(",\n".join(encode(_compact(to_plain(item))) for item in record.benchmarks))
    lines += ["],", f'"metrics": {encode(metrics)},', '"cases": [']
    lines.append(",\n".join(_tight(_case_line(item, metrics)) for item in record.cases))
    return "{\n" + "\n".join(lines) + "\n]\n}"


def _case_line(case: CaseRecord, metrics: Sequence[str]) -> dict[str, object]:
    line: dict[str, object] = {
        "benchmark": case.benchmark,
        "id": case.case_id,
        "digest": case.digest,
        "tries": case.tries,
        "scored": case.scored,
        "passed": case.passed,
        "score": case.score,
        "statuses": dict(sorted(case.statuses.items())),
    }
    for name, held in (("used", case.used), ("spread", case.spread)):
        if held:
            line[name] = [held.get(metric) for metric in metrics]
    for name, text in (("group", case.group), ("perturbs", case.perturbs)):
        if text is not None:
            line[name] = text
    return line


def _tight(value: object) -> str:
    """JSON without blanks."""
    if isinstance(value, list):
        return "[" + ",".join(map(_tight, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode(key)}:{_tight(item)}" for key, item in value.items()) + "}"
    return encode(_compact(value))


def _compact(value: object) -> object:
    """Whole floats as integers; readers take either for a float."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, dict):
        return {key: _compact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_compact(item) for item in value]
    return value


def _read_record(plain: object, where: str) -> AgentRecord:
    if not isinstance(plain, dict):
        raise TypeError(f"{where}: expected an object, got {type(plain).__name__}")
    metrics, lines = plain.get("metrics"), plain.get("cases")
    if not isinstance(metrics, list) or not all(isinstance(item, str) for item in metrics):
        raise TypeError(f"{where}.metrics: expected a list of names")
    if not isinstance(lines, list):
        raise TypeError(f"{where}.cases: expected a list")
    cases = [_read_case(line, metrics, f"{where}.cases[{i}]") for i, line in enumerate(lines)]
    record = from_plain(AgentRecord, {**plain, "cases": cases}, where)
    _check(record, where)
    return record


def _read_case(line: object, metrics: Sequence[str], where: str) -> dict[str, object]:
    if not isinstance(line, dict):
        raise TypeError(f"{where}: expected an object, got {type(line).__name__}")
    if not isinstance(line.get("id"), str):
        raise TypeError(f"{where}.id: expected text")
    case = {**line, "case_id": line["id"]}
    for name in ("used", "spread"):
        values = line.get(name, [])
        if not isinstance(values, list) or len(values) not in (0, len(metrics)):
            raise ValueError(f"{where}.{name}: expected {len(metrics)} values, one for each of metrics")
        known = zip(metrics, values, strict=True) if values else ()
        case[name] = {metric: value for metric, value in known if value is not None}
    return case


def _check(record: AgentRecord, where: str) -> None:
    """What the types do not say: counts that fit, known benchmarks, no case twice."""
    benchmarks = {item.benchmark_id for item in record.benchmarks}
    seen: set[tuple[str, str]] = set()
    for i, case in enumerate(record.cases):
        place = f"{where}.cases[{i}] ({case.benchmark}/{case.case_id})"
        if not (0 <= case.scored <= case.tries and 0 <= case.passed <= case.tries):
            raise ValueError(f"{place}: scored and passed must lie between 0 and tries")
        if case.score is not None and not 0 <= case.score <= 1:
            raise ValueError(f"{place}: score: expected 0 to 1, got {case.score:g}")
        if case.benchmark not in benchmarks:
            raise ValueError(f"{place}: its benchmark is not among the benchmarks of the record")
        if (case.benchmark, case.case_id) in seen:
            raise ValueError(f"{place}: is there twice")
        if any(not math.isfinite(value) for value in (*case.used.values(), *case.spread.values())):
            raise ValueError(f"{place}: a number is too large")
        seen.add((case.benchmark, case.case_id))
