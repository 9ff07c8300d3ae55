"""A simulation with the recommended configuration; its history stays in a file for later analysis.

``python -m agentdyno_workloads.simulation.run_with_recommended_config --steps 200 --agents 50 --output my_results``
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from agentdyno import DynoError
from agentdyno_workloads.simulation.recommend import get_recommended_config, recommendation
from agentdyno_workloads.simulation.simulate import simulate


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it and says what came of it; 2 for a mistake of the user's."""
    parser = argparse.ArgumentParser(prog="python -m agentdyno_workloads.simulation.run_with_recommended_config")
    parser.add_argument("--agents", type=int, default=30, help="agents at the start (30)")
    parser.add_argument("--steps", type=int, default=100, help="steps to simulate (100)")
    parser.add_argument("--output", default="simulation_results", help="folder for the history (simulation_results)")
    given = parser.parse_args(arguments)
    try:
        click.echo(recommendation())
        config = get_recommended_config(given.agents, given.steps, str(Path(given.output) / "simulation.db"))
        outcome = simulate(config)
    except DynoError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    click.echo(
        f"{outcome.steps} steps in {sum(outcome.step_s) + outcome.persist_s:.3f} s, {outcome.agents} agents left, "
        f"{outcome.births} born, {outcome.deaths} died."
    )
    if outcome.database is not None:
        with closing(sqlite3.connect(outcome.database)) as link:
            (actions,) = link.execute("SELECT count(*) FROM actions").fetchone()
        click.echo(f"{actions:,} actions in {outcome.database}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
