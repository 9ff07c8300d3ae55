"""A version of a suite that was run is published: other contents under its name are refused, or told."""

from __future__ import annotations

from agentdyno.errors import SpecError
from agentdyno.model import RunWarning, Suite
from agentdyno.model.suite import RunForm
from agentdyno.settings.suite import ALLOW_CHANGED_SUITE
from agentdyno.store import Store


def changed_version(
    suite: Suite, store: Store | None, form: RunForm | None, *, allowed: bool = False
) -> tuple[RunWarning, ...]:
    """``SpecError`` where the store has the declared version of a suite with other contents; a warning where that is
    ``allowed``."""
    if store is None or not suite.version or (form is not None and not form.whole):
        return ()
    rows = [row for row in store.boards.suites() if row.suite_id == suite.suite_id and row.version == suite.version]
    before = [row for row in rows if not row.part_of]
    if not before or any(row.digest == suite.digest for row in before):
        return ()
    told = f"version {suite.version} of {suite.name} was run with other contents before ({before[0].digest})"
    file = suite.source or suite.suite_id
    shows = f"`dyno suite diff {before[0].digest} {file}` shows what differs."
    if not allowed:
        raise SpecError(
            f"{told}; now they are {suite.digest}",
            where=suite.source or suite.name,
            remedy=f"Raise its `version:`. {shows} {ALLOW_CHANGED_SUITE.option}, in Python, marks and jobs "
            f"`{ALLOW_CHANGED_SUITE.name}`, runs it all the same.",
        )
    return (RunWarning("suite-version-changed", told, f"{shows} Declare another version for it."),)
