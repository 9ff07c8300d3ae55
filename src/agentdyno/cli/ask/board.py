"""``dyno board``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from agentdyno.cli.conclusions import report_options, show
from agentdyno.cli.options import setting_option
from agentdyno.cli.shared import json_option, open_store, store_option, workspace_here
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.settings.result import ROWS

if TYPE_CHECKING:
    from agentdyno.findings.board.model import Coverage, Leaderboard, Matrix
    from agentdyno.findings.success.model import SuccessReport


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno board                              the suite that was run last, the last 30 days\n"
    "  dyno board --suite all                  agents over the suites that they share\n"
    "  dyno board --category accuracy --metric cost --days 7\n"
    "  dyno board --matrix --suite comprehensive\n"
    "  dyno board --category each              every category that has results\n"
    "  dyno board --stale --days 30            agents not benchmarked this month\n"
    "  dyno board --success                    how well benchmarking itself does\n"
    "  dyno board --matrix --format html,png"
)
@click.option(
    "--category",
    default="overall",
    show_default=True,
    help="Only benchmarks or suites of this category; each: every one, one after the other.",
)
@click.option("--metric", default="all", show_default=True, help="What to order by: a dimension, or all.")
@click.option("--days", type=click.IntRange(min=1), default=30, show_default=True, help="How far to look back.")
@click.option("--limit", type=click.IntRange(min=1), default=ROWS, show_default=True, help="Number of rows.")
@click.option(
    "--suite",
    metavar="SUITE",
    help="By its id; all: over the suites that agents share.  [default: the last run]",
)
@setting_option(INCLUDE_PARTIAL)
@click.option("--matrix", "as_matrix", is_flag=True, help="Every agent × every dimension, from the last successes.")
@click.option("--stale", is_flag=True, help="Agents that were not benchmarked in these days.")
@click.option("--success", is_flag=True, help="Four figures of benchmarking itself, each with how it is counted.")
@click.option("--all-versions", is_flag=True, help="With --stale: older versions of agents too.")
@report_options
@store_option
@json_option
def command(
    category: str,
    metric: str,
    days: int,
    limit: int,
    suite: str | None,
    include_partial: bool,
    as_matrix: bool,
    stale: bool,
    success: bool,
    all_versions: bool,
    formats: str | None,
    output_dir: str,
    store: str | None,
    as_json: bool,
) -> int:
    """Where the agents stand: leaderboard, matrix, who is overdue, and how benchmarking itself does.

    Simulated results are not on it.
    """
    from agentdyno.findings.board.ask import EACH, Boards
    from agentdyno.findings.conclusions import Conclusions

    if as_matrix + stale + success > 1:
        raise click.UsageError("--matrix, --stale and --success are different questions; ask one")
    if category == EACH and (suite or as_matrix):
        raise click.UsageError("--category each is a leaderboard of the suites of each category; leave the other out")
    if all_versions and not stale:
        raise click.UsageError("--all-versions goes with --stale")
    workspace = workspace_here()
    with open_store(store, must_exist=True) as opened:
        boards = Boards(opened, workspace.weights)
        digest = boards.suite_digest(suite)
        shown: Coverage | Matrix | Leaderboard | SuccessReport
        if success:
            from agentdyno.findings.success.ask import Successes

            named = sorted({agent.name for agent in workspace.agents.values()})
            shown = Successes(opened, registered=named, policy=workspace.gate).report(days)
            findings = Conclusions(successes=(shown,))
        elif category == EACH and not stale:
            each = boards.by_category(metric=metric, days=days, limit=limit, partial=include_partial)
            shown = boards.together(each, metric=metric, days=days)
            findings = Conclusions(leaderboards=tuple(each) or (shown,))
        elif stale:
            shown = boards.coverage(days=days, all_versions=all_versions)
            findings = Conclusions(coverages=(shown,))
        elif as_matrix:
            shown = boards.matrix(suite=digest, category=category, partial=include_partial)
            shown = replace(shown, entries=shown.entries[:limit])
            findings = Conclusions(matrices=(shown,))
        else:
            shown = boards.leaderboard(
                category=category, metric=metric, days=days, limit=limit, suite=digest, partial=include_partial
            )
            findings = Conclusions(leaderboards=(shown,))
    show(findings, formats, output_dir, as_json=as_json, shown=shown)
    return 0
