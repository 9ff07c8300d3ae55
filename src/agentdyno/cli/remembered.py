"""Text that was shown before, kept for as long as nothing it was made from has changed.

Listing reads the source of everything that is installed; the next time the answer is at hand. Standard library only,
and little of it: importing more would cost what remembering saves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from zlib import crc32

from agentdyno.version import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  (pathlib costs 3 ms)
_MAKERS = ("cli", "model", "registry", "reports", "workbench")


def remembered(question: Sequence[object], make: Callable[[], tuple[str, Iterable[str]]]) -> str:
    """The text that ``make`` gives, or gave before to the same question; it also names the files it has read.

    The text is made anew when one of these files, a folder on ``sys.path`` or a file of this package's own code has
    changed. A cache that cannot be read or written costs time only.
    """
    key = repr((__version__, sys.version, sys.path, list(question), _stamps(sys.path), _own_stamps()))
    file = os.path.join(_folder(), f"shown-{crc32(repr(list(question)).encode()):08x}")  # noqa: PTH118
    with suppress(OSError, ValueError), open(file, encoding="utf-8") as stream:  # noqa: PTH123
        known, read, stamps, text = stream.read().split("\0")
        if known == key and stamps == repr(_stamps(read.split("\n"))):
            return text
    text, sources = make()
    read = "\n".join(sources)
    content = "\0".join((key, read, repr(_stamps(read.split("\n"))), text))
    if content.count("\0") == 3:
        _write(file, content)
    return text


def _folder() -> str:
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    return os.path.join(root, "agentdyno")  # noqa: PTH118


def _stamps(paths: Iterable[str]) -> list[int]:
    return [_changed_at(path) for path in paths]


def _own_stamps() -> list[tuple[str, int]]:
    """Of the code that makes what is shown, so that a change to it shows at once."""
    found = []
    for part in _MAKERS:
        with os.scandir(os.path.join(_PACKAGE, part)) as entries:  # noqa: PTH118
            found += [(entry.name, entry.stat().st_mtime_ns) for entry in entries if entry.name.endswith(".py")]
    return sorted(found)


def _changed_at(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


def _write(file: str, content: str) -> None:
    temporary = f"{file}.{os.getpid()}"
    with suppress(OSError, UnicodeEncodeError):
        os.makedirs(os.path.dirname(file), exist_ok=True)  # noqa: PTH103, PTH120
        with open(temporary, "w", encoding="utf-8") as stream:  # noqa: PTH123
            stream.write(content)
        os.replace(temporary, file)  # noqa: PTH105
