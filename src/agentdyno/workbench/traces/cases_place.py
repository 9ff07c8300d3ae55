"""Where the cases of a suite are written down, and one more of them there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentdyno.errors import SpecError, nearest
from agentdyno.model.suite import slug
from agentdyno.specs.files.append import append_item
from agentdyno.specs.files.read import read_document, read_text

LINES = ".jsonl"
LISTS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class CasesPlace:
    """A file with one case a line, or the list at ``path`` of a document."""

    file: Path
    path: tuple[str | int, ...] = ()

    def known_ids(self) -> set[str]:
        """Ids of the cases that are there; raises ``SpecError`` for a line that is no JSON."""
        rows = self._lines() if self.file.suffix == LINES else self._listed()
        return {str(row.get("id")) for row in rows if isinstance(row, Mapping)}

    def append(self, row: Mapping[str, object]) -> None:
        if self.file.suffix != LINES:
            text = append_item(read_text(self.file, str(self.file)), self.path, dict(row), str(self.file))
            self.file.write_text(text, encoding="utf-8")
            return
        before = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        gap = "" if not before or before.endswith("\n") else "\n"
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(gap + json.dumps(row, ensure_ascii=False) + "\n")

    def _lines(self) -> list[object]:
        found = []
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    found.append(json.loads(line))
                except ValueError:
                    where = f"{self.file}: line {number}"
                    raise SpecError("is no JSON", where=where, remedy="Mend that line first.") from None
        return found

    def _listed(self) -> list[object]:
        value: Any = read_document(self.file)
        for key in self.path:
            value = value[key]
        return value if isinstance(value, list) else []


def find_cases(suite: Path, benchmark: str | None = None) -> CasesPlace:
    """The place of a suite's cases, or of those of one of its benchmarks; raises ``SpecError`` where none can be
    added."""
    document = read_document(suite)
    own = document if isinstance(document, dict) else {}
    path: tuple[str | int, ...] = ("dataset",)
    rows = own.get("benchmarks")
    if "dataset" not in own and isinstance(rows, list) and rows:
        number = _chosen(rows, benchmark, suite)
        own, path = rows[number], ("benchmarks", number, "dataset")
    dataset = own.get("dataset")
    if isinstance(dataset, list):
        return CasesPlace(suite, path)
    if isinstance(dataset, dict) and isinstance(dataset.get("cases"), list):
        return CasesPlace(suite, (*path, "cases"))
    named = dataset.get("path") if isinstance(dataset, dict) else dataset
    if isinstance(named, str) and named.endswith((LINES, *LISTS)):
        return CasesPlace(suite.parent / named)
    raise SpecError(
        "its cases are neither a list in the suite nor in a .jsonl, .yaml or .json file",
        where=f"{suite}: {_dotted(path)}",
        remedy="Put the cases into cases.jsonl, one on each line, and write `dataset: cases.jsonl`.",
    )


def _chosen(rows: list[object], benchmark: str | None, suite: Path) -> int:
    ids = [_id(row) for row in rows]
    if benchmark is None and len(ids) == 1:
        return 0
    if benchmark in ids:
        return ids.index(benchmark)
    problem = f"there is no benchmark {benchmark!r}" if benchmark else f"it has {len(ids)} benchmarks"
    remedy = nearest(benchmark, ids) if benchmark else f"Say which with --benchmark: {', '.join(ids)}."
    raise SpecError(problem, where=f"{suite}: benchmarks", remedy=remedy)


def _id(row: object) -> str:
    told = row if isinstance(row, Mapping) else {}
    return str(told.get("benchmark_id") or slug(str(told.get("name", ""))))


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path))
