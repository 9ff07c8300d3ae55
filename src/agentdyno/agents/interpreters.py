"""The interpreter that an agent lives in, from what a user wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

from agentdyno.errors import SpecError, nearest

_IN_ENVIRONMENT = ("bin/python", "Scripts/python.exe")


def find_interpreter(text: str, base_dir: Path, where: str) -> str:
    """The path of ``text``: an executable, the folder of an environment, or a name on the PATH.

    Relative paths start at ``base_dir``. Links are not followed: an environment's interpreter is one. Raises
    ``SpecError``, naming ``where``, for what is not there.
    """
    given = Path(text).expanduser()
    place = base_dir.absolute() / given
    for candidate in (place, *(place / inner for inner in _IN_ENVIRONMENT)):
        if candidate.is_file():
            return _executable(candidate, text, where)
    on_path = shutil.which(text) if given.name == text else None
    if on_path is not None:
        return str(Path(on_path).absolute())
    if place.is_dir():
        raise _refused(f"{text} is a folder without bin/python", where, "Give the folder of an environment.")
    beside = [item.name for item in place.parent.iterdir()] if place.parent.is_dir() else []
    near = nearest(given.name, beside) if beside else ""
    raise _refused(f"no interpreter {text}", where, near)


def _executable(path: Path, text: str, where: str) -> str:
    found = shutil.which(str(path))
    if found is None:
        raise _refused(f"{text} cannot be executed", where, "")
    return found


def _refused(message: str, where: str, near: str) -> SpecError:
    remedy = "Give the path of a Python executable, of an environment's folder, or a name such as python3.12."
    hint = near if near.startswith(("Did", "Give")) else ""
    return SpecError(message, where=where, remedy=" ".join(filter(None, (hint, remedy))))
