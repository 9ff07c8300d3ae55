"""Numbers, times and verdicts as a person reads them, the same in every format."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from agentdyno.model import Provenance, Verdict
from agentdyno.model.metric import CENT, format_value, money, money_spent
from agentdyno.show.table import Table, Tone

NOTHING = "-"
RUN_ID_LENGTH = 13
"""Characters of a run id that tell runs apart."""
_MOST_SHOWN_USD = 100_000

_LABELS = {
    "duration_s": "duration",
    "cpu_s": "CPU time",
    "rss_bytes": "memory",
    "peak_rss_bytes": "peak memory",
    "throughput_per_s": "throughput",
    "ttft_s": "TTFT",
    "cost_usd": "cost",
    "total_tokens": "tokens",
    "error_rate": "error rate",
    "failure_rate": "failure rate",
    "pass_rate": "pass rate",
    "pass_hat_3": "pass^3",
}
_SIGNS = {Verdict.BETTER: "✓", Verdict.WORSE: "✗", Verdict.SAME: "=", Verdict.INCONCLUSIVE: "?"}
_TONES = {
    Verdict.BETTER: Tone.GOOD,
    Verdict.WORSE: Tone.BAD,
    Verdict.SAME: Tone.PLAIN,
    Verdict.INCONCLUSIVE: Tone.WARN,
}
# Control characters move a terminal's cursor and break XML; the directional ones can disguise a name.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """The text without control characters; line breaks and tabs stay."""
    return _UNSAFE.sub("�", text)


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line, without control characters, cut at ``limit`` characters with a mark."""
    joined = " ".join(plain(text).split())
    return joined if limit is None or len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def label(metric: str) -> str:
    """The name of a metric in a heading: built-in ones in words, others as they were declared."""
    return _LABELS.get(metric, one_line(metric))


def show(value: float | None, unit: str) -> str:
    """A value with a fitting unit; unknown and not finite read ``-``."""
    return NOTHING if value is None or not math.isfinite(value) else format_value(value, unit)


def with_interval(value: float | None, interval: tuple[float, float] | None, unit: str) -> str:
    """``1.23 ms [1.21, 1.26]``; the unit is repeated only where the ends need another one."""
    text = show(value, unit)
    if text == NOTHING or interval is None or not all(map(math.isfinite, interval)):
        return text
    low, high = (show(end, unit) for end in interval)
    suffix = text.partition(" ")[2]
    if suffix and all(end.partition(" ")[2] == suffix for end in (low, high)):
        low, high = low.partition(" ")[0], high.partition(" ")[0]
    return f"{text} [{low}, {high}]"


@dataclass(frozen=True, slots=True)
class PriceScale:
    """For how many tasks prices that stand below or beside each other are told, once for all of them."""

    tasks: int

    def heading(self, thing: str) -> str:
        """``per success``, ``per 1,000 successes`` for ``success``."""
        return (
            f"per {thing}" if self.tasks == 1 else f"per {self.tasks:,} {thing}{'es' if thing.endswith('s') else 's'}"
        )

    def show(self, usd: float | None, interval: tuple[float, float] | None = None) -> str:
        """``$0.27 [$0.25, $0.31]``, without the number of tasks."""
        if usd is None or not math.isfinite(usd):
            return NOTHING
        text = self._scaled(usd)
        if interval is None or not all(map(math.isfinite, interval)):
            return text
        return f"{text} [{', '.join(map(self._scaled, interval))}]"

    def _scaled(self, usd: float) -> str:
        return money(usd) if self.tasks == 1 else money_spent(self.tasks * usd)


def price_scale(values: Iterable[float | None]) -> PriceScale:
    """The first in which the least of these prices of a task is a cent or more, and the greatest can be read."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    wanted = 0
    if sizes:
        wanted = sum(scale * min(sizes) < CENT for scale in (1, 1_000))
        while wanted and 1_000**wanted * max(sizes) >= _MOST_SHOWN_USD:
            wanted -= 1
    return PriceScale(1_000**wanted)


def side_by_side(name: str, values: Sequence[float | None], unit: str) -> tuple[str, list[str]]:
    """A row's name and its values; prices below a cent are told for many tasks, and the name says for how many."""
    scale = price_scale(values if unit == "usd" else ())
    if scale.tasks == 1:
        return name, [show(value, unit) for value in values]
    return f"{name} per {scale.tasks:,}", [scale.show(value) for value in values]


def marked(text: str, provenance: Provenance) -> str:
    """The text with its provenance where that is not a measurement."""
    if text == NOTHING or provenance in (Provenance.MEASURED, Provenance.DERIVED):
        return text
    return f"{text} ({provenance.value})"


def percent(share: float | None) -> str:
    """0.021 reads ``2.1 %``."""
    if share is None or not math.isfinite(share):
        return NOTHING
    size = abs(share * 100)
    digits = 0 if size >= 10 or size == 0 else 1 if size >= 0.1 else 2
    return f"{share * 100:.{digits}f} %"


def change(ratio: float | None) -> str:
    """1.05 reads ``+5.0 %``."""
    if ratio is None or not math.isfinite(ratio):
        return NOTHING
    text = percent(ratio - 1)
    return text if text.startswith("-") or ratio == 1 else f"+{text}"


def ratio_text(ratio: float | None, interval: tuple[float, float] | None) -> str:
    """``1.053 [1.031, 1.078]``."""
    if ratio is None or not math.isfinite(ratio):
        return NOTHING
    if interval is None or not all(map(math.isfinite, interval)):
        return _ratio(ratio)
    return f"{_ratio(ratio)} [{_ratio(interval[0])}, {_ratio(interval[1])}]"


def _ratio(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def times_faster(ratio: float | None, interval: tuple[float, float] | None) -> str:
    """``1.90× [1.80, 2.00] faster`` of candidate / baseline in seconds; empty where there is no ratio.

    What reads 1.00 is neither.
    """
    if ratio is None or not math.isfinite(ratio) or ratio <= 0:
        return ""
    faster = ratio < 1
    size = 1 / ratio if faster else ratio
    text = f"{_size(size)}×"
    if interval is not None and all(math.isfinite(end) and end > 0 for end in interval):
        low, high = (1 / interval[1], 1 / interval[0]) if faster else interval
        text += f" [{_size(low)}, {_size(high)}]"
    if _size(size) == _size(1.0):
        return text
    return f"{text} {'faster' if faster else 'slower'}"


def _size(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def verdict_text(verdict: Verdict | None) -> str:
    """A sign and a word, so that colour is never needed."""
    return "shown only" if verdict is None else f"{_SIGNS[verdict]} {verdict.value}"


def verdict_tone(verdict: Verdict | None) -> Tone:
    return Tone.MUTED if verdict is None else _TONES[verdict]


def when(stamp_ms: int | None) -> str:
    """UTC milliseconds as ``2026-03-01 14:05``."""
    if stamp_ms is None:
        return NOTHING
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=stamp_ms)).strftime("%Y-%m-%d %H:%M")
    except OverflowError:
        return NOTHING


def took(started_at: int, finished_at: int | None, paused_ms: int = 0) -> str:
    """The time between two UTC milliseconds without a pause, in at most two units."""
    if finished_at is None:
        return NOTHING
    seconds = max(0, finished_at - started_at - paused_ms) / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def count(number: int, noun: str) -> str:
    """``1 arm``, ``2 arms``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def without_unknown(table: Table, optional: Collection[str]) -> Table:
    """The table without those of the ``optional`` columns, by header, of which nothing is known in any row."""
    kept = [
        place
        for place, column in enumerate(table.columns)
        if column.header not in optional or any(row[place].whole not in ("", NOTHING) for row in table.rows)
    ]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def settings(values: Mapping[str, object]) -> str:
    """``size=10, kind=quick``."""
    return ", ".join(f"{one_line(str(key))}={one_line(str(value), 60)}" for key, value in values.items())


_STEPS = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B")),
}


def axis_scale(unit: str, size: float) -> tuple[float, str]:
    """The factor that a whole axis is divided by, and the unit to write on it, for values around ``size``."""
    steps = _STEPS.get(unit)
    if unit == "usd":
        per = next((number for number in (1, 1_000) if abs(size) * number >= CENT), 1_000_000) if size else 1
        return 1.0 / per, "$" if per == 1 else f"$ per {per:,}"
    if steps is None:
        return 1.0, unit
    return next((step for step in steps if abs(size) >= step[0]), steps[0] if size == 0 else steps[-1])


def is_returned(name: str) -> bool:
    """Whether a metric is a number that the measured code returned, rather than a reading of an instrument."""
    return name.startswith("result.")


_HASH = 10
"""Characters shown of a version that is a digest."""


def agent_names(agents: Iterable[str]) -> dict[str, str]:
    """By ``name@version`` the name, with the version where two share a name."""
    known = list(dict.fromkeys(agents))
    short = {agent: agent.rpartition("@")[0] or agent for agent in known}
    names = Counter(short.values())
    return {agent: one_line(name if names[name] == 1 else _with_version(agent)) for agent, name in short.items()}


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a long name: what tells two apart is often at the end."""
    if len(text) <= most:
        return text
    head = most // 2 - 1
    return f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def _with_version(agent: str) -> str:
    name, _, version = agent.rpartition("@")
    return f"{name}@{version[:_HASH] if len(version) > _HASH + 2 else version}" if name else agent
