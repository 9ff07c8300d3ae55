"""Several agents on the cases that all of them were asked, and those cases drawn again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.model.record import AgentRecord, CaseRecord
from agentdyno.model.standing import CaseKey

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
        return np.stack([_weighted_median(row, drawn) for row in self.duration], axis=1)

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


def common_cases(records: Sequence[AgentRecord], benchmark: str = "") -> CommonCases:
    """The cases (of one ``benchmark``, or of all) that every record has with the same question, judged alike."""
    rubrics = [{item.benchmark_id: item.rubric for item in record.benchmarks} for record in records]
    tables: list[dict[tuple[str, str], CaseRecord]] = [
        {
            (case.benchmark, case.case_id): case
            for case in record.cases
            if case.tries and benchmark in ("", case.benchmark)
        }
        for record in records
    ]
    first = tables[0] if tables else {}
    keys = [
        key
        for key, case in first.items()
        if all(
            (other := table.get(key)) is not None
            and other.digest == case.digest
            and rubric.get(key[0]) == rubrics[0].get(key[0])
            for table, rubric in zip(tables, rubrics, strict=True)
        )
    ]
    cells = [[table[key] for key in keys] for table in tables]
    return CommonCases(
        keys=tuple(CaseKey(*key) for key in keys),
        clusters=_codes([first[key].cluster for key in keys]),
        benchmarks=_codes([name for name, _ in keys]),
        tries=_grid([[float(case.tries) for case in row] for row in cells]),
        cost=_grid([[known_use(case, "cost_usd") * case.tries for case in row] for row in cells]),
        score=_grid([[np.nan if case.score is None else case.score for case in row] for row in cells]),
        duration=_grid([[known_use(case, "duration_s") for case in row] for row in cells]),
    )


def known_use(case: CaseRecord, name: str) -> float:
    """What an execution of the case uses; NaN where it is not known, or no amount at all."""
    value = case.used.get(name)
    return value if value is not None and math.isfinite(value) and value >= 0 else math.nan


def _grid(rows: Sequence[Sequence[float]]) -> Grid:
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 0)


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
    """Of each row of whole weights, the median of the values so many times each."""
    known = ~np.isnan(values)
    if not known.any():
        return np.full(len(weights), np.nan)
    order = np.argsort(values[known], kind="stable")
    ordered = values[known][order]
    running = np.cumsum(weights[:, known][:, order], axis=1)
    half = running[:, -1:] / 2.0
    last = ordered.size - 1
    lower = np.minimum((running < half).sum(axis=1), last)
    upper = np.minimum((running <= half).sum(axis=1), last)
    middle = (ordered[lower] + ordered[upper]) / 2.0
    return np.where(running[:, -1] > 0, middle, np.nan)
