"""An instrument."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentdyno import Instrument


class Switches(Instrument):
    """How often the process gave up its CPU by itself."""

    perturbs = False

    def __init__(self, label: str = "voluntary") -> None:
        self.label = label

    @contextmanager
    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> Iterator[None]:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        yield
        readings[self.label] = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before
