"""Logs of Inspect (``inspect eval``): ``.eval`` archives and JSON, finished or not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentdyno.errors import ImportFailed
from agentdyno.importers.content import outline, settings, text_of
from agentdyno.importers.document import LATEST_MS, ImportedDocument, Node, read_document
from agentdyno.importers.evals.eval_archive import ZIP, open_archive
from agentdyno.importers.evals.evaluated import Evaluation, Tested, evaluated, version_of
from agentdyno.importers.evals.inspect_results import (
    TOOL,
    check_samples,
    primary_of,
    reported_by,
    rubric_of,
    totals_of,
    warnings_of,
)
from agentdyno.importers.evals.inspect_samples import InspectExecution, Tried, read_sample
from agentdyno.model import (
    AgentUse,
    Benchmark,
    Case,
    Category,
    RunResult,
    Vcs,
)
from agentdyno.model.suite import slug

_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
_SIMULATED = "mockllm/"
_STATUSES = ("success", "error", "cancelled", "started")


class InspectImporter:
    """Evaluations logged by Inspect: every sample with its scores, times and tokens."""

    name = TOOL
    description = "Inspect logs (.eval archives and JSON)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        if head.startswith(ZIP):
            first = head[30 : 30 + int.from_bytes(head[26:28], "little")]
            return first in (_HEADER.encode(), _START.encode())
        return {"version", "eval.task", "eval.task_id", "eval.created"} <= outline(head)

    def read(self, path: Path) -> Sequence[RunResult]:
        with _opened(path) as log:
            return [evaluated(_evaluation(log), log.document)]


@dataclass(frozen=True, slots=True)
class _Log:
    """The header of a log, and its samples, which are read one after the other. ``logged`` counts them."""

    document: ImportedDocument
    samples: Iterable[Node]
    logged: int
    started_only: bool = False


@contextmanager
def _opened(path: Path) -> Iterator[_Log]:
    if not _is_archive(path):
        document = read_document(path)
        given = document.root.get("samples")
        samples = [] if given is None else given.elements()
        yield _Log(document, samples, len(samples))
        return
    with open_archive(path) as archive:
        begun = _HEADER not in archive.names
        if begun and _START not in archive.names:
            raise ImportFailed(
                f"holds neither {_HEADER} nor {_START}: no log of Inspect", where=path.name, remedy="Check the file."
            )
        header = archive.node(_START if begun else _HEADER)
        names = [name for name in archive.names if name.startswith(_SAMPLES) and name.endswith(".json")]
        sha256 = _sha256(path)
        modified_at = min(max(path.stat().st_mtime_ns // 1_000_000, 0), LATEST_MS)
        document = ImportedDocument(header, path, sha256, sha256, modified_at)
        yield _Log(document, (archive.node(name) for name in names), len(names), begun)


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(ZIP)) == ZIP
    except OSError as error:
        raise ImportFailed(f"cannot be read: {error.strerror or error}", where=str(path)) from None


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _evaluation(log: _Log) -> Evaluation:
    root = log.document.root
    asked = root.at("eval")
    status = "started" if log.started_only else root.at("status").text()
    if status not in _STATUSES:
        raise root.at("status").expected(f"one of {', '.join(_STATUSES)}")
    config = asked.get("config")
    epochs = _count(config, "epochs", 1)
    rubric = rubric_of(root)
    primary = primary_of(root, rubric.pass_threshold)
    model = asked.at("model").text()
    tried = Tried(model, _is_metered(root, model), model.startswith(_SIMULATED))
    read = [read_sample(node, primary, tried) for node in log.samples]
    check_samples(root, read, rubric, log.logged, status)
    task = asked.at("task").text()
    benchmark = Benchmark(
        task,
        tuple(_cases(asked, read)),
        slug(task),
        category=Category.ACCURACY,
        data_source=text_of(asked.at("dataset").get("name")) or "inline",
        rubric=rubric,
        epochs=epochs,
    )
    tested = Tested(
        benchmark.benchmark_id,
        _agent(root, model),
        [item.sample for item in read],
        _planned(root, epochs),
        reported_by(root),
        None if read else totals_of(root, primary),
        tried.simulated,
    )
    version, packages = asked.get("task_version"), asked.get("packages")
    return Evaluation(
        TOOL,
        "" if packages is None else text_of(packages.get("inspect_ai")),
        task,
        [benchmark],
        [tested] if read or tested.totals is not None else [],
        started_at=_time(root, "started_at") or asked.at("created").time_ms(),
        finished_at=_time(root, "completed_at"),
        suite_version="" if version is None else text_of(version),
        epochs=epochs,
        ended_early=_ended_early(root, status),
        vcs=_vcs(asked),
        warnings=warnings_of(root, read, primary),
    )


def _count(node: Node | None, key: str, otherwise: int) -> int:
    given = None if node is None else node.get(key)
    return otherwise if given is None else given.count(1)


def _is_metered(root: Node, model: str) -> bool:
    stats = root.get("stats")
    usage = None if stats is None else stats.get("model_usage")
    return usage is not None and usage.get(model) is not None


def _time(root: Node, key: str) -> int | None:
    """``None`` where an evaluation that was interrupted has an empty text."""
    stats = root.get("stats")
    given = None if stats is None else stats.get(key)
    return None if given is None or given.value == "" else given.time_ms()


def _cases(asked: Node, read: Sequence[InspectExecution]) -> list[Case]:
    """In the order of the data set, as far as the log tells it; what one epoch asks the others ask."""
    found = {item.case.id: item.case for item in sorted(read, key=lambda item: -item.sample.iteration)}
    given = asked.at("dataset").get("sample_ids")
    order = [] if given is None else [str(item.value) for item in given.elements()]
    ordered = [found.pop(name) for name in order if name in found]
    return [*ordered, *(found[name] for name in sorted(found))]


def _planned(root: Node, epochs: int) -> int:
    results = root.get("results")
    if results is not None:
        return results.at("total_samples").count()
    given = root.at("eval").at("dataset").get("sample_ids")
    return 0 if given is None else len(given.elements()) * epochs


def _agent(root: Node, model: str) -> AgentUse:
    """A model with the solvers around it; its version follows from how it was set up."""
    asked, plan = root.at("eval"), root.get("plan")
    steps = plan.get("steps") if plan is not None else None
    solvers = [
        [text_of(step.at("solver")), settings(step.get("params_passed") or step.get("params"))]
        for step in (steps.elements() if steps is not None else [])
    ]
    config = {**settings(asked.get("model_generate_config")), **settings(plan.get("config") if plan else None)}
    given = {
        key: value
        for key, value in settings(asked.get("model_args")).items()
        if isinstance(value, str | int | float | bool)
    }
    told: dict[str, object] = {**given, **config, "solver": " → ".join(str(name) for name, _ in solvers)}
    version = version_of(solvers, config, given, text_of(asked.get("model_base_url")))
    return AgentUse(model, f"imported:{TOOL}", version, {key: value for key, value in told.items() if value != ""})


def _ended_early(root: Node, status: str) -> str | None:
    if status == "success":
        return None
    error = root.get("error")
    return f"{status}: {text_of(error.get('message'))}" if error is not None else status


def _vcs(asked: Node) -> Vcs | None:
    revision = asked.get("revision")
    if revision is None:
        return None
    dirty = revision.get("dirty")
    return Vcs(revision.at("commit").text(), None, dirty is not None and dirty.flag())
