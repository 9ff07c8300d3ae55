"""``dyno store``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import json_option, open_store, print_json, say, store_option, store_url
from agentdyno.show.wording import count

IDENTITIES_SINCE = "0012"
"""The revision since which a store knows where agents come from."""


@click.group(name="store")
def command() -> None:
    """Migrate, check, rescue, rebuild, back up or compact the store."""


@command.command()
@store_option
@json_option
def migrate(store: str | None, as_json: bool) -> None:
    """Bring the store's schema up to this version of agentdyno."""
    from agentdyno.store import Store

    before, after = Store.migrate(store_url(store))
    if as_json:
        print_json({"from": before, "to": after})
    say(
        f"The store is at {after} already." if before == after else f"Migrated from {before or 'nothing'} to {after}."
    )
    if before is not None and before < IDENTITIES_SINCE:
        say(
            f"Since {IDENTITIES_SINCE} agents are told apart by where they come from: file and function, "
            "command line, model and endpoint. Old results keep their names, and join an agent when it runs again "
            "from the same place. Names that you gave in dyno.yaml stay as they are."
        )


@command.command()
@store_option
@json_option
def rebuild(store: str | None, as_json: bool) -> None:
    """Make the summaries behind boards and matrices anew from the executions; the result is the same."""
    with open_store(store, must_exist=True) as opened:
        opened.boards.rebuild_summaries()
        generation = opened.boards.generation()
    if as_json:
        print_json({"generation": generation})
    say(f"Rebuilt the summaries (generation {generation}).")


@command.command(epilog="\b\nExample:\n  dyno store backup before-upgrade.db")
@click.argument("path", type=click.Path(path_type=Path))
@store_option
@json_option
def backup(path: Path, store: str | None, as_json: bool) -> None:
    """Copy the store to PATH, consistently, while others may go on writing."""
    from agentdyno.store import Store

    url = store_url(store)
    Store.copy(url, path)
    if as_json:
        print_json({"path": str(path), "size_bytes": path.stat().st_size})
    restore = f"Restore it with pg_restore --clean --if-exists --dbname=URL {path}."
    how = f"Use it with --store {path}." if url.startswith("sqlite") else restore
    say(f"Wrote {path} ({path.stat().st_size:,} bytes). {how}")


@command.command()
@store_option
@json_option
def check(store: str | None, as_json: bool) -> int:
    """Read everything in the store, and say what is damaged; exits with 2 where something is."""
    from agentdyno.store import Store

    problems = list(Store.damage(store_url(store)))
    if as_json:
        print_json({"problems": problems})
    for problem in problems:
        say(f"damaged: {problem}")
    if problems:
        say(
            "Everything that can be read goes to a new store by `dyno store rescue NEW.db`; runs that lost a part "
            "are partial there, and `dyno resume RUN --store NEW.db` measures it again. Everything comes back from "
            "a copy that `dyno store backup` made. `dyno report` and `dyno compare` read a run's result.json "
            "without a store."
        )
    else:
        say("Everything in the store can be read.")
    return 2 if problems else 0


@command.command(epilog="\b\nExample:\n  dyno store rescue rescued.db")
@click.argument("path", type=click.Path(path_type=Path))
@store_option
@json_option
def rescue(path: Path, store: str | None, as_json: bool) -> None:
    """Copy what can still be read of a damaged store to PATH, a store of its own; the damaged one stays as it is."""
    from agentdyno.store import Store

    rescued = Store.rescue(store_url(store), path)
    gaps = {table: [str(gap) for gap in found] for table, found in rescued.gaps.items()}
    if as_json:
        counts = {"runs": rescued.runs, "samples": rescued.samples, "dropped": rescued.dropped}
        print_json({"path": str(path), **counts, "gaps": gaps, "partial": list(rescued.short)})
    say(f"Wrote {path}: {count(rescued.runs, 'run')} with {count(rescued.samples, 'sample')}.")
    for table, found in gaps.items():
        say(f"lost of {table}: rows {'; '.join(found)}")
    if rescued.dropped:
        say(f"left out: {count(rescued.dropped, 'row')} that cannot be understood, or that belong to lost ones")
    for run in rescued.short:
        say(f"partial: dyno resume {run[:13]} --store {path}")


@command.command()
@store_option
@json_option
def vacuum(store: str | None, as_json: bool) -> None:
    """Give unused space back to the disk."""
    with open_store(store, must_exist=True) as opened:
        before, after = opened.vacuum()
    if as_json:
        print_json({"before_bytes": before, "after_bytes": after})
    say(f"{before:,} bytes before, {after:,} after.")
