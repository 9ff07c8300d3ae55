"""The columns that a suite's run adds to CSV files: its agents' scores, and what was answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentdyno.contracts import Report
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.findings.figures.traces import as_text
from agentdyno.findings.standing.tables_labels import standing_in
from agentdyno.findings.standing.tables_overview import scorer_columns
from agentdyno.model import ArmResult, RunResult, Sample, Status

Value = str | int | float | None

MOST_CHARACTERS = 32_000
"""Of one answer or target: a spreadsheet's cell holds 32,767."""
ANSWER = ("benchmark", "agent", "target", "output", "model", "cost_source", "simulated", "explanation")
_SCORES = (OVERALL, *DIMENSIONS)
AGENT = (
    *("run_id", "run", "agent", "version", "partial", "simulated"),
    *(f"{name}{end}" for name in _SCORES for end in ("", "_low", "_high")),
    *("cases", "scored", "passed", "samples", *(status.value for status in Status)),
    *("duration_s", "duration_p95_s", "ttft_s", "total_tokens", "cost_usd", "known_cost_usd"),
    *("cost_per_success_usd", "judge_cost_usd"),
)


def scorer_headers(report: Report) -> tuple[str, ...]:
    """One column per scorer of the suites, ``scorer.NAME``, and one that names the primary ones."""
    return (*(f"scorer.{name}" for name in _scorers(report)), "primary_scorer")


def _scorers(report: Report) -> tuple[str, ...]:
    standings = [standing_in(report, result) for result in report.results]
    return tuple(dict.fromkeys(name for item in standings if item is not None for name in scorer_columns(item)))


def agent_rows(report: Report, result: RunResult) -> Iterator[tuple[Value, ...]]:
    """One row per agent, in the order of their standing; none for a result of another kind."""
    standing, named = standing_in(report, result), _scorers(report)
    for agent in standing.agents if standing is not None else ():
        scores: list[Value] = []
        for name in _SCORES:
            estimate = agent.scores[name]
            scores += [estimate.value, *(estimate.interval or (None, None))]
        yield (
            *(result.run_id, result.name, agent.name, agent.version, agent.partial, agent.simulated, *scores),
            *(agent.cases, agent.scored, agent.passed, agent.samples),
            *(agent.statuses.get(status.value, 0) for status in Status),
            *(agent.duration_s, agent.duration_p95_s, agent.ttft_s, agent.total_tokens, agent.cost_usd),
            *(agent.known_cost_usd, agent.cost_per_success_usd, agent.judge_cost_usd),
            *(next((item.value for item in agent.by_scorer if item.scorer == name), None) for name in named),
            "; ".join(item.scorer for item in agent.by_scorer if item.primary),
        )


def targets_of(result: RunResult) -> dict[tuple[str | None, str], object]:
    """What every case wants, by benchmark and case id."""
    benchmarks = result.suite.benchmarks if result.suite is not None else ()
    return {(item.benchmark_id, case.id): case.target for item in benchmarks for case in item.cases}


def answer_values(arm: ArmResult, sample: Sample, target: object) -> tuple[Value, ...]:
    """The values of the ``ANSWER`` columns for one sample."""
    details = sample.details
    cost = details.get("cost")
    scoring = details.get("scoring")
    told = [
        str(item["explanation"])
        for item in (scoring if isinstance(scoring, (list, tuple)) else ())
        if isinstance(item, Mapping) and item.get("explanation")
    ]
    return (
        arm.benchmark,
        arm.agent,
        _text(target),
        _text(sample.output),
        _text(details.get("model")),
        str(cost.get("source", "")) if isinstance(cost, Mapping) else None,
        bool(details.get("simulated")),
        _text("; ".join(told) or None),
    )


def _text(value: object) -> str | None:
    return None if value is None else as_text(value)[:MOST_CHARACTERS]
