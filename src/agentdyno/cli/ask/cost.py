"""``dyno cost``."""

from __future__ import annotations

import click

from agentdyno.cli.conclusions import report_options, show, suite_option
from agentdyno.cli.shared import json_option, open_store, say, store_option

LARGE = 2_000
"""Cases of all agents together from which the answer takes more than a moment."""


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno cost --suite comprehensive\n"
    "  dyno cost small-model large-model --volume 100000\n"
    "  dyno cost --format html,png             with the frontier as a picture"
)
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@suite_option
@click.option(
    "--volume", type=click.IntRange(min=1), default=1000, show_default=True, help="Tasks that savings are stated for."
)
@click.option("--reliability", is_flag=True, help="How far each agent can be relied on, beside what it costs.")
@report_options
@store_option
@json_option
def command(
    agents: tuple[str, ...],
    suite: str | None,
    volume: int,
    reliability: bool,
    formats: str | None,
    output_dir: str,
    store: str | None,
    as_json: bool,
) -> int:
    """What the agents of a suite cost for what they achieve, who is on the frontier, what could be saved."""
    from agentdyno.findings.conclusions import Conclusions
    from agentdyno.findings.cost.judge import cost_report
    from agentdyno.findings.record.ask import Records
    from agentdyno.findings.reliability.judge import reliabilities

    with open_store(store, must_exist=True) as opened:
        found = Records(opened).chosen(agents, suite)
    compared = sum(len(record.cases) for record in found)
    if compared > LARGE:
        say(f"Comparing {len(found)} agents on {compared:,} cases in all ...")
    report = cost_report(found, volume=volume)
    relied = tuple(reliabilities(found)) if reliability else ()
    findings = Conclusions(costs=(report,), reliabilities=relied, records=tuple(found))
    shown = {"cost": report, "reliability": relied} if reliability else report
    show(findings, formats, output_dir, as_json=as_json, shown=shown)
    return 0
