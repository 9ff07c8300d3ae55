"""Every finished request of a run in one file that grows as they come: an array for ``numpy.load``."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np

from agentdyno.errors import RunError
from agentdyno.load.windows.records import RECORD, Records

NAME = "requests.npy"
_HEAD_BYTES = 1024
_MAGIC = b"\x93NUMPY\x01\x00"


class RawFile:
    """``folder/requests.npy``: rows of ``RECORD``, with times since the start of their step, one step after the
    other. The number of rows is written when it is closed; nothing of it is kept in memory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._rows = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("wb")
            self._file.write(self._head())
        except OSError as error:
            raise RunError(
                f"the requests cannot be written: {error.strerror or error}", where=str(self.path)
            ) from None

    def add(self, records: Records) -> None:
        self._file.write(records.tobytes())
        self._rows += len(records)

    def close(self) -> None:
        """Completes the file."""
        if self._file.closed:
            return
        self._file.seek(0)
        self._file.write(self._head())
        self._file.close()

    def __enter__(self) -> RawFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _head(self) -> bytes:
        text = f"{{'descr': {RECORD.descr!r}, 'fortran_order': False, 'shape': ({self._rows},), }}"
        size = _HEAD_BYTES - len(_MAGIC) - 2
        padded = text.encode("latin-1").ljust(size - 1) + b"\n"
        return _MAGIC + size.to_bytes(2, "little") + padded


def read_raw(path: Path) -> Records:
    """The rows of a file, also of one that was cut off before it was closed."""
    with path.open("rb") as file:
        file.seek(_HEAD_BYTES)
        data = file.read()
    records: Records = np.frombuffer(data[: len(data) // RECORD.itemsize * RECORD.itemsize], RECORD)
    return records
