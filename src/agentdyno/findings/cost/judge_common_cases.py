"""Several agents on the cases that all of them were asked, and those cases drawn again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord, CaseRecord

Grid: TypeAlias = npt.NDArray[np.float64]

RESAMPLES = 1_000
_FEWEST_RESAMPLES = 100
_MOST_DRAWN = 10_000_000
_MOST_AT_ONCE = 2_000_000
_MOST_DECIMALS = 250


@dataclass(frozen=True, slots=True)
class CommonCases:
    """Agents are rows, cases are columns; NaN is unknown. ``cost`` (US dollars) and ``tries`` are sums over the
    executions of a case, ``score`` is 0..1, ``duration`` seconds. ``clusters`` and ``benchmarks`` number, by case,
    what belongs together."""

    keys: tuple[CaseKey, ...]
    clusters: npt.NDArray[np.int64]
    benchmarks: npt.NDArray[np.int64]
    tries: Grid
    cost: Grid
    score: Grid
    duration: Grid

    @property
    def independent(self) -> int:
        """Clusters: cases, those that share a group counted as one."""
        return int(self.clusters.max()) + 1 if self.clusters.size else 0

    def cost_per_task(self, weights: Grid | None = None) -> Grid:
        """US dollars per execution, by draw and agent; NaN where the cost of a case is not known."""
        drawn = self._drawn(weights)
        return _steady(_quotient(drawn @ self.cost.T, drawn @ self.tries.T))

    def accuracy(self, weights: Grid | None = None) -> Grid:
        """The mean over benchmarks of the mean case score, by draw and agent; NaN where no case has a score."""
        drawn = self._drawn(weights)
        scored = ~np.isnan(self.score)
        score = np.where(scored, self.score, 0.0)
        total = np.zeros((len(drawn), len(self.score)))
        number = np.zeros_like(total)
        for benchmark in np.unique(self.benchmarks):
            own = self.benchmarks == benchmark
            of = drawn[:, own] @ scored[:, own].T.astype(np.float64)
            mean = np.divide(drawn[:, own] @ score[:, own].T, of, out=np.zeros_like(of), where=of > 0)
            total += mean
            number += of > 0
        return _steady(_quotient(total, number))

    def latency(self, weights: Grid | None = None) -> Grid:
        """The median over cases of the duration in seconds, by draw and agent; NaN where no case has one."""
        drawn = self._drawn(weights)
        columns = np.ascontiguousarray(drawn.T)
        return np.stack([_weighted_median(row, columns) for row in self.duration], axis=1)

    def draws(self, seed: int) -> Iterator[Grid]:
        """The cases drawn again: weights by draw and case, in parts that fit into memory.

        Clusters are drawn whole, within each benchmark; over the whole suite where a benchmark has only one.
        """
        rng = np.random.default_rng(seed)
        count = max(_FEWEST_RESAMPLES, min(RESAMPLES, _MOST_DRAWN // max(1, len(self.keys))))
        strata = self._strata()
        rows = max(1, _MOST_AT_ONCE // max(1, len(self.keys)))
        for start in range(0, count, rows):
            size = min(rows, count - start)
            weights = np.zeros((size, self.independent))
            for members in strata:
                for row in weights:
                    row[members] = np.bincount(rng.integers(members.size, size=members.size), minlength=members.size)
            yield weights[:, self.clusters]

    def _drawn(self, weights: Grid | None) -> Grid:
        return np.ones((1, len(self.keys))) if weights is None else weights

    def _strata(self) -> list[npt.NDArray[np.int64]]:
        found = [np.unique(self.clusters[self.benchmarks == code]) for code in np.unique(self.benchmarks)]
        return found if all(item.size > 1 for item in found) else [np.arange(self.independent)]


@dataclass(frozen=True, slots=True)
class CaseColumns:
    """The cases that one agent tried, as columns; ``forms`` are benchmark, id, digest and rubric of each."""

    forms: tuple[tuple[str, str, str, str], ...]
    keys: tuple[CaseKey, ...]
    clusters: npt.NDArray[np.int64]
    benchmarks: npt.NDArray[np.int64]
    values: Grid
    """A row each of tries, cost, score and duration."""


def columns_of(record: AgentRecord, benchmark: str = "") -> CaseColumns:
    """Of one ``benchmark``, or of all. Whoever sets one record against many makes its columns once."""
    rubrics = {item.benchmark_id: item.rubric for item in record.benchmarks}
    tried = {case.key: case for case in record.cases if case.tries and benchmark in ("", case.benchmark)}
    cases = tuple(tried.values())
    values = [
        [float(case.tries) for case in cases],
        [known_use(case, "cost_usd") * case.tries for case in cases],
        [math.nan if case.score is None else case.score for case in cases],
        [known_use(case, "duration_s") for case in cases],
    ]
    return CaseColumns(
        forms=tuple((case.benchmark, case.case_id, case.digest, rubrics.get(case.benchmark, "")) for case in cases),
        keys=tuple(tried),
        clusters=_codes([case.cluster for case in cases]),
        benchmarks=_codes([case.benchmark for case in cases]),
        values=np.array(values, dtype=np.float64).reshape(4, len(cases)),
    )


def common_cases(records: Sequence[AgentRecord], benchmark: str = "") -> CommonCases:
    """The cases (of one ``benchmark``, or of all) that every record has with the same question, judged alike."""
    return common_columns([columns_of(record, benchmark) for record in records])


def common_columns(columns: Sequence[CaseColumns]) -> CommonCases:
    """``common_cases`` of records whose columns are at hand."""
    if not columns:
        empty = np.zeros((0, 0))
        return CommonCases((), _codes([]), _codes([]), empty, empty, empty, empty)
    first = columns[0]
    if all(other.forms == first.forms for other in columns[1:]):
        grids = np.stack([own.values for own in columns], axis=1)
        return CommonCases(first.keys, first.clusters, first.benchmarks, *grids)
    places = [{form: place for place, form in enumerate(own.forms)} for own in columns]
    shared = [form for form in first.forms if all(form in own for own in places)]
    chosen = [np.array([own[form] for form in shared], dtype=np.int64) for own in places]
    grids = np.stack([own.values[:, at] for own, at in zip(columns, chosen, strict=True)], axis=1)
    return CommonCases(
        tuple(first.keys[at] for at in chosen[0]),
        _codes([str(code) for code in first.clusters[chosen[0]]]),
        _codes([str(code) for code in first.benchmarks[chosen[0]]]),
        *grids,
    )


def known_use(case: CaseRecord, name: str) -> float:
    """What an execution of the case uses; NaN where it is not known, or no amount at all."""
    value = case.used.get(name)
    return value if value is not None and math.isfinite(value) and value >= 0 else math.nan


def _codes(labels: Sequence[str]) -> npt.NDArray[np.int64]:
    known: dict[str, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)


def _quotient(top: Grid, bottom: Grid) -> Grid:
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)


def _steady(values: Grid) -> Grid:
    """Twelve digits of the largest: sums in another order must not make one of two equal agents the cheaper."""
    known = np.abs(values[np.isfinite(values)])
    scale = float(known.max()) if known.size else 0.0
    if scale == 0.0:
        return values
    return np.round(values, min(_MOST_DECIMALS, 12 - math.floor(math.log10(scale))))


def _weighted_median(values: Grid, weights: Grid) -> Grid:
    """Of each column of whole weights, one a value, the median of the values so many times each."""
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return np.full(weights.shape[1], np.nan)
    order = known[np.argsort(values[known], kind="stable")]
    ordered = values[order]
    running = weights[order]
    for place in range(1, order.size):  # whole rows at once: several times as fast as ``cumsum``
        running[place] += running[place - 1]
    half = running[-1] / 2.0
    last = ordered.size - 1
    lower = np.minimum((running < half).sum(axis=0), last)
    upper = np.minimum((running <= half).sum(axis=0), last)
    middle = (ordered[lower] + ordered[upper]) / 2.0
    return np.where(running[-1] > 0, middle, np.nan)
