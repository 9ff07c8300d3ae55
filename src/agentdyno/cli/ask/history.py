"""``dyno history``."""

from __future__ import annotations

import click

from agentdyno.cli.conclusions import report_options, show, suite_option
from agentdyno.cli.options import setting_option
from agentdyno.cli.shared import WORSE, json_option, open_store, store_option, workspace_here
from agentdyno.settings.judging import INCLUDE_PARTIAL


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno history my-agent --metric speed\n"
    "  dyno history my-agent --regressions --baseline 1.4.0 --threshold 0.1 --threshold accuracy=0.05\n"
    "  dyno history my-agent --metric accuracy --benchmark arithmetic --format html,png\n"
    "  dyno history retrieval --metric duration_s        an experiment, imported ones too"
)
@click.argument("subject", metavar="AGENT|EXPERIMENT")
@click.option("--metric", help="A dimension, overall, pass_rate, duration_s…  [default: overall, or duration_s]")
@suite_option
@click.option("--benchmark", metavar="ID", help="Only this benchmark.")
@click.option("--days", type=click.IntRange(min=1), help="How far to look back.  [default: all]")
@click.option("--regressions", is_flag=True, help="What became worse: against a baseline, and over time.")
@click.option("--baseline", metavar="VERSION", help="The version to hold against.")
@click.option(
    "--threshold",
    "thresholds",
    metavar="X|METRIC=X",
    multiple=True,
    help="With --regressions: a change that counts, in parts of the value before; repeated for single metrics.  "
    "[default: thresholds of the suite, else of dyno.yaml, else 0.1]",
)
@setting_option(INCLUDE_PARTIAL)
@click.option("--gate", is_flag=True, help="With --regressions: exit 1 when there are any.")
@report_options
@store_option
@json_option
def command(
    subject: str,
    metric: str | None,
    suite: str | None,
    benchmark: str | None,
    days: int | None,
    regressions: bool,
    baseline: str | None,
    thresholds: tuple[str, ...],
    include_partial: bool,
    gate: bool,
    formats: str | None,
    output_dir: str,
    store: str | None,
    as_json: bool,
) -> int:
    """How a metric went over time, with the changes that are more than noise."""
    from agentdyno.findings.conclusions import Conclusions
    from agentdyno.findings.history.ask import Histories
    from agentdyno.findings.history.judge_thresholds import thresholds_from
    from agentdyno.findings.history.model import History

    if gate and not regressions:
        raise click.UsageError("--gate goes with --regressions")
    if regressions and benchmark is not None:
        raise click.UsageError("--regressions looks at every benchmark; leave --benchmark out")
    with open_store(store, must_exist=True) as opened:
        here = workspace_here()
        asked = Histories(
            opened, workspace=here.name, partial=include_partial, policy=here.gate, thresholds=here.thresholds
        )
        if not regressions:
            series = asked.of(subject, metric, suite=suite, benchmark=benchmark, days=days, baseline=baseline)
            show(Conclusions(histories=(series,)), formats, output_dir, as_json=as_json, shown=series)
            return 0
        given = thresholds_from(thresholds, project=asked.thresholds_of(subject, suite))
        report = asked.regressions(subject, baseline=baseline, threshold=given, suite=suite, days=days)
        histories: tuple[History, ...] = ()
        if metric is not None or formats:
            histories = (asked.of(subject, metric, suite=suite, days=days, baseline=baseline),)
    findings = Conclusions(regressions=(report,), histories=histories)
    show(findings, formats, output_dir, as_json=as_json, shown=report)
    return WORSE if gate and report.has_regressions else 0
