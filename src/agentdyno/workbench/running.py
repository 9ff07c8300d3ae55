"""The Python API: the same power as the command line, without printing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentdyno.contracts import Report
from agentdyno.errors import SpecError
from agentdyno.findings.comparison.ask import Results, compare_operands
from agentdyno.findings.engine.match import Operand, took_turns
from agentdyno.findings.run.ask import findings_for
from agentdyno.model import ArmResult, Comparison, Environment, Progress, RunResult, RunStatus, Spec
from agentdyno.model.result import LOAD_KIND
from agentdyno.registry.local import file_being_loaded
from agentdyno.runs.experiment.resolve import import_paths
from agentdyno.runs.kind import RunRequest, Source, Tools
from agentdyno.runs.kinds import EXPERIMENT, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.runs.place import run_folder
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.run import SEED
from agentdyno.specs import SettingChanges, load_spec, params_of, parse_spec, spec_changes
from agentdyno.store import Store
from agentdyno.workbench.location import output_root, project_store, store_exists
from agentdyno.workbench.reporting import check_formats, write_reports


def run_spec(
    spec: str | os.PathLike[str] | Mapping[str, object] | Spec,
    *,
    store: str | None = None,
    quick: bool = False,
    against: str | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    **overrides: Any,
) -> RunResult:
    """Runs a spec: a file, or a mapping of the same form.

    ``overrides`` are those of the command line: ``params={…}``, ``iterations=20``, ``seed=7``, ``output_dir=…``.
    The result is also in the store and in ``<output_dir>/<run_id>/result.json``.
    """
    loading = file_being_loaded()
    if loading is not None:
        raise SpecError(
            "run_spec is called at the top level of a file that a worker is loading to measure something in it",
            where=loading,
            remedy='Put the call under `if __name__ == "__main__":`.',
        )
    try:
        changes = spec_changes(**overrides)
    except KeyError as error:
        raise SpecError(f"got an unexpected keyword argument {error}", where="run_spec") from None
    loaded = _load(spec, quick, changes)
    if against is not None:
        from dataclasses import replace

        loaded = replace(loaded, against=against)
    url = store or project_store(Path.cwd(), os.environ)
    kind, request = kind_named(EXPERIMENT), RunRequest(EXPERIMENT, loaded, params_of(changes))
    with kind.prepare(request, Tools()) as prepared:
        formats = check_formats(",".join(loaded.reports), import_paths(loaded))
        with Store.open(url) as opened:
            tools = Tools(opened, output_root(url), on_progress=on_progress)
            result = start(kind, prepared, tools)
            if not formats:
                return result
            report = Report((result,), findings_for(result, opened))
            write_reports(report, formats, run_folder(result.spec, result.run_id))
            return result


def compare(
    baseline: str | RunResult | ArmResult,
    candidate: str | RunResult | ArmResult,
    *,
    store: str | None = None,
    tolerance: float = TOLERANCE.default,
) -> Comparison:
    """Two results side by side: files, runs of the store, ``RUN:ARM``, results or arms of results at hand. Read-only.

    Two arms at hand are judged where their samples show that they were measured taking turns.
    """
    url = store or project_store(Path.cwd(), os.environ)
    opened: list[Store] = []

    def open_store() -> Store:
        if not opened:
            opened.append(Store.open(url, must_exist=True))
        return opened[0]

    try:
        results = Results(open_store)
        first, second = _operands(baseline, candidate, results)
        known = open_store() if store_exists(url) else None
        return compare_operands(first, second, known, tolerance)
    finally:
        for item in opened:
            item.close()


def run_load(
    load: str | os.PathLike[str] | Mapping[str, object], *, store: str | None = None, quick: bool = False
) -> RunResult:
    """Puts a target under load: a load file, or a mapping of its form (``{"load": {"target": …, "rate": 50}}``).

    The result is in the store and in ``<output_dir>/<run_id>/result.json``; ``stress_report`` says what it means.
    """
    kind = kind_named(LOAD_KIND)
    document, path = (load, None) if isinstance(load, Mapping) else (None, Path(load))
    request = kind.read(Source(path, document, quick=quick), {})
    url = store or project_store(Path.cwd(), os.environ)
    with Store.open(url) as opened:
        tools = Tools(opened, output_root(url))
        with kind.prepare(request, tools) as prepared:
            return start(kind, prepared, tools)


def load_run(reference: str, *, store: str | None = None) -> RunResult:
    """A run of the store with all its samples: by its id, the beginning of it, ``last`` or ``last~1``."""
    url = store or project_store(Path.cwd(), os.environ)
    with Store.open(url, must_exist=True) as opened:
        return opened.runs.load(opened.runs.find(reference))


def _load(spec: str | os.PathLike[str] | Mapping[str, object] | Spec, quick: bool, changes: SettingChanges) -> Spec:
    if isinstance(spec, Spec):
        if quick or changes:
            raise SpecError(
                "a Spec is complete: it takes no quick and no overrides",
                where="run_spec",
                remedy="Give the file or the mapping instead, or change the Spec with dataclasses.replace.",
            )
        return spec
    if isinstance(spec, Mapping):
        return parse_spec(spec, source="spec", base_dir=Path.cwd(), quick=quick, overrides=changes)
    return load_spec(Path(spec), quick=quick, overrides=changes)


def _operands(
    baseline: str | RunResult | ArmResult, candidate: str | RunResult | ArmResult, results: Results
) -> tuple[Operand, Operand]:
    turns = isinstance(baseline, ArmResult) and isinstance(candidate, ArmResult) and took_turns(baseline, candidate)
    known = [item for item in (baseline, candidate) if isinstance(item, RunResult)]
    first, second = (
        _of_arm(item, known[0] if known else None, "one run" if turns else f"{place} run")
        if isinstance(item, ArmResult)
        else _operand(item, results)
        for place, item in (("first", baseline), ("second", candidate))
    )
    return first, second


def _operand(item: str | RunResult, results: Results) -> Operand:
    return results.operand(item) if isinstance(item, str) else Operand(item.run_id[:13], item, item.arms)


def _of_arm(arm: ArmResult, other: RunResult | None, run_id: str) -> Operand:
    """An arm does not say which run it is of. Whether two were measured taking turns is seen from their samples; of
    ``other``, the run on the other side, it may be an arm."""
    if other is not None and any(item is arm for item in other.arms):
        return Operand(arm.name, other, (arm,), named=True)
    machine = Environment(str(arm.observed.get("host_id", "")), "", "", "", 0, 0, "", "", "")
    result = RunResult(
        *(run_id, EXPERIMENT, arm.name, RunStatus.COMPLETE, 0, None, SEED.default, Spec(arm.name, ()), machine, None)
    )
    return Operand(arm.name, result, (arm,), named=True)
