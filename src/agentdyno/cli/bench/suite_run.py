"""``dyno run`` with a suite: what it will spend, the run, the agents side by side, the cases that failed."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.shared import open_store, policy_for, print_json, print_tables, say, store_url
from agentdyno.model.metric import CENT, money_spent
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.suite import ASK_ABOVE_USD

if TYPE_CHECKING:
    from agentdyno.findings.standing.model import HeldCase
    from agentdyno.model import RunResult, Suite, Workspace
    from agentdyno.runs.kind import Announced, Choices, Prepared
    from agentdyno.runs.suite.prepare import PreparedSuite
    from agentdyno.store import Store


def run_suite(path: Path, options: dict[str, Any]) -> int:
    """One suite file from its plan to its exit code."""
    from agentdyno.cli.outcome import ReportsAsked, exit_code, finish
    from agentdyno.cli.progress import ProgressLine
    from agentdyno.runs.kind import Source, Tools
    from agentdyno.runs.kinds import kind_named
    from agentdyno.runs.pipeline import start
    from agentdyno.specs import load_workspace
    from agentdyno.workbench.location import output_root

    as_json, store = bool(options.get("as_json")), options.get("store")
    workspace = options.get("workspace") or load_workspace(Path.cwd())
    kind = kind_named("suite")
    request = kind.read(Source(path, quick=bool(options.get("quick"))), make_changes(options))
    formats = _formats(options.get("formats"))
    url = store_url(store)
    if options.get("send_alerts"):
        from agentdyno.cli.alerting import require_places

        require_places(workspace)
    with ExitStack() as stack:
        choices = make_choices(options, stack, url)
        opened = None if options.get("dry_run") else stack.enter_context(open_store(store))
        tools = Tools(opened, output_root(url), workspace, say=say, choices=choices)
        prepared = stack.enter_context(kind.prepare(request, tools))
        if opened is None:
            show_plan(prepared, as_json)
            return 0
        say(announce(prepared.work))
        confirm(prepared.announced, yes=bool(options.get("yes")), limited=choices.max_cost_usd is not None)
        with ProgressLine() as progress:
            result = start(kind, prepared, replace(tools, on_progress=progress))
        held = _quarantined(workspace, prepared.work.suite)
        tolerance = options.get("tolerance", TOLERANCE.default)
        asked = ReportsAsked(formats, options.get("output"), bool(options.get("verbose")))
        findings = finish(result, opened, asked, tolerance, as_json=as_json, held=held)
        # With --until-decided the decision is what holds; a test on top would look once too often.
        if prepared.spec.against is not None and not prepared.spec.until_decided and not as_json:
            show_sides(result, opened)
        if options.get("send_alerts"):
            from agentdyno.cli.alerting import tell_alerts

            tell_alerts(opened, workspace, [result])
    return exit_code(result, findings, gate=bool(options.get("gate")), strict=bool(options.get("strict")))


def _quarantined(workspace: Workspace, suite: Suite) -> tuple[HeldCase, ...]:
    """The cases that the project quarantines today."""
    if not workspace.gate.cases.quarantine:
        return ()
    from agentdyno.findings.gate.judge_names import held_cases

    return held_cases(workspace.gate.cases, suite, datetime.now(UTC).date().isoformat())


def _formats(text: str | None) -> tuple[str, ...]:
    if not text:
        return ()
    from agentdyno.workbench.reporting import check_formats

    return check_formats(text)


def show_sides(result: RunResult, store: Store) -> None:
    """Baseline and candidate head to head, where both have answered."""
    from agentdyno.contracts import Report
    from agentdyno.errors import NotComparable
    from agentdyno.findings.duel.ask import compare_sides

    try:
        found = compare_sides(result, store, policy_for(result))
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


def make_changes(options: dict[str, Any]) -> dict[str, object]:
    """The settings that the command line changes, by name."""
    from agentdyno.specs import changes_among
    from agentdyno.specs.changes import SUITE_CHANGES

    # A flag that was not given says nothing: the file may.
    changes = {name: value for name, value in changes_among(options, SUITE_CHANGES).items() if value is not False}
    return changes | {name: options[name] for name in ("against", "until_decided", "bands") if options.get(name)}


def make_choices(options: dict[str, Any], stack: ExitStack, url: str) -> Choices:
    """What is said beside the suite; a cache of answers is closed with ``stack``."""
    from agentdyno.runs.kind import Choices
    from agentdyno.workbench.location import output_root

    cache = None
    if options.get("cache"):
        from agentdyno.runs.suite.response_cache import FileCache

        cache = FileCache(output_root(url).parent / "answers.db")
        stack.callback(cache.close)
    agents = tuple(options.get("agents") or ())
    python = options.get("interpreter") or ""
    allowed = bool(options.get("allow_changed_suite"))
    return Choices(agents, options.get("max_cost"), cache, python=python, allow_changed_suite=allowed)


def announce(prepared: PreparedSuite) -> str:
    """One line before anything is spent: calls, dollars, and the smallest drop that the plan can detect; before it
    which columns were taken where nobody said which."""
    from agentdyno.findings.standing.judge import foresee

    suite = prepared.suite
    cases = sum(len(item.cases) for item in suite.benchmarks)
    agents = len({entrant.label for entrant in prepared.entrants.values()})
    dollars = expected_money(prepared.expected_usd)
    if prepared.expected_usd == 0 and prepared.rates:
        # CPU time, and tokens that a local agent reports, have prices in dyno.yaml: their cost is seen afterwards.
        dollars = "no charge known beforehand"
    drop = foresee(suite, [0] * agents).detectable
    seen = (
        f"; smallest drop in accuracy it can detect: {drop:.0%}"
        if drop is not None
        else "; too few cases to tell two agents apart"
    )
    taken = dict.fromkeys(item.data_source for item in suite.benchmarks if " from column " in item.data_source)
    return "".join(f"Cases of {source}\n" for source in taken) + (
        f"{suite.name}: {agents} agent{'s' * (agents > 1)} × {cases} case{'s' * (cases > 1)}, "
        f"{_calls(prepared)}, {dollars}{seen}"
    )


def _calls(prepared: PreparedSuite) -> str:
    """How many calls, and of what: a warm-up is a call, too, and is no execution."""
    executions = len(prepared.plan.trials)
    warmups = prepared.calls - executions
    if not warmups:
        return f"{prepared.calls:,} call{'s' * (prepared.calls != 1)}"
    return (
        f"{prepared.calls:,} calls ({executions:,} execution{'s' * (executions > 1)} + "
        f"{warmups:,} warm-up{'s' * (warmups > 1)})"
    )


def expected_money(usd: float | None) -> str:
    """What a plan is expected to cost, in words."""
    if usd is None:
        return "price unknown"
    return "no charge" if usd == 0 else money_spent(usd) if usd < CENT else f"about {money_spent(usd)}"


def confirm(announced: Announced, *, yes: bool, limited: bool = False) -> None:
    """Above a dollar, or where nobody knows, a person says yes; a script says ``--yes``, or limits what is spent."""
    usd = announced.usd
    if yes or limited or (usd is not None and usd <= ASK_ABOVE_USD):
        return
    if not sys.stdin.isatty():
        if usd is None:
            unpriced = ", ".join(announced.unpriced)
            from agentdyno.extras import where_missing

            listed = where_missing("prices", ", or install the public list")
            raise click.UsageError(f"the price of {unpriced} is unknown; add --yes, or give it in dyno.yaml{listed}")
        raise click.UsageError(f"this run may cost {expected_money(usd)}; add --yes, or --max-cost DOLLARS")
    click.confirm("Go on?", abort=True, err=True)


def show_plan(prepared: Prepared[PreparedSuite], as_json: bool) -> None:
    from agentdyno.findings.run.tables import plan_table
    from agentdyno.runs.pipeline import planned_counts

    counts = planned_counts(prepared.plan)
    if as_json:
        arms = [{"arm": arm, "measured": counts[arm.arm_id]} for arm in prepared.plan.arms]
        announced, suite = prepared.announced, prepared.work.suite
        expected = {"calls": announced.calls, "usd": announced.usd, "unpriced": announced.unpriced}
        print_json({"name": suite.name, "arms": arms, "expected": expected, "suite": suite})
        return
    print_tables(plan_table(prepared.plan, counts))
    say(f"{announce(prepared.work)}. Nothing was run.")
