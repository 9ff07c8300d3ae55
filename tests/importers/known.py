"""The importers of this package and the files that the tools wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

from agentdyno.contracts import Importer
from agentdyno.importers.sniff import find_importer
from agentdyno.importers.timings.asv import AsvImporter
from agentdyno.importers.timings.google_benchmark import GoogleBenchmarkImporter
from agentdyno.importers.timings.hyperfine import HyperfineImporter
from agentdyno.importers.timings.pyperf import PyperfImporter
from agentdyno.importers.timings.pytest_benchmark import PytestBenchmarkImporter
from agentdyno.model import ArmResult, RunResult

FIXTURES = Path(__file__).parent / "fixtures"
IMPORTERS: tuple[Importer, ...] = (
    AsvImporter(),
    GoogleBenchmarkImporter(),
    HyperfineImporter(),
    PyperfImporter(),
    PytestBenchmarkImporter(),
)
ASV = FIXTURES / "asv" / "results"
AUTOSAVED = next((FIXTURES / "pytest_benchmark" / ".benchmarks").rglob("0001_*.json"))
FILES = {
    "pyperf": [FIXTURES / "pyperf" / name for name in ("words.json", "memory.json", "single.json.gz")],
    "pytest-benchmark": [FIXTURES / "pytest_benchmark" / "with_data.json", AUTOSAVED],
    "asv": sorted(ASV.glob("bench-box/*-virtualenv-py3.11.json")),
    "hyperfine": [FIXTURES / "hyperfine" / name for name in ("two.json", "scan.json", "list.json")],
    "google-benchmark": [
        FIXTURES / "google_benchmark" / name
        for name in ("plain.json", "repeated.json", "aggregates.json", "newer.json")
    ],
}
ALL = [(name, path) for name, paths in FILES.items() for path in paths]


def importer(name: str) -> Importer:
    return next(item for item in IMPORTERS if item.name == name)


def read(path: Path) -> RunResult:
    """The one run of a file whose format is found out."""
    (result,) = find_importer(path, IMPORTERS).read(path)
    return result


def arm(result: RunResult, name: str) -> ArmResult:
    return next(item for item in result.arms if item.name == name)


def copy_with(path: Path, content: bytes, folder: Path) -> Path:
    """A file with other content in the same surroundings: asv looks at what lies beside."""
    home = folder / "results" / "bench-box"
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(ASV / "benchmarks.json", folder / "results" / "benchmarks.json")
    shutil.copy(ASV / "bench-box" / "machine.json", home / "machine.json")
    target = home / path.name
    target.write_bytes(content)
    return target
