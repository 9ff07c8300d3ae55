"""A file as a plain document: YAML, or JSON when its name ends with ``.json``."""

from __future__ import annotations

import json
from pathlib import Path

from agentdyno.errors import SpecError, nearest
from agentdyno.specs.plain import plain_document
from agentdyno.specs.problems import shorten, spec_error
from agentdyno.specs.yaml_text import SYNTAX_REMEDY, Refused, parse_yaml

MAX_FILE_BYTES = 1024 * 1024


def read_document(path: Path) -> object:
    """The plain document in a YAML file, or in a JSON file when its name ends with ``.json``."""
    where = str(path)
    text = _text(path, where)
    if not text.strip():
        raise SpecError("the file is empty", where=where, remedy="Write at least `experiment: NAME` into it.")
    return parse_json(text, where) if path.suffix.lower() == ".json" else parse_yaml(text, where)


def _text(path: Path, where: str) -> str:
    if not path.is_file():
        raise _no_file(path, where)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SpecError(f"cannot be read: {reason}", where=where, remedy="Check its permissions.") from None
    if len(data) > MAX_FILE_BYTES:
        raise SpecError(
            "expected at most 1 MiB, the file is larger",
            where=where,
            remedy="Keep data in files of its own and give their paths as parameters.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SpecError(
            f"not UTF-8 text (byte {error.start}, line {line})", where=where, remedy="Save the file as UTF-8."
        ) from None


def _no_file(path: Path, where: str) -> SpecError:
    if path.is_dir():
        return SpecError("is a folder, not a file", where=where, remedy=f"{_neighbours(path, '')}")
    if path.exists():
        return SpecError("is not a regular file", where=where, remedy="Give a YAML or JSON file.")
    return SpecError("no such file", where=where, remedy=_neighbours(path.parent, path.name))


def _neighbours(folder: Path, name: str) -> str:
    try:
        names = [item.name for item in folder.iterdir() if item.suffix.lower() in (".yaml", ".yml", ".json")]
    except OSError:
        return f"There is no folder {folder}; check the path."
    if not names:
        return f"There are no YAML or JSON files in {folder}; check the path."
    return nearest(name, names) if name else f"Give one of its files. {nearest(name, names)}"


def parse_json(text: str, where: str) -> object:
    """A plain document from JSON text; raises ``SpecError``."""

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                raise Refused((key,), f"the key {shorten(repr(key))} appears twice", "Keep one of the two.")
            found[key] = value
        return found

    try:
        return plain_document(json.loads(text, object_pairs_hook=pairs), where)
    except json.JSONDecodeError as error:
        place = f"{where}: line {error.lineno}, column {error.colno}"
        raise SpecError(f"not valid JSON: {error.msg}", where=place, remedy=SYNTAX_REMEDY) from None
    except Refused as error:
        # JSON without tabs is YAML, whose nodes know the lines and the full key.
        parse_yaml(text.replace("\t", " "), where)
        raise spec_error(where, [error.problem]) from None
    except RecursionError:
        raise SpecError("nested too deeply", where=where, remedy="Flatten it.") from None
    except ValueError as error:
        raise SpecError(f"not valid JSON: {error}", where=where, remedy=SYNTAX_REMEDY) from None
