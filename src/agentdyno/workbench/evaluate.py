"""Suites from Python: the same run as ``dyno run SUITE``, as a function."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentdyno.errors import SpecError, nearest
from agentdyno.model import Benchmark, Case, Progress, Rubric, RunResult, ScorerUse, Spec, Suite
from agentdyno.registry.local import file_being_loaded
from agentdyno.registry.names import register
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.lineup import Named
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.settings.run import SEED
from agentdyno.specs import Dataset, LoadedSuite, SettingChanges, load_suite, parse_suite, suite_changes
from agentdyno.specs.changes import SUITE_CHANGES, known_changes
from agentdyno.specs.suite.load import form_asked
from agentdyno.specs.suite.select import Selection, choose_benchmarks, select_cases
from agentdyno.store import Store
from agentdyno.workbench.location import output_root, project_store

Scoring = str | ScorerUse | Callable[..., object]
Asked = str | os.PathLike[str] | Mapping[str, object] | Suite | Dataset | Iterable[Case]


def evaluate(
    suite: Asked,
    agents: Sequence[Named] | Named = (),
    *,
    scorer: Scoring | Sequence[Scoring] | None = None,
    store: str | None = None,
    max_cost: float | None = None,
    quick: bool = False,
    allow_changed_suite: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
    **overrides: object,
) -> RunResult:
    """Puts the cases of a suite to agents, records every answer, and returns the closed result.

    ``suite`` is a file, a mapping with the keys of one, a ``Suite``, a ``Dataset`` or cases. ``agents`` are
    functions, objects with ``run(case)``, names of dyno.yaml, or references such as ``openai:gpt-5-mini``. ``scorer``
    replaces what the suite says. ``overrides`` are the options of ``dyno run``: ``epochs``, ``limit``,
    ``concurrency``, ``warmup``, ``seed``, ``cases``, ``benchmarks``, ``tags``, ``notes``, ``output_dir``,
    ``retries``. ``max_cost`` is in dollars. ``allow_changed_suite`` runs a declared version of a suite
    that was run with other contents before.
    """
    loading = file_being_loaded()
    if loading is not None:
        raise SpecError(
            "evaluate is called at the top level of a file that is being loaded for an agent or a scorer in it",
            where=loading,
            remedy='Put the call under `if __name__ == "__main__":`.',
        )
    loaded = _load(suite, quick, _overrides(overrides), _scorers(scorer))
    url = store or project_store(Path.cwd(), os.environ)
    named = tuple(agents) if isinstance(agents, (list, tuple)) else (agents,)
    kind = kind_named(SUITE)
    choices = Choices(named, max_cost, allow_changed_suite=allow_changed_suite)
    with Store.open(url) as opened:
        tools = Tools(opened, output_root(url), on_progress=on_progress, choices=choices)
        with kind.prepare(suite_request(loaded), tools) as prepared:
            return start(kind, prepared, tools)


async def aevaluate(suite: Asked, agents: Sequence[Named] | Named = (), **options: object) -> RunResult:
    """``evaluate`` for code that runs in an event loop. Agents run in a loop of their own."""
    return await asyncio.to_thread(evaluate, suite, agents, **options)  # type: ignore[arg-type]


def _load(suite: Asked, quick: bool, changes: SettingChanges, scorers: tuple[ScorerUse, ...]) -> LoadedSuite:
    if isinstance(suite, (str, os.PathLike)):
        loaded = load_suite(Path(suite), quick=quick, overrides=changes)
    elif isinstance(suite, Mapping):
        loaded = parse_suite(suite, source="suite", base_dir=Path.cwd(), quick=quick, overrides=changes)
    else:
        made = suite if isinstance(suite, Suite) else _of_cases(suite, scorers)
        _check(made, changes)
        chosen, settings = _overridden(made, changes)
        loaded = LoadedSuite(chosen, settings, form_asked(chosen, made))
    return loaded if not scorers else _rescored(loaded, scorers)


def _check(suite: Suite, changes: SettingChanges) -> None:
    """What a file is checked for, where there is none: ids, and the values of options."""
    from agentdyno.specs.files.validate import validate_as
    from agentdyno.specs.suite.format import SuiteLayer

    validate_as(SuiteLayer, changes.document(), "evaluate")
    seen: set[str] = set()
    for item in suite.benchmarks:
        if len({case.id for case in item.cases}) < len(item.cases) or not all(case.id for case in item.cases):
            Dataset(item.cases)  # says which, and refuses them
        if item.benchmark_id in seen:
            raise SpecError(f"two benchmarks have the id {item.benchmark_id!r}", where=suite.name)
        seen.add(item.benchmark_id)


def _overridden(suite: Suite, changes: SettingChanges) -> tuple[Suite, Spec]:
    """A suite made in Python, with the same changes that a file takes."""
    given: Mapping[str, Any] = changes
    known = [item.benchmark_id for item in suite.benchmarks]
    chosen = [suite.benchmarks[i] for i in choose_benchmarks(given.get("benchmarks", ()), known, suite.name)]
    selection = Selection(ids=given.get("cases", ()), limit=given.get("limit"))
    selected = select_cases(chosen, selection, suite.name)
    limits = suite.constraints
    suite = replace(
        suite,
        benchmarks=tuple(_changed(item, given) for item in selected),
        concurrency=given.get("concurrency", suite.concurrency),
        retries=given.get("retries", suite.retries),
        constraints=replace(limits, cost_limit_usd=given.get("max_cost_usd", limits.cost_limit_usd)),
    )
    settings = Spec(
        suite.name,
        (),
        base_dir=str(Path.cwd()),
        source=suite.source or "suite",
        parallelism=suite.concurrency,
        seed=given.get("seed", SEED.default),
        tags=tuple(given.get("tags", ())),
        notes=given.get("notes", ""),
        output_dir=given.get("output_dir"),
        time_budget_s=given.get("time_budget_s"),
    )
    return suite, settings


def _changed(item: Benchmark, given: Mapping[str, Any]) -> Benchmark:
    limits = item.constraints
    return replace(
        item,
        epochs=given.get("epochs", item.epochs),
        warmup=given.get("warmup", item.warmup),
        constraints=replace(limits, time_limit_s=given.get("time_limit_s", limits.time_limit_s)),
    )


def _of_cases(cases: Iterable[Case], scorers: tuple[ScorerUse, ...]) -> Suite:
    rubric = Rubric(scorers) if scorers else Rubric()
    return Suite("cases", (Benchmark("cases", Dataset(cases).cases, rubric=rubric),), base_dir=str(Path.cwd()))


def _rescored(loaded: LoadedSuite, scorers: tuple[ScorerUse, ...]) -> LoadedSuite:
    benchmarks = tuple(
        replace(item, rubric=replace(item.rubric, scorers=scorers)) for item in loaded.suite.benchmarks
    )
    suite, form = replace(loaded.suite, benchmarks=benchmarks), loaded.form
    if form is not None:  # another rubric makes another version of the suite
        form = replace(form, suite=suite.digest if form.whole else "")
    return replace(loaded, suite=suite, form=form)


def _scorers(given: Scoring | Sequence[Scoring] | None) -> tuple[ScorerUse, ...]:
    if given is None:
        return ()
    items = given if isinstance(given, (list, tuple)) else (given,)
    uses = tuple(_scorer(item) for item in items)
    names = [use.name for item, use in zip(items, uses, strict=True) if callable(item)]
    if len(names) > len(set(names)):
        twice = next(name for name in names if names.count(name) > 1)
        raise SpecError(f"two scorers are called {twice!r}", where="evaluate", remedy="Give one another name.")
    return uses


def _scorer(item: Scoring) -> ScorerUse:
    if isinstance(item, ScorerUse):
        return item
    if isinstance(item, str):
        return ScorerUse(item)
    name = str(getattr(item, "__name__", type(item).__name__))
    register("scorers", name, item)
    return ScorerUse(name)


def _overrides(given: Mapping[str, object]) -> SettingChanges:
    try:
        return suite_changes(**given)
    except KeyError as error:
        name, known = str(error.args[0]), known_changes(SUITE_CHANGES)
        raise SpecError(f"no option {name!r}", where="evaluate", remedy=nearest(name, known)) from None
