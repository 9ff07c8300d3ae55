"""Records of requests that nothing is known of yet."""

from __future__ import annotations

import numpy as np

from agentdyno.load.windows.records import RECORD, UNKNOWN, UNKNOWN_SOURCE, UNSENT, Records


def empty_records(count: int = 0) -> Records:
    """Rows that say nothing: every time and count is unknown, nothing was sent."""
    records: Records = np.zeros(count, RECORD)
    for name in (
        "due",
        "sent",
        "first_byte",
        "first_content",
        "last_content",
        "done",
        "input_tokens",
        "output_tokens",
    ):
        records[name] = UNKNOWN
    records["outcome"] = UNSENT
    records["token_source"] = UNKNOWN_SOURCE
    return records
