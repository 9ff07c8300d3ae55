"""How far figures wander between runs of unchanged code on one host, and which way of normalising steadies them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from agentdyno.findings.figures.normalised import (
    CPU_NORMALISED,
    NONE,
    NORMALISED,
    cpu_variant,
    reading_of,
    standard,
    variant,
)
from agentdyno.model.identity import canonical_json
from agentdyno.model.record import QuantitySpread, SpreadSource

RAW = "duration_s"
QUANTITIES = (RAW, NORMALISED, "cpu_s", CPU_NORMALISED, "ttft_s", "peak_rss_bytes")
"""Figures of a run that its host has a say in."""
ENOUGH = 4
"""Degrees of freedom from which a spread is used: with 3, Student's law at 1 % asks for nearly six times it."""
LEARNED_FROM = 6
"""Runs of a subject from which the way that its times are normalised is learned."""
ANOTHER_SPEED = 0.1
"""Runs whose readings of the usual reference are further apart, as logarithms, met the machine at another speed."""
HALVED = 0.5
"""Normalising is left out where it leaves more than this of the spread."""
FINEST = 0.005
"""No spread is taken to be smaller: a handful of runs agree more closely than that by luck."""
STEADY = 0.05
"""Below this spread there is nothing to steady: of raw times, and of what the usual way makes of them."""
_AS_THEY_ARE = "raw"


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One arm of one run: ``subject`` is what was measured (an agent, an experiment with its parameters), ``part`` on
    what, ``version`` which code of it. ``values`` are medians by metric."""

    subject: str
    part: str
    version: str
    run_id: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """One side of a comparison: the version, and the run that is compared."""

    version: str
    run_ids: tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Logarithms of one subject's and version's runs, by part."""

    parts: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def runs(self) -> int:
        return max((len(values) for values in self.parts.values()), default=0)

    def squares(self) -> float:
        """The sum of squares about the mean, averaged over the parts: parts of one run share its luck."""
        found = []
        for values in self.parts.values():
            if len(values) > 1:
                mean = fmean(values.values())
                found.append(math.fsum((value - mean) ** 2 for value in values.values()) / (len(values) - 1))
        return fmean(found) * (self.runs - 1) if found else 0.0


def subject_of(kind: str, name: str, params: Mapping[str, object]) -> str:
    """Names what is measured, whatever its version."""
    return canonical_json([kind, name, params])


def within_spread(figures: Iterable[RunFigure], value_of: Callable[[RunFigure], float | None]) -> tuple[float, int]:
    """The standard deviation of the logarithm within subjects and versions, and its degrees: runs less groups."""
    groups: defaultdict[tuple[str, str], _Group] = defaultdict(_Group)
    for figure in figures:
        value = value_of(figure)
        if value is not None and value > 0:
            groups[figure.subject, figure.version].parts[figure.part][figure.run_id] = math.log(value)
    degrees = sum(group.runs - 1 for group in groups.values() if group.runs > 1)
    if not degrees:
        return 0.0, 0
    return math.sqrt(math.fsum(group.squares() for group in groups.values()) / degrees), degrees


def way_value(
    way: str, standards: Mapping[str, float], quantity: str = NORMALISED
) -> Callable[[RunFigure], float | None]:
    """What normalising by ``way`` made of a run's time, or CPU time, where it rests on these standards."""
    name = cpu_variant(way) if quantity == CPU_NORMALISED else variant(way)

    def value(figure: RunFigure) -> float | None:
        if way != NONE and figure.values.get(standard(way)) != standards.get(standard(way)):
            return None
        return figure.values.get(name)

    return value


def steadiest_way(figures: Sequence[RunFigure], ways: Sequence[str]) -> str | None:
    """The way of normalising that one subject's times are steadied by, ``"raw"`` where none halves their spread.

    ``ways`` begin with the usual one, which stays unless another leaves half of its spread or less: a handful of runs
    tell no finer. ``None`` until there are runs enough, and while their times, or what is made of them, differ so
    little that there is nothing to steady: that tells nothing about a worse day. ``figures`` come newest first.
    """
    standards = figures[0].values if figures else {}
    raw_sd, degrees = within_spread(figures, lambda figure: figure.values.get(RAW))
    if degrees + 1 < LEARNED_FROM or raw_sd < STEADY:
        return None
    found = {way: within_spread(figures, way_value(way, standards)) for way in ways}
    told = {way: log_sd for way, (log_sd, own) in found.items() if own + 1 >= LEARNED_FROM}
    usual = ways[0]
    if usual not in told:
        return None
    best = min(told, key=lambda way: told[way])
    chosen = best if told[best] <= HALVED * told[usual] and told[usual] >= STEADY else usual
    if told[chosen] <= HALVED * raw_sd:
        return chosen
    return None if told[chosen] < STEADY else _AS_THEY_ARE


def speeds_apart(figures: Sequence[RunFigure], sides: tuple[ComparedRuns, ComparedRuns], reference: str) -> float:
    """How far apart the speeds of the machine were that both sides met, as a logarithm: by the readings of
    ``reference`` in their runs. 0 where that is no more than readings differ anyway, or is not known."""
    first, second = ([_log_reading(figure, reference) for figure in _of_side(figures, side, sides)] for side in sides)
    known = [[value for value in values if value is not None] for values in (first, second)]
    if not all(known):
        return 0.0
    apart = abs(fmean(known[1]) - fmean(known[0]))
    return apart if apart > ANOTHER_SPEED else 0.0


def _of_side(
    figures: Sequence[RunFigure], side: ComparedRuns, sides: tuple[ComparedRuns, ComparedRuns]
) -> list[RunFigure]:
    """The runs that a side's mean is of: all of its version, or the compared ones where both are of one version."""
    if sides[0].version == sides[1].version:
        return [figure for figure in figures if figure.run_id in side.run_ids]
    return [figure for figure in figures if figure.version == side.version]


def _log_reading(figure: RunFigure, reference: str) -> float | None:
    seconds = figure.values.get(reading_of(reference))
    return math.log(seconds) if seconds is not None and seconds > 0 else None


def shared_way(runs: Sequence[Mapping[str, float]], ways: Sequence[str]) -> str | None:
    """The way in which the times of all these runs were normalised; ``None`` where there is none."""
    for way in ways:
        names = (NORMALISED, variant(way)), (CPU_NORMALISED, cpu_variant(way))
        if runs and all(any(run.get(kept) == run.get(made, math.nan) for kept, made in names) for run in runs):
            return way
    return None


def quantity_spread(
    figures: Sequence[RunFigure],
    value_of: Callable[[RunFigure], float | None],
    source: SpreadSource,
    sides: tuple[ComparedRuns, ComparedRuns] | None = None,
) -> QuantitySpread | None:
    """The spread of one figure; ``None`` where fewer than ``ENOUGH`` degrees of freedom are known.

    With ``sides`` the runs of each that are alike are counted, and how far the compared ones are from their mean.
    """
    log_sd, degrees = within_spread(figures, value_of)
    if degrees < ENOUGH:
        return None
    return with_sides(QuantitySpread(max(log_sd, FINEST), degrees, source), figures, value_of, sides)


def with_sides(
    spread: QuantitySpread,
    figures: Sequence[RunFigure],
    value_of: Callable[[RunFigure], float | None],
    sides: tuple[ComparedRuns, ComparedRuns] | None,
) -> QuantitySpread:
    """``spread`` with the runs of both sides that ``figures`` hold."""
    if sides is None:
        return spread
    (baseline_runs, above), (candidate_runs, over) = (_side(figures, value_of, side) for side in sides)
    return QuantitySpread(
        spread.log_sd, spread.degrees, spread.source, baseline_runs, candidate_runs, offset=over - above
    )


def _side(
    figures: Sequence[RunFigure], value_of: Callable[[RunFigure], float | None], side: ComparedRuns
) -> tuple[int, float]:
    """How many runs of a side are alike, and how far the compared run is above their mean."""
    parts: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for figure in figures:
        value = value_of(figure)
        if figure.version == side.version and value is not None and value > 0:
            parts[figure.part][figure.run_id] = math.log(value)
    compared = {
        part: [value for run_id, value in values.items() if run_id in side.run_ids] for part, values in parts.items()
    }
    if not parts or not all(compared.values()):
        return 1, 0.0
    runs = min(len(values) for values in parts.values())
    above = fmean(fmean(compared[part]) - fmean(values.values()) for part, values in parts.items())
    return runs, above
