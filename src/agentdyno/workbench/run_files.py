"""Files of a run: its artifacts, and reports that are written when somebody asks for them."""

from __future__ import annotations

import threading
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from agentdyno.contracts import Report
from agentdyno.errors import NotComparable
from agentdyno.findings.profile.ask import with_profiles
from agentdyno.findings.record.ask_names import UnknownName
from agentdyno.findings.run.ask import findings_for
from agentdyno.model import Artifact, RunResult
from agentdyno.model.policy import GatePolicy
from agentdyno.runs.place import run_folder
from agentdyno.store import Store
from agentdyno.workbench.reporting import write_reports

MOST_SAMPLES = 200_000
"""Samples of a run that a report is made of here; it takes them all into memory."""
TYPES = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "junit": "application/xml",
}
ZIP = "application/zip"
_drawing = threading.Lock()
"""Charts are drawn with settings that a process has once."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file to be sent: its content, or where it lies."""

    name: str
    media_type: str
    content: bytes | Path


def list_artifacts(header: RunResult) -> tuple[Artifact, ...]:
    """All artifacts of a run, arm by arm."""
    return tuple(artifact for arm in header.arms for artifact in arm.artifacts)


def find_artifact(store: Store, header: RunResult, path: str) -> RunFile:
    """One of the artifacts that the store lists, by its path below the run's folder.

    Raises ``UnknownName`` for any other path, and for a file that is gone or was replaced by a link that leads out of
    the folder.
    """
    listed = {artifact.path: artifact for artifact in list_artifacts(header)}
    found = listed.get(path)
    if found is None:
        raise UnknownName.of("artifact", path, listed)
    name = Path(found.path).name
    kept = store.runs.load_artifact(header.run_id, found.path)
    if kept is not None:
        return RunFile(name, found.media_type, kept)
    folder = run_folder(header.spec, header.run_id).resolve()
    file = (folder / found.path).resolve()
    if not file.is_relative_to(folder) or not file.is_file():
        raise UnknownName(f"the artifact {path!r} is no longer there", remedy="Known: what its run's folder has.")
    return RunFile(name, found.media_type, file)


def write_report(store: Store, run_id: str, format_name: str, policy: GatePolicy) -> RunFile:
    """A report of a run (a full id) as one file: several of them, as those of ``csv`` and ``png`` are, in a zip."""
    header = store.runs.load(run_id, samples=False)
    total = sum(arm.samples_total for arm in header.arms)
    if total > MOST_SAMPLES:
        raise NotComparable(
            f"this run has {total:,} samples, too many for a report from here",
            remedy=f"`dyno report {run_id} --format {format_name}` writes it where the store is.",
        )
    result = store.runs.load(run_id)
    findings = with_profiles(findings_for(result, store, policy=policy), result, store)
    with TemporaryDirectory(prefix="dyno-report-") as folder:
        with _drawing:
            written = write_reports(Report((result,), findings), [format_name], Path(folder))
        files = [(path.name, path.read_bytes()) for path in written]
    stem = f"{run_id[:13]}-report"
    if format_name in TYPES and len(files) == 1:
        return RunFile(f"{stem}{Path(files[0][0]).suffix}", TYPES[format_name], files[0][1])
    return RunFile(f"{stem}-{format_name}.zip", ZIP, _zipped(files))


def _zipped(files: list[tuple[str, bytes]]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
