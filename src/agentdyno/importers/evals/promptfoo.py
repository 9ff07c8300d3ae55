"""Results of promptfoo (``promptfoo eval -o FILE.json``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.importers.content import outline, settings, share, shown, text_of, without_secrets
from agentdyno.importers.document import ImportedDocument, Node, read_document
from agentdyno.importers.evals.evaluated import Evaluation, Tested, answered, evaluated, version_of
from agentdyno.importers.timings.assemble import Machine
from agentdyno.model import (
    AgentUse,
    Benchmark,
    Case,
    Category,
    Failure,
    FailureKind,
    Rubric,
    RunResult,
    Sample,
    ScorerUse,
    Status,
)
from agentdyno.model.identity import digest
from agentdyno.model.suite import slug

_TOOL = "promptfoo"
_VERSION = 3
_UNNAMED = "evaluation"
_NO_FAILURE, _ASSERTION, _ERROR = 0, 1, 2
"""What promptfoo writes as ``failureReason``."""


class PromptfooImporter:
    """Evaluations of promptfoo: every test of every provider and prompt."""

    name = _TOOL
    description = "promptfoo JSON output (promptfoo eval -o FILE.json)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        keys = outline(head)
        return {"results.version", "results.timestamp"} <= keys and ("evalId" in keys or "results.prompts" in keys)

    def read(self, path: Path) -> Sequence[RunResult]:
        document = read_document(path)
        return [evaluated(_evaluation(document), document)]


@dataclass(slots=True)
class _Tests:
    """Tests by what they ask: the same one asked again (``--repeat``) is another epoch of one case."""

    cases: dict[str, Case] = field(default_factory=dict)
    tries: Counter[tuple[int, str]] = field(default_factory=Counter)

    def met(self, row: Node, column: int) -> tuple[str, int]:
        """The case of a row, and how often this column has tried it before."""
        test = row.at("testCase")
        asked = test.get("vars") or row.get("vars")
        given: object = shown(asked) or text_of(row.at("prompt").get("raw"))
        target, described = without_secrets(test.get("assert")), text_of(test.get("description"))
        metadata = shown(test.get("metadata")) if test.get("metadata") is not None else {}
        kept = {**(metadata if isinstance(metadata, dict) else {}), "description": described}
        key = digest([given, target, kept], 32)
        if key not in self.cases:
            named = {case.id for case in self.cases.values()}
            name = described if described and described not in named else f"test-{len(named) + 1}"
            while name in named:
                name += "'"
            self.cases[key] = Case(name, given, target, {name: value for name, value in kept.items() if value})
        epoch = self.tries[column, key]
        self.tries[column, key] += 1
        return self.cases[key].id, epoch


def _evaluation(document: ImportedDocument) -> Evaluation:
    root = document.root
    results = root.at("results")
    version = results.at("version")
    if version.value != _VERSION:
        raise version.expected(f"results of version {_VERSION}")
    rows = results.at("results").elements()
    _check(results, rows)
    agents = _agents(root, results)
    tests, samples = _Tests(), {column: list[Sample]() for column in range(len(agents))}
    for row in rows:
        column = row.at("promptIdx").count()
        if column >= len(agents):
            raise row.at("promptIdx").fail(f"is {column}, and there are {len(agents)} prompts")
        samples[column].append(_sample(row, *tests.met(row, column)))
    config = root.get("config")
    name = text_of(None if config is None else config.get("description")) or _UNNAMED
    benchmark = Benchmark(
        name,
        tuple(tests.cases.values()),
        slug(name),
        category=Category.ACCURACY,
        rubric=Rubric((ScorerUse(f"{_TOOL}:assertions"),)),
    )
    started_at = results.at("timestamp").time_ms()
    lasted = results.at("stats").get("durationMs")
    metadata = root.get("metadata")
    return Evaluation(
        _TOOL,
        "" if metadata is None else text_of(metadata.get("promptfooVersion")),
        name,
        [benchmark],
        [
            Tested(benchmark.benchmark_id, agent, samples[column], len(samples[column]), _reported(results, column))
            for column, agent in enumerate(agents)
            if samples[column]
        ],
        started_at=started_at,
        finished_at=None if lasted is None else started_at + round(min(lasted.amount(), 1e12)),
        epochs=max(tests.tries.values(), default=1),
        machine=_machine(metadata),
    )


def _check(results: Node, rows: Sequence[Node]) -> None:
    """The rows have to be those that were counted."""
    counted = Counter(_status(row) for row in rows)
    stats = results.at("stats")
    for key, status in (("successes", Status.OK), ("failures", Status.FAILED), ("errors", Status.ERROR)):
        stated = stats.get(key)
        if stated is not None and stated.count() != counted[status]:
            raise stated.fail(f"says {stated.count()}, and the results hold {counted[status]}")


def _status(row: Node) -> Status:
    if row.at("success").flag():
        return Status.OK
    reason = row.get("failureReason")
    if reason is None:  # older releases do not tell: what was never graded is an error
        ungraded = row.get("gradingResult") is None and row.get("error") is not None
        return Status.ERROR if ungraded else Status.FAILED
    if reason.count() not in (_NO_FAILURE, _ASSERTION, _ERROR):
        raise reason.expected("0, 1 or 2")
    return Status.ERROR if reason.value == _ERROR else Status.FAILED


def _agents(root: Node, results: Node) -> list[AgentUse]:
    """One per column of promptfoo's table: a provider with a prompt, which is part of what is compared."""
    names = list(dict.fromkeys(column.at("provider").text() for column in results.at("prompts").elements()))
    configs = _provider_configs(root, names)
    agents: list[AgentUse] = []
    for column in results.at("prompts").elements():
        name = column.at("provider").text()
        prompt = text_of(column.get("raw")) or text_of(column.get("label"))
        config = configs.get(name, {})
        version = version_of(prompt, config)
        labels = {f"{agent.name}@{agent.version}" for agent in agents}
        again = 1
        while f"{name}@{version}" in labels:  # a provider that is listed twice, with nothing to tell them apart
            again += 1
            version = f"{version_of(prompt, config)}-{again}"
        agents.append(AgentUse(name, f"imported:{_TOOL}", version, {**config, "prompt": prompt}))
    return agents


def _provider_configs(root: Node, names: Sequence[str]) -> Mapping[str, dict[str, object]]:
    """By name, as far as they stand in the configuration itself: by their label or id there, else by their order."""
    config = root.get("config")
    providers = None if config is None else config.get("providers")
    listed = providers.elements() if providers is not None and isinstance(providers.value, list) else []
    found: dict[str, dict[str, object]] = {}
    for place, provider in enumerate(listed):
        given = provider.get("config") if isinstance(provider.value, dict) else None
        if given is None or not isinstance(given.value, dict):
            continue
        known = {text_of(provider.get(key)) for key in ("id", "label")} & set(names)
        if not known and len(listed) == len(names):
            known = {names[place]}
        found |= dict.fromkeys(known, settings(given))
    return found


def _sample(row: Node, case_id: str, epoch: int) -> Sample:
    status = _status(row)
    provider = row.at("provider")
    response = row.get("response")
    details: dict[str, object] = {"imported": True, "model": text_of(provider.get("id"))}
    readings, usage = _readings(row, response)
    if "cost_usd" in readings:
        details["cost"] = {"usd": readings["cost_usd"], "source": "reported"}
    cached = None if response is None else response.get("cached")
    if cached is not None and cached.flag():
        details["cached"], readings = True, {}
    if _was_judged_by_a_model(row):
        details["judge_cost_usd"] = None
    scoring = _scoring(row)
    if scoring:
        details["scoring"] = scoring
    failure, scores = None, dict[str, float | None]()
    if status is Status.ERROR:
        failure = Failure(FailureKind.EXCEPTION, text_of(row.get("error")) or "no answer")
    else:
        scores["score"] = share(row.at("score"))
        named = row.get("namedScores")
        for name, value in named.items() if named is not None else ():
            if name != "score":
                scores[name] = share(value)
    sample = answered(case_id, epoch, status=status, readings=readings, scores=scores)
    output = None if response is None else shown(response.get("output"))
    return replace(sample, usage=usage, output=output, details=details, failure=failure)


def _readings(row: Node, response: Node | None) -> tuple[dict[str, float], dict[str, float]]:
    """Only what the provider itself reported: promptfoo writes 0 for tokens and costs that it does not know."""
    readings: dict[str, float] = {}
    latency = row.get("latencyMs")
    if latency is not None:
        readings["duration_s"] = latency.amount() / 1000.0
    given = None if response is None else response.get("tokenUsage")
    counts = {}
    for key, name in (("prompt", "input_tokens"), ("completion", "output_tokens"), ("total", "total_tokens")):
        count = None if given is None else given.get(key)
        if count is not None:
            counts[name] = count.amount()
    if any(counts.values()):
        readings |= counts
    cost = None if response is None else response.get("cost")
    if cost is not None:
        readings["cost_usd"] = cost.amount()
    tokens = {name: value for name, value in counts.items() if value and name != "total_tokens"}
    return readings, tokens


def _was_judged_by_a_model(row: Node) -> bool:
    """What that cost is not told apart."""
    grading = row.get("gradingResult")
    tokens = None if grading is None else grading.get("tokensUsed")
    total = None if tokens is None else tokens.get("total")
    return total is not None and total.amount() > 0


def _scoring(row: Node) -> list[dict[str, object]]:
    """What each assertion said."""
    grading = row.get("gradingResult")
    parts = None if grading is None else grading.get("componentResults")
    told = []
    for part in parts.elements() if parts is not None else []:
        assertion = part.get("assertion")
        kind = None if assertion is None else assertion.get("type")
        told.append(
            {
                "scorer": f"{_TOOL}:{text_of(kind) or 'assertion'}",
                "value": shown(part.get("score")),
                "explanation": text_of(part.get("reason")),
            }
        )
    # The first explanation is shown as the reason, so that failed assertions go first.
    return sorted(told, key=lambda item: bool(item["value"]))


def _reported(results: Node, column: int) -> dict[str, object]:
    """The figures that promptfoo reports of a column, as it reports them."""
    metrics = results.at("prompts").elements()[column].get("metrics")
    return {} if metrics is None else {"reported": shown(metrics)}


def _machine(metadata: Node | None) -> Machine:
    """The system is no name of a machine: it stays out of what machines are told apart by."""
    if metadata is None:
        return Machine()
    keys = ("platform", "arch", "nodeVersion")
    return Machine(details={key: text_of(metadata.get(key)) for key in keys if metadata.get(key) is not None})
