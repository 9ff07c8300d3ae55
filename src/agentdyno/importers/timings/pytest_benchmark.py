"""Files of pytest-benchmark: ``--benchmark-json`` and those under ``.benchmarks/``, with or without raw data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from agentdyno.importers.content import outline
from agentdyno.importers.document import ImportedDocument, Node, read_document
from agentdyno.importers.timings.assemble import Aggregate, ImportedArm, Machine, TimingSeries, assemble, measured
from agentdyno.model import RunResult, Vcs, known_metric

_UNWRITABLE = "UNSERIALIZABLE["
_CLOSE = 1e-6


class PytestBenchmarkImporter:
    """Tests timed by pytest-benchmark: every round where raw data was saved, else its figures."""

    name = "pytest-benchmark"
    description = "pytest-benchmark JSON files (--benchmark-json, .benchmarks/)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        keys = outline(head)
        return {"machine_info", "commit_info"} <= keys and "machine_info.python_version" in keys

    def read(self, path: Path) -> Sequence[RunResult]:
        document = read_document(path)
        return [assemble(_found(document), document)]


def _found(document: ImportedDocument) -> ImportedArm:
    root = document.root
    commit = root.at("commit_info")
    project = commit.get("project")
    return ImportedArm(
        "pytest-benchmark",
        root.at("version").text(),
        document.stem if project is None else project.text(),
        [_series(node) for node in root.at("benchmarks").elements()],
        _machine(root.at("machine_info")),
        started_at=root.at("datetime").time_ms(),  # the only date there is: when the file was written
        vcs=_vcs(commit),
    )


def _series(node: Node) -> TimingSeries:
    full = node.at("fullname").text()
    case = node.get("param")
    label = "" if case is None else case.text()
    experiment = full.removesuffix(f"[{label}]") if label else full
    given = node.get("params")
    params: dict[str, object] = {} if given is None else {key: value.plain() for key, value in given.items()}
    if any(isinstance(value, str) and value.startswith(_UNWRITABLE) for value in params.values()):
        # The text of an object may hold its address, which is another one in every run.
        params = {"case": label}
    stats = node.at("stats")
    aggregate = _aggregate(stats)
    group = node.get("group")
    observed: dict[str, object] = {} if group is None else {"group": group.text()}
    name = node.at("name").text()
    data = stats.get("data")
    if data is None:
        metric = known_metric("duration_s")
        return TimingSeries(
            experiment, name, params, aggregates={metric.name: aggregate.summary(metric)}, observed=observed
        )
    values = data.amounts()
    _hold_together(data, values, aggregate)
    loops = stats.at("iterations").count(1)
    samples = [measured(i, {"duration_s": value}, inner_loops=loops) for i, value in enumerate(values)]
    return TimingSeries(experiment, name, params, samples, observed=observed)


def _aggregate(stats: Node) -> Aggregate:
    """Seconds per call over the rounds."""
    figures = {name: stats.at(name).amount() for name in ("min", "max", "mean", "median", "stddev")}
    for name in ("mean", "median"):
        slack = _CLOSE * figures["max"]
        if not figures["min"] - slack <= figures[name] <= figures["max"] + slack:
            raise stats.at(name).fail("does not lie between min and max")
    return Aggregate(
        n=stats.at("rounds").count(1),
        mean=figures["mean"],
        median=figures["median"],
        std=figures["stddev"],
        minimum=figures["min"],
        maximum=figures["max"],
    )


def _hold_together(data: Node, values: Sequence[float], stated: Aggregate) -> None:
    """The raw data has to be what the figures were taken of."""
    if len(values) != stated.n:
        raise data.fail(f"has {len(values)} values, and the figures are of {stated.n} rounds")
    mean = math.fsum(values) / len(values)
    for name, figure, value in (
        ("mean", stated.mean, mean),
        ("min", stated.minimum, min(values)),
        ("max", stated.maximum, max(values)),
    ):
        if figure is None or not math.isclose(figure, value, rel_tol=_CLOSE, abs_tol=1e-12):
            raise data.fail(
                f"gives a {name} of {value:g}, and the figures say {figure:g}: they do not belong together"
            )


def _vcs(commit: Node) -> Vcs | None:
    identity = commit.get("id")
    if identity is None or identity.text() in ("", "unknown", "unversioned"):
        return None
    branch, dirty = commit.get("branch"), commit.get("dirty")
    named = None if branch is None or branch.text() in ("(unknown)", "(detached head)") else branch.text()
    return Vcs(identity.text(), named, dirty is not None and dirty.flag())


def _machine(info: Node) -> Machine:
    cpu = info.get("cpu")
    brand = None if cpu is None else cpu.get("brand_raw") or cpu.get("brand")
    count = None if cpu is None else cpu.get("count")
    compiler = info.get("python_compiler")
    system, machine, release = (info.get(name) for name in ("system", "machine", "release"))
    return Machine(
        os=" ".join(part.text() for part in (system, machine) if part is not None),
        kernel="" if release is None else release.text(),
        cpu_model="" if brand is None else brand.text(),
        cpu_count=0 if count is None else count.count(),
        python=info.at("python_version").text(),
        implementation=info.at("python_implementation").text(),
        details={} if compiler is None else {"python_compiler": compiler.text()},
    )
