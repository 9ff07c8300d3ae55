"""``dyno show``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from agentdyno.cli.options import setting_option
from agentdyno.cli.shared import (
    json_option,
    open_store,
    policy_for,
    print_json,
    print_tables,
    store_option,
    store_url,
)
from agentdyno.settings.result import VERBOSE
from agentdyno.settings.run import BANDS_FLAG

if TYPE_CHECKING:
    from agentdyno.model import RunResult


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno show last\n"
    "  dyno show last --case refund-04\n"
    "  dyno show last --failed\n"
    "  dyno show last~1 --json\n"
    "  dyno show .dyno/runs/RUN/result.json"
)
@click.argument("run", default="last")
@click.option("--case", metavar="ID", help="One case: input, target, every answer with its score and trajectory.")
@click.option("--agent", metavar="NAME", help="With --case: only this agent's answers.")
@click.option("--failed", is_flag=True, help="Every case that was not passed: what was wanted, what came, and why.")
@setting_option(BANDS_FLAG)
@setting_option(VERBOSE)
@store_option
@json_option
def command(run: str, case: str | None, agent: str | None, store: str | None, as_json: bool, **options: bool) -> None:
    """Show RUN (an id, `last`, or a result file): figures, warnings, failed samples, configuration."""
    if agent is not None and case is None:
        raise click.UsageError("--agent goes with --case")
    if options["failed"] and case is not None:
        raise click.UsageError("--failed lists cases; --case shows one: give one of both")
    from agentdyno.contracts import Report
    from agentdyno.findings.comparison.ask_result import result_named
    from agentdyno.findings.run import tables as run_tables
    from agentdyno.findings.run import tables_profiles
    from agentdyno.findings.run.ask import findings_for
    from agentdyno.workbench.location import store_exists

    opened = open_store(store) if store_exists(store_url(store)) else None
    try:
        result = result_named(run, lambda: opened or open_store(store, must_exist=True))
        if case is not None:
            show_case(result, case, agent, as_json)
            return
        if options["failed"]:
            show_failed(result, as_json)
            return
        if options["bands"]:
            result = replace(result, spec=replace(result.spec, bands=result.spec.bands or {}))
        findings = findings_for(result, opened, policy=policy_for(result))
    finally:
        if opened is not None:
            opened.close()
    if as_json:
        print_json(result)
        return
    print_tables(Report((result,), findings), brief=not options["verbose"])
    profiles = [table for arm in result.arms for table in tables_profiles.instrument_tables(arm)]
    further = (run_tables.details(result), run_tables.configuration(result)) if options["verbose"] else ()
    more = [*profiles, *(table for table in further if table is not None)]
    if more:
        print_tables(more)


def show_case(result: RunResult, case_id: str, agent: str | None, as_json: bool) -> None:
    from agentdyno.findings.case.tables import case_plain, case_tables

    if as_json:
        print_json(case_plain(result, case_id, agent))
    else:
        print_tables(case_tables(result, case_id, agent))


def show_failed(result: RunResult, as_json: bool) -> None:
    """Every case of a suite's run that an agent did not always pass."""
    from agentdyno.errors import SpecError

    if result.suite is None:
        raise SpecError(
            "this run has no cases: it is no run of a suite", where="--failed", remedy="`dyno show RUN` shows it."
        )
    from agentdyno.findings.standing.judge import every_failure, standing_of
    from agentdyno.findings.standing.tables_cases import failed
    from agentdyno.show.table import Table
    from agentdyno.show.wording import RUN_ID_LENGTH

    found = every_failure(result)
    if as_json:
        print_json(found)
        return
    standing = replace(standing_of(result), failed=found, failed_total=len(found))
    table = failed(standing, result.run_id[:RUN_ID_LENGTH], len(found))
    print_tables([table] if table is not None else [Table("", (), (), ("Every case was passed.",))])
