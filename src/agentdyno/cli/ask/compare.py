"""``dyno compare``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.conclusions import show, suite_option
from agentdyno.cli.options import gate_options, tolerance_option
from agentdyno.cli.shared import (
    LISTED,
    NOT_COMPARABLE,
    PASS,
    UNDECIDED,
    WORSE,
    json_option,
    open_store,
    policy_for,
    print_json,
    print_tables,
    reports_folder_option,
    say,
    store_option,
    store_url,
    workspace_here,
)
from agentdyno.errors import NotComparable
from agentdyno.model import Comparison, Findings, Verdict

if TYPE_CHECKING:
    from agentdyno.findings.comparison.ask import Results
    from agentdyno.findings.conclusions import Conclusions
    from agentdyno.store import Store


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno compare agent-a agent-b --suite comprehensive    head to head, from stored results\n"
    "  dyno compare agent-a agent-b agent-c                  all against all\n"
    "  dyno compare my-agent@1.4.0 my-agent@1.5.0\n"
    "  dyno compare A.json B.json\n"
    "  dyno compare last~1 last --gate\n"
    '  dyno compare last:"retrieval index=scan documents=100" last:"retrieval index=inverted documents=100"\n'
    "  dyno compare last:my-agent last~1:other-agent         agents of runs of suites\n"
    "  dyno compare last            the two sides of a run made with --against"
)
@click.argument("operands", nargs=-1, required=True, metavar="BASELINE CANDIDATE...")
@suite_option
@click.option("--format", "formats", **LISTED, help="Reports to write: md,html,csv,json,png,junit.")
@reports_folder_option
@tolerance_option
@gate_options
@store_option
@json_option
def command(operands: tuple[str, ...], **options: Any) -> int:
    """Set agents, result files, runs of the store, RUN:AGENT or RUN:ARM side by side. Read-only."""
    from agentdyno.findings.comparison.ask import Results
    from agentdyno.workbench.location import store_exists
    from agentdyno.workbench.reporting import check_formats

    check_formats(options["formats"])
    store = options["store"]
    opened = open_store(store) if store_exists(store_url(store)) else None
    try:
        results = Results(lambda: opened or open_store(store, must_exist=True))
        found = _compared(operands, results, opened, options)
    finally:
        if opened is not None:
            opened.close()
    if isinstance(found, Comparison):
        return _show_comparison(found, options)
    return _show_agents(found, options)


def _compared(
    operands: tuple[str, ...], results: Results, store: Store | None, options: dict[str, Any]
) -> Comparison | Conclusions:
    """What the operands name decides which kind of comparison it is: agents, runs of suites, or experiments."""
    from agentdyno.findings.comparison.ask import compare_operands
    from agentdyno.findings.duel.ask import compare_agents, compare_named, compare_runs, compare_sides
    from agentdyno.findings.run.ask import findings_for

    agents = [item for item in operands if store is not None and _is_agent(item, store)]
    if agents and len(agents) < len(operands):
        other = next(item for item in operands if item not in agents)
        raise NotComparable(f"{agents[0]} is an agent and {other} is not", remedy="Name agents, or results, alone.")
    if store is not None and len(agents) > 1:
        return compare_agents(store, operands, options["suite"], workspace_here().gate)
    if agents:
        raise click.UsageError(f"{agents[0]} is one agent; name a second one to compare it with")
    if len(operands) > 2 and not all(":" in item for item in operands):
        raise click.UsageError("compare takes two results: BASELINE CANDIDATE, or any number of agents or RUN:AGENT")
    if options["suite"]:
        raise click.UsageError("--suite goes with agents")
    _require_results(operands)
    if len(operands) == 1:
        result = results.run(operands[0])
        sides = compare_sides(result, store, policy_for(result)) if result.suite is not None else None
        comparisons = findings_for(result, store, options["tolerance"]).comparisons
        if sides is None and not comparisons:
            raise click.UsageError(f"{operands[0]} has one side only; name a second result to compare it with")
        return sides or comparisons[0]
    if len(operands) > 2:
        return compare_named([results.operand(item) for item in operands], store, workspace_here().gate)
    first, second = (results.operand(item) for item in operands)
    if first.result.suite is not None and second.result.suite is not None:
        policy = workspace_here().gate
        if first.named or second.named:
            return compare_named([first, second], store, policy)
        return compare_runs(first.result, second.result, store, policy)
    return compare_operands(first, second, store, options["tolerance"])


def _require_results(operands: tuple[str, ...]) -> None:
    """Says what to type where code or commands stand, which have to be measured first, and where one arm stands
    alone.
    """
    from agentdyno.findings.comparison.ask_result import is_file
    from agentdyno.registry.command_lines import command_in

    others = [item for item in operands if not is_file(item)]
    second = operands[1] if len(operands) > 1 else "ANOTHER"
    code = next((item for item in others if ".py@" in item or item.endswith(".py")), None)
    if code is not None:
        raise click.UsageError(
            f"{code} is code, and compare reads results; to measure both: dyno run {operands[0]} --against {second}"
        )
    command = next((item for item in others if ":" not in item and " " in item and command_in(item)), None)
    if command is not None:
        both = shlex.join([operands[0], second])
        raise click.UsageError(f"{command!r} is no run and no agent; to time commands in turns: dyno time {both}")
    if len(operands) == 1 and others and ":" in operands[0]:
        raise click.UsageError(f"{operands[0]} is one arm; name a second one: dyno compare RUN:ARM RUN:ARM")


def _is_agent(text: str, store: Store) -> bool:
    """A file of the same name (the agent's own program) does not hide an agent; only a result does."""
    from agentdyno.findings.comparison.ask_result import is_result
    from agentdyno.findings.record.ask_labels import is_agent

    return not is_result(text) and is_agent(store.boards.agents(), text)


def _show_comparison(comparison: Comparison, options: dict[str, Any]) -> int:
    from agentdyno.cli.outcome import gate_code, shown
    from agentdyno.contracts import Report
    from agentdyno.workbench.reporting import check_formats, write_reports

    report = Report((), Findings(comparison.warnings, (comparison,)))
    if options["as_json"]:
        print_json(comparison)
    else:
        print_tables(report)
    for path in write_reports(report, check_formats(options["formats"]), Path(options["output_dir"])):
        say(f"Wrote {shown(path)}")
    code = gate_code(comparison, strict=options["strict"])
    # Separate runs are shown as they were asked to be; only a gate needs a verdict.
    apart = any(row.unit == "runs" for arm in comparison.arms for row in arm.metrics)
    return code if options["gate"] or (code == NOT_COMPARABLE and not apart) else PASS


def _show_agents(found: Conclusions, options: dict[str, Any]) -> int:
    shown = found.duels[0] if len(found.duels) == 1 else found.duels or found.tournaments[0]
    show(found, options["formats"], options["output_dir"], as_json=options["as_json"], shown=shown)
    if not options["gate"]:
        return PASS
    first = found.records[0].agent  # of several agents, the others are held against the one named first
    duels = found.duels or [duel for duel in found.tournaments[0].duels if duel.baseline == first]
    verdicts = {row.verdict for duel in duels for row in duel.rows}
    if Verdict.WORSE in verdicts:
        return WORSE
    if verdicts <= {None}:
        return NOT_COMPARABLE
    return UNDECIDED if options["strict"] and Verdict.INCONCLUSIVE in verdicts else PASS
