"""``dyno demo``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.shared import print_tables, say, store_option

if TYPE_CHECKING:
    from agentdyno.model import Workspace

MODEL_AGENTS = ("smollm2", "smollm2-structured", "smollm2-tools@1", "smollm2-tools", "rules")
RULE_AGENTS = ("rules@1", "rules")
SUITE = "workload:comprehensive/comprehensive"
BROKEN_SHOWN = 5
CPU_HOUR_USD = 0.04
"""About what a cloud asks for an hour of one virtual CPU; dyno.yaml says otherwise."""
NEXT = """\
What to type next:
  dyno show last --case arith-07       one case: question, answers, trajectories
  dyno compare rules@1 rules@2         two versions head to head
  dyno board                           where everybody stands; --matrix: on every dimension
  dyno cost                            what the agents cost for what they achieve
  dyno try rules "What is 17 * 23?"    ask an agent yourself
  dyno init                            a suite and an agent of your own
  dyno list agents                     who else is there
  dyno run workload:retrieval/sweep    measure code instead of agents"""


@click.command()
@click.option(
    "--model",
    type=click.Choice(["local", "none"]),
    help="local: the bundled language model; none: rule agents only. [default: local where it is installed]",
)
@store_option
def command(model: str | None, store: str | None) -> int:
    """Put several agents on the comprehensive suite's quick cases, offline; write a report; try the gate."""
    from agentdyno.cli.bench.run import run
    from agentdyno.servers.local_model import find_model
    from agentdyno.specs import load_workspace

    if model is None:
        model = "local" if find_model() is not None else "none"
        if model == "none":
            say("The local model is not installed (`dyno model install`); the demo runs on the rule agents.\n")
    workspace = load_workspace(Path.cwd())
    if workspace.compute_price_per_cpu_hour is None:
        workspace = replace(workspace, compute_price_per_cpu_hour=CPU_HOUR_USD)
    agents = MODEL_AGENTS if model == "local" else RULE_AGENTS
    options = {"store": store, "formats": "html", "quick": True, "agents": agents, "workspace": workspace}
    code = run(SUITE, options)
    if code == 0:
        show_gate(store, workspace)
    say(f"\n{NEXT}")
    return code


def show_gate(store: str | None, workspace: Workspace) -> None:
    """Version 1 of the rule agent held against version 2, on all cases of the suite: the gate has to stop it."""
    from agentdyno.cli.bench.check import check_files
    from agentdyno.findings.gate.tables import gate_tables

    say(f"\nThe gate, if somebody went back to version 1: dyno check {SUITE} --agent rules@1 --against rules@2")
    options: dict[str, Any] = {
        "store": store,
        "agents": ("rules@1",),
        "against": "rules@2",
        "rerun": False,
        "yes": True,
    }
    options["workspace"] = workspace
    reports, _ = check_files((SUITE,), options)
    for report in reports:
        metrics, *others = gate_tables(report, most_broken=BROKEN_SHOWN)
        print_tables([metrics, *others[-1:]])
