"""Data files as rows: JSON lines, a JSON or YAML list, CSV and TSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from agentdyno.errors import SpecError, nearest
from agentdyno.specs.dataset.case_rows import CaseRow, rows_of
from agentdyno.specs.files.problems import got, shorten
from agentdyno.specs.files.read import decode_json, read_text
from agentdyno.specs.files.yaml_text import parse_yaml

MAX_DATA_BYTES = 64 * 1024 * 1024
SUFFIXES = (".jsonl", ".ndjson", ".json", ".yaml", ".yml", ".csv", ".tsv")
NO_NULL = (".csv", ".tsv")
"""Formats whose empty cells mean that there is no value."""


def read_rows(
    path: Path, where: str, *, of: str = "cases", remedy: str = "Add at least one row with an input."
) -> list[CaseRow]:
    """The rows of a data file, each with its line; raises ``SpecError``."""
    suffix = path.suffix.lower()
    if path.exists() and suffix not in SUFFIXES:
        raise SpecError(
            f"expected a data file ({', '.join(SUFFIXES)}), got {suffix or 'a name without an ending'}",
            where=where,
            remedy=nearest(suffix, SUFFIXES) if suffix else "Name the file by its format, as in cases.jsonl.",
        )
    _check_size(path, where)
    text = read_text(path, where, max_bytes=MAX_DATA_BYTES, suffixes=SUFFIXES)
    if suffix in (".yaml", ".yml"):
        rows = _listed(parse_yaml(text, where), where) if text.strip() else []
    elif suffix == ".json":
        rows = _listed(decode_json(text, where), where) if text.strip() else []
    elif suffix in NO_NULL:
        rows = list(_table(text, where, "\t" if suffix == ".tsv" else _delimiter(text)))
    else:
        rows = [
            CaseRow(f"line {number}", decode_json(line, where, line=number))
            for number, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    if not rows:
        raise SpecError(f"the file holds no {of}", where=where, remedy=remedy)
    return rows


def _delimiter(text: str) -> str:
    """A comma, or the semicolon of spreadsheets whose decimals have commas: what the header has more of."""
    header = re.sub(r'"[^"]*"', "", next((line for line in text.splitlines() if line.strip()), ""))
    return ";" if header.count(";") > header.count(",") else ","


def _check_size(path: Path, where: str) -> None:
    """Before anything is read: a file of 10 GB is refused at once, with its size."""
    try:
        size = path.stat().st_size if path.is_file() else 0
    except OSError:
        return  # reading says why
    if size > MAX_DATA_BYTES:
        raise SpecError(
            f"expected at most {MAX_DATA_BYTES // 2**20} MiB of cases, the file has {size / 2**20:,.0f} MiB",
            where=where,
            remedy="Take a part of it, or write a generator that yields the cases.",
        )


def _listed(value: object, where: str) -> list[CaseRow]:
    if not isinstance(value, list):
        raise SpecError(
            f"expected a list of cases, got {got(value)}",
            where=where,
            remedy="Write a list of mappings with an input.",
        )
    return rows_of(value, "")


def _table(text: str, where: str, delimiter: str) -> Iterator[CaseRow]:
    """Rows as mappings by the header; a row is placed by the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    begins = 1
    try:
        for cells in reader:
            line, begins = begins, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells, where, line)
                continue
            if len(cells) > len(header):
                raise SpecError(
                    f"expected {len(header)} columns, got {len(cells)}",
                    where=f"{where}: line {line}",
                    remedy="Put cells that hold the delimiter in double quotes.",
                )
            yield CaseRow(f"line {line}", _parsed(dict(zip(header, cells, strict=False)), f"{where}: line {line}"))
    except csv.Error as error:
        raise SpecError(
            f"not valid CSV: {error}",
            where=f"{where}: line {begins}",
            remedy='Put cells with quotes or line breaks in double quotes, and double a quote within ("").',
        ) from None


def _header(cells: list[str], where: str, line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    for name in names:
        if not name or names.count(name) > 1:
            problem = f"the column {shorten(repr(name))} appears twice" if name else "a column without a name"
            raise SpecError(problem, where=f"{where}: line {line}", remedy="Give every column a name of its own.")
    return names


def _parsed(row: dict[str, str], where: str) -> dict[str, object]:
    """Turns and metadata have no other form in a cell than JSON."""
    parsed: dict[str, object] = {**row}
    for name in ("turns", "metadata"):
        if row.get(name, "").strip():
            parsed[name] = decode_json(row[name], f"{where}, {name}")
    return parsed
