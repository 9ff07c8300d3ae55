"""A file as a plain document: YAML, or JSON when its name ends with ``.json``."""

from __future__ import annotations

import json
from pathlib import Path

from agentdyno.errors import SpecError, nearest
from agentdyno.specs.files.plain import plain_document
from agentdyno.specs.files.problems import shorten, spec_error
from agentdyno.specs.files.yaml_text import SYNTAX_REMEDY, RefusedYaml, parse_yaml

MAX_FILE_BYTES = 1024 * 1024
DOCUMENTS = (".yaml", ".yml", ".json")


def read_document(path: Path, *, least: str = "experiment: NAME") -> object:
    """The plain document in a YAML file, or in a JSON file when its name ends with ``.json``.

    ``least`` is the line that a message about an empty file recommends.
    """
    where = str(path)
    text = read_text(path, where)
    if not text.strip():
        raise SpecError("the file is empty", where=where, remedy=f"Write at least `{least}` into it.")
    return parse_json(text, where) if path.suffix.lower() == ".json" else parse_yaml(text, where)


def read_text(
    path: Path, where: str, *, max_bytes: int = MAX_FILE_BYTES, suffixes: tuple[str, ...] = DOCUMENTS
) -> str:
    """The UTF-8 text of a regular file of at most ``max_bytes``, without a byte order mark; raises ``SpecError``.

    Where there is no such file, the message names those next to it that end with one of ``suffixes``.
    """
    if not path.is_file():
        raise _no_file(path, where, suffixes)
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SpecError(f"cannot be read: {reason}", where=where, remedy="Check its permissions.") from None
    if len(data) > max_bytes:
        raise SpecError(
            f"expected at most {max_bytes // 2**20} MiB, the file is larger",
            where=where,
            remedy="Keep data in files of its own and give their paths as parameters."
            if max_bytes == MAX_FILE_BYTES
            else "Take a part of it, or write a generator that yields the cases.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SpecError(
            f"not UTF-8 text (byte {error.start}, line {line})", where=where, remedy="Save the file as UTF-8."
        ) from None


def _no_file(path: Path, where: str, suffixes: tuple[str, ...]) -> SpecError:
    words = "YAML or JSON" if suffixes == DOCUMENTS else "data"
    if path.is_dir():
        return SpecError("is a folder, not a file", where=where, remedy=_neighbours(path, "", suffixes, words))
    if path.exists():
        return SpecError("is not a regular file", where=where, remedy=f"Give a {words} file.")
    return SpecError("no such file", where=where, remedy=_neighbours(path.parent, path.name, suffixes, words))


def _neighbours(folder: Path, name: str, suffixes: tuple[str, ...], words: str) -> str:
    try:
        names = [item.name for item in folder.iterdir() if item.suffix.lower() in suffixes]
    except OSError:
        return f"There is no folder {folder}; check the path."
    if not names:
        return f"There are no {words} files in {folder}; check the path."
    return nearest(name, names) if name else f"Give one of its files. {nearest(name, names)}"


def parse_json(text: str, where: str) -> object:
    """A plain document from JSON text; raises ``SpecError``."""
    try:
        return plain_document(decode_json(text, where), where)
    except RecursionError:
        raise SpecError("nested too deeply", where=where, remedy="Flatten it.") from None


def decode_json(text: str, where: str, *, line: int = 1) -> object:
    """The value of JSON text that begins at ``line`` of the file; a doubled key is refused like bad syntax."""

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                raise RefusedYaml((key,), f"the key {shorten(repr(key))} appears twice", "Keep one of the two.")
            found[key] = value
        return found

    place = f"{where}: line {line}" if line > 1 else where
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        place = f"{where}: line {line + error.lineno - 1}, column {error.colno}"
        raise SpecError(f"not valid JSON: {error.msg}", where=place, remedy=SYNTAX_REMEDY) from None
    except RefusedYaml as error:
        # JSON without tabs is YAML, whose nodes know the lines and the full key.
        parse_yaml(text.replace("\t", " "), place)
        raise spec_error(place, [error.problem]) from None
    except RecursionError:
        raise SpecError("nested too deeply", where=place, remedy="Flatten it.") from None
    except ValueError as error:
        raise SpecError(f"not valid JSON: {error}", where=place, remedy=SYNTAX_REMEDY) from None
