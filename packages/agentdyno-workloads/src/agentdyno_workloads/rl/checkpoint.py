"""Where a training stands, in one file that is replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Record = dict[str, float]
"""One evaluation: what is yielded as a sample."""
_RECORDS, _POLICY, _REFERENCE, _UPDATES = "records", "policy.", "reference.", "updates"


@dataclass(slots=True)
class Checkpoint:
    """``records`` are all evaluations so far, whether or not somebody has stored them yet."""

    updates: int
    policy: Mapping[str, np.ndarray]
    reference: Mapping[str, np.ndarray]
    records: list[Record] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """A kill leaves the old file or the new one."""
        arrays = {f"{_POLICY}{name}": value for name, value in self.policy.items()}
        arrays |= {f"{_REFERENCE}{name}": value for name, value in self.reference.items()}
        arrays |= {_UPDATES: np.array(self.updates), _RECORDS: np.array(json.dumps(self.records))}
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        unfinished.replace(path)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """``None`` where there is none, or none that can be read: the training then begins anew."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        records: list[Record] = json.loads(str(arrays[_RECORDS]))
        return Checkpoint(int(arrays[_UPDATES]), _below(arrays, _POLICY), _below(arrays, _REFERENCE), records)
    except (OSError, ValueError, KeyError):
        return None


def _below(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
