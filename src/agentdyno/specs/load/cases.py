"""The cases that a load run asks with: those of a data file or of a suite, with the weight of each."""

from __future__ import annotations

import math
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.model.case import Case

WEIGHT = "weight"
"""The column, or the key of a case's metadata, that says how often it is asked."""
_SUITE_SUFFIXES = (".yaml", ".yml", ".json")


def read_weighted_cases(path: Path) -> tuple[tuple[Case, ...], tuple[float, ...]]:
    """Cases and their weights; cases of weight 0 are left out. Raises ``SpecError``."""
    where = str(path)
    cases = _of_suite(path) if path.suffix.lower() in _SUITE_SUFFIXES else None
    if cases is None:
        from agentdyno.specs.dataset.dataset import Dataset

        cases = Dataset.from_file(path).cases
    weighted = [(case, _weight(case, where)) for case in cases]
    kept = [(case, weight) for case, weight in weighted if weight > 0.0]
    if not kept:
        raise SpecError("every case has weight 0", where=where, remedy="Give at least one a weight above 0.")
    return tuple(case for case, _ in kept), tuple(weight for _, weight in kept)


def _of_suite(path: Path) -> tuple[Case, ...] | None:
    """The cases of a suite, those of different benchmarks told apart; ``None`` where the file is a list of rows."""
    from agentdyno.specs.files.read import read_document
    from agentdyno.specs.suite.load import is_suite, load_suite

    document = read_document(path)
    if not is_suite(document):
        return None
    parts = load_suite(path).suite.benchmarks
    if len(parts) == 1:
        return parts[0].cases
    from dataclasses import replace

    return tuple(replace(case, id=f"{part.benchmark_id}/{case.id}") for part in parts for case in part.cases)


def _weight(case: Case, where: str) -> float:
    given = case.metadata.get(WEIGHT, 1.0)
    try:
        weight = float(given) if isinstance(given, (int, float, str)) and not isinstance(given, bool) else math.nan
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0.0):
        raise SpecError(
            f"the weight of case {case.id!r} is a number from 0 on, not {given!r}",
            where=where,
            remedy="A case of weight 2 is asked twice as often as one of weight 1; without one it has 1.",
        )
    return weight
