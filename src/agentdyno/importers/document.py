"""A JSON file of another tool, read with care: every wrong value is named by file and key."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from agentdyno.errors import ImportFailed

MAX_BYTES = 1 << 30
"""A document may be this long, unpacked."""

GZIP = b"\x1f\x8b"
WRITE_AGAIN = "Let the tool write the file again, or copy it again whole."
DEEPEST = 20
"""How deep a value that is kept as it is may be nested."""
LATEST_MS = 253_402_300_799_999
_LARGEST = 2**53
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")
_HALF_A_TOKEN = re.compile(r"[\w.+-]*")


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document and where it stands: ``file`` is the base name, ``path`` like ``a.b[3]``, "" at the top.

    Accessors give the value in a type that can be relied on or raise an ``ImportFailed`` that says what was expected
    and what was found. Null counts as absent in ``get``.
    """

    value: object
    file: str
    path: str = ""

    def fail(self, problem: str) -> ImportFailed:
        """The error to raise about this value."""
        where = f"{self.file}: {self.path}" if self.path else self.file
        return ImportFailed(problem, where=where, remedy=WRITE_AGAIN)

    def expected(self, what: str) -> ImportFailed:
        return self.fail(f"expected {what}, found {_described(self.value)}")

    def at(self, key: str) -> Node:
        """The value under a key that has to be there."""
        members = self._members()
        if key not in members:
            raise self.fail(f"has no {key!r}")
        return self._child(key, members[key])

    def get(self, key: str) -> Node | None:
        """The value under a key; ``None`` where it is missing or null."""
        value = self._members().get(key)
        return None if value is None else self._child(key, value)

    def items(self) -> Iterator[tuple[str, Node]]:
        """The members of an object."""
        for key, value in self._members().items():
            if _UNKEEPABLE.search(key):
                raise self.fail(f"has a key that is no text: {key!r}")
            yield key, self._child(key, value)

    def elements(self) -> list[Node]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            raise self.expected("a list")
        return [Node(value, self.file, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.expected("a text")
        if _UNKEEPABLE.search(self.value):
            raise self.fail("the text holds characters that are none")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.expected("true or false")
        return self.value

    def number(self) -> float:
        """A finite number."""
        value = _finite(self.value)
        if value is None:
            raise self.expected("a finite number")
        return value

    def amount(self) -> float:
        """A finite number that is not negative: a duration, a size."""
        value = _finite(self.value)
        if value is None or value < 0:
            raise self.expected("a finite number of at least 0")
        return value

    def amounts(self) -> list[float]:
        """A list of finite numbers, none of them negative."""
        if not isinstance(self.value, list):
            raise self.expected("a list of numbers")
        found = [_finite(value) for value in self.value]
        kept = [value for value in found if value is not None and value >= 0]
        if len(kept) != len(found):
            for element in self.elements():
                element.amount()
        return kept

    def count(self, least: int = 0) -> int:
        """A whole number of at least ``least``."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST:
            raise self.expected(f"a whole number of at least {least}")
        return value

    def time_ms(self) -> int:
        """A date and time in ISO form as UTC milliseconds; taken as UTC where it names no zone."""
        try:
            moment = datetime.fromisoformat(self.text().strip())
            zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            stamp = round(zoned.timestamp() * 1000)
        except (ValueError, OverflowError):
            raise self.expected("a date and time") from None
        return self._stamp(stamp)

    def epoch_ms(self) -> int:
        """UTC milliseconds."""
        return self._stamp(round(self.amount()))

    def plain(self) -> object:
        """The value as it is, once it is known that every number in it is finite and every text is one."""
        _check(self, DEEPEST)
        return self.value

    def _stamp(self, stamp: int) -> int:
        if not 0 <= stamp <= LATEST_MS:
            raise self.expected("a date from 1970 on")
        return stamp

    def _members(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise self.expected("an object")
        return self.value

    def _child(self, key: str, value: object) -> Node:
        step = key if re.fullmatch(r"[\w-]+", key) else json.dumps(key)
        return Node(value, self.file, f"{self.path}.{step}" if self.path else step)


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """A parsed file. ``sha256`` is of the file, ``content`` of what is in it unpacked; ``modified_at`` is UTC ms."""

    root: Node
    path: Path
    sha256: str
    content: str
    modified_at: int

    @property
    def stem(self) -> str:
        """The file's name without its endings, fit to name a run."""
        name = self.path.name.removesuffix(".gz")
        return printable(name.rsplit(".", 1)[0] or name)


def printable(name: str) -> str:
    """A file's name as text that can be kept: bytes of it that are no text become question marks."""
    return _UNKEEPABLE.sub("?", name)


def read_document(path: Path) -> ImportedDocument:
    """Reads and parses a JSON file, gzipped or not."""
    file = printable(path.name)
    try:
        raw = _read_all(path, file)
        modified_at = min(max(path.stat().st_mtime_ns // 1_000_000, 0), LATEST_MS)
    except OSError as error:
        raise ImportFailed(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    content = _unpacked(raw, file)
    return ImportedDocument(
        Node(parse(content, file), file),
        path,
        hashlib.sha256(raw).hexdigest(),
        hashlib.sha256(content).hexdigest(),
        modified_at,
    )


def read_text_document(path: Path) -> tuple[str, ImportedDocument]:
    """The text of a file, gzipped or not, whose parts are parsed by the caller: the document has no content."""
    file = printable(path.name)
    try:
        raw = _read_all(path, file)
        modified_at = min(max(path.stat().st_mtime_ns // 1_000_000, 0), LATEST_MS)
    except OSError as error:
        raise ImportFailed(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    content = _unpacked(raw, file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ImportFailed("not text", where=file, remedy=WRITE_AGAIN) from None
    hashes = (hashlib.sha256(raw).hexdigest(), hashlib.sha256(content).hexdigest())
    return text, ImportedDocument(Node({}, file), path, *hashes, modified_at)


def parse(content: bytes, file: str) -> object:
    """The value of a JSON text. NaN and infinity pass here, because some tools write them; ``Node`` refuses them."""
    if not content.strip():
        raise ImportFailed("the file is empty", where=file, remedy=WRITE_AGAIN)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        raise ImportFailed("the file is cut off" if cut else "not text", where=file, remedy=WRITE_AGAIN) from None
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        problem = "the file is cut off" if _is_cut_off(text, error) else f"not JSON: {error}"
    except RecursionError:
        problem = "not JSON of a known tool: nested too deep"
    except ValueError:  # a whole number of thousands of digits
        problem = "not JSON of a known tool: a number has too many digits"
    else:
        return value
    raise ImportFailed(problem, where=file, remedy=WRITE_AGAIN)


def _read_all(path: Path, file: str) -> bytes:
    with path.open("rb") as stream:
        raw = stream.read(MAX_BYTES + 1)
    return _within_limit(raw, file)


def _unpacked(raw: bytes, file: str) -> bytes:
    if not raw.startswith(GZIP):
        return raw
    try:
        with gzip.GzipFile(fileobj=BytesIO(raw)) as stream:
            return _within_limit(stream.read(MAX_BYTES + 1), file)
    except EOFError:
        problem = "the file is cut off"
    except (OSError, zlib.error):
        problem = "the compressed file is damaged"
    raise ImportFailed(problem, where=file, remedy=WRITE_AGAIN)


def _within_limit(content: bytes, file: str) -> bytes:
    if len(content) > MAX_BYTES:
        raise ImportFailed(f"the file is larger than {MAX_BYTES >> 20} MiB", where=file, remedy="Import parts of it.")
    return content


def _is_cut_off(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the parser only ran out of text, perhaps in the middle of a string, a word or a number."""
    if not text.lstrip().startswith(("{", "[")) or error.msg.startswith("Extra data"):
        return False
    return error.msg.startswith("Unterminated string") or bool(_HALF_A_TOKEN.fullmatch(text[error.pos :].strip()))


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    # Beyond these sizes sums of squares and reciprocals are no numbers any more.
    return number if math.isfinite(number) and (number == 0 or 1e-100 <= abs(number) <= 1e100) else None


def _described(value: object) -> str:
    """A value in a few words, fit for one line."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**20:
        return "a number of more than 20 digits"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _check(node: Node, levels: int) -> None:
    value = node.value
    if levels == 0:
        raise node.fail("nested too deep")
    if isinstance(value, dict):
        for _, member in node.items():
            _check(member, levels - 1)
    elif isinstance(value, list):
        for element in node.elements():
            _check(element, levels - 1)
    elif isinstance(value, str):
        node.text()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        node.number()
