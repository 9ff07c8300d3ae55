from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentdyno.errors import RunError
from agentdyno.load.client.backlog import ROW
from agentdyno.load.windows.records import RECORD, UNSENT, RawFile, read_raw

from ..unsent import empty_records


def test_rows_that_were_written_are_what_numpy_loads(tmp_path: Path) -> None:
    rows = empty_records(3)
    rows["due"] = [1, 2, 3]
    with RawFile(tmp_path / "a" / "b") as file:
        file.add(rows[:2])
        file.add(rows[2:])
    loaded = np.load(file.path)
    assert loaded.dtype == RECORD
    assert loaded["due"].tolist() == [1, 2, 3]
    assert loaded["outcome"].tolist() == [UNSENT] * 3


def test_a_file_that_was_never_closed_can_be_read(tmp_path: Path) -> None:
    file = RawFile(tmp_path)
    file.add(empty_records(2))
    file._file.write(b"half a row")
    file._file.flush()
    assert len(read_raw(file.path)) == 2
    file.close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        RawFile(tmp_path / "file")


def test_a_packed_row_is_a_record() -> None:
    assert ROW.size == RECORD.itemsize
    names = RECORD.names or ()
    row = np.frombuffer(ROW.pack(*range(1, len(names) + 1)), RECORD)[0]
    assert [int(row[name]) for name in names] == list(range(1, len(names) + 1))
