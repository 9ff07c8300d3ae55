"""``dyno run`` with a suite: what it will spend, the run, the agents side by side, the cases that failed."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.shared import open_store, print_json, print_tables, say, store_url
from agentdyno.settings.judging import TOLERANCE

if TYPE_CHECKING:
    from agentdyno.model import RunResult, Workspace
    from agentdyno.runs.suite.prepare import PreparedSuite
    from agentdyno.specs import SettingChanges
    from agentdyno.store import Store

ASK_ABOVE_USD = 1.0


def run_suite(path: Path, options: dict[str, Any]) -> int:
    """One suite file from its plan to its exit code."""
    from agentdyno.cli.outcome import exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.suite.kind import SuiteRunner
    from agentdyno.runs.suite.prepare import preparing
    from agentdyno.specs import load_suite, load_workspace
    from agentdyno.workbench.reporting import check_formats
    from agentdyno.workbench.running import output_root

    as_json, store = bool(options.get("as_json")), options.get("store")
    workspace = options.get("workspace") or load_workspace(Path.cwd())
    loaded = load_suite(path, quick=bool(options.get("quick")), overrides=make_overrides(options))
    formats = check_formats(options.get("formats"))
    url = store_url(store)
    with ExitStack() as stack:
        chosen = suite_options(options, stack, url)
        opened = None if options.get("dry_run") else stack.enter_context(open_store(store))
        prepared = stack.enter_context(preparing(loaded, workspace, chosen, opened, say))
        if opened is None:
            show_plan(prepared, as_json)
            return 0
        say(announce(prepared))
        confirm(prepared, bool(options.get("yes")))
        with ProgressLine() as progress:
            result: RunResult = SuiteRunner(opened, output_root(url), progress).start(prepared)
        findings = finish(result, opened, formats, options.get("tolerance", TOLERANCE.default), as_json=as_json)
        # With --until-decided the decision is what holds; a test on top would look once too often.
        if prepared.settings.against is not None and not prepared.settings.until_decided and not as_json:
            show_sides(result, opened)
    return exit_code(result, findings, gate=bool(options.get("gate")), strict=bool(options.get("strict")))


def show_sides(result: RunResult, store: Store) -> None:
    """Baseline and candidate head to head, where both have answered."""
    from agentdyno.contracts import Report
    from agentdyno.errors import NotComparable
    from agentdyno.findings.duel.ask import compare_sides

    try:
        found = compare_sides(result, store)
    except NotComparable as error:
        say(f"Not comparable: {error}")
        return
    if found is not None:
        print_tables(Report((), found))


def workspace_suites() -> list[Path]:
    """The suites that dyno.yaml names; none is an error that says what to do."""
    from agentdyno.errors import SpecError
    from agentdyno.specs import load_workspace

    workspace: Workspace = load_workspace(Path.cwd())
    if not workspace.suites:
        raise SpecError(
            "nothing to run: no argument, and no dyno.yaml with `suites:` here or above",
            remedy="`dyno init` writes one; or name a file: dyno run suite.yaml --agent agent.py@answer.",
        )
    return [Path(workspace.base_dir) / item for item in workspace.suites]


def make_overrides(options: dict[str, Any]) -> SettingChanges:
    from agentdyno.specs import changes_among
    from agentdyno.specs.changes import SUITE_CHANGES

    return changes_among(options, SUITE_CHANGES)


def suite_options(options: dict[str, Any], stack: ExitStack, url: str) -> Any:
    from agentdyno.runs.suite.prepare import SuiteOptions
    from agentdyno.runs.suite.response_cache import FileCache
    from agentdyno.workbench.running import output_root

    cache = None
    if options.get("cache"):
        cache = FileCache(output_root(url).parent / "answers.db")
        stack.callback(cache.close)
    agents = tuple(options.get("agents") or ())
    return SuiteOptions(
        agents,
        options.get("max_cost"),
        cache,
        against=options.get("against"),
        until_decided=bool(options.get("until_decided")),
        environ=os.environ,
    )


def announce(prepared: PreparedSuite) -> str:
    """One line before anything is spent: calls, dollars, and the smallest drop that the plan can detect."""
    from agentdyno.findings.standing.judge_foresight import foresee

    suite = prepared.suite
    cases = sum(len(item.cases) for item in suite.benchmarks)
    agents = len({entrant.label for entrant in prepared.entrants.values()})
    dollars = money(prepared.expected_usd)
    drop = foresee(suite, [0] * agents).detectable
    seen = (
        f"; smallest drop in accuracy it can detect: {drop:.0%}"
        if drop is not None
        else "; too few cases to tell two agents apart"
    )
    return (
        f"{suite.name}: {agents} agent{'s' * (agents > 1)} × {cases} case{'s' * (cases > 1)}, "
        f"{prepared.calls:,} calls, {dollars}{seen}"
    )


def money(usd: float | None) -> str:
    if usd is None:
        return "price unknown"
    return "no charge" if usd == 0 else f"about ${usd:.2f}" if usd >= 0.01 else f"about ${usd:.2g}"


def confirm(prepared: PreparedSuite, yes: bool) -> None:
    """Above a dollar, or where nobody knows, a person says yes; a script says ``--yes``."""
    usd = prepared.expected_usd
    if yes or prepared.options.max_cost_usd is not None or (usd is not None and usd <= ASK_ABOVE_USD):
        return
    if not sys.stdin.isatty():
        if usd is None:
            unpriced = ", ".join(prepared.expected.unpriced)
            raise click.UsageError(f"the price of {unpriced} is unknown; add --yes, or give it in dyno.yaml")
        raise click.UsageError(f"this run may cost {money(usd)}; add --yes, or set a limit with --max-cost DOLLARS")
    click.confirm("Go on?", abort=True, err=True)


def show_plan(prepared: PreparedSuite, as_json: bool) -> None:
    from agentdyno.findings.run.tables_plans import plan_table
    from agentdyno.runs.pipeline import planned_counts

    counts = planned_counts(prepared.plan)
    if as_json:
        arms = [{"arm": arm, "measured": counts[arm.arm_id]} for arm in prepared.plan.arms]
        expected = {"calls": prepared.calls, "usd": prepared.expected_usd, "unpriced": prepared.expected.unpriced}
        print_json({"name": prepared.suite.name, "arms": arms, "expected": expected, "suite": prepared.suite})
        return
    print_tables(plan_table(prepared.plan, counts))
    say(f"{announce(prepared)}. Nothing was run.")


def is_suite_file(path: Path) -> bool:
    """Whether a file holds a suite rather than a spec. Raises ``SpecError`` where it cannot be read."""
    from agentdyno.specs import is_suite, read_document

    return is_suite(read_document(path))
