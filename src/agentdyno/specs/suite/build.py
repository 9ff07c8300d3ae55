"""A validated suite document as a ``Suite``: cases read, defaults filled in, what spans several keys checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentdyno.model.case import Case
from agentdyno.model.metric import Category
from agentdyno.model.suite import (
    BaselineScores,
    Benchmark,
    Complexity,
    Constraints,
    Reducer,
    Rubric,
    ScorerUse,
    Suite,
    TestType,
    slug,
)
from agentdyno.settings.judging import PASS_THRESHOLD, K
from agentdyno.settings.suite import CONCURRENCY, EPOCHS, RECORD, RETRIES
from agentdyno.specs.dataset.load import DataPlace, load_cases
from agentdyno.specs.files.problems import FileProblem, shorten, spec_error
from agentdyno.specs.layers import Document, thresholds_of
from agentdyno.specs.workspace.agents import agent_uses

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SuitePlace:
    """Where a suite document comes from: its name in messages, and where relative paths start.

    ``shown_dir`` is that folder as messages give it; ``stem`` names the suite where the document does not.
    """

    source: str
    base_dir: Path
    shown_dir: Path
    stem: str = ""


def build_suite(document: Document, inline: Mapping[int, Sequence[object]], place: SuitePlace) -> Suite:
    """The frozen form of a document whose layers have been applied; ``inline`` are cases by benchmark's position."""
    name = str(document.get("suite_name") or document.get("name") or place.stem or "suite")
    rows = _benchmark_rows(document, name, place.source)
    choice: Mapping[str, Any] = document.get("choice", {})
    ids = [row["benchmark_id"] for row in rows]
    chosen = _chosen(choice, ids, place.source)
    benchmarks = [_benchmark(rows[i], document, inline.get(i), place) for i in chosen]
    problems = [
        problem for i, item in zip(chosen, benchmarks, strict=True) for problem in _epochs(rows[i], item, document)
    ]
    if problems:
        raise spec_error(place.source, problems)
    return Suite(
        name=name,
        benchmarks=_with_cases(choice, benchmarks, place.source),
        suite_id=document.get("suite_id", ""),
        category=Category(document.get("category", Category.COMPREHENSIVE)),
        description=document.get("description", ""),
        version=document.get("version", ""),
        created_at=document.get("created_at", ""),
        epochs=document.get("epochs", EPOCHS.default),
        warmup=document.get("warmup"),
        concurrency=document.get("concurrency", CONCURRENCY.default),
        retries=document.get("retries", RETRIES.default),
        constraints=constraints(document.get("constraints", {})),
        baseline_scores=tuple(
            BaselineScores(row["agent_id"], row.get("scores", {})) for row in document.get("baseline_scores", ())
        ),
        agents=agent_uses(
            document.get("agents", ()), key="agents", source=place.source, base_dir=str(place.base_dir)
        ),
        imports=tuple(document.get("imports", ())),
        base_dir=str(place.base_dir),
        source=place.source,
        fail_under=document.get("fail_under"),
        record=document.get("record", RECORD.default),
        thresholds=thresholds_of(document, place.source),
    )


def _chosen(choice: Mapping[str, Any], ids: Sequence[str], source: str) -> list[int]:
    """Positions of the benchmarks that are wanted."""
    if not choice.get("benchmarks"):
        return [*range(len(ids))]
    from agentdyno.specs.suite.select import choose_benchmarks

    return choose_benchmarks(choice["benchmarks"], ids, source)


def _with_cases(choice: Mapping[str, Any], benchmarks: Sequence[Benchmark], source: str) -> tuple[Benchmark, ...]:
    """The benchmarks with the cases that are wanted."""
    cases = choice.get("cases", {})
    if not cases and choice.get("limit") is None and all(item.cases for item in benchmarks):
        return tuple(benchmarks)
    from agentdyno.specs.suite.select import Selection, select_cases

    selection = Selection((), tuple(cases.get("ids", ())), cases.get("where", {}), choice.get("limit"))
    return select_cases(benchmarks, selection, source)


def constraints(row: Mapping[str, Any]) -> Constraints:
    """Milliseconds and MiB of a file as seconds and bytes."""
    time, memory, cost = row.get("time_limit_ms"), row.get("memory_limit_mb"), row.get("cost_limit_usd")
    return Constraints(
        time_limit_s=None if time is None else time / 1000,
        memory_limit_bytes=None if memory is None else max(1, int(memory * _MIB)),
        token_limit=row.get("token_limit"),
        cost_limit_usd=None if cost is None else float(cost),
    )


def _benchmark_rows(document: Document, name: str, source: str) -> list[Document]:
    """The benchmarks of a document, each with its id and ``key``, the start of its keys in messages."""
    if "dataset" in document:
        own = ("test_type", "metrics_measured", "dataset", "expected_outputs", "scoring_rubric", "scorer")
        return [
            {
                **{key: document[key] for key in own if key in document},
                "name": name,
                "benchmark_id": slug(name),
                "key": "",
            }
        ]
    if "benchmarks" not in document:
        remedy = "Add `dataset: cases.jsonl`, or `benchmarks:` with one for each."
        raise spec_error(source, [FileProblem("benchmarks", "expected benchmarks or a dataset, got neither", remedy)])
    rows, seen = [], dict[str, int]()
    for i, item in enumerate(document["benchmarks"]):
        benchmark_id = item.get("benchmark_id") or slug(item["name"])
        if seen.setdefault(benchmark_id, i) != i:
            both = f"numbers {seen[benchmark_id] + 1} and {i + 1}"
            message = f"two benchmarks have the id {shorten(repr(benchmark_id))}, {both}"
            raise spec_error(source, [FileProblem(f"benchmarks[{i}].benchmark_id", message, "Give one another id.")])
        rows.append({**item, "benchmark_id": benchmark_id, "key": f"benchmarks[{i}]."})
    return rows


def _benchmark(row: Document, document: Document, inline: Sequence[object] | None, place: SuitePlace) -> Benchmark:
    dataset: Document = row["dataset"]
    data_place = DataPlace(
        source=place.source,
        key=row["key"] + "dataset",
        base_dir=place.base_dir,
        shown_dir=place.shown_dir,
        prefix=row["benchmark_id"],
        imports=tuple(document.get("imports", ())),
    )
    cases, data_source = load_cases(dataset, inline, data_place)
    limits = {**document.get("case_constraints", {}), **row.get("constraints", {})}
    return Benchmark(
        name=row.get("name") or row["benchmark_id"],
        cases=_with_targets(cases, row, place.source),
        benchmark_id=row["benchmark_id"],
        description=row.get("description", ""),
        category=Category(row.get("category") or document.get("category", Category.COMPREHENSIVE)),
        test_type=TestType(row.get("test_type") or document.get("test_type", TestType.SYNTHETIC)),
        metrics_measured=tuple(dict.fromkeys(row.get("metrics_measured") or document.get("metrics_measured", ()))),
        complexity=Complexity(dataset.get("complexity", Complexity.MEDIUM)),
        data_source=dataset.get("data_source") or data_source,
        constraints=constraints(limits),
        rubric=_rubric(document, row),
        epochs=row.get("epochs") or row.get("num_runs"),
        warmup=row.get("warmup"),
    )


def _with_targets(cases: tuple[Case, ...], row: Document, source: str) -> tuple[Case, ...]:
    """Cases with ``expected_outputs`` as their targets, by position."""
    if "expected_outputs" not in row:
        return cases
    outputs, key = row["expected_outputs"], row["key"] + "expected_outputs"
    if len(outputs) != len(cases):
        message = f"expected one output for each of the {len(cases)} cases, got {len(outputs)}"
        raise spec_error(
            source, [FileProblem(key, message, "Give as many as there are cases; null where there is none.")]
        )
    for i, (case, output) in enumerate(zip(cases, outputs, strict=True)):
        if case.target is not None and output is not None and case.target != output:
            message = f"the case {shorten(case.id)} has another target of its own"
            raise spec_error(source, [FileProblem(f"{key}[{i}]", message, "Keep one of the two.")])
    return tuple(
        case if output is None else replace(case, target=output) for case, output in zip(cases, outputs, strict=True)
    )


def _rubric(document: Document, row: Document) -> Rubric:
    """The benchmark's rubric over the suite's; targets and limits metric by metric."""
    shared, own = _rubric_row(document), _rubric_row(row)
    if "reducer" in own:
        shared.pop("k", None)
    merged = {**shared, **own}
    word = merged.get("reducer", "mean")
    kind = next((sign for sign in ("pass@", "pass^") if word.startswith(sign)), "")
    k = word.removeprefix(kind) if kind else str(K.default)
    return Rubric(
        scorers=tuple(map(_scorer, merged["scorer"])) if "scorer" in merged else Rubric().scorers,
        pass_threshold=float(merged.get("pass_threshold", PASS_THRESHOLD.default)),
        reducer=Reducer(f"{kind}k" if kind else word),
        k=merged["k"] if k == "k" else int(k),
        targets=_numbers(shared.get("targets", {}), own.get("targets", {})),
        limits=_numbers(shared.get("limits", {}), own.get("limits", {})),
    )


def _rubric_row(row: Document) -> Document:
    rubric = {**row.get("scoring_rubric", {})}
    return {**rubric, "scorer": row["scorer"]} if "scorer" in row else rubric


def _scorer(row: Document) -> ScorerUse:
    further = {key: value for key, value in row.items() if key not in ("name", "weight", "options")}
    return ScorerUse(row["name"], float(row.get("weight", 1.0)), {**row.get("options", {}), **further})


def _numbers(*layers: Mapping[str, float]) -> dict[str, float]:
    return {key: float(value) for layer in layers for key, value in layer.items()}


def _epochs(row: Document, benchmark: Benchmark, document: Document) -> Iterator[FileProblem]:
    """``pass@k`` is unknown for a case with fewer than k epochs."""
    epochs = benchmark.epochs or document.get("epochs", EPOCHS.default)
    reducer, k = benchmark.rubric.reducer, benchmark.rubric.k
    if reducer in (Reducer.PASS_AT_K, Reducer.PASS_HAT_K) and epochs < k:
        yield FileProblem(
            f"{row['key']}scoring_rubric.reducer",
            f"{reducer.value[:5]}{k} needs at least {k} epochs, got {epochs}",
            f"Set epochs to {k} or more, or use `reducer: mean`.",
        )
