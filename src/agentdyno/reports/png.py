"""Charts as picture files."""

from __future__ import annotations

from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.extras import need_extra
from agentdyno.findings.catalogue import appendix, sections
from agentdyno.findings.run.charts_points import arm_values, primary_metric, sweeps
from agentdyno.model import ArmResult
from agentdyno.reports.files import write_bytes

_MOST_ROWS = 6
"""Arms that get a row of their own; more are shown together, one line each."""


class PngReporter:
    """Charts: the samples of each arm (distribution.png) and a swept parameter (sweep.png)."""

    name = "png"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        need_extra("plots", "the reporter png")
        from agentdyno.findings.run.charts import drawing, sweep_rows
        from agentdyno.show.axes import png

        with drawing():
            shown = (*sections(report.findings), *appendix(report.findings))
            drawn = [picture for section in shown for picture in section.pictures]
            paths = [write_bytes(output_dir / f"{item.name}.png", png(item.draw())) for item in drawn]
            if not report.results and (drawn or sections(report.findings)):
                return paths
            paths += [write_bytes(output_dir / "distribution.png", distribution_png(report))]
            found = [sweep for result in report.results for sweep in sweeps(result)]
            if found:
                paths.append(write_bytes(output_dir / "sweep.png", png(sweep_rows(found))))
        return paths


def distribution_png(report: Report) -> bytes:
    """Run order and distribution per arm, or an overview when there are many arms."""
    from agentdyno.findings.run.charts import arm_rows, drawing, overview
    from agentdyno.show.axes import png

    arms: list[ArmResult] = [arm for result in report.results for arm in result.arms]
    metric = primary_metric(arms)
    with drawing():
        values = [arm_values(arm, metric) for arm in arms] if metric else []
        return png(arm_rows(values) if len(values) <= _MOST_ROWS else overview(values))
