"""What a page shows of a suite's run: the agents in a picture and one table, failures that open, the rest folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentdyno.extras import has_extra
from agentdyno.findings.case.tables import execution_tables
from agentdyno.findings.run import tables as run_tables
from agentdyno.findings.run.charts_points import arm_values
from agentdyno.findings.standing.model import FailedCase, HeadToHead, SuiteStanding
from agentdyno.findings.standing.tables import errors, suite_tables
from agentdyno.findings.standing.tables_cases import difference_lines, shell_word
from agentdyno.findings.standing.tables_labels import agent_labels
from agentdyno.findings.standing.tables_pairs import pairs_tables
from agentdyno.model import ArmResult, Phase, RunResult, Sample, Status
from agentdyno.reports.html_parts import (
    ArmCharts,
    Chart,
    OpenedFailure,
    RunSection,
    chart,
    documents,
    present,
    traces,
)
from agentdyno.reports.outline import facts, ran
from agentdyno.show.table import Table
from agentdyno.show.wording import RUN_ID_LENGTH, count, one_line

MOST_WORKFLOWS = 8
"""Executions of workflows that are drawn."""
MOST_OPENED = 2_000
"""Failed cases that a page holds; each takes a few kilobytes."""
_MOST_CHARACTERS = 4_000
_PICTURES = {
    "accuracy": "Accuracy in points of 100, with its 95 % interval.",
    "cost": "Cost per task.",
    "time": "Time per task: median, and the line to the 95th percentile.",
}


def suite_section(
    key: str, result: RunResult, standing: SuiteStanding, pairs: Sequence[HeadToHead] = ()
) -> RunSection:
    """The whole section; what only explains is folded. ``pairs`` are those that were judged."""
    from agentdyno.findings.standing.judge import every_failure  # numpy, which a report of experiments does without

    run = result.run_id[:RUN_ID_LENGTH]
    first, *others = suite_tables(result, standing, most_failed=0, run=run)
    unanswered = errors(result)
    left_out = ("Failed cases", unanswered.title if unanswered is not None else "")
    every = every_failure(result) or standing.failed
    more = max(len(every), standing.failed_total) - MOST_OPENED
    return RunSection(
        key=key,
        name=one_line(result.name),
        headline=ran(result, standing, pairs),
        facts=facts(result),
        main=(first, *pairs_tables(pairs)),
        folded=present(*(table for table in others if table.title not in left_out), _configuration(result)),
        charts=_first_charts(key, standing) if has_extra("plots") else (),
        arms=_more_charts(key, result, standing) if has_extra("plots") else (),
        arms_note=f"{more:,} more failed cases: dyno show {run} --failed" if more > 0 else "",
        instruments=(),
        series=(),
        failures=unanswered,
        traces=traces(result.arms),
        documents=documents(result),
        opened=tuple(_opened(result, standing, every[:MOST_OPENED], run)),
        differences=difference_lines(standing, most=40),
        is_suite=True,
    )


def _configuration(result: RunResult) -> Table | None:
    return run_tables.configuration(result)


def _opened(
    result: RunResult, standing: SuiteStanding, failed: Sequence[FailedCase], run: str
) -> Iterator[OpenedFailure]:
    labels = agent_labels(standing)
    samples = _failed_samples(result)
    for item in failed:
        found = samples.get((item.benchmark, item.agent, item.case_id))
        tables = execution_tables(*found) if found is not None else ()
        command = f"dyno show {run} --case {shell_word(item.case_id)}"
        yield OpenedFailure(
            name=one_line(item.case_id),
            agent=labels.get(item.agent, one_line(item.agent)),
            ended=item.status if item.tries == 1 else f"{item.status} {item.bad} of {item.tries}",
            want=one_line(item.want, 200),
            got=one_line(item.got, 200),
            why=one_line(item.why, 300),
            tables=(*map(_shortened, tables), Table("", (), (), (f"All tries: `{command}`",))),
        )


def _failed_samples(result: RunResult) -> dict[tuple[str, str, str], tuple[ArmResult, Sample]]:
    """By benchmark, agent and case the first execution that did not pass."""
    found: dict[tuple[str, str, str], tuple[ArmResult, Sample]] = {}
    for arm in result.arms:
        for sample in arm.samples:
            unjudged = sample.status is Status.OK and sample.scores.get("score", 1.0) is None
            if sample.phase is Phase.MEASURED and (sample.status is not Status.OK or unjudged):
                found.setdefault((arm.benchmark or "", arm.agent or arm.name, sample.case_id), (arm, sample))
    return found


def _shortened(table: Table) -> Table:
    """A page of a thousand failures has to stay one that opens."""
    notes = tuple(
        note
        if len(note) <= _MOST_CHARACTERS
        else f"{note[:_MOST_CHARACTERS]}\n…and {len(note) - _MOST_CHARACTERS:,} more"
        for note in table.notes
    )
    return replace(table, notes=notes)


def _first_charts(key: str, standing: SuiteStanding) -> tuple[Chart, ...]:
    from agentdyno.findings.standing.charts import MOST_AGENTS, agent_chart, drawn_of

    left = len(standing.agents) - MOST_AGENTS
    told = f" The first {MOST_AGENTS} of {count(len(standing.agents), 'agent')}." if left > 0 else ""
    return tuple(
        chart(agent_chart(standing, name), f"{key}-{name}", caption + told)
        for name, caption in _PICTURES.items()
        if drawn_of(standing, name)
    )


def _more_charts(key: str, result: RunResult, standing: SuiteStanding) -> tuple[ArmCharts, ...]:
    from agentdyno.findings.run.charts import overview
    from agentdyno.findings.standing.charts import dimension_chart

    if not standing.agents:
        return ()
    scores = chart(dimension_chart(standing), f"{key}-g", "Scores of every agent with their 95 % interval.")
    charts = [replace(scores, wide=True)]
    drawn = [data for data in (arm_values(arm, "duration_s") for arm in _by_agent(result.arms)) if data.values]
    if drawn:
        caption = "Duration of every agent's answers: each dot an execution, box from quartile to quartile."
        charts.append(chart(overview(drawn), f"{key}-o", caption))
    return (ArmCharts("Scores and durations", (*charts, *_workflow_charts(key, result))),)


def _workflow_charts(key: str, result: RunResult) -> Iterator[Chart]:
    """Executions of workflows as graphs over time: those that failed first, a few of them."""
    from agentdyno.findings.case.charts_workflow import workflow_chart
    from agentdyno.findings.case.judge_workflow import workflow_steps

    every = [(arm, sample, workflow_steps(sample)) for arm in result.arms for sample in arm.samples]
    found = sorted((item for item in every if item[2]), key=lambda item: item[1].status is Status.OK)
    for number, (arm, sample, steps) in enumerate(found[:MOST_WORKFLOWS]):
        caption = f"{one_line(arm.agent or arm.name)}, {one_line(sample.case_id or '')}: {sample.status.value}. "
        caption += "Time from left to right; strong bars are the longest way, rings were skipped, crosses failed."
        yield replace(chart(workflow_chart(steps), f"{key}-w{number}", caption), wide=True)


def _by_agent(arms: Sequence[ArmResult]) -> list[ArmResult]:
    """The answers of each agent over all benchmarks, as one arm."""
    merged: dict[str, ArmResult] = {}
    for arm in arms:
        agent = arm.agent or arm.name
        before = merged.get(agent)
        samples = arm.samples if before is None else (*before.samples, *arm.samples)
        merged[agent] = replace(before or arm, name=agent, samples=samples)
    return list(merged.values())
