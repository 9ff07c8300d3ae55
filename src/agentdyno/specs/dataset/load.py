"""The cases that a suite's ``dataset:`` stands for, wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentdyno.model.case import Case
from agentdyno.settings.run import SEED
from agentdyno.specs.dataset.case_rows import CaseRow, RowRules, build_cases, rows_of
from agentdyno.specs.dataset.format import HF_SCHEME, SOURCES, named_source
from agentdyno.specs.files.problems import FileProblem, shorten, spec_error


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Where a data set stands: its suite and key for messages, the folder of its paths, the start of its ids."""

    source: str
    key: str
    base_dir: Path
    shown_dir: Path
    prefix: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """Rows, where they are for messages, where they come from in a word, whether unknown keys are refused, whether an
    empty text says that there is none, and the columns to read where some were found by their usual names."""

    rows: Iterable[CaseRow]
    where: str
    label: str
    strict: bool = False
    empty_is_missing: bool = False
    columns: Mapping[str, str] | None = None


def load_cases(
    dataset: Mapping[str, Any], inline: Sequence[object] | None, place: DataPlace
) -> tuple[tuple[Case, ...], str]:
    """The cases of a validated ``dataset``, and where they come from; ``inline`` are those given in the document."""
    source = {name: dataset[name] for name in SOURCES if name in dataset}
    if not source and inline is None:
        source = _from_words(dataset["data_source"], place)
    named = {name: column for name, column in dataset.get("columns", {}).items() if column}
    found = _find(source, dataset, inline, named, place)
    columns = named if found.columns is None else found.columns
    rules = RowRules(place.prefix, columns, strict=found.strict, empty_is_missing=found.empty_is_missing)
    cases = build_cases(found.rows, rules, found.where)
    problem = _size_problem(dataset, len(cases), place.key)
    if problem is not None:
        raise spec_error(place.source, [problem])
    return cases, found.label


def _find(
    source: Mapping[str, Any],
    dataset: Mapping[str, Any],
    inline: Sequence[object] | None,
    columns: Mapping[str, str],
    place: DataPlace,
) -> _Found:
    if "path" in source:
        from agentdyno.specs.dataset.files import NO_NULL, read_rows
        from agentdyno.specs.dataset.usual_columns import find_columns, told_columns

        path = Path(source["path"])
        where = str(place.shown_dir / path)
        rows = read_rows(place.base_dir / path, where)
        table = path.suffix.lower() in NO_NULL
        own = find_columns(rows, columns, table=table)
        told = told_columns(columns, own)
        label = f"{path} ({told})" if told else str(path)
        return _Found(rows, where, label, empty_is_missing=table, columns=own)
    where = f"{place.source}: {place.key}"
    if "generator" in source:
        from agentdyno.specs.dataset.sources import Generator, generated_rows

        generator = Generator(
            source["generator"],
            dataset.get("size"),
            dataset.get("seed", SEED.default),
            dataset.get("options", {}),
            place.base_dir,
            place.imports,
        )
        return _Found(generated_rows(generator, where), where, f"generator {generator.reference}")
    if "hf" in source:
        from agentdyno.specs.dataset.sources import hugging_face_rows

        name = source["hf"].removeprefix(HF_SCHEME)
        return _Found(hugging_face_rows(name, dataset, columns, where), where, f"{HF_SCHEME}{name}")
    given = rows_of(inline or (), f"{place.key}.cases")
    if not given:
        problem = FileProblem(f"{place.key}.cases", "expected at least one case, got none", "Add `- input: TEXT`.")
        raise spec_error(place.source, [problem])
    return _Found(given, place.source, "inline", strict=not columns)


def _from_words(text: str, place: DataPlace) -> dict[str, object]:
    """``data_source`` as the source itself, where it reads as one."""
    from agentdyno.specs.dataset.files import SUFFIXES

    named = named_source(text)
    if "path" not in named or Path(text).suffix.lower() in SUFFIXES:
        return named
    message = f"expected cases, got only the words {shorten(repr(text))}"
    remedy = "Give cases, path, generator or hf beside data_source."
    raise spec_error(place.source, [FileProblem(f"{place.key}.data_source", message, remedy)])


def _size_problem(dataset: Mapping[str, Any], count: int, key: str) -> FileProblem | None:
    size = dataset.get("size")
    if size is None or size == count:
        return None
    return FileProblem(f"{key}.size", f"expected {size} cases as size says, got {count}", "Correct one of the two.")
