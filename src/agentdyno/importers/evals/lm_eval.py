"""Results of lm-evaluation-harness (``lm_eval --output_path``), with the samples beside them where logged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentdyno.importers.content import outline, settings, shown, text_of
from agentdyno.importers.document import LATEST_MS, ImportedDocument, Node, read_document
from agentdyno.importers.evals.evaluated import EvaluatedTotals, Evaluation, Tested, evaluated, version_of
from agentdyno.importers.evals.lm_eval_samples import Asked, LmEvalFigure, Samples, read_samples, samples_file
from agentdyno.importers.sniff import HEAD_BYTES
from agentdyno.model import AgentUse, Benchmark, Category, Rubric, RunResult, RunWarning, ScorerUse, Vcs
from agentdyno.model.identity import digest
from agentdyno.model.suite import slug

_TOOL = "lm-eval"
_SIMULATED = "dummy"
_NAMED_TASKS = 3
_CLOSE = 1e-6


class LmEvalImporter:
    """Tasks of lm-evaluation-harness: every sample where they were logged, else the totals."""

    name = _TOOL
    description = "lm-evaluation-harness results (results_*.json, with samples_*.jsonl beside)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        keys = outline(head)
        has_metrics = any(key.startswith("results.") and "," in key for key in keys)
        # The figures of many tasks may fill the whole beginning of the file.
        return has_metrics and ("configs" in keys or len(head) >= HEAD_BYTES)

    def read(self, path: Path) -> Sequence[RunResult]:
        document = read_document(path)
        return [evaluated(_evaluation(document), document)]


def _evaluation(document: ImportedDocument) -> Evaluation:
    root = document.root
    config, results = root.at("config"), root.at("results")
    simulated = text_of(config.at("model")) == _SIMULATED
    agent = _agent(root, config)
    benchmarks: list[Benchmark] = []
    tested: list[Tested] = []
    content: list[str] = []
    doubts: list[str] = []
    for task, asked in root.at("configs").items():
        figures = results.get(task)
        if figures is None:
            raise results.fail(f"has no figures of {task!r}, which 'configs' has")
        metrics = _metrics(asked, figures)
        beside = samples_file(document.path, task)
        samples = None if beside is None else read_samples(beside, Asked(metrics, agent.name, simulated))
        if samples is not None:
            content.append(samples.sha256)
            _check(root, task, figures, metrics, samples)
        benchmark = _benchmark(root, task, asked, metrics, samples)
        if benchmark.benchmark_id in {item.benchmark_id for item in benchmarks}:
            benchmark = replace(benchmark, benchmark_id=f"{benchmark.benchmark_id}-{digest(task, 6)}")
        benchmarks.append(benchmark)
        tested.append(_tested(benchmark, agent, figures, metrics, samples, _cases(root, task, figures)))
        if not metrics[0].is_share:
            doubts.append(task)
    tested = [replace(item, simulated=simulated) for item in tested]
    return Evaluation(
        _TOOL,
        text_of(root.get("lm_eval_version")),
        _name(root, [item.name for item in benchmarks]),
        benchmarks,
        tested,
        started_at=_started(root),
        vcs=_vcs(root),
        warnings=_warnings(doubts),
        content=content,
    )


def _name(root: Node, tasks: Sequence[str]) -> str:
    """The groups that were asked for, else the tasks, as far as they fit into a name."""
    groups = root.get("group_subtasks")
    members = {} if groups is None else {key: node for key, node in groups.items() if node.value}
    inner = {text_of(item) for node in members.values() if isinstance(node.value, list) for item in node.elements()}
    names = [key for key in members if key not in inner]
    names += [task for task in tasks if task not in inner]
    if len(names) <= _NAMED_TASKS:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED_TASKS])} and {len(names) - _NAMED_TASKS} more {digest(sorted(names), 6)}"


def _metrics(asked: Node, figures: Node) -> list[LmEvalFigure]:
    """All metrics that have a figure, the deciding one first: the first that the task lists, by its first filter."""
    found = []
    for key, node in figures.items():
        name, comma, kind = key.rpartition(",")
        if comma and not name.endswith("_stderr"):
            found.append(LmEvalFigure(name, kind, node, figures.get(f"{name}_stderr,{kind}")))
    if not found:
        raise figures.expected("at least one metric, such as 'acc,none'")
    names = _listed(asked, "metric_list", "metric")
    kinds = _listed(asked, "filter_list", "name")
    lower = [text_of(item.at("metric")) for item in _rows(asked, "metric_list") if _lower_is_better(item)]

    def place(metric: LmEvalFigure) -> tuple[int, int]:
        return (
            names.index(metric.name) if metric.name in names else len(names),
            kinds.index(metric.filter) if metric.filter in kinds else len(kinds),
        )

    marked = [replace(metric, is_share=metric.is_share and metric.name not in lower) for metric in found]
    return sorted(marked, key=place)


def _rows(asked: Node, key: str) -> list[Node]:
    given = asked.get(key)
    return [] if given is None else given.elements()


def _listed(asked: Node, key: str, name: str) -> list[str]:
    return [text_of(item.get(name)) for item in _rows(asked, key)]


def _lower_is_better(item: Node) -> bool:
    given = item.get("higher_is_better")
    return given is not None and not given.flag()


def _cases(root: Node, task: str, figures: Node) -> int:
    counts = root.get("n-samples")
    own = None if counts is None else counts.get(task)
    if own is not None:
        return own.at("effective").count(1)
    given = figures.get("sample_len")
    return 1 if given is None else given.count(1)


def _check(root: Node, task: str, figures: Node, metrics: Sequence[LmEvalFigure], samples: Samples) -> None:
    """The samples have to be those that the figures were taken of."""
    expected = _cases(root, task, figures)
    if root.get("n-samples") is not None and len(samples.cases) != expected:
        raise samples.fail(f"holds {len(samples.cases)} samples, and the results are of {expected}")
    asked = root.at("configs").at(task)
    means = {text_of(item.get("metric")) for item in _rows(asked, "metric_list") if _is_mean(item)}
    for metric in metrics:
        values = samples.values.get(metric.label, [])
        if metric.name not in means or not metric.is_share or len(values) != len(samples.cases):
            continue
        mean = math.fsum(values) / len(values)
        if not math.isclose(metric.value.number(), mean, rel_tol=_CLOSE, abs_tol=_CLOSE):
            stated = metric.value.number()
            raise metric.value.fail(
                f"says {stated:g}, and the samples in {samples.file} give {mean:g}: they do not belong together"
            )


def _is_mean(item: Node) -> bool:
    given = item.get("aggregation")
    return given is not None and given.value == "mean"


def _benchmark(
    root: Node, task: str, asked: Node, metrics: Sequence[LmEvalFigure], samples: Samples | None
) -> Benchmark:
    """Its version and number of examples go with the scorer: they change what the figures mean."""
    options: dict[str, object] = {}
    for key in ("versions", "n-shot"):
        given = root.get(key)
        if given is not None and given.get(task) is not None:
            options[key] = shown(given.at(task))
    if samples is None:
        hashes = root.get("task_hashes")
        options["samples"] = text_of(hashes.get(task)) if hashes is not None else ""
        options["cases"] = _cases(root, task, root.at("results").at(task))
    return Benchmark(
        task,
        () if samples is None else tuple(samples.cases),
        slug(task),
        category=Category.ACCURACY,
        data_source=text_of(asked.get("dataset_path")) or "inline",
        rubric=Rubric((ScorerUse(f"{_TOOL}:{metrics[0].label}", options=options),)),
        epochs=1,
    )


def _tested(
    benchmark: Benchmark,
    agent: AgentUse,
    figures: Node,
    metrics: Sequence[LmEvalFigure],
    samples: Samples | None,
    cases: int,
) -> Tested:
    first = metrics[0]
    reported = {key: shown(node) for key, node in figures.items() if "," in key}
    totals = None
    if samples is None:
        named = {metric.label: metric.value.number() for metric in metrics[1:] if metric.is_share}
        totals = EvaluatedTotals(cases, first.value.number() if first.is_share else None, first.error, named)
    return Tested(
        benchmark.benchmark_id,
        agent,
        () if samples is None else samples.samples,
        cases,
        {"reported": reported},
        totals,
    )


def _agent(root: Node, config: Node) -> AgentUse:
    """The model's own name where its arguments hold it; lm-eval makes one up for others."""
    kind = config.at("model").text()
    told = _arguments(config.get("model_args"))
    named = text_of(root.get("model_name"))
    name = named if named and named in {str(value) for value in told.values()} else kind
    generation = config.get("gen_kwargs")
    given = {
        **told,
        "model": kind,
        **(settings(generation) if generation is not None and isinstance(generation.value, dict) else {}),
        "system_instruction": text_of(root.get("system_instruction_sha")),
        "chat_template": text_of(root.get("chat_template_sha")),
    }
    revision = text_of(config.get("model_sha"))
    kept = {key: value for key, value in given.items() if value not in ("", None)}
    return AgentUse(name, f"imported:{_TOOL}", revision[:10] or version_of(kept), kept)


def _arguments(node: Node | None) -> dict[str, object]:
    """An object, or in older files the text of the command line."""
    if node is None or not isinstance(node.value, str):
        return settings(node)
    pairs = dict[str, object]()
    for part in node.text().split(","):
        key, equals, value = part.partition("=")
        if equals:
            pairs[key.strip()] = value.strip()
    return settings(Node(pairs, node.file, node.path))


def _started(root: Node) -> int | None:
    given = root.get("date")
    if given is None:
        return None
    stamp = round(given.amount() * 1000)
    if stamp > LATEST_MS:
        raise given.expected("a date in seconds since 1970")
    return stamp


def _vcs(root: Node) -> Vcs | None:
    """``git_hash`` is of lm-eval itself where it runs from a checkout; the folder above is the user's."""
    given = root.get("upper_git_hash")
    return None if given is None else Vcs(given.text(), None, False)


def _warnings(tasks: Sequence[str]) -> list[RunWarning]:
    if not tasks:
        return []
    return [
        RunWarning(
            "no-accuracy",
            f"the first metric of {', '.join(tasks[:3])}{' and others' if len(tasks) > 3 else ''} is no share of "
            "right answers: there is no accuracy",
            "The figures that lm-eval reports are kept with the arm.",
        )
    ]
