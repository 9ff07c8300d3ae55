"""Results of asv (airspeed velocity), format version 2: one file per commit and environment, or a whole folder.

``results/benchmarks.json`` names units and parameters, so that files are read where asv keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentdyno.errors import ImportFailed
from agentdyno.importers.content import outline
from agentdyno.importers.document import ImportedDocument, Node, printable, read_document
from agentdyno.importers.timings.assemble import ImportedArm, Machine, TimingSeries, assemble
from agentdyno.importers.timings.asv_results import AsvBenchmark, read_benchmarks, read_series
from agentdyno.model import RunResult, RunWarning, Vcs

BENCHMARKS, MACHINE = "benchmarks.json", "machine.json"
_VERSION = 2
_MEGABYTES = 2**29


class AsvImporter:
    """Benchmarks of asv: raw samples where it recorded them, else the one value that it keeps per benchmark."""

    name = "asv"
    description = "asv result files and results folders"

    def recognises(self, path: Path, head: bytes) -> bool:
        if path.is_dir():
            return (path / MACHINE).is_file() or (path / BENCHMARKS).is_file()
        if path.name in (BENCHMARKS, MACHINE):
            return not _is_result(head) and _belongs_to_asv(path, head)
        return _is_result(head)

    def read(self, path: Path) -> Sequence[RunResult]:
        if path.is_dir():
            return _read_folder(path)
        if path.name in (BENCHMARKS, MACHINE):
            raise ImportFailed(
                f"{path.name} describes results and holds none",
                where=str(path),
                remedy="Import the folder that asv calls results, or the files that are named after commits.",
            )
        return [_read_result(path)]


def _is_result(head: bytes) -> bool:
    return {"commit_hash", "env_name", "results"} <= outline(head)


def _belongs_to_asv(path: Path, head: bytes) -> bool:
    keys = outline(head)
    if path.name == MACHINE:
        return {"machine", "version"} <= keys
    return any(key.endswith(".param_names") for key in keys)


def _read_folder(folder: Path) -> list[RunResult]:
    """The files of one machine, or of all machines below a results folder, in the order of their names."""
    try:
        machines = [folder] if (folder / MACHINE).is_file() else sorted(p.parent for p in folder.glob(f"*/{MACHINE}"))
        files = [path for machine in machines for path in sorted(machine.glob("*.json")) if path.name != MACHINE]
    except OSError as error:
        raise ImportFailed(f"cannot be read: {error.strerror or error}", where=str(folder)) from None
    if not files:
        raise ImportFailed(
            "there are no results of a machine in this folder",
            where=str(folder),
            remedy="Import the folder that asv calls results; `asv run` fills it.",
        )
    return [_read_result(path) for path in files]


def _read_result(path: Path) -> RunResult:
    document = read_document(path)
    root = document.root
    version = root.at("version")
    if version.value != _VERSION:
        raise ImportFailed(
            f"is of the format version {printable(str(version.value))[:20]}, not {_VERSION}",
            where=document.root.file,
            remedy="`asv update` brings older results up to date.",
        )
    known = read_benchmarks(_beside(path))
    return assemble(_found(document, known), document)


def _beside(path: Path) -> ImportedDocument:
    listed = path.parent.parent / BENCHMARKS
    if not listed.is_file():
        raise ImportFailed(
            f"there is no {BENCHMARKS} in the folder above, which tells units and parameters",
            where=str(path),
            remedy="Import the file from where asv keeps it: results/MACHINE/, below results/benchmarks.json.",
        )
    return read_document(listed)


def _found(document: ImportedDocument, known: dict[str, AsvBenchmark]) -> ImportedArm:
    root = document.root
    series: list[TimingSeries] = []
    left_out = 0
    starts: list[int] = []
    ends: list[int] = []
    aggregated = 0
    for entry in read_series(root, known):
        series += entry.series
        left_out += entry.left_out
        aggregated += entry.aggregated
        if entry.started_at is not None:
            starts.append(entry.started_at)
            ends.append(entry.started_at + round(entry.lasted_s * 1000))
    return ImportedArm(
        "asv",
        "",  # its files do not tell
        root.at("env_name").text(),
        series,
        _machine(document),
        started_at=min(starts, default=root.at("date").epoch_ms()),
        finished_at=max(ends, default=None),
        vcs=Vcs(root.at("commit_hash").text(), None, dirty=False),
        warnings=_warnings(left_out, aggregated),
    )


def _warnings(left_out: int, aggregated: int) -> list[RunWarning]:
    warnings = []
    if left_out:
        warnings.append(
            RunWarning(
                "left-out",
                f"{left_out} values are left out, as asv does: skipped, or of a benchmark that has changed since",
            )
        )
    if aggregated:
        warnings.append(
            RunWarning(
                "aggregates-only",
                f"asv kept one value, the median, of {aggregated} timings: n = 1 is not how many it took",
                "`asv run --record-samples` keeps them all.",
            )
        )
    return warnings


def _machine(document: ImportedDocument) -> Machine:
    """From what the result says of its machine; ``machine.json`` beside it fills gaps."""
    facts = _facts(document.root.at("params"))
    beside = document.path.parent / MACHINE
    if beside.is_file():
        facts = {**_facts(read_document(beside).root), **facts}
    system = facts.get("os", "").split(" ")
    memory = facts.get("ram", "")
    requirements = document.root.get("requirements")
    return Machine(
        os=" ".join(part for part in (system[0], facts.get("arch", "")) if part),
        kernel=system[1] if len(system) > 1 else "",
        cpu_model=facts.get("cpu", ""),
        cpu_count=_whole(facts.get("num_cpu", "")),
        # Older releases wrote kilobytes or free text, which cannot be told from bytes when small.
        memory_bytes=_whole(memory) if _whole(memory) >= _MEGABYTES else 0,
        python=document.root.at("python").text(),
        packages={} if requirements is None else {key: _version(node) for key, node in requirements.items()},
        details={"commit_date_ms": document.root.at("date").epoch_ms()},
    )


def _facts(node: Node) -> dict[str, str]:
    """The texts among the members; the name of the machine is not taken."""
    return {key: member.text() for key, member in node.items() if isinstance(member.value, str) and key != "machine"}


def _version(node: Node) -> str:
    return "" if node.value is None else node.text()


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0
