"""What has happened in a workflow, line by line, so that another start can go on after a kill.

A step's ``StepEnd`` is written before its files are renamed into place; whoever opens the journal again finishes the
renaming first. So a step has ended exactly when its line is there.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentdyno.agents.workflow.tree import TreeChange, WorkTree
from agentdyno.errors import RunError
from agentdyno.model.codec import from_plain, to_plain

_FILE = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class StepEnd:
    """A step that ended well. ``command`` is the digest of what was planned; ``inputs`` are checksums of the files it
    read or wrote over, as they were before; ``listed`` are names that it saw in folders, as a digest. ``at_s`` counts
    from the beginning of its start, ``start`` says which one that was."""

    step: str
    command: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[TreeChange, ...] = ()
    at_s: float = 0.0
    duration_s: float = 0.0
    cpu_s: float = 0.0
    peak_rss_bytes: int = 0
    output: str = ""
    start: int = 1

    @property
    def written(self) -> dict[str, str | None]:
        """Checksums of the files that it left, ``None`` where it removed one."""
        return {item.path: item.checksum or None for item in self.changes if item.kind != "folder"}


class Journal:
    """The journal of one workflow and the folders beside it: ``work`` and ``stage``. One process may hold it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = WorkTree(folder / "work")
        self.stage = folder / "stage"
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / _FILE).open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise RunError(
                "another process is executing this workflow",
                where=str(folder),
                remedy="Wait for it, or end it: a folder has one executor at a time.",
            ) from None
        self.ends: dict[str, StepEnd] = {}
        self.made: dict[str, set[str]] = {}
        """By path, the steps that have ever made it."""
        self.data: dict[str, str] | None = None
        self.planned: dict[str, Any] | None = None
        self.starts = 0
        self.earlier_s = 0.0
        """Seconds of earlier starts, as far as they were recorded."""
        self._read()
        self._finish_renaming()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def record_data(self, manifest: Mapping[str, str]) -> None:
        """The files that the task begins with."""
        self.data = dict(manifest)
        self._write({"data": self.data})

    def record_plan(self, planned: Mapping[str, object]) -> None:
        """What the planner answered and what that took; it is not asked again."""
        self.planned = dict(planned)
        self._write({"plan": to_plain(self.planned)})

    def record_start(self) -> int:
        self.starts += 1
        self._write({"start": self.starts})
        return self.starts

    def record_begin(self, step: str, at_s: float) -> None:
        self._write({"begin": step, "at_s": at_s})

    def record_end(self, end: StepEnd) -> None:
        """The step has ended: this line first, then the renames."""
        self._write({"end": to_plain(end)})
        self._ended(end)
        self.work.apply(end.changes, self.staged(end.step))

    def record_failure(self, step: str, at_s: float, why: str) -> None:
        self._write({"failed": step, "at_s": at_s, "why": why})

    def forget(self, step: str) -> None:
        """Its end no longer counts: it is going to run again, and finds nothing of what it had made anew."""
        end = self.ends.pop(step, None)
        if end is None:
            return
        self._write({"forgotten": step})
        for path in end.written:
            if path not in end.inputs and path not in (self.data or {}):
                (self.work.folder / path).unlink(missing_ok=True)

    def staged(self, step: str) -> Path:
        return self.stage / f"{step}.out"

    def clear(self) -> None:
        """Everything is to be done again from the beginning; the plan stays."""
        self.ends, self.data = {}, None
        self._write({"cleared": True})
        shutil.rmtree(self.work.folder, ignore_errors=True)

    def _ended(self, end: StepEnd) -> None:
        self.ends[end.step] = end
        for item in end.changes:
            self.made.setdefault(item.path, set()).add(end.step)

    def _read(self) -> None:
        last_s = 0.0
        for row in self._rows():
            if "end" in row:
                end = from_plain(StepEnd, row["end"])
                self._ended(end)
                last_s = end.at_s + end.duration_s
            elif "plan" in row:
                self.planned = row["plan"]
            elif "data" in row:
                self.data = row["data"]
            elif "start" in row:
                self.starts, self.earlier_s, last_s = row["start"], self.earlier_s + last_s, 0.0
            elif "forgotten" in row:
                self.ends.pop(row["forgotten"], None)
            elif "cleared" in row:
                self.ends, self.data = {}, None
            last_s = max(last_s, float(row.get("at_s", 0.0)))
        self.earlier_s += last_s

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Whole lines; one that a kill cut off has not been written, and is taken away."""
        self._file.seek(0)
        good = 0
        for line in self._file.read().splitlines(keepends=True):
            try:
                row = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            good += len(line)
            yield row
        self._file.truncate(good)

    def _finish_renaming(self) -> None:
        for end in self.ends.values():
            if self.staged(end.step).exists():
                self.work.apply(end.changes, self.staged(end.step))
        shutil.rmtree(self.stage, ignore_errors=True)

    def _write(self, row: Mapping[str, object]) -> None:
        self._file.write(json.dumps(row, ensure_ascii=True).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
