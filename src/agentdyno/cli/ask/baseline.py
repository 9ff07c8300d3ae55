"""``dyno baseline``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.conclusions import suite_option
from agentdyno.cli.options import setting_option
from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, store_option, workspace_here
from agentdyno.settings.judging import INCLUDE_PARTIAL


@click.group(
    epilog="\b\nExamples:\n"
    "  dyno baseline set my-agent@1.4.0\n"
    "  dyno baseline show\n"
    "  dyno baseline targets my-suite          what scores 1 and 0, and from which run\n"
    "  dyno baseline export baseline.json     a small file to commit; dyno check --against baseline.json"
)
def command() -> None:
    """What later versions of an agent are held against: set, show, clear, export. And the targets of scores."""


@command.command("set", epilog="\b\nExample:\n  dyno baseline set my-agent@1.4.0 --suite comprehensive")
@click.argument("agent", metavar="AGENT[@VERSION]")
@suite_option
@click.option("--note", default="", help="Why.")
@setting_option(INCLUDE_PARTIAL)
@store_option
@json_option
def set_(agent: str, suite: str | None, note: str, include_partial: bool, store: str | None, as_json: bool) -> int:
    """Make the newest results of AGENT the baseline of its suite."""
    from agentdyno.findings.baseline.ask import set_baseline

    with open_store(store, must_exist=True) as opened:
        row, record = set_baseline(
            opened, agent, suite=suite, workspace=workspace_here().name, note=note, partial=include_partial
        )
    if as_json:
        print_json(row)
    else:
        runs = ", ".join(run_id[:13] for run_id in record.run_ids)
        say(f"Baseline of {row.agent} in {row.suite_id}: {record.agent}, run{'s' * (not row.run_id)} {runs}")
    return 0


@command.command("show", epilog="\b\nExample:\n  dyno baseline show --json")
@click.argument("agent", metavar="[AGENT[@VERSION]]", required=False)
@store_option
@json_option
def show_(agent: str | None, store: str | None, as_json: bool) -> int:
    """List the baselines that are set."""
    from agentdyno.findings.baseline.tables import baseline_table

    with open_store(store, must_exist=True) as opened:
        rows = opened.boards.baselines(workspace_here().name)
    rows = [row for row in rows if agent in (None, row.agent, f"{row.agent}@{row.version}")]
    if as_json:
        print_json(rows)
    else:
        print_tables(baseline_table(rows))
    return 0


@command.command("clear", epilog="\b\nExample:\n  dyno baseline clear my-agent")
@click.argument("agent", metavar="AGENT[@VERSION]")
@suite_option
@store_option
@json_option
def clear(agent: str, suite: str | None, store: str | None, as_json: bool) -> int:
    """Take the baselines of AGENT back; its results stay."""
    from agentdyno.findings.baseline.ask import clear_baseline

    with open_store(store, must_exist=True) as opened:
        count = clear_baseline(opened, agent, suite=suite, workspace=workspace_here().name)
    if as_json:
        print_json({"cleared": count})
    else:
        say(f"Cleared {count} baseline{'s' * (count != 1)} of {agent}")
    return 0


@command.command("export", epilog="\b\nExample:\n  dyno baseline export baseline.json --agent my-agent@1.4.0")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--agent", "agents", multiple=True, metavar="AGENT[@VERSION]", help="Not the ones set: these.")
@suite_option
@store_option
@json_option
def export(file: Path, agents: tuple[str, ...], suite: str | None, store: str | None, as_json: bool) -> int:
    """Write the baselines to FILE, small enough to commit: a gate reads it where there is no store."""
    from agentdyno.findings.baseline.ask import export_baselines

    with open_store(store, must_exist=True) as opened:
        records = export_baselines(opened, file, agents=agents, suite=suite, workspace=workspace_here().name)
    if as_json:
        print_json({"file": str(file), "agents": [record.agent for record in records]})
    else:
        for record in records:
            say(f"{record.agent}: {len(record.cases)} cases of {record.suite_id}")
        say(f"Wrote {file}. Hold a change against it: dyno check --against {file}")
    return 0


@command.command(
    "targets",
    epilog="\b\nExamples:\n"
    "  dyno baseline targets my-suite                        what is in force\n"
    "  dyno baseline targets my-suite --from my-agent@1.4.0  move them: boards are scored again",
)
@click.argument("suite", metavar="SUITE")
@click.option("--from", "agent", metavar="AGENT[@VERSION]", help="Move them to those of this agent's newest run.")
@store_option
@json_option
def targets(suite: str, agent: str | None, store: str | None, as_json: bool) -> int:
    """Show what scores 1 and what scores 0 in SUITE. They stay as they were set first, unless you move them."""
    from agentdyno.findings.baseline.ask_targets import move_targets, targets_of
    from agentdyno.findings.baseline.tables import move_table, targets_table

    with open_store(store, must_exist=True) as opened:
        if agent is not None:
            move = move_targets(opened, suite, agent)
            print_json(move) if as_json else print_tables(move_table(move))
            return 0
        row, rows = targets_of(opened, suite)
    if as_json:
        print_json([target._asdict() for target in rows])
    else:
        print_tables(targets_table(row.suite_id, rows))
    return 0
