"""What tells two versions of a suite apart: cases, how answers are judged, limits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from agentdyno.model import Benchmark, Case, Suite
from agentdyno.model.codec import to_plain
from agentdyno.show.table import Cell, Column, Table, Tone

_SHOWN, _BEFORE = 60, 20
"""Characters of a value in the table, and how many of them come before what differs; JSON has it whole."""


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class SuiteChange:
    """One thing that differs: a benchmark, a case, or one field of either. ``case`` is "" where it is about the whole
    benchmark, ``field`` where the whole thing came or went. ``old`` and ``new`` are JSON values."""

    kind: ChangeKind
    benchmark: str
    case: str = ""
    field: str = ""
    old: object = None
    new: object = None


@dataclass(frozen=True, slots=True)
class SuiteDifference:
    """``old`` and ``new`` are digests of the contents: equal ones ask and judge the same."""

    name: str
    old: str
    new: str
    old_version: str
    new_version: str
    changes: tuple[SuiteChange, ...]

    @property
    def same(self) -> bool:
        return self.old == self.new


def compare_suites(old: Suite, new: Suite) -> SuiteDifference:
    """Benchmarks by id, their cases by id; what does not count for a version (agents, descriptions) is left out."""
    before = {item.benchmark_id: item for item in old.benchmarks}
    after = {item.benchmark_id: item for item in new.benchmarks}
    changes: list[SuiteChange] = []
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            changes.append(SuiteChange(ChangeKind.REMOVED, name, old=len(before[name].cases)))
        elif name not in before:
            changes.append(SuiteChange(ChangeKind.ADDED, name, new=len(after[name].cases)))
        else:
            changes.extend(_of_benchmark(before[name], after[name]))
    return SuiteDifference(new.name, old.digest, new.digest, old.version, new.version, tuple(changes))


def _of_benchmark(old: Benchmark, new: Benchmark) -> Iterator[SuiteChange]:
    name = old.benchmark_id
    for part in ("rubric", "constraints"):
        yield from _of_fields(name, "", f"{part}.", to_plain(getattr(old, part)), to_plain(getattr(new, part)))
    before, after = ({case.id: case for case in item.cases} for item in (old, new))
    for case_id in dict.fromkeys([*before, *after]):
        if case_id not in after:
            yield SuiteChange(ChangeKind.REMOVED, name, case_id, old=before[case_id].input)
        elif case_id not in before:
            yield SuiteChange(ChangeKind.ADDED, name, case_id, new=after[case_id].input)
        elif before[case_id] != after[case_id]:
            yield from _of_fields(name, case_id, "", _plain(before[case_id]), _plain(after[case_id]))
    if list(before) != list(after) and set(before) == set(after):
        yield SuiteChange(ChangeKind.CHANGED, name, field="order of cases")


def _plain(case: Case) -> dict[str, object]:
    return {field.name: to_plain(getattr(case, field.name)) for field in fields(Case)}


def _of_fields(
    benchmark: str, case: str, prefix: str, old: Mapping[str, object], new: Mapping[str, object]
) -> Iterator[SuiteChange]:
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield SuiteChange(ChangeKind.CHANGED, benchmark, case, f"{prefix}{key}", old.get(key), new.get(key))


def difference_table(found: SuiteDifference) -> Table:
    """One row a change; the contents' digests are in the title."""
    columns = (
        Column("", heading=False),
        Column("benchmark", wrap=True),
        Column("case", wrap=True),
        Column("what", priority=1),
        Column("old", wrap=True),
        Column("new", wrap=True),
    )
    tones = {ChangeKind.ADDED: Tone.GOOD, ChangeKind.REMOVED: Tone.BAD, ChangeKind.CHANGED: Tone.WARN}
    rows = tuple(
        (
            Cell(item.kind.value, tones[item.kind]),
            *map(Cell, (item.benchmark, item.case, item.field)),
            *map(Cell, _side_by_side(item.old, item.new)),
        )
        for item in found.changes
    )
    title = f"{found.name}: {_spelled(found.old, found.old_version)} → {_spelled(found.new, found.new_version)}"
    return Table(title, columns, rows)


def summary(found: SuiteDifference) -> str:
    """``2 cases changed, 1 added``, or that nothing tells the two apart."""
    if found.same:
        return f"The same contents: {found.new}."
    cases = [item for item in found.changes if item.case]
    counts = {kind: len({(item.benchmark, item.case) for item in cases if item.kind is kind}) for kind in ChangeKind}
    parts = [f"{count} {kind.value}" for kind, count in counts.items() if count]
    others = sorted({item.benchmark for item in found.changes if not item.case})
    told = f"Cases: {', '.join(parts)}." if parts else "No case differs."
    return told + (f" Judged or limited otherwise, or whole benchmarks: {', '.join(others)}." if others else "")


def _spelled(digest: str, version: str) -> str:
    return f"{digest} (version {version})" if version else digest


def _side_by_side(old: object, new: object) -> tuple[str, str]:
    """Both values from where they begin to differ, with a little of what comes before it."""
    before, after = _text(old), _text(new)
    if max(len(before), len(after)) <= _SHOWN or not (before and after):
        return _cut(before), _cut(after)
    pairs = enumerate(zip(before, after, strict=False))
    start = next((place for place, (one, two) in pairs if one != two), min(len(before), len(after))) - _BEFORE
    if start <= 0:
        return _cut(before), _cut(after)
    return _cut(f"…{before[start:]}"), _cut(f"…{after[start:]}")


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return " ".join(value.split())
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(item, Mapping) and "name" in item for item in value)
    ):
        return ", ".join(map(_scorer, value))
    return json.dumps(value, ensure_ascii=False, default=str)


def _scorer(item: Mapping[str, Any]) -> str:
    """``includes (weight=2, ignore_case=true)``; a weight of 1 is that of all."""
    said = {} if item.get("weight") in (None, 1) else {"weight": f"{item['weight']:g}"}
    said |= {name: json.dumps(value, ensure_ascii=False) for name, value in (item.get("options") or {}).items()}
    told = ", ".join(f"{name}={value}" for name, value in said.items())
    return f"{item['name']} ({told})" if told else str(item["name"])


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
