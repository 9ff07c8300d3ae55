"""Logs of evaluations that the tools wrote, and copies of them with something changed."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentdyno.contracts import Importer
from agentdyno.importers.evals.eval_archive import open_archive
from agentdyno.importers.evals.inspect_log import InspectImporter
from agentdyno.importers.evals.lm_eval import LmEvalImporter
from agentdyno.importers.evals.promptfoo import PromptfooImporter
from agentdyno.importers.sniff import find_importer
from agentdyno.model import ArmResult, RunResult, Sample

from .known import FIXTURES, IMPORTERS

CAPITALS, RIVERS, TOTALS, STOPPED = (
    FIXTURES / "inspect" / name for name in ("capitals.eval", "rivers.json", "totals.json", "stopped.eval")
)
BODIES, REPEATED = (FIXTURES / "promptfoo" / name for name in ("bodies.json", "repeated.json"))
TABLE, TASK_TOTALS, DUMMY = (
    next((FIXTURES / "lm_eval" / name).glob("results_*.json")) for name in ("table", "totals", "dummy")
)
EVALUATIONS: tuple[Importer, ...] = (InspectImporter(), PromptfooImporter(), LmEvalImporter())
LOGS = {
    "inspect": [CAPITALS, RIVERS, TOTALS, STOPPED],
    "promptfoo": [BODIES, REPEATED],
    "lm-eval": [TABLE, TASK_TOTALS, DUMMY],
}
ALL_LOGS = [(name, path) for name, paths in LOGS.items() for path in paths]
_TOOLS = {item.name: item for item in (*IMPORTERS, *EVALUATIONS)}


def evaluation_importer(name: str) -> Importer:
    return next(item for item in EVALUATIONS if item.name == name)


def read_log(path: Path) -> RunResult:
    """The one run of a log, among all importers there are."""
    (result,) = find_importer(path, _TOOLS.values()).read(path)
    return result


def only_arm(result: RunResult) -> ArmResult:
    (arm,) = result.arms
    return arm


def sample_of(arm: ArmResult, case_id: str, epoch: int = 0) -> Sample:
    return next(item for item in arm.samples if (item.case_id, item.iteration) == (case_id, epoch))


def plain(path: Path) -> Any:
    """What is in a JSON log, or in the header of an archive."""
    return members(path)["header.json"] if path.suffix == ".eval" else json.loads(path.read_bytes())


def members(path: Path) -> dict[str, Any]:
    """The parsed members of an archive."""
    with open_archive(path) as archive:
        return {name: archive.node(name).value for name in archive.names}


def write_archive(path: Path, content: dict[str, Any]) -> Path:
    """An archive packed by deflate, which every Python reads and writes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in content.items():
            archive.writestr(name, json.dumps(value))
    return path


def changed(path: Path, folder: Path, change: Callable[[Any], object]) -> Path:
    """A copy of a JSON log, with what lies beside it, after ``change`` was made to its content."""
    content = json.loads(path.read_bytes())
    change(content)
    shutil.copytree(path.parent, folder, dirs_exist_ok=True)
    copy = folder / path.name
    copy.write_text(json.dumps(content))
    return copy


def changed_archive(path: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of an archive after ``change`` was made to its members."""
    content = members(path)
    change(content)
    return write_archive(folder / path.name, content)
