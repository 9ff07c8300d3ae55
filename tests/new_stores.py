"""Empty stores in a file: copied, because making one takes longer than most tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from agentdyno.store import Store


def open_new_store(path: Path) -> Store:
    """A store in a file that is not there yet; open."""
    for name, content in _files().items():
        path.with_name(path.name + name).write_bytes(content)
    return Store.open(path)


@cache
def _files() -> dict[str, bytes]:
    """What a store that was just made consists of, by the end of the name."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "dyno.db")
        Store.open(path).close()
        return {part.name.removeprefix(path.name): part.read_bytes() for part in path.parent.glob("dyno.db*")}
