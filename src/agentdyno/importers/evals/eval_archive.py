"""The zip archive that Inspect writes as ``.eval``: deflated by older releases, Zstandard in newer ones."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from agentdyno.errors import ImportFailed
from agentdyno.importers.document import MAX_BYTES, WRITE_AGAIN, Node, parse, printable

ZIP = b"PK\x03\x04"
_ZSTANDARD = 93
_LOCAL_HEADER = 30
_DAMAGED = (OSError, ValueError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error)


class Archive:
    """Members of an archive as parsed JSON. Of members with one name the last counts, as it does for Inspect."""

    def __init__(self, packed: zipfile.ZipFile, stream: BinaryIO, file: str) -> None:
        self._packed = packed
        self._stream = stream
        self._file = file
        self.names = tuple(dict.fromkeys(packed.namelist()))

    def node(self, name: str) -> Node:
        """The value of a member; errors name it as ``file: member``."""
        where = f"{self._file}: {printable(name)}"
        return Node(parse(self._content(name, where), where), where)

    def _content(self, name: str, where: str) -> bytes:
        info = self._packed.getinfo(name)
        if info.file_size > MAX_BYTES:
            raise ImportFailed(f"larger than {MAX_BYTES >> 20} MiB", where=where, remedy="Import parts of it.")
        try:
            if info.compress_type == _ZSTANDARD:
                content = _unzstd(self._raw(info), info.file_size, where)
            else:
                with self._packed.open(info) as stream:
                    content = stream.read(MAX_BYTES + 1)
        except _DAMAGED as error:
            raise ImportFailed(f"the archive is damaged here ({error})", where=where, remedy=WRITE_AGAIN) from None
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise ImportFailed("the archive is damaged here: checksum", where=where, remedy=WRITE_AGAIN)
        return content

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        """The packed bytes: behind the member's own header, whose length the directory does not tell."""
        self._stream.seek(info.header_offset)
        header = self._stream.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or not header.startswith(ZIP):
            raise zipfile.BadZipFile("no member begins here")
        self._stream.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
        return self._stream.read(info.compress_size)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Opens a ``.eval`` file; one without its directory, which is at the end, is cut off."""
    file = printable(path.name)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise ImportFailed(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    with stream:
        try:
            packed = zipfile.ZipFile(stream)
        except _DAMAGED:
            problem = "the file is cut off: the directory at the end of the archive is missing or damaged"
            raise ImportFailed(problem, where=file, remedy=WRITE_AGAIN) from None
        with packed:
            yield Archive(packed, stream, file)


def _unzstd(raw: bytes, size: int, where: str) -> bytes:
    """Unpacks with the standard library from 3.14 on, else with the package ``zstandard``."""
    for name in ("compression.zstd", "zstandard"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        try:
            # Both read on across frames.
            stream = (
                module.ZstdFile(BytesIO(raw))
                if name == "compression.zstd"
                else module.ZstdDecompressor().stream_reader(BytesIO(raw), read_across_frames=True)
            )
            return cast(bytes, stream.read(size + 1))
        except module.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from None
    raise ImportFailed(
        "packed with Zstandard, which this Python cannot read",
        where=where,
        remedy="`pip install zstandard`, or let Inspect write JSON: `inspect log convert --to json LOG`.",
    )
