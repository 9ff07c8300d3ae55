"""``dyno try``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdyno.cli.shared import NO_SAMPLE, PASS, WORSE, json_option, print_json, print_tables, say
from agentdyno.settings.suite import INTERPRETER

if TYPE_CHECKING:
    from agentdyno.model import AgentUse
    from agentdyno.workbench.try_agent import Attempt


@click.command(
    epilog="\b\nExamples:\n"
    '  dyno try agent.py@answer "What is 17 * 23?"\n'
    '  dyno try cmd:"./agent --fast" "Hello"\n'
    '  dyno try stdio:./agent "Hello"               a program that stays and answers in lines of JSON\n'
    "  dyno try stdio:./agent --conformance         whether it keeps to the protocol\n"
    '  dyno try openai:gpt-5-mini "Hello"\n'
    '  dyno try openai:smollm2 "Hello" -c base_url=http://127.0.0.1:8080/v1\n'
    '  dyno try smollm2 "Hello"                     the bundled local model\n'
    '  dyno try my_graph.py@graph "Hello" --python envs/graph'
)
@click.argument("agent")
@click.argument("text", required=False)
@click.option("-c", "--config", "config", multiple=True, metavar="KEY=VALUE", help="Configuration of the agent.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), help="Seconds to wait.")
@click.option(
    INTERPRETER.option, "python", default=INTERPRETER.default, metavar=INTERPRETER.metavar, help=INTERPRETER.help
)
@click.option("--conformance", is_flag=True, help="Put a stdio: program through its protocol instead of asking.")
@json_option
def command(
    agent: str,
    text: str | None,
    config: tuple[str, ...],
    timeout_s: float | None,
    python: str,
    conformance: bool,
    as_json: bool,
) -> int:
    """Ask AGENT one question: answer, tokens, cost, timing, tool calls. Nothing is stored."""
    from dataclasses import replace

    from agentdyno.model.codec import to_plain
    from agentdyno.runs.lineup import find_agent
    from agentdyno.runs.ownership import closed_by_signals
    from agentdyno.specs import load_workspace, parse_param
    from agentdyno.workbench.try_agent import try_agent

    workspace = load_workspace(Path.cwd())
    use = find_agent(agent, workspace, Path.cwd(), python)
    use = replace(use, config={**use.config, **dict(parse_param(item) for item in config)})
    if conformance:
        return _conformance(use, as_json)
    if text is None:
        raise click.UsageError("Missing argument 'TEXT': what is the agent to be asked?")
    with closed_by_signals():
        attempt = try_agent(use, text, workspace, time_limit_s=timeout_s, environ=os.environ, say=say)
    if as_json:
        print_json(to_plain(attempt))
    else:
        show(attempt)
    return PASS if attempt.sample.failure is None else NO_SAMPLE


def _conformance(use: AgentUse, as_json: bool) -> int:
    from agentdyno.findings.case.tables_conformance import conformance_table
    from agentdyno.model.codec import to_plain
    from agentdyno.workbench.try_agent import try_protocol

    checks = try_protocol(use, os.environ)
    if as_json:
        print_json([to_plain(check) for check in checks])
    else:
        print_tables(conformance_table([(check.name, check.problem) for check in checks]))
    return PASS if all(check.problem is None for check in checks) else WORSE


def show(attempt: Attempt) -> None:
    """The answer, or what went wrong with the frames of the user's own code; no byte of it moves the terminal."""
    from agentdyno.findings.case.tables import attempt_tables
    from agentdyno.show.wording import plain

    sample = attempt.sample
    if sample.failure is not None:
        how = f"{sample.status.value}, {sample.failure.kind.value}"
        say(plain(f"{attempt.agent} did not answer ({how}): {sample.failure.message}"))
        for told in (sample.failure.traceback, sample.failure.output_tail):
            if told:
                say(plain(told).rstrip())
    else:
        click.echo(plain(sample.output if isinstance(sample.output, str) else _json(sample.output)))
    print_tables(attempt_tables(sample))


def _json(value: object) -> str:
    from agentdyno.model.codec import encode

    return encode(value, indent=2)
