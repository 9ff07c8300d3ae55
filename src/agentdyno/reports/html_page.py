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
from agentdyno.findings.standing.tables_labels import judged_pairs_of, standing_in, with_standings
from agentdyno.model import RunResult
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
            else suite_section(f"run-{number}", result, standing, judged_pairs_of(report))
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
