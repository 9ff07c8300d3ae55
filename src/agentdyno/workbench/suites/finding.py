"""A version of a suite by what a user names it: a file, a run, or the store's id or contents."""

from __future__ import annotations

from pathlib import Path

from agentdyno.errors import SpecError, StoreError, nearest
from agentdyno.model import Suite
from agentdyno.specs import load_suite
from agentdyno.store import Store

FILES = (".yaml", ".yml", ".json")
_SHORTEST = 4
"""Characters of a digest that are taken for its beginning."""


def find_suite(named: str, store: Store | None) -> Suite:
    """A suite file; else of the store: a suite's id (its newest version), the digest of one or a unique beginning of
    it, ID@VERSION, or a run. Raises ``SpecError``."""
    if named.endswith(FILES) or Path(named).is_file():
        return load_suite(Path(named)).suite
    if store is None:
        raise SpecError(f"no file {named}, and there is no store here", remedy="Name a suite file.")
    rows = [row for row in store.boards.suites() if not row.part_of]
    suite_id, _, version = named.partition("@")
    fitting = [
        row
        for row in rows
        if row.suite_id == named
        or (version and row.suite_id == suite_id and version in (row.version, row.digest))
        or (len(named) >= _SHORTEST and row.digest.startswith(named))
    ]
    if fitting and (fitting[0].suite_id == named or len({row.digest for row in fitting}) == 1):
        return store.boards.load_suite(fitting[0].digest)
    if fitting:
        listed = ", ".join(row.digest for row in fitting[:5])
        raise SpecError(f"{named} stands for {len(fitting)} versions", remedy=f"Name one of: {listed}.")
    try:
        found = store.runs.load(store.runs.find(named), samples=False).suite
    except StoreError:
        found = None
    if found is None:
        known = [*{row.suite_id for row in rows}, *(row.digest for row in rows)]
        raise SpecError(
            f"{named!r} is no suite file, no suite of the store and no run of one",
            where="dyno suite",
            remedy=nearest(named, known) if known else "Name a suite file.",
        )
    return found
