"""The folder that a workflow has left, for those who check it: files are read with care, programs run in a cell."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path, PurePosixPath

from agentdyno.sandbox.isolation import CellLimits, CellResult, Cells

LARGEST_BYTES = 64 * 1024 * 1024
"""Of one file that a check reads."""


class NotAsAsked(Exception):
    """The final state is not what the task asked for; the message says what is wrong."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)


class FinalState:
    """What commands of a stranger have left. Nothing outside of the folder is read, whatever links say; what is
    missing or unreadable raises ``NotAsAsked``, which a check may leave to its caller."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, path: str) -> bool:
        """Whether a plain file of that name is there."""
        try:
            self._place(path)
        except NotAsAsked:
            return False
        return True

    def files(self, below: str = ".") -> list[str]:
        """Plain files below a folder, relative to the working folder."""
        top = self.folder / below
        found = [item for item in sorted(top.rglob("*")) if item.is_file() and not item.is_symlink()]
        return [str(item.relative_to(self.folder)) for item in found]

    def data(self, path: str) -> bytes:
        return self._place(path).read_bytes()

    def text(self, path: str) -> str:
        try:
            return self.data(path).decode("utf-8")
        except UnicodeDecodeError:
            raise NotAsAsked(f"{path} is no text") from None

    def lines(self, path: str) -> list[str]:
        """Without blanks at their ends; empty lines left out."""
        return [line.rstrip() for line in self.text(path).splitlines() if line.strip()]

    def json(self, path: str) -> object:
        try:
            return json.loads(self.text(path))
        except ValueError:
            raise NotAsAsked(f"{path} is no JSON") from None

    def number(self, path: str) -> float:
        """The one number that a file holds."""
        text = self.text(path).strip()
        try:
            return float(text)
        except ValueError:
            raise NotAsAsked(f"{path} holds {text[:60]!r} and no number") from None

    def expect(self, condition: bool, otherwise: str) -> None:
        """Raises ``NotAsAsked`` with ``otherwise`` where the condition does not hold."""
        if not condition:
            raise NotAsAsked(otherwise)

    def run(self, command: str, time_limit_s: float = 20.0) -> CellResult:
        """Runs a command on a copy of the final state, in a cell as the workflow's own steps."""

        async def in_a_cell() -> CellResult:
            cells = Cells()
            try:
                await cells.start()
                return await cells.run(command, self.folder, CellLimits(time_limit_s=time_limit_s))
            finally:
                await cells.close()

        return asyncio.run(in_a_cell())

    def _place(self, path: str) -> Path:
        place = self.folder / path
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise NotAsAsked(f"{path} is outside the working folder")
        parts = [self.folder.joinpath(*PurePosixPath(path).parts[:count]) for count in range(1, len(place.parts) + 1)]
        if any(part.is_symlink() for part in parts):
            raise NotAsAsked(f"{path} is a link, and must be a file")
        if not place.is_file():
            raise NotAsAsked(f"{path} is missing" if not place.exists() else f"{path} is no file")
        if place.stat().st_size > LARGEST_BYTES:
            raise NotAsAsked(f"{path} is larger than {LARGEST_BYTES >> 20} MiB")
        return place
