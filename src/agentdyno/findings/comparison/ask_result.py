"""Results by name: a file, or a run of the store. Who only shows one needs nothing of what compares."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.errors import ResultError, nearest
from agentdyno.model.result_file import decode_result

if TYPE_CHECKING:
    from agentdyno.model import RunResult
    from agentdyno.store import Store


def result_named(reference: str, open_store: Callable[[], Store]) -> RunResult:
    """A file or a run of the store, with its samples. ``open_store`` is called only when the name is not a file."""
    if is_file(reference):
        return read_result(Path(reference))
    if reference.endswith(".json") or "/" in reference:
        raise ResultError(f"no file {reference}", remedy=_similar_files(Path(reference)))
    store = open_store()
    return store.runs.load(store.runs.find(reference))


def is_file(text: str) -> bool:
    return Path(text).is_file() or (Path(text) / "result.json").is_file()


def is_result(text: str) -> bool:
    """Whether it is a file, or a folder with one, that says by its name that it holds a result."""
    path = Path(text)
    return (path.suffix == ".json" and path.is_file()) or (path / "result.json").is_file()


def read_result(path: Path) -> RunResult:
    """A result file, or the one in a run's folder."""
    if path.is_dir():
        path = path / "result.json"
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ResultError(
            "not an agentdyno result: not text", where=str(path), remedy="Give a result.json."
        ) from None
    except OSError as error:
        raise ResultError(f"cannot be read: {error.strerror}", where=str(path)) from None
    return decode_result(text, str(path))


def _similar_files(path: Path) -> str:
    folder = path.parent
    names = [str(folder / item.name) for item in folder.glob("*")] if folder.is_dir() else []
    return nearest(str(path), names) if names else f"There is no folder {folder}."
