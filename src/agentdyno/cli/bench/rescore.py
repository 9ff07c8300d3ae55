"""``dyno rescore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdyno.cli.options import setting_option, tolerance_option
from agentdyno.cli.shared import INTERRUPTED, json_option, open_store, print_json, say, store_option
from agentdyno.model.form import INTERRUPTED as STOPPED
from agentdyno.settings.result import VERBOSE

if TYPE_CHECKING:
    from agentdyno.cli.outcome import ReportsAsked
    from agentdyno.model import ScorerUse
    from agentdyno.store import Store
    from agentdyno.workbench.rescore import Rescored


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno rescore last                                   the same rubric, after mending a scorer\n"
    "  dyno rescore last --scorer regex\n"
    "  dyno rescore last --scorer numeric:tolerance=0.01 --scorer judge.py@polite:weight=0.5"
)
@click.argument("run", default="last")
@click.option(
    "--scorer", "scorers", multiple=True, metavar="NAME[:KEY=VALUE,...]", help="Judge with this instead; repeatable."
)
@tolerance_option
@setting_option(VERBOSE)
@store_option
@json_option
def command(
    run: str, scorers: tuple[str, ...], tolerance: float, verbose: bool, store: str | None, as_json: bool
) -> int:
    """Judge the stored answers of RUN again. No agent is called; the result is a new run, the old one stays."""
    from agentdyno.cli.outcome import ReportsAsked
    from agentdyno.specs import load_workspace
    from agentdyno.workbench.rescore import rescore

    uses = tuple(parse_scorer(item) for item in scorers)
    with open_store(store, must_exist=True) as opened:
        done = rescore(opened, opened.runs.find(run), load_workspace(Path.cwd()), uses, say)
        return show_rescored(done, opened, ReportsAsked(verbose=verbose), tolerance, as_json=as_json)


def show_rescored(done: Rescored, store: Store, asked: ReportsAsked, tolerance: float, *, as_json: bool) -> int:
    """What came of judging again, and the exit code."""
    from agentdyno.cli.outcome import exit_code, finish

    findings = None if as_json else finish(done.result, store, asked, tolerance, as_json=False)
    if as_json:
        counts = {"judged": done.judged, "now_right": done.now_right, "now_wrong": done.now_wrong}
        print_json({**counts, "result": done.result})
    say(
        f"{done.judged} answers judged again: {done.now_right} right that were wrong, {done.now_wrong} the other way."
    )
    if findings is None:
        return INTERRUPTED if done.result.stopped_because == STOPPED else 0
    return exit_code(done.result, findings, gate=False, strict=False)


def parse_scorer(text: str) -> ScorerUse:
    """``numeric:tolerance=0.01,weight=2`` as a scorer with its options."""
    from agentdyno.model import ScorerUse
    from agentdyno.specs import parse_param

    head = text.partition(":")[0]
    name, _, rest = _after_file(text) if ".py@" in head else text.partition(":")
    options = dict(parse_param(item) for item in rest.split(",") if item)
    weight = options.pop("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise click.UsageError(f"--scorer {text}: weight must be a number")
    return ScorerUse(name, float(weight), options)


def _after_file(text: str) -> tuple[str, str, str]:
    """``judge.py@polite:strict=true``: the colon that ends the name is the one behind the @."""
    file, _, tail = text.partition("@")
    name, colon, rest = tail.partition(":")
    return f"{file}@{name}", colon, rest
