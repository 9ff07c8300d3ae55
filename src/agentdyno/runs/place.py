"""Where a run is kept: its id and its folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.model import Spec
from agentdyno.workers.pauses import PauseWatch


@dataclass(frozen=True, slots=True)
class Place:
    """The id and the folder of one run.

    ``begun`` counts the samples that trials have which were begun before a resume and can go on; their executor takes
    each of them up where it was. ``say`` tells a person one line. ``pauses`` notices when the bench stands still.
    """

    run_id: str
    folder: Path
    begun: Mapping[str, int] = field(default_factory=dict)
    say: Callable[[str], None] = lambda _: None
    pauses: PauseWatch = field(default_factory=PauseWatch)


def run_folder(spec: Spec, run_id: str) -> Path:
    """``<output_dir>/<run_id>``; a started run's ``output_dir`` is absolute."""
    return Path(spec.output_dir or ".") / run_id


def make_folder(folder: Path) -> None:
    """Creates the run's folder and proves that files can be written there, before anything is measured."""
    try:
        (folder / "artifacts").mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise RunError(
            f"cannot write there: {error.strerror}",
            where=f"output_dir {folder.parent}",
            remedy="Choose another with `output_dir:` or --output-dir.",
        ) from None


def now_ms() -> int:
    return time.time_ns() // 1_000_000
