"""From the executions of an agent, as the store lists them, to the points of a history."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, overall
from agentdyno.findings.history.model import HistoryPoint
from agentdyno.model.form import WHOLE
from agentdyno.model.metric import Direction, known_metric
from agentdyno.stats import Interval, share_interval

DAY_MS = 86_400_000


class Executed(Protocol):
    """One benchmark that an agent executed. Sums are over all executions; what is not known is ``None``.

    ``at`` is UTC milliseconds, ``suite`` the digest of the suite's version; ``status`` is ``success``, ``partial`` or
    ``failed``.
    """

    @property
    def at(self) -> int: ...
    @property
    def version(self) -> str: ...
    @property
    def suite(self) -> str: ...
    @property
    def benchmark(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def machine_id(self) -> str: ...
    @property
    def proxied(self) -> bool: ...
    @property
    def commit(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def accuracy(self) -> float | None: ...
    @property
    def speed(self) -> float | None: ...
    @property
    def efficiency(self) -> float | None: ...
    @property
    def cost(self) -> float | None: ...
    @property
    def reliability(self) -> float | None: ...
    @property
    def overall(self) -> float | None: ...
    @property
    def duration_s(self) -> float | None: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def tokens_used(self) -> int | None: ...
    @property
    def cpu_s(self) -> float | None: ...
    @property
    def passed(self) -> int | None: ...
    @property
    def samples(self) -> int | None: ...
    @property
    def cases(self) -> int | None: ...
    @property
    def scored(self) -> int | None: ...
    @property
    def case_variance(self) -> float | None: ...
    @property
    def form(self) -> str: ...


@dataclass(frozen=True, slots=True)
class SeriesMetric:
    """A metric that has a history. ``value`` makes one number of the rows of a run, ``None`` where there is none.

    ``needs`` are the attributes of a row without which it is not known there; ``failed_too``: a failed execution
    counts like a finished one.
    """

    name: str
    unit: str
    higher_is_better: bool
    machine_dependent: bool
    value: Callable[[Sequence[Executed]], float | None]
    needs: tuple[str, ...]
    failed_too: bool = False

    def known_in(self, row: Executed) -> bool:
        for name in self.needs:  # a plain loop: a history asks this thousands of times
            value = getattr(row, name)
            if value is None or not math.isfinite(value):
                return False
        return True


_QUANTITIES = {"speed": "duration_s", "cost": "cost_usd"}


def points_from(rows: Iterable[Executed], metric: str, *, benchmark: str = "") -> list[HistoryPoint]:
    """One point per run, oldest first, of one benchmark or over the usual benchmarks of the suite's version.

    Usual are those that more than half of the runs of that version have, with the metric known. A point is over
    exactly these; a run that lacks one is left out, so that a level never changes because other benchmarks were run.
    Where no benchmark is usual, as when each was run by itself, those of one version on one day (UTC) count as one.
    Scores are means over benchmarks; times, tokens, money and rates are over all executions together. Partial
    executions are left out, failed ones too except for pass rate, failure rate and reliability.
    """
    chosen = series_metric(metric)
    allowed = ("success", "failed") if chosen.failed_too else ("success",)
    wanted = [
        row for row in rows if row.status in allowed and benchmark in ("", row.benchmark) and chosen.known_in(row)
    ]
    suites: dict[str, list[Executed]] = {}
    for row in wanted:
        suites.setdefault(row.suite, []).append(row)
    points = [point for own in suites.values() for point in _suite_points(own, chosen)]
    return sorted(points, key=lambda point: (point.at, point.run_id))


def watched_points(rows: Sequence[Executed], metric: str) -> tuple[str, list[HistoryPoint]]:
    """The points of a metric, or of what its score is made of: the name says which.

    Speed and cost are scored only where a target says what is fast or cheap, and at the ends of the score nothing
    moves it: there the seconds and the dollars are watched themselves.
    """
    points = points_from(rows, metric)
    quantity = _QUANTITIES.get(metric)
    if quantity is None or len({point.value for point in points}) > 1:
        return metric, points
    plain = points_from(rows, quantity)
    return (quantity, plain) if plain else (metric, points)


def _suite_points(rows: Sequence[Executed], metric: SeriesMetric) -> list[HistoryPoint]:
    for key in (_of_run, _of_day):
        runs: dict[tuple[str, str, int], dict[str, Executed]] = {}
        for row in rows:
            own = runs.get(mark := key(row))
            if own is None:
                own = runs[mark] = {}
            own[row.benchmark] = row
        usual = _usual(list(runs.values()))
        if usual:
            break
    else:
        return []
    points, names = [], sorted(usual)
    for own in runs.values():
        if usual <= own.keys():
            taken = [own[name] for name in names]
            value = metric.value(taken)
            if value is not None:
                points.append(_point(taken, value, _interval(metric.name, taken, value)))
    return points


def _of_run(row: Executed) -> tuple[str, str, int]:
    """What comes from outside has no run: rows of one time belong together."""
    return row.run_id, row.version, 0 if row.run_id else row.at


def _of_day(row: Executed) -> tuple[str, str, int]:
    return "", row.version, row.at // DAY_MS


def series_metric(name: str) -> SeriesMetric:
    """The metric of that name; raises ``SpecError`` with the nearest ones."""
    found = SERIES_METRICS.get(name)
    if found is None:
        raise SpecError(f"{name} has no history", remedy=nearest(name, SERIES_METRICS))
    return found


def depends_on_machine(metric: str) -> bool:
    """Whether values of a metric from two machines do not compare."""
    known = SERIES_METRICS.get(metric)
    return known.machine_dependent if known is not None else known_metric(metric).machine_dependent


def _usual(runs: Sequence[Mapping[str, Executed]]) -> set[str]:
    counts = Counter(name for own in runs for name in own)
    return {name for name, count in counts.items() if 2 * count > len(runs)}


def _point(rows: Sequence[Executed], value: float, interval: Interval | None) -> HistoryPoint:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    if len(rows) == 1:  # most suites have one benchmark, and a history thousands of points
        (row,) = rows
        return HistoryPoint(
            at=row.at,
            value=value,
            version=row.version,
            run_id=row.run_id,
            n=row.samples or 0,
            suite=row.suite,
            machine_id=row.machine_id,
            commit=row.commit,
            form="" if row.form in WHOLE else row.form,
            scored=row.scored or 0,
            cases=row.cases or 0,
            proxied=row.proxied,
            low=low,
            high=high,
        )
    newest = max(rows, key=lambda row: row.at)
    machines, commits = {row.machine_id for row in rows}, {row.commit for row in rows}
    return HistoryPoint(
        at=newest.at,
        value=value,
        version=newest.version,
        run_id=newest.run_id,
        n=sum(row.samples or 0 for row in rows),
        suite=newest.suite,
        machine_id=machines.pop() if len(machines) == 1 else "",
        commit=commits.pop() if len(commits) == 1 else "",
        form=next((row.form for row in rows if row.form not in WHOLE), ""),
        scored=sum(row.scored or 0 for row in rows),
        cases=sum(row.cases or 0 for row in rows),
        proxied=any(row.proxied for row in rows),
        low=low,
        high=high,
    )


def _interval(metric: str, rows: Sequence[Executed], value: float) -> Interval | None:
    """Of a share of cases: the 95 % interval of Wilson, which stays within 0 and 1.

    An accuracy counts as many trials as scatter like its cases do; a rate one trial per case, because tries of one
    case are alike. Nothing of other metrics: how they scatter within a run is not kept.
    """
    if metric not in ("accuracy", "pass_rate", "failure_rate") or not 0.0 <= value <= 1.0:
        return None
    cases = sum((row.scored if metric == "accuracy" else row.cases) or 0 for row in rows)
    if cases <= 0:
        return None
    trials = float(cases)
    if metric == "accuracy" and all(row.scored and row.case_variance is not None for row in rows):
        error = math.fsum((row.case_variance or 0.0) / (row.scored or 1) for row in rows) / len(rows) ** 2
        trials = value * (1.0 - value) / error if error > 0.0 and 0.0 < value < 1.0 else trials
    return share_interval(value, trials)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def _score(name: str) -> Callable[[Sequence[Executed]], float | None]:
    return lambda rows: _mean([getattr(row, name) for row in rows])


def _overall(rows: Sequence[Executed]) -> float | None:
    """Of the means over benchmarks, as on the board; the mean of what was stored where no dimension was."""
    if len(rows) == 1:
        return _mean([rows[0].overall])
    means: dict[str, float | None] = {}
    for name in DIMENSIONS:
        known = [value for row in rows if (value := getattr(row, name)) is not None and math.isfinite(value)]
        means[name] = math.fsum(known) / len(known) if known else None
    found = overall(means)
    return found if found is not None else _mean([row.overall for row in rows])


def _per(part: str, whole: str) -> Callable[[Sequence[Executed]], float | None]:
    """The sum of one attribute over the sum of another; ``None`` where one is not known or the latter zero."""

    def value(rows: Sequence[Executed]) -> float | None:
        parts, wholes = _mean([getattr(row, part) for row in rows]), _mean([getattr(row, whole) for row in rows])
        return parts / wholes if parts is not None and wholes else None

    return value


def _failing(rows: Sequence[Executed]) -> float | None:
    passing = _per("passed", "samples")(rows)
    return None if passing is None else 1.0 - passing


def _table() -> dict[str, SeriesMetric]:
    machine = {"speed", "efficiency"}
    found = [
        SeriesMetric(name, "ratio", True, name in machine, _score(name), (name,), name == "reliability")
        for name in DIMENSIONS
    ]
    found.append(SeriesMetric(OVERALL, "ratio", True, True, _overall, (OVERALL,)))
    quantities = {
        "duration_s": ("duration_s", "samples"),
        "cost_usd": ("cost_usd", "samples"),
        "total_tokens": ("tokens_used", "samples"),
        "cpu_s": ("cpu_s", "samples"),
    }
    for name, needs in quantities.items():
        metric = known_metric(name)
        better = metric.direction is Direction.HIGHER
        found.append(SeriesMetric(name, metric.unit, better, metric.machine_dependent, _per(*needs), needs))
    counts = ("passed", "samples")
    found.append(SeriesMetric("pass_rate", "ratio", True, False, _per(*counts), counts, True))
    found.append(SeriesMetric("failure_rate", "ratio", False, False, _failing, counts, True))
    return {metric.name: metric for metric in found}


SERIES_METRICS: Mapping[str, SeriesMetric] = _table()
"""Metrics with a history: the scores; ``duration_s``, ``cost_usd``, ``total_tokens`` and ``cpu_s`` per execution;
``pass_rate`` and ``failure_rate`` (all that did not pass, errors among them)."""
