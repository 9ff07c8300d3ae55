"""``dyno profile``."""

from __future__ import annotations

import click

from agentdyno.cli.conclusions import report_options, show
from agentdyno.cli.shared import json_option, open_store, store_option


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno profile last                       where the time and the tokens of each agent went\n"
    "  dyno profile my-agent                   its newest run\n"
    "  dyno profile last --case refund-04      one case, span by span\n"
    "  dyno profile last --against last~1      two versions side by side\n"
    "  dyno profile last --format html,png     with waterfall and flame view"
)
@click.argument("subject", metavar="[RUN|AGENT]", default="last")
@click.option("--case", "case_id", metavar="ID", help="One case, span by span; BENCHMARK/ID where several have it.")
@click.option("--agent", metavar="NAME", help="Only this agent of the run.")
@click.option("--against", metavar="RUN|AGENT", help="The baseline to show beside it, on the cases both have.")
@report_options
@store_option
@json_option
def command(
    subject: str,
    case_id: str | None,
    agent: str | None,
    against: str | None,
    formats: str | None,
    output_dir: str,
    store: str | None,
    as_json: bool,
) -> int:
    """Where the time and the tokens of RUN or AGENT went: phases, bottlenecks, waste, and what could be saved."""
    from agentdyno.findings.conclusions import Conclusions
    from agentdyno.findings.profile.ask import ProfileQuestion, Profiles

    question = ProfileQuestion(subject, agent, case_id, against=against)
    with open_store(store, must_exist=True) as opened:
        report = Profiles(opened).report(question)
    findings = Conclusions(profiles=report.profiles, profile_comparisons=report.comparisons)
    show(findings, formats, output_dir, as_json=as_json, shown=report)
    return 0
