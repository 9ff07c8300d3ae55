"""Which importer a file is for."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from agentdyno.contracts import Importer
from agentdyno.errors import ImportFailed

HEAD_BYTES = 64 * 1024
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"


def find_importer(path: Path, importers: Iterable[Importer]) -> Importer:
    """The one importer that recognises a file or folder; refused where none does, and where several do."""
    known = sorted(importers, key=lambda importer: importer.name)
    head = head_of(path)
    found = [importer for importer in known if importer.recognises(path, head)]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(importer.name for importer in found)
        raise ImportFailed(
            f"looks like the formats of {names}", where=str(path), remedy=f"Say which: --format {found[0].name}."
        )
    listed = ", ".join(importer.name for importer in known)
    raise ImportFailed(
        "of no known format" if path.is_dir() or head.strip() else "the file is empty",
        where=str(path),
        remedy=f"Known formats: {listed}. Where you know which it is, --format NAME reads it and says what is wrong."
        if known
        else "No importer is installed.",
    )


def head_of(path: Path) -> bytes:
    """The first 64 KiB of a file: of what is in it where it is gzipped, of its first member where it is a zip.

    Where the packing is damaged or unknown, the bytes as they are. Empty for a folder.
    """
    try:
        if path.is_dir():
            return b""
        with path.open("rb") as stream:
            raw = stream.read(HEAD_BYTES)
    except OSError as error:
        raise ImportFailed(
            f"cannot be read: {error.strerror or error}", where=str(path), remedy="Check the path."
        ) from None
    if raw.startswith(_GZIP):
        return _gunzipped(raw)
    if raw.startswith(_ZIP):
        return _first_member(path) or raw
    return raw


def _gunzipped(raw: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(raw, HEAD_BYTES)
    except zlib.error:
        return raw


def _first_member(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            if not members:
                return b""
            with archive.open(members[0]) as stream:
                return stream.read(HEAD_BYTES)
    except (OSError, ValueError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        return b""  # cut off, encrypted, or packed in a way that this Python does not know
