"""The columns of a sample as ``row_sample`` takes them."""

from __future__ import annotations

from sqlalchemy import Text, cast, null, select

from agentdyno.store.runs.codec import READ_AS_TEXT, READ_COLUMNS
from agentdyno.store.runs.schema import samples

_COLUMNS = [
    cast(samples.c[name], Text).label(name) if name in READ_AS_TEXT else samples.c[name] for name in READ_COLUMNS
]
WHOLE = select(*_COLUMNS)
"""Put together once, which takes longer than reading a few."""
WITHOUT_DETAILS = select(*(null().label("details") if column.name == "details" else column for column in _COLUMNS))
