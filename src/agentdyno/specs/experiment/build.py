"""A validated document as a ``Spec``: defaults filled in, what spans several keys checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentdyno.errors import nearest
from agentdyno.model.spec import (
    Affinity,
    AutoStop,
    DeclaredMetric,
    Entry,
    GcPolicy,
    InstrumentUse,
    Isolation,
    Iterations,
    Limits,
    Order,
    Spec,
    Strategy,
)
from agentdyno.settings.run import (
    AFFINITY,
    EXECUTOR,
    GC,
    INSTRUMENTED,
    ISOLATION,
    MAX_FAILURE_RATE,
    MEASURED,
    ORDER,
    OUTPUT_LIMIT,
    PARALLELISM,
    SEED,
    TIMEOUT,
    WARMUP,
)
from agentdyno.specs.experiment.sweep import axes_problem
from agentdyno.specs.files.problems import FileProblem, shorten, spec_error
from agentdyno.specs.layers import ENTRY_KEYS, Document, bands_of, merge_entry

_MIB = 1024 * 1024


def build_spec(document: Document, *, source: str, base_dir: str, name: str) -> Spec:
    """The frozen form of a document whose layers have been applied; ``name`` holds where it gives none."""
    entries = _chosen(_entries(document, source), document.get("only", ()), source)
    instruments = tuple(
        InstrumentUse(item["name"], {key: value for key, value in item.items() if key != "name"})
        for item in document.get("instrumentation", [])
    )
    metrics = {key: DeclaredMetric(**value) for key, value in document.get("metrics", {}).items()}
    return Spec(
        name=document.get("name") or name or _name_of(entries),
        entries=entries,
        instruments=instruments,
        imports=tuple(document.get("imports", ())),
        output_dir=document.get("output_dir"),
        reports=tuple(document.get("reports", ())),
        tags=tuple(document.get("tags", ())),
        notes=document.get("notes", ""),
        seed=document.get("seed", SEED.default),
        parallelism=document.get("parallelism", PARALLELISM.default),
        isolation=Isolation(document.get("isolation", ISOLATION.default)),
        processes=document.get("processes"),
        order=Order(document.get("order", ORDER.default)),
        gc=GcPolicy(document.get("gc", GC.default)),
        affinity=Affinity(document.get("affinity", AFFINITY.default)),
        inner_loops=document.get("inner_loops") or None,
        limits=_limits(document),
        time_budget_s=document.get("time_budget_s"),
        max_failure_rate=document.get("max_failure_rate", MAX_FAILURE_RATE.default),
        metrics=metrics,
        bands=bands_of(document),
        executor=document.get("executor", EXECUTOR.default),
        base_dir=base_dir,
        source=source,
    )


def short_name(experiment: str) -> str:
    """The last part of a reference: ``sort`` of ``bench/sorting.py@sort`` and of ``bench.sorting:sort``."""
    return experiment.rpartition("@")[2].rpartition(":")[2]


def _name_of(entries: tuple[Entry, ...]) -> str:
    first = short_name(entries[0].experiment)
    return first if len(entries) == 1 else f"{first} +{len(entries) - 1}"


def _entries(document: Document, source: str) -> tuple[Entry, ...]:
    shared = {key: document[key] for key in ENTRY_KEYS if key in document}
    if "experiment" in document:
        rows = [("", {**shared, "experiment": document["experiment"]})]
    elif "experiments" in document:
        rows = [(f"experiments[{i}].", merge_entry(shared, row)) for i, row in enumerate(document["experiments"])]
        rows = [(prefix, {**row, **_only_of(document["experiments"][i])}) for i, (prefix, row) in enumerate(rows)]
    else:
        raise spec_error(
            source,
            [
                FileProblem(
                    "experiment",
                    "expected what to measure, got neither experiment nor experiments",
                    "Add `experiment: NAME`; `dyno list experiments` shows the names.",
                )
            ],
        )
    problems = [problem for prefix, row in rows for problem in _row_problems(prefix, row)]
    if problems:
        raise spec_error(source, problems)
    return tuple(_entry(row) for _, row in rows)


def _only_of(row: Document) -> Document:
    return {key: row[key] for key in ("experiment", "name") if key in row}


def _chosen(entries: tuple[Entry, ...], names: Sequence[str], source: str) -> tuple[Entry, ...]:
    """The entries of these names; one without a name of its own is known by that of its experiment."""
    if not names:
        return entries
    by_name = [(entry.name or short_name(entry.experiment), entry) for entry in entries]
    known = list(dict.fromkeys(name for name, _ in by_name))
    problems = [
        FileProblem("only", f"no experiment is named {shorten(repr(name))}", nearest(name[:200], known))
        for name in names
        if name not in known
    ]
    if problems:
        raise spec_error(source, problems)
    return tuple(entry for name, entry in by_name if name in names)


def _row_problems(prefix: str, row: Document) -> list[FileProblem]:
    problems = []
    strategy, samples = row.get("strategy", "cartesian"), row.get("samples")
    if strategy == "random" and samples is None:
        problems.append(
            FileProblem(
                f"{prefix}samples",
                "expected a number of combinations for strategy random, got none",
                "Add for example `samples: 20`.",
            )
        )
    if strategy != "random" and samples is not None:
        problems.append(
            FileProblem(
                f"{prefix}samples",
                f"expected no samples with strategy {strategy}, got {samples}",
                "Add `strategy: random`, or remove samples.",
            )
        )
    auto = row.get("iterations", {}).get("auto", {})
    if auto.get("min", 1) > auto.get("max", auto.get("min", 1)):
        problems.append(
            FileProblem(
                f"{prefix}iterations.auto.max",
                f"expected at least min, which is {auto['min']}, got {auto['max']}",
                "Raise max or lower min.",
            )
        )
    found = axes_problem(row.get("sweep", {}), Strategy(strategy))
    if found is not None:
        problems.append(FileProblem(f"{prefix}sweep", found.message, found.remedy))
    return problems


def _entry(row: Document) -> Entry:
    return Entry(
        experiment=row["experiment"],
        params=row.get("params", {}),
        sweep={name: tuple(values) for name, values in row.get("sweep", {}).items()},
        strategy=Strategy(row.get("strategy", Strategy.CARTESIAN)),
        samples=row.get("samples"),
        iterations=_iterations(row.get("iterations", {})),
        name=row.get("name", ""),
    )


def _iterations(row: Mapping[str, Any]) -> Iterations:
    auto = row.get("auto")
    stop = None
    if auto is not None:
        default = AutoStop()
        minimum = auto.get("min", min(default.minimum, auto.get("max", default.minimum)))
        maximum = auto.get("max", max(default.maximum, minimum))
        stop = AutoStop(auto.get("precision", default.precision), minimum, maximum)
    return Iterations(
        warmup=row.get("warmup", WARMUP.default),
        measured=row.get("measured", MEASURED.default),
        instrumented=row.get("instrumented", INSTRUMENTED.default),
        auto=stop,
        assumed="measured" not in row and auto is None,
    )


def _limits(document: Document) -> Limits:
    memory = document.get("memory_limit_mb")
    return Limits(
        timeout_s=document.get("timeout_s", TIMEOUT.default),
        memory_bytes=None if memory is None else max(1, int(memory * _MIB)),
        output_bytes=max(1, int(document.get("output_limit_mb", OUTPUT_LIMIT.default) * _MIB)),
    )
