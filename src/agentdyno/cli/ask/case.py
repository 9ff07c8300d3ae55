"""``dyno case``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from agentdyno.cli.shared import open_store, say, store_option


@click.group(name="case")
def command() -> None:
    """Cases out of what happened."""


@command.command(
    epilog="\b\nExamples:\n"
    "  dyno case add last --case refund-04 --to suite.yaml\n"
    "  dyno case add traces.jsonl --case 4bf92f35 --to suite.yaml --as lost-parcel"
)
@click.argument("source", metavar="RUN|TRACES")
@click.option("--case", "case_id", metavar="ID", required=True, help="The case of the run, or the trace of the file.")
@click.option(
    "--to",
    "suite",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The suite; begun where it is not there.",
)
@click.option("--benchmark", metavar="ID", help="Which of the suite's benchmarks, where it has several.")
@click.option("--as", "new_id", metavar="ID", help="The id of the new case. [default: as it was]")
@store_option
def add(source: str, case_id: str, suite: Path, benchmark: str | None, new_id: str | None, store: str | None) -> int:
    """Add a case of a run, or a trace of production, to a suite, with where it comes from; secrets are hidden."""
    from agentdyno.cli.outcome import shown
    from agentdyno.workbench.traces.adding_cases import add_case, case_from_run, case_from_traces

    if Path(source).is_file():
        case = case_from_traces(Path(source), case_id)
    else:
        with open_store(store, must_exist=True) as opened:
            case = case_from_run(opened, source, case_id)
    added = add_case(replace(case, id=new_id or case.id), suite, benchmark)
    if added.made_suite:
        say(f"Wrote {shown(suite)}: choose how answers are judged there.")
    say(f"Added {added.case.id} to {shown(added.file)}")
    if added.case.target is None:
        say("It has no target yet: write what the answer should be.")
    return 0
