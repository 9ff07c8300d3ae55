"""A part of a suite: some of its benchmarks, some of its cases, the first few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from agentdyno.errors import nearest
from agentdyno.model.case import Case
from agentdyno.model.identity import canonical_json
from agentdyno.model.suite import Benchmark
from agentdyno.specs.files.problems import FileProblem, shorten, spec_error


@dataclass(frozen=True, slots=True)
class Selection:
    """``None`` and empty select everything.

    ``limit`` is a number of cases of the whole suite. Each benchmark gives the same number of its first cases; what
    a small one lacks is taken from the others, and an odd rest from the earlier ones. With fewer cases than
    benchmarks the later benchmarks are left out.
    """

    benchmarks: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    limit: int | None = None


def choose_benchmarks(wanted: Sequence[str], known: Sequence[str], source: str) -> list[int]:
    """Positions of the wanted benchmarks, in the order of the suite."""
    for name in wanted:
        if name not in known:
            problem = FileProblem("benchmarks", f"no benchmark {shorten(repr(name))}", nearest(name[:200], known))
            raise spec_error(source, [problem])
    return [i for i, name in enumerate(known) if not wanted or name in wanted]


def select_cases(benchmarks: Sequence[Benchmark], selection: Selection, source: str) -> tuple[Benchmark, ...]:
    """The benchmarks with the selected cases alone; those without any are left out."""
    if selection.ids:
        _check_ids(benchmarks, selection.ids, source)
    chosen = [[case for case in item.cases if _selected(case, selection)] for item in benchmarks]
    if not any(chosen):
        wanted = ", ".join(f"{key}={shorten(str(value))}" for key, value in selection.where.items())
        keys = {key for item in benchmarks for case in item.cases for key in case.metadata}
        missing = [key for key in selection.where if key not in keys]
        remedy = nearest(missing[0][:200], keys) if missing else "Select other values, or fewer conditions."
        raise spec_error(source, [FileProblem("cases.where", f"no case has {wanted}", remedy)])
    if selection.limit is not None:
        counts = spread(selection.limit, [len(cases) for cases in chosen])
        chosen = [cases[:count] for cases, count in zip(chosen, counts, strict=True)]
    return tuple(
        item if len(cases) == len(item.cases) else replace(item, cases=tuple(cases))
        for item, cases in zip(benchmarks, chosen, strict=True)
        if cases
    )


def spread(limit: int, sizes: Sequence[int]) -> list[int]:
    """How many of each so that they sum up to ``limit``, as evenly as the sizes allow, the earlier first."""
    counts = [0] * len(sizes)
    left = min(limit, sum(sizes))
    while left:
        for i, size in enumerate(sizes):
            if left and counts[i] < size:
                counts[i] += 1
                left -= 1
    return counts


def _selected(case: Case, selection: Selection) -> bool:
    if selection.ids and not any(_matches(case.id, pattern) for pattern in selection.ids):
        return False
    return all(key in case.metadata and _is(case.metadata[key], value) for key, value in selection.where.items())


def _matches(case_id: str, pattern: str) -> bool:
    return case_id == pattern or fnmatchcase(case_id, pattern)


def _is(found: object, wanted: object) -> bool:
    """Equal, or equal to one of a list; 1 and "1" are the same, for files without types."""
    options = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    if isinstance(wanted, (list, tuple)) and found == list(wanted):
        return True
    return any(found == item or _text(found) == _text(item) for item in options)


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _check_ids(benchmarks: Sequence[Benchmark], patterns: Sequence[str], source: str) -> None:
    known = [case.id for item in benchmarks for case in item.cases]
    problems = [
        FileProblem("cases", f"no case {shorten(repr(pattern))}", nearest(pattern[:200], known))
        for pattern in patterns
        if not any(_matches(case_id, pattern) for case_id in known)
    ]
    if problems:
        raise spec_error(source, problems)
