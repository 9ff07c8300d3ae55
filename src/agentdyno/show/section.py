"""What a report shows of conclusions, as values that every format renders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentdyno.show.table import Table, Tone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from agentdyno.findings.history.model import History


@dataclass(frozen=True, slots=True)
class Lead:
    """The one sentence to read of a section: a short verdict, and what it is about."""

    label: str
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart that is drawn when a format wants it. ``name`` is the stem of its file."""

    name: str
    caption: str
    draw: Callable[[], Figure]
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """``plot`` is a history that a terminal draws in characters."""

    title: str
    lead: Lead
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...] = ()
    plot: History | None = None
