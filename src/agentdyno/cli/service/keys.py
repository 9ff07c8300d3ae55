"""``dyno keys``."""

from __future__ import annotations

import time

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, store_option


@click.group(
    epilog="\b\nExamples:\n  dyno keys create ci --scope run\n  dyno keys list\n  dyno keys revoke ci",
)
def command() -> None:
    """The keys of the service's callers: create, list, revoke. Once there is one, every request needs one."""


@command.command("create", epilog="\b\nExample:\n  dyno keys create ci --scope run > key.txt")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "run", "admin"]),
    default="read",
    show_default=True,
    help="What it opens; each holds the ones before it.",
)
@store_option
@json_option
def create(name: str, scope: str, store: str | None, as_json: bool) -> int:
    """Make a key called NAME. It is printed once, and kept nowhere."""
    from agentdyno.model.job import AuditEntry, Scope

    with open_store(store) as opened:
        now = _now_ms()
        key, secret = opened.service.add_key(name, Scope(scope), now)
        opened.service.add_audit(AuditEntry(now, "local", "key.create", key.name, {"scope": scope}))
    if as_json:
        print_json({"key": key, "secret": secret})
    else:
        click.echo(secret)
        say(f"The key {key.name} ({scope}). It is not shown again; put it into DYNO_KEY where it is used.")
    return 0


@command.command("list", epilog="\b\nExample:\n  dyno keys list --json")
@store_option
@json_option
def list_(store: str | None, as_json: bool) -> int:
    """List the keys, revoked ones too, by their beginnings."""
    from agentdyno.show.job_tables import key_table

    with open_store(store, must_exist=True) as opened:
        rows = opened.service.keys()
    if as_json:
        print_json(rows)
    else:
        print_tables(key_table(rows))
    return 0


@command.command("revoke", epilog="\b\nExample:\n  dyno keys revoke ci")
@click.argument("name")
@store_option
@json_option
def revoke(name: str, store: str | None, as_json: bool) -> int:
    """Take the key NAME (or of that id) back; it opens nothing any more."""
    from agentdyno.model.job import AuditEntry

    with open_store(store, must_exist=True) as opened:
        now = _now_ms()
        key = opened.service.revoke_key(name, now)
        opened.service.add_audit(AuditEntry(now, "local", "key.revoke", key.name))
    if as_json:
        print_json(key)
    else:
        say(f"The key {key.name} is revoked.")
    return 0


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
