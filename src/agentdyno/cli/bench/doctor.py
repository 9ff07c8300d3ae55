"""``dyno doctor``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, store_option, store_url


@click.command(
    epilog="\b\nExamples:\n  dyno doctor\n  dyno doctor --calibrate\n  dyno doctor --calibrate --comparisons 100"
)
@click.option(
    "--calibrate", "do_calibrate", is_flag=True, help="Compare this machine with itself and keep its noise."
)
@click.option("--comparisons", type=click.IntRange(min=5, max=1000), default=40, show_default=True)
@store_option
@json_option
def command(do_calibrate: bool, comparisons: int, store: str | None, as_json: bool) -> None:
    """Say what makes measurements here unreliable, what shipped specs lack, and what to do about it.

    --calibrate compares two equal arms many times, about a second each: the noise floor (how large a change this
    machine shows when nothing changed) and the false-alarm rate are stored, and `dyno compare` uses the floor from
    then on. It also sets the standard of normalised times on this host, and measures how far figures wander between
    runs, for agents that have no earlier runs to tell.
    """
    from agentdyno.runs.environment import capture_environment
    from agentdyno.runs.host_state import read_state
    from agentdyno.runs.normalising import interpreter_key
    from agentdyno.workbench.doctor import examine
    from agentdyno.workbench.needs.shipped_specs import lacking_specs

    url = store_url(store)
    with open_store(store) as opened:
        if do_calibrate:
            from agentdyno.cli.progress import ProgressLine
            from agentdyno.workbench.calibrate import calibrate

            with ProgressLine() as line:
                made = calibrate(comparisons, lambda i, n: line.step(f"A/A comparison {i + 1} of {n}"))
            opened.runs.save_calibration(made.comparing)
            made.keep()
        known = opened.runs.latest_calibration(capture_environment().machine_id)
    file = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else None
    checks = [*examine(file, known), *lacking_specs()]
    if as_json:
        print_json({"checks": checks, "calibration": known})
        return
    from agentdyno.show import listings

    tables = [listings.checks(checks), *([listings.calibration(known)] if known is not None else [])]
    spread = read_state().spreads.get(interpreter_key())
    print_tables([*tables, *([listings.run_spread(spread.log_sd, spread.runs)] if spread is not None else [])])
    warned = sum(check.level.value == "warn" for check in checks)
    say(f"{warned} of {len(checks)} checks need attention." if warned else "Nothing here disturbs measurements.")
