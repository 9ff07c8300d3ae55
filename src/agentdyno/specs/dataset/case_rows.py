"""Rows of data as cases: what a row must have, and what is said about one that has not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.errors import SpecError, nearest
from agentdyno.model.case import Case
from agentdyno.settings.suite import MAX_CASES
from agentdyno.specs.files.plain import NotPlain, plain
from agentdyno.specs.files.problems import FileProblem, dotted, got, shorten, spec_error

FIELDS = ("id", "input", "target", "metadata", "group", "turns")
_ID_LENGTH = 200
_COUNTED = ("line ", "row ", "case ")
_INPUT_REMEDY = "Give `input`, or say with `columns: {input: NAME}` which column holds it."


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One row and its place: ``line 7`` of a file, or a dotted key of a suite."""

    place: str
    value: object

    def at(self, name: str) -> str:
        """The place of one field of the row."""
        if self.place.startswith(_COUNTED):
            return f"{self.place}, {name}"
        return f"{self.place}.{name}" if self.place else name


@dataclass(frozen=True, slots=True)
class RowRules:
    """How rows are read. ``columns`` gives the column of a field; ``prefix`` starts the ids of rows without one.

    With ``strict`` an unknown key is refused, else it becomes metadata. ``empty_is_missing`` is for formats that
    have no null.
    """

    prefix: str = "case"
    columns: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    empty_is_missing: bool = False


class _Refused(Exception):
    def __init__(self, key: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.problem = FileProblem(key, message, remedy)


def build_cases(rows: Iterable[CaseRow], rules: RowRules, where: str) -> tuple[Case, ...]:
    """The cases in ``rows``; raises one ``SpecError`` that names every row with something wrong in it."""
    cases: list[Case] = []
    problems: list[FileProblem] = []
    places: dict[str, str] = {}
    columns: set[str] = set()
    for number, row in enumerate(rows, 1):
        if number > MAX_CASES:
            raise too_many(where)
        if isinstance(row.value, Mapping) and rules.columns:
            columns.update(str(key) for key in row.value)
        try:
            case = _case(row, rules, number)
        except _Refused as error:
            problems.append(error.problem)
            continue
        first = places.setdefault(case.id, row.place)
        if first != row.place:
            message = f"the id {shorten(repr(case.id))} appears twice, first at {first}"
            problems.append(FileProblem(row.at("id"), message, "Give every case an id of its own, or none at all."))
        cases.append(case)
    problems = [*_unknown_columns(rules, columns if cases or problems else set(rules.columns.values())), *problems]
    if problems:
        raise spec_error(where, problems)
    return tuple(cases)


def too_many(where: str) -> SpecError:
    """The error for more cases than a suite may have."""
    return SpecError(
        f"expected at most {MAX_CASES:,} cases, there are more",
        where=where,
        remedy="Take a part of the data, for example a random sample of it.",
    )


def _unknown_columns(rules: RowRules, found: set[str]) -> list[FileProblem]:
    strange = [name for name in rules.columns if name not in FIELDS]
    if strange:
        return [
            FileProblem("columns", f"a case has no {shorten(repr(strange[0]))}", nearest(strange[0][:200], FIELDS))
        ]
    return [
        FileProblem(f"columns.{name}", f"no row has {shorten(repr(column))}", nearest(column[:200], found))
        for name, column in rules.columns.items()
        if column not in found
    ]


def _case(row: CaseRow, rules: RowRules, number: int) -> Case:
    if isinstance(row.value, Case):
        return _checked(row, row.value)
    value = _plain(row, row.value)
    if isinstance(value, str):
        value = {"input": value}
    if not isinstance(value, dict):
        raise _Refused(row.place, f"expected a mapping with an input, got {got(value)}", _INPUT_REMEDY)
    fields, others = _split(value, rules)
    if others and rules.strict:
        name = next(iter(others))
        raise _Refused(
            row.at(dotted((name,))),
            f"unknown key {shorten(repr(name))}",
            f"{nearest(name[:200], FIELDS)} What else a case has goes below `metadata`.",
        )
    turns = _turns(row, fields.get("turns"))
    given = fields.get("input", turns[0] if turns else None)
    if given is None:
        wanted = rules.columns.get("input", "input")
        message = f"expected an input, got {_lacking(wanted, value)}"
        raise _Refused(row.at("input"), message, _INPUT_REMEDY)
    if turns and given != turns[0]:
        raise _Refused(row.at("input"), "expected the first of the turns, got something else", "Remove the input.")
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise _Refused(
            row.at("metadata"), f"expected a mapping, got {got(metadata)}", "Write `metadata: {key: value}`."
        )
    return Case(
        id=_identifier(row, "id", fields.get("id")) or f"{rules.prefix}-{number:03d}",
        input=given,
        target=fields.get("target"),
        metadata={**metadata, **others},
        group=_identifier(row, "group", fields.get("group")),
        turns=turns,
    )


def _split(value: Mapping[str, object], rules: RowRules) -> tuple[dict[str, object], dict[str, object]]:
    """The fields that have a value, and everything else."""
    sources = {rules.columns.get(name, name): name for name in FIELDS}
    fields: dict[str, object] = {}
    others: dict[str, object] = {}
    for key, item in value.items():
        if rules.empty_is_missing and item == "":
            continue
        name = sources.get(key)
        if name is None:
            others[key] = item
        elif item is not None:
            fields[name] = item
    return fields, others


def _lacking(wanted: str, value: Mapping[str, object]) -> str:
    if wanted in value:
        return "nothing (null)" if value[wanted] is None else "nothing"
    return f"a row with {', '.join(map(repr, list(value)[:8]))}" if value else "an empty row"


def _plain(row: CaseRow, value: object) -> object:
    try:
        return plain(value)
    except NotPlain as error:
        key = row.at(error.problem.key) if error.problem.key else row.place
        raise _Refused(key, error.problem.message, error.problem.remedy) from None


def _checked(row: CaseRow, case: Case) -> Case:
    if not isinstance(case.id, str) or not case.id:
        raise _Refused(row.at("id"), f"expected text as an id, got {got(case.id)}", "Give the case an id.")
    if case.input is None:
        raise _Refused(row.at("input"), "expected an input, got nothing (null)", "Give the case an input.")
    for name in ("input", "target", "metadata", "turns"):
        _plain(CaseRow(row.at(name), None), getattr(case, name))
    return case


def _turns(row: CaseRow, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
        return tuple(str(item) for item in value)
    raise _Refused(
        row.at("turns"),
        f"expected the user's messages as a list of texts, got {got(value)}",
        'Write for example `turns: ["My name is Ada.", "What is my name?"]`.',
    )


def _identifier(row: CaseRow, name: str, value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        text = str(value)
        if text.strip() and text.isprintable() and len(text) <= _ID_LENGTH:
            return text
    message = f"expected a text of up to {_ID_LENGTH} characters on one line, got {got(value)}"
    raise _Refused(row.at(name), message, "Write a short printable text.")


def rows_of(values: Sequence[object], key: str) -> list[CaseRow]:
    """Rows of a list, each placed by its position below ``key``."""
    return [CaseRow(f"{key}[{i}]", value) for i, value in enumerate(values)]
