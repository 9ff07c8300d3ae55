"""How much files hold once they are unpacked, found out before anything of them is read into memory.

Archives are measured by their directory: whoever reads a member stops at the size that stands there. Gzipped files
have no size that can be relied on, so they are unpacked piece by piece, and the pieces are thrown away.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agentdyno.errors import ImportTooLarge
from agentdyno.importers.document import GZIP, printable
from agentdyno.settings.imports import ANY_RATIO_BYTES, MEMBER_BYTES, MEMBERS, RATIO, TOTAL_BYTES

_ZIP = b"PK\x03\x04"
_PIECE = 64 * 1024
_DIRECTORY_ENTRY = 256
"""More bytes than an entry of an archive's directory takes that a tool of this world has written, on average."""
_REMEDY = "Import parts of it; `dyno import --any-size` takes a file that you trust."


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """What the files of one import may hold together, unpacked. ``ratio`` is unpacked to packed bytes of one file."""

    total_bytes: int = TOTAL_BYTES.default
    member_bytes: int = MEMBER_BYTES.default
    members: int = MEMBERS.default
    ratio: int = RATIO.default
    any_ratio_bytes: int = ANY_RATIO_BYTES.default


def check_sizes(paths: Sequence[Path], limits: ImportLimits) -> None:
    """Raises ``ImportTooLarge`` where files, or folders with all that is in them, go beyond a limit.

    What cannot be read or is damaged passes here: its importer says what is wrong with it.
    """
    total = members = 0
    for path in (file for given in paths for file in _files(given)):
        where, packed, unpacked = printable(path.name), 0, 0
        try:
            packed = path.stat().st_size
            for size in _sizes(path, limits):
                unpacked += size
                members += 1
                _check_one(size, unpacked, packed, where, limits)
                _check_all(total + unpacked, members, where, limits)
        except (OSError, ValueError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error):
            continue
        total += unpacked


def _check_one(size: int, unpacked: int, packed: int, where: str, limits: ImportLimits) -> None:
    if size > limits.member_bytes:
        raise ImportTooLarge(f"holds a file of more than {_size(limits.member_bytes)}", where=where, remedy=_REMEDY)
    if unpacked > limits.any_ratio_bytes and unpacked > limits.ratio * packed:
        raise ImportTooLarge(
            f"unpacks to more than {limits.ratio} times its own {packed:,} bytes", where=where, remedy=_REMEDY
        )


def _check_all(total: int, members: int, where: str, limits: ImportLimits) -> None:
    if total > limits.total_bytes:
        raise ImportTooLarge(
            f"unpacked, this import holds more than {_size(limits.total_bytes)}", where=where, remedy=_REMEDY
        )
    if members > limits.members:
        raise ImportTooLarge(f"this import holds more than {limits.members:,} files", where=where, remedy=_REMEDY)


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count:,} bytes"


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    yield from (file for file in path.rglob("*") if file.is_file())


def _sizes(path: Path, limits: ImportLimits) -> Iterator[int]:
    """The unpacked size of a file, or of each member of an archive."""
    with path.open("rb") as stream:
        start = stream.read(len(_ZIP))
        if start.startswith(GZIP):
            yield _gunzipped_size(path, limits.member_bytes)
        elif start != _ZIP:
            yield path.stat().st_size
        else:
            _check_directory(stream, printable(path.name), limits)
            with zipfile.ZipFile(stream) as archive:
                yield from (member.file_size for member in archive.infolist())


def _gunzipped_size(path: Path, most: int) -> int:
    """Counted up to a little more than ``most``; members that follow each other count together."""
    size, rest = 0, b""
    with path.open("rb") as stream:
        unpacking = zlib.decompressobj(wbits=31)
        while size <= most and (piece := rest or stream.read(_PIECE)):
            size += len(unpacking.decompress(piece, _PIECE))
            rest = unpacking.unconsumed_tail
            if unpacking.eof:
                rest, unpacking = unpacking.unused_data, zlib.decompressobj(wbits=31)
    return size


def _check_directory(stream: BinaryIO, where: str, limits: ImportLimits) -> None:
    """Refuses a directory so long that listing it would take the memory that these limits are there to save."""
    length = stream.seek(0, 2)
    stream.seek(max(0, length - _PIECE - 22))
    tail = stream.read()
    end = tail.rfind(b"PK\x05\x06")
    newer = tail.rfind(b"PK\x06\x06", 0, max(end, 0))
    size = int.from_bytes(tail[end + 12 : end + 16], "little") if end >= 0 else 0
    if newer >= 0:
        size = max(size % 0xFFFFFFFF, int.from_bytes(tail[newer + 40 : newer + 48], "little"))
    if size > limits.members * _DIRECTORY_ENTRY:
        raise ImportTooLarge(f"this import holds more than {limits.members:,} files", where=where, remedy=_REMEDY)
