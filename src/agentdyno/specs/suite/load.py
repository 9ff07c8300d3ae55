"""The ways into a ``Suite``: a file, or a Python mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.errors import SpecError
from agentdyno.model.identity import digest
from agentdyno.model.spec import Spec
from agentdyno.model.suite import RunForm, Suite
from agentdyno.settings.run import EXECUTOR, MAX_FAILURE_RATE, OTEL, SEED
from agentdyno.settings.suite import EPOCHS
from agentdyno.specs.changes import COMMAND_LINE, SettingChanges
from agentdyno.specs.files.problems import FileProblem, got, spec_error
from agentdyno.specs.layers import bands_of

if TYPE_CHECKING:
    from agentdyno.specs.layers import Document
    from agentdyno.specs.suite.build import SuitePlace

LEAST = "dataset: cases.jsonl"
SUITE_KEYS = frozenset({"benchmarks", "dataset", "suite_id", "suite_name", "agents", "scoring_rubric", "scorer"})
"""Keys that no experiment's spec has."""
_OF_A_VERSION = ("choice", "benchmarks", "case_constraints")
"""Keys of a document that a layer may change and that make another version of the suite."""


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    """A suite, the settings of a run of it (a ``Spec`` without entries), and whether it is the whole suite."""

    suite: Suite
    settings: Spec
    form: RunForm | None = None


def is_suite(document: object) -> bool:
    """Whether a document (as read from a file) describes a suite and not an experiment."""
    return isinstance(document, Mapping) and not SUITE_KEYS.isdisjoint(document)


def load_suite(path: Path, *, quick: bool = False, overrides: SettingChanges | None = None) -> LoadedSuite:
    """The suite in a YAML or JSON file with all its cases; ``quick`` applies its ``quick:`` key.

    Paths in it are relative to the file. Raises ``SpecError``.
    """
    from agentdyno.specs.files.read import read_document
    from agentdyno.specs.suite.build import SuitePlace

    document = read_document(path, least=LEAST)
    place = SuitePlace(str(path), path.absolute().parent, path.parent, path.stem)
    return _build(document, place, quick, overrides)


def parse_suite(
    document: Mapping[str, object],
    *,
    source: str = "suite",
    base_dir: Path | None = None,
    quick: bool = False,
    overrides: SettingChanges | None = None,
) -> LoadedSuite:
    """The suite in a mapping of the file format's form; ``source`` stands for the file in messages.

    ``dataset`` may also be a ``Dataset``, and ``cases`` may hold ``Case`` objects.
    """
    from agentdyno.specs.suite.build import SuitePlace

    folder = (base_dir or Path()).absolute()
    return _build(document, SuitePlace(source, folder, folder, ""), quick, overrides)


def _build(document: object, place: SuitePlace, quick: bool, overrides: SettingChanges | None) -> LoadedSuite:
    from agentdyno.specs.files.validate import validate_as
    from agentdyno.specs.layers import apply_suite_layer
    from agentdyno.specs.suite.build import build_suite
    from agentdyno.specs.suite.format import SuiteFile, SuiteLayer

    bare, inline = _without_cases(_mapping(document, place.source))
    settled = validate_as(SuiteFile, _plain_mapping(bare, place.source), place.source)
    layer = settled.pop("quick", {})
    _check_quick_agents(layer, place.source)
    written = settled
    if quick:
        settled = apply_suite_layer(settled, layer)
    if overrides is not None:
        changed = validate_as(SuiteLayer, _plain_mapping(overrides.document(), COMMAND_LINE), COMMAND_LINE)
        settled = apply_suite_layer(settled, changed, command_line=True)
    suite = build_suite(settled, inline, place)
    part = any((settled.get(key) or None) != (written.get(key) or None) for key in _OF_A_VERSION)
    whole = _whole(written, inline, place) if part else suite
    form = form_asked(suite, whole, quick=quick and bool(layer), epochs=int(written.get("epochs", EPOCHS.default)))
    return LoadedSuite(suite, _settings(settled, suite), form)


def _whole(written: Document, inline: Mapping[int, Sequence[object]], place: SuitePlace) -> Suite | None:
    """The suite as its file says it; ``None`` where a part that was not chosen cannot be read."""
    from agentdyno.specs.suite.build import build_suite

    try:
        return build_suite(written, inline, place)
    except SpecError:
        return None


def form_asked(suite: Suite, whole: Suite | None, *, quick: bool = False, epochs: int | None = None) -> RunForm:
    """What a run of ``suite`` is asked to be, which was chosen from ``whole`` (``None``: that cannot be read).

    ``epochs`` are those of the whole suite.
    """
    chosen = [(item.benchmark_id, [case.id for case in item.cases]) for item in suite.benchmarks]
    same = suite is whole or (whole is not None and suite.digest == whole.digest)
    return RunForm(
        suite="" if whole is None else (suite if same else whole).digest,
        cases=sum(len(ids) for _, ids in chosen),
        suite_cases=0 if whole is None else sum(len(item.cases) for item in whole.benchmarks),
        epochs=suite.epochs,
        suite_epochs=suite.epochs if epochs is None else epochs,
        whole=same,
        quick=quick,
        selection="" if same else digest(chosen, 16),
        limits=suite.constraints,
    )


def _settings(document: Document, suite: Suite) -> Spec:
    budgets = [document.get("time_budget_s"), suite.constraints.time_limit_s]
    return Spec(
        name=suite.name,
        entries=(),
        imports=suite.imports,
        output_dir=document.get("output_dir"),
        tags=tuple(document.get("tags", ())),
        notes=document.get("notes", ""),
        seed=document.get("seed", SEED.default),
        parallelism=suite.concurrency,
        time_budget_s=min((float(value) for value in budgets if value is not None), default=None),
        max_failure_rate=document.get("max_failure_rate", MAX_FAILURE_RATE.default),
        otel=document.get("otel", OTEL.default),
        bands=bands_of(document),
        executor=document.get("executor", EXECUTOR.default),
        base_dir=suite.base_dir,
        source=suite.source,
    )


def _check_quick_agents(layer: Document, source: str) -> None:
    """Secrets are refused even where this run does not read them."""
    from agentdyno.specs.workspace.agents import entry_problems

    problems = [
        problem
        for i, entry in enumerate(layer.get("agents", ()))
        for problem in entry_problems(entry, f"quick.agents[{i}]")
    ]
    if problems:
        raise spec_error(source, problems)


def _without_cases(document: Mapping[str, object]) -> tuple[dict[str, object], dict[int, Sequence[object]]]:
    """The document without inline cases, and those by the position of their benchmark (0 for a flat suite).

    They are taken out because there may be many more than a settings file may hold values, and because in Python
    they may be objects.
    """
    bare, inline = dict(document), dict[int, Sequence[object]]()
    if "dataset" in bare:
        bare["dataset"] = _take(bare["dataset"], 0, inline)
    benchmarks = bare.get("benchmarks")
    if isinstance(benchmarks, (list, tuple)):
        bare["benchmarks"] = [
            {**item, "dataset": _take(item["dataset"], i, inline)}
            if isinstance(item, Mapping) and "dataset" in item
            else item
            for i, item in enumerate(benchmarks)
        ]
    return bare, inline


def _take(dataset: object, position: int, inline: dict[int, Sequence[object]]) -> object:
    if isinstance(dataset, Mapping):
        cases = dataset.get("cases")
        rest: Mapping[str, object] = dataset
    else:
        cases, rest = dataset, {}
    if cases is not None and not isinstance(cases, (list, tuple, str, Mapping)):
        from agentdyno.specs.dataset.dataset import Dataset

        cases = cases.cases if isinstance(cases, Dataset) else cases
    if not isinstance(cases, (list, tuple)):
        return dataset
    inline[position] = cases
    return {**rest, "cases": []}


def _mapping(document: object, source: str) -> Mapping[str, object]:
    if isinstance(document, Mapping):
        return document
    if document is None:
        raise SpecError(
            "expected a mapping, the file holds nothing", where=source, remedy=f"Write at least `{LEAST}`."
        )
    problem = FileProblem("", f"expected a mapping at the top, got {got(document)}", f"Write keys, as in `{LEAST}`.")
    raise spec_error(source, [problem])


def _plain_mapping(document: Mapping[str, object], source: str) -> dict[str, object]:
    from agentdyno.specs.files.plain import plain_document

    copied = plain_document(document, source)
    return copied if isinstance(copied, dict) else {}
