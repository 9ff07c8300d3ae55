"""How an answer came about, step by step: messages, model calls, tool calls with arguments and results, retries."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentdyno.model import Provenance, Sample
from agentdyno.model.case import RECORDED
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, one_line, plain, show

MOST_CHARACTERS = 2_000
"""What a table shows of one step; ``--json`` has it whole."""


def text_block(title: str, text: str) -> Table:
    """A title with free text under it, whose line breaks are kept."""
    return Table(title, (), (), (plain(text).replace("\r", "\n") or "(nothing)",))


def json_text(value: object) -> str:
    """A text as it is, any other JSON value as indented JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def trajectory(sample: Sample) -> Table | None:
    """Every recorded event, with the seconds since the case began."""
    events = sample.details.get("events")
    rows = (
        [_step(event) for event in events if isinstance(event, Mapping)] if isinstance(events, list | tuple) else []
    )
    if not rows:
        return None
    columns = (
        Column("at", Align.RIGHT),
        Column("what"),
        Column("who", wrap=True),
        Column("content", wrap=True),
        Column("took", Align.RIGHT),
    )
    return Table("Trajectory", columns, tuple(rows))


def _step(event: Mapping[str, object]) -> tuple[Cell, ...]:
    kind = str(event.get("kind", ""))
    content = event.get("content")
    told = "" if content is None else content if isinstance(content, str) else _compact(content)
    details = event.get("details")
    if kind == "model_call" and isinstance(details, Mapping):
        told = ", ".join(part for part in (told, _model_call(details)) if part)
    return (
        Cell(_seconds(event.get("at_s")), Tone.MUTED),
        Cell(one_line(kind.replace("_", " ")), Tone.WARN if kind == "retry" else Tone.PLAIN),
        Cell(one_line(str(event.get("name") or ""))),
        Cell(one_line(told, MOST_CHARACTERS)),
        Cell(_seconds(event.get("duration_s"), ""), Tone.MUTED),
    )


def _model_call(details: Mapping[str, object]) -> str:
    parts = []
    usage, readings = details.get("usage"), details.get("readings")
    if isinstance(usage, Mapping):
        parts += [f"{usage.get('input_tokens', 0)} tokens in", f"{usage.get('output_tokens', 0)} out"]
    if isinstance(readings, Mapping) and isinstance(readings.get("ttft_s"), int | float):
        parts.append(f"first token after {_seconds(readings['ttft_s'])}")
    if details.get(RECORDED):
        parts += _seen_by_proxy(details)
    elif details.get("provenance") == Provenance.REPORTED.value:
        parts.append("as the agent reports it; not counted")
    return ", ".join(parts)


def _seen_by_proxy(details: Mapping[str, object]) -> list[str]:
    """What of a recorded call is out of the ordinary."""
    status, ended = details.get("status"), details.get("ended")
    parts = [] if status == 200 else [f"status {status}" if status is not None else "no answer"]
    if ended == "client":
        parts.append("the agent did not wait for its end")
    elif ended == "unfinished":
        parts.append("not finished when the case was")
    if details.get("retry_of"):
        parts.append(f"another try of {details['retry_of']}")
    return parts


def attempts(sample: Sample) -> Table | None:
    """The tries before the one that counts: why each failed and how long was waited after it."""
    tried = sample.details.get("attempts")
    rows = tuple(
        (
            Cell(str(number)),
            Cell(one_line(str(item.get("kind", ""))), Tone.WARN),
            Cell(one_line(str(item.get("message", "")), MOST_CHARACTERS)),
            Cell(_seconds(item.get("waited_s"))),
        )
        for number, item in enumerate(tried if isinstance(tried, list | tuple) else (), start=1)
        if isinstance(item, Mapping)
    )
    columns = (
        Column("try", Align.RIGHT),
        Column("failed with"),
        Column("message", wrap=True),
        Column("waited", Align.RIGHT),
    )
    return Table("Earlier tries", columns, rows) if rows else None


def _seconds(value: object, unknown: str = NOTHING) -> str:
    if not isinstance(value, int | float):
        return unknown
    return show(float(value), "s") if value else "0 s"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
