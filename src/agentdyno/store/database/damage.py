"""Damage that shows when something is decoded, after the database has handed it out."""

from __future__ import annotations

from agentdyno.errors import StoreError


def damaged(error: ValueError, where: str) -> StoreError:
    """What is said of a document or a text that cannot be decoded; a database may quote one in its own message."""
    return StoreError(
        f"the store is damaged: a part of it cannot be read ({error})",
        where=where,
        remedy="`dyno store check` says what is, and `dyno store rescue NEW.db` copies what can be read; or restore "
        "a copy made by `dyno store backup`.",
    )
