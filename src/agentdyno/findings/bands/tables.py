"""What figures mean, as a table and as the section that reports show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentdyno.findings.bands.words import band_title, shown
from agentdyno.model.findings import BandFinding, BandLevel, Findings
from agentdyno.show.section import Lead, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import count, one_line

_TONES = {BandLevel.GOOD: Tone.GOOD, BandLevel.FAIR: Tone.PLAIN, BandLevel.POOR: Tone.BAD}
_SIGNS = {BandLevel.GOOD: "✓", BandLevel.FAIR: "·", BandLevel.POOR: "✗"}


def bands_table(found: Sequence[BandFinding]) -> Table | None:
    """One row a finding, red flags marked; ``None`` where there is none."""
    if not found:
        return None
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("band"),
        Column("value", Align.RIGHT),
        Column("is"),
        Column("n", Align.RIGHT, 1),
        Column("meaning", wrap=True),
    )
    rows = tuple(
        (
            Cell(one_line(item.arm)),
            Cell(band_title(item.band)),
            Cell(shown(item, item.value)),
            Cell(f"{_SIGNS[item.level]} {item.label}", _TONES[item.level]),
            Cell(f"{item.n:,}"),
            Cell(item.sentence),
        )
        for item in found
    )
    notes = ("✗ is a red flag. Thresholds are settings: `bands:` in the file.",)
    return Table("Bands", columns, rows, notes)


def sections(findings: Findings) -> Iterator[Section]:
    """One, where figures were held against bands."""
    table = bands_table(findings.bands)
    if table is not None:
        flags = sum(item.level is BandLevel.POOR for item in findings.bands)
        good = sum(item.level is BandLevel.GOOD for item in findings.bands)
        text = f"{count(flags, 'red flag')}, {good} of {count(len(findings.bands), 'figure')} in a good band."
        lead = Lead("✗ red flags" if flags else "✓ no red flag", text, Tone.BAD if flags else Tone.GOOD)
        yield Section("Bands", lead, (table,))
