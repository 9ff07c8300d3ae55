"""One HTML file that needs nothing else: no script, no request, light and dark."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass, replace
from html import escape as escape_html
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.contracts import Report
from agentdyno.extras import has_extra, install_extra
from agentdyno.findings.catalogue import appendix, sections
from agentdyno.findings.comparison import tables as comparison_tables
from agentdyno.findings.run import tables as run_tables
from agentdyno.findings.run import tables_profiles
from agentdyno.findings.run.charts_points import ArmValues, arm_values, primary_metric, sweep_title, sweeps
from agentdyno.findings.run.tables_profiles import resource_series
from agentdyno.findings.standing.tables_labels import standing_in, with_standings
<<<<<<< HEAD
from agentdyno.model import RunResult
=======
from agentdyno.findings.standing.tables_pairs import judged_pairs_of
from agentdyno.model import ArmResult, RunResult, Status
from agentdyno.model.codec import to_plain
>>>>>>> x-habits
from agentdyno.reports.files import write_text
from agentdyno.reports.html_parts import ArmCharts, Chart, RunSection, chart, documents, present, traces
from agentdyno.reports.html_suite import suite_section
from agentdyno.reports.outline import compared, facts, headlines, notices, ran, title
from agentdyno.show.section import Lead, Section
from agentdyno.show.table import Table
from agentdyno.show.wording import count, label, one_line, plain

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_CHARTED = 16
"""Arms that get charts of their own."""
_BREAKS = re.compile(r"(?<=[,/_.:])(?=\S)|(?<=\w)(?=\[)")


class HtmlReporter:
    """A page with tables and charts in one file that works offline (report.html)."""

    name = "html"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        return [write_text(output_dir / "report.html", render_html(report))]


@dataclass(frozen=True, slots=True)
class ConcludedSection:
    """What the page shows of one conclusion."""

    key: str
    title: str
    lead: Lead
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]


def render_html(report: Report) -> str:
    """The whole page."""
    from agentdyno.findings.run.charts import drawing

    report = with_standings(report)
    with drawing() if has_extra("plots") else nullcontext():
        runs = [
            _run(f"run-{number}", result)
            if (standing := standing_in(report, result)) is None
<<<<<<< HEAD
            else suite_section(f"run-{number}", result, standing)
=======
            else _suite_run(f"run-{number}", result, standing, judged_pairs_of(report))
>>>>>>> x-habits
            for number, result in enumerate(report.results, start=1)
        ]
        concluded = [_concluded(f"part-{n}", part) for n, part in enumerate(sections(report.findings), start=1)]
        appended = [_concluded(f"more-{n}", part) for n, part in enumerate(appendix(report.findings), start=1)]
    comparisons = [
        (
            f"comparison-{number}",
            compared(value),
            comparison_tables.comparison(value),
            comparison_tables.unjudged(value),
        )
        for number, value in enumerate(report.findings.comparisons, start=1)
    ]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title(report),
            headlines=headlines(report),
            notices=notices(report),
            concluded=concluded,
            appended=appended,
            comparisons=comparisons,
            runs=runs,
            no_pictures="" if has_extra("plots") else install_extra("plots"),
            run_ids=[result.run_id for result in report.results],
            versions=sorted({one_line(result.environment.agentdyno) for result in report.results}),
        )
    )


def _concluded(key: str, part: Section) -> ConcludedSection:
    charts = tuple(
        replace(chart(picture.draw(), f"{key}-c{number}", picture.caption), wide=picture.wide)
        for number, picture in enumerate(part.pictures if has_extra("plots") else ())
    )
    return ConcludedSection(key, part.title, part.lead, part.tables, charts)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=PackageLoader("agentdyno.reports", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["soft"] = _soft
    environment.filters["commands"] = _commands
    return environment


def _commands(text: str) -> Markup:
    """What stands between backticks as code, all else escaped."""
    from markupsafe import Markup

    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return Markup(escape_html(text))
    return Markup(
        "".join(f"<code>{escape_html(p)}</code>" if i % 2 else escape_html(p) for i, p in enumerate(pieces))
    )


def _soft(text: str) -> Markup:
    """The text, escaped, with places where a long name may be broken."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(piece) for piece in _BREAKS.split(plain(text)))


def _run(key: str, result: RunResult) -> RunSection:
    metric = primary_metric(result.arms)
    values = [arm_values(arm, metric) for arm in result.arms] if metric else []
    drawn = [data for data in values if data.values and has_extra("plots")]
    left_out = len(drawn) - MOST_CHARTED
    charted = result.arms[:MOST_CHARTED] if has_extra("plots") else ()
    series = [found for arm in charted if (found := resource_series(arm))]
    return RunSection(
        key=key,
        name=one_line(result.name),
        headline=ran(result),
        facts=facts(result),
        main=present(run_tables.summary(result), run_tables.declared(result)),
        folded=present(run_tables.details(result), run_tables.configuration(result)),
        charts=_run_charts(key, result, drawn),
        arms=tuple(_arm_charts(f"{key}-a{i}", data) for i, data in enumerate(drawn[:MOST_CHARTED])),
        arms_note=f"Charts of the first {MOST_CHARTED} arms; {left_out} more are in the tables."
        if left_out > 0
        else "",
        instruments=tuple(t for arm in result.arms[:MOST_CHARTED] for t in tables_profiles.instrument_tables(arm)),
        series=tuple(_series_chart(f"{key}-p{i}", found) for i, found in enumerate(series)),
        failures=run_tables.failures(result),
        traces=traces(result.arms),
        documents=documents(result),
    )


<<<<<<< HEAD
=======
def _suite_run(key: str, result: RunResult, standing: SuiteStanding, pairs: Sequence[Table] = ()) -> RunSection:
    run = result.run_id[:RUN_ID_LENGTH]
    shown = suite_tables(result, standing, run=run)
    unanswered = errors(result)
    every = failed(standing, run, MOST_FAILED)
    listed = any(every is not None and table.rows == every.rows for table in shown)
    return RunSection(
        key=key,
        name=one_line(result.name),
        headline=ran(result, standing),
        facts=facts(result),
        main=(*(table for table in shown if unanswered is None or table.title != unanswered.title), *pairs),
        folded=_present(None if listed else every, run_tables.configuration(result)),
        charts=_suite_charts(key, result, standing),
        arms=(),
        arms_note="",
        instruments=(),
        series=(),
        failures=unanswered,
        traces=_traces(result.arms),
        documents=_documents(result),
    )


def _suite_charts(key: str, result: RunResult, standing: SuiteStanding) -> tuple[Chart, ...]:
    from agentdyno.findings.run.charts import overview
    from agentdyno.findings.standing.charts import dimension_chart

    if not standing.agents:
        return ()
    scores = _chart(dimension_chart(standing), f"{key}-g", "Scores of every agent with their 95 % interval.")
    charts = [replace(scores, wide=True)]
    drawn = [data for data in (arm_values(arm, "duration_s") for arm in _by_agent(result.arms)) if data.values]
    if drawn:
        caption = "Duration of every agent's answers: each dot an execution, box from quartile to quartile."
        charts.append(_chart(overview(drawn), f"{key}-o", caption))
    return (*charts, *_workflow_charts(key, result))


def _workflow_charts(key: str, result: RunResult) -> Iterator[Chart]:
    """Executions of workflows as graphs over time: those that failed first, a few of them."""
    from agentdyno.findings.case.charts_workflow import workflow_chart
    from agentdyno.findings.case.judge_workflow import workflow_steps

    every = [(arm, sample, workflow_steps(sample)) for arm in result.arms for sample in arm.samples]
    found = sorted((item for item in every if item[2]), key=lambda item: item[1].status is Status.OK)
    for number, (arm, sample, steps) in enumerate(found[:MOST_WORKFLOWS]):
        caption = f"{one_line(arm.agent or arm.name)}, {one_line(sample.case_id or '')}: {sample.status.value}. "
        caption += "Time from left to right; strong bars are the longest way, rings were skipped, crosses failed."
        yield replace(_chart(workflow_chart(steps), f"{key}-w{number}", caption), wide=True)


def _by_agent(arms: Sequence[ArmResult]) -> list[ArmResult]:
    """The answers of each agent over all benchmarks, as one arm."""
    merged: dict[str, ArmResult] = {}
    for arm in arms:
        agent = arm.agent or arm.name
        before = merged.get(agent)
        samples = arm.samples if before is None else (*before.samples, *arm.samples)
        merged[agent] = replace(before or arm, name=agent, samples=samples)
    return list(merged.values())


>>>>>>> x-habits
def _run_charts(key: str, result: RunResult, drawn: list[ArmValues]) -> tuple[Chart, ...]:
    from agentdyno.findings.run.charts import MOST_ROWS, overview, sweep_chart

    charts = []
    for number, sweep in enumerate(sweeps(result) if has_extra("plots") else ()):
        caption = f"{sweep.experiment}: {sweep_title(sweep)}, median with its 95 % interval."
        if sweep.left_out:
            caption += f" {count(sweep.left_out, 'more line')} not drawn."
        charts.append(chart(sweep_chart(sweep), f"{key}-s{number}", caption))
    if len(drawn) > 1:
        caption = f"{label(drawn[0].metric)} of every arm: each dot a sample, box from quartile to quartile."
        if len(drawn) > MOST_ROWS:
            caption += f" The first {MOST_ROWS} of {len(drawn)} arms."
        charts.append(chart(overview(drawn), f"{key}-o", caption))
    return tuple(charts)


def _arm_charts(key: str, data: ArmValues) -> ArmCharts:
    from agentdyno.findings.run.charts import distribution, run_order

    what = f"{label(data.metric)} of {data.name}"
    return ArmCharts(
        data.name,
        (
            chart(run_order(data), f"{key}-r", "Run order, with the median and its 95 % interval.", what),
            chart(distribution(data), f"{key}-d", "Distribution, with quartiles and every sample.", what),
        ),
    )


def _series_chart(key: str, found: object) -> Chart:
    from agentdyno.findings.run.charts import series_chart
    from agentdyno.findings.run.tables_profiles import ProfileSeries

    assert isinstance(found, ProfileSeries)
    return chart(series_chart(found), key, f"{found.arm}: resources during one sample (psutil).")
