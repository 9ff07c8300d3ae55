"""Columns by the names that people give them: ``question`` and ``expected`` for ``input`` and ``target``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.specs.dataset.case_rows import CaseRow

USUAL = {
    "input": ("input", "question", "prompt"),
    "target": ("target", "expected", "reference", "answer", "label"),
}
"""By field, the name that is looked for first at the front."""


def find_columns(rows: Sequence[CaseRow], columns: Mapping[str, str], *, table: bool) -> dict[str, str]:
    """The columns to read: those that were named, and where a case's own name is nowhere, a usual one.

    Names count without regard to case. In a table (``table``) both fields are looked for. Rows of other formats have
    metadata of any name beside their input: there the target is looked for only where the input has another name.
    """
    names = dict.fromkeys(str(key) for row in rows if isinstance(row.value, Mapping) for key in row.value)
    found = dict(columns)
    if not table and ("input" in names or "turns" in names):
        return found
    taken = {*columns.values()}
    for field, usual in USUAL.items():
        if field in columns or field in names or (field == "input" and "turns" in names):
            continue
        fitting = [name for word in usual for name in names if name.strip().lower() == word and name not in taken]
        if fitting:
            found[field] = fitting[0]
            taken.add(fitting[0])
    return found


def told_columns(given: Mapping[str, str], found: Mapping[str, str]) -> str:
    """``input from column question, target from column expected``; "" where nothing had to be found."""
    taken = [f"{field} from column {name}" for field, name in found.items() if field not in given]
    return ", ".join(taken)
