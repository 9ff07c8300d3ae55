"""What an HTML page is made of: charts as markup, and what the page shows of one run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentdyno.findings.run.tables import arm_name, failure_samples
from agentdyno.model import ArmResult, RunResult
from agentdyno.model.codec import to_plain
from agentdyno.reports.outline import Headline
from agentdyno.show.table import Table
from agentdyno.show.wording import one_line, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_TRACES = 5


@dataclass(frozen=True, slots=True)
class Chart:
    """``svg`` is markup made by the chart library, which escapes the names in it; ``told`` says it in words."""

    svg: str
    caption: str
    told: str
    wide: bool = False


@dataclass(frozen=True, slots=True)
class ArmCharts:
    name: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class OpenedFailure:
    """A failed case that the reader can open: what was wanted and got at a glance, then the answer and the steps."""

    name: str
    agent: str
    ended: str
    want: str
    got: str
    why: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class RunSection:
    """Everything that the page shows of one run. ``opened`` are the failures of a suite, ``differences`` the cases
    that tell two agents apart; ``charts`` of a suite come first, and its ``folded`` tables and ``arms`` last."""

    key: str
    name: str
    headline: Headline
    facts: tuple[tuple[str, str], ...]
    main: tuple[Table, ...]
    folded: tuple[Table, ...]
    charts: tuple[Chart, ...]
    arms: tuple[ArmCharts, ...]
    arms_note: str
    instruments: tuple[Table, ...]
    series: tuple[Chart, ...]
    failures: Table | None
    traces: tuple[tuple[str, str], ...]
    documents: tuple[tuple[str, str], ...]
    opened: tuple[OpenedFailure, ...] = ()
    differences: tuple[str, ...] = ()
    is_suite: bool = False


def chart(figure: Figure, key: str, caption: str, what: str = "") -> Chart:
    """The figure as markup; ``what`` is said before the caption to who cannot see it."""
    from agentdyno.show.axes import inline_svg

    return Chart(inline_svg(figure, key), caption, f"{what}: {caption}" if what else caption)


def traces(arms: tuple[ArmResult, ...]) -> tuple[tuple[str, str], ...]:
    """The first different tracebacks, with where they come from."""
    seen: dict[str, str] = {}
    for arm, sample in failure_samples(arms):
        if sample.failure is not None:
            parts = [text for text in (sample.failure.traceback, sample.failure.output_tail) if text]
            if parts:
                text = plain("\n".join(parts))
                seen.setdefault(text, f"{arm_name(arm)}: {one_line(sample.failure.message, 120)}")
    return tuple((name, text) for text, name in list(seen.items())[:_MOST_TRACES])


def documents(result: RunResult) -> tuple[tuple[str, str], ...]:
    """What is known of the run beside its figures, as JSON."""
    vcs = to_plain(result.vcs) if result.vcs else None
    artifacts = {arm_name(arm): to_plain(arm.artifacts) for arm in result.arms if arm.artifacts}
    found = [("Environment", to_plain(result.environment)), ("Version control", vcs), ("Spec", to_plain(result.spec))]
    found.append(("Artifacts", artifacts or None))
    return tuple((name, _pretty(value)) for name, value in found if value is not None)


def _pretty(value: object) -> str:
    return plain(json.dumps(value, indent=2, ensure_ascii=False))


def present(*found: Table | None) -> tuple[Table, ...]:
    """Those tables that are there."""
    return tuple(table for table in found if table is not None)
