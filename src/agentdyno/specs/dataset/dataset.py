"""``Dataset``: cases in Python, read from files or rows, filtered and sampled."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from agentdyno.model.case import Case
from agentdyno.settings.run import SEED
from agentdyno.specs.dataset.case_rows import RowRules, build_cases, rows_of
from agentdyno.specs.dataset.files import NO_NULL, read_rows
from agentdyno.specs.dataset.usual_columns import find_columns

SOURCE = "dataset"


@dataclass(frozen=True, init=False)
class Dataset:
    """An immutable sequence of cases with distinct ids.

    Rows are ``Case`` objects, mappings with ``input`` (and ``id``, ``target``, ``metadata``, ``group``, ``turns``;
    whatever else they have becomes metadata) or texts, which are inputs. Rows without an id are numbered. What
    cannot be a case is a ``SpecError``.
    """

    cases: tuple[Case, ...]

    def __init__(self, cases: Iterable[Case | Mapping[str, object] | str] = ()) -> None:
        rows = rows_of(list(cases), "")
        object.__setattr__(self, "cases", build_cases(rows, RowRules(), SOURCE))

    @classmethod
    def from_file(cls, path: str | Path, *, columns: Mapping[str, str] | None = None) -> Dataset:
        """Cases of a JSONL, JSON, YAML, CSV or TSV file; ``columns`` says which column holds which field.

        Without it the usual names are looked for: question or prompt, and expected, reference, answer or label.
        """
        path = Path(path)
        rows, table = read_rows(path, str(path)), path.suffix.lower() in NO_NULL
        rules = RowRules(path.stem, find_columns(rows, columns or {}, table=table), empty_is_missing=table)
        return cls(build_cases(rows, rules, str(path)))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Case | Mapping[str, object] | str],
        *,
        columns: Mapping[str, str] | None = None,
        name: str = "case",
    ) -> Dataset:
        """Cases of rows; those without an id are called ``<name>-001`` and so on, by position."""
        return cls(build_cases(rows_of(list(rows), ""), RowRules(name, columns or {}), SOURCE))

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: int | slice) -> Case | Dataset:
        return Dataset(self.cases[index]) if isinstance(index, slice) else self.cases[index]

    def filter(self, keep: Callable[[Case], bool]) -> Dataset:
        """The cases for which ``keep`` is true."""
        return Dataset(case for case in self.cases if keep(case))

    def sample(self, n: int, seed: int = SEED.default) -> Dataset:
        """``n`` cases drawn at random (all where there are fewer), in their order; the same seed draws the same."""
        chosen = random.Random(seed).sample(range(len(self.cases)), min(max(n, 0), len(self.cases)))
        return Dataset(self.cases[i] for i in sorted(chosen))
