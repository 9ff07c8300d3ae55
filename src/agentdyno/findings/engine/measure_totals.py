"""Quotients of totals of two agents: what a case costs, what a success takes, how often all goes well, how often
nothing comes back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import ALPHA, ONE_CASE, SAME_WITHIN, Measured, MeasureOptions, VerdictLimits
from agentdyno.findings.engine.measure_inversion import with_inversion
from agentdyno.findings.engine.pairing import Codes, Flags, Numbers, PairedSide, Pairing
from agentdyno.model import Verdict
from agentdyno.model.metric import known_metric
from agentdyno.stats.inversion import Inversion, invert_law, invert_linear_swap, invert_totals
from agentdyno.stats.swap import MOST_SWAPPED, Level, jackknife_error, rank_biserial

COST_TOLERANCE = 0.03
_MONEY = "cost_usd"
_AND = " · "
Divisor: TypeAlias = Callable[[PairedSide], Numbers]
"""What a total is divided by, per case: its tries, or its successes."""


@dataclass(frozen=True, slots=True)
class SideTotals:
    """Columns per case of both sides, and the level that is compared of their sums.

    ``own`` gives per case and side the value that says who does better there; infinite for what never succeeded.
    ``weights`` are the columns by which cases weigh in the level.
    """

    first: Numbers
    second: Numbers
    level: Level
    own: tuple[Numbers, Numbers]
    clusters: Codes
    weights: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Spent:
    """Totals per case of both sides, zero outside the cases where both are ``known``."""

    sides: tuple[Numbers, Numbers]
    known: Flags


def measure_cost(pairing: Pairing, metric: str, benchmark: str, options: MeasureOptions) -> Measured:
    """Dollars per case asked, over all tries, whatever the answers were worth.

    What a success costs follows from it and the pass rate, and moves with both: it is in the row and not tested.
    """
    row = _row(metric, benchmark, [_MONEY], relative=True)
    found = _measure_spent(pairing, row, [_MONEY], _tries, options)
    held = _spent(pairing, _MONEY, _tries)
    if held is None or not pairing.judged_alike.all():
        return found
    passed = [float(side.passed[held.known].sum()) for side in (pairing.first, pairing.second)]
    first, second = (float(spent.sum()) / of if of else None for spent, of in zip(held.sides, passed, strict=True))
    return replace(found, row=replace(found.row, per_success=(first, second)))


def measure_per_success(
    pairing: Pairing, metric: str, parts: Sequence[str], benchmark: str, options: MeasureOptions
) -> Measured:
    """What a success takes of each of ``parts``, several of them by their geometric mean; ``options`` are the seed
    and the tolerance.

    A part that a side does not know, or that a side uses nothing of, is left out where there are several.
    """
    row = _row(metric, benchmark, parts, relative=True)
    if (reason := _never(pairing)) is not None:
        return Measured(replace(row, reason=reason), _relative_limits(options))
    found = _measure_spent(pairing, row, parts, _successes, options)
    if found.shift is None or not found.row.relative:
        return found
    return replace(found, row=replace(found.row, per_try=_per_try(pairing, found.row.quantity.split(_AND))))


def _measure_spent(
    pairing: Pairing, row: PairedRow, parts: Sequence[str], divide_by: Divisor, options: MeasureOptions
) -> Measured:
    limits = _relative_limits(options)
    known = [(name, held) for name in parts if (held := _spent(pairing, name, divide_by)) is not None]
    if not known:
        return Measured(replace(row, reason=_unknown(pairing, parts)), limits)
    used = [(name, held) for name, held in known if all(side.any() for side in held.sides)]
    if not used:
        if not any(side.any() for _, held in known for side in held.sides):
            nothing = replace(row, baseline=0.0, candidate=0.0, change=0.0, cases=int(known[0][1].known.sum()))
            return Measured(replace(nothing, verdict=Verdict.SAME, reason="neither uses any"), limits)
        return _from_nothing(pairing, row, known[0], divide_by, options)
    row = _row(row.metric, row.benchmark, [name for name, _ in used], relative=True)
    totals = _quotients(pairing, [held for _, held in used], divide_by)
    found = measure_totals(row, totals, limits, options.seed)
    return found if len(used) == 1 else replace(found, row=_as_index(found.row))


def _relative_limits(options: MeasureOptions) -> VerdictLimits:
    return VerdictLimits.relative(COST_TOLERANCE if options.tolerance is None else options.tolerance)


def measure_reliability(pairing: Pairing, metric: str, benchmark: str, options: MeasureOptions) -> Measured:
    """``reliability``, ``pass_hat_3``, ``error_rate`` or ``unscored``: shares, compared by their difference."""
    seed, tolerance = options.seed, options.tolerance
    limits = VerdictLimits.plain(tolerance, SAME_WITHIN)
    row = _row(metric, benchmark, [metric], relative=False)
    sides = pairing.first, pairing.second
    enough = ~np.isnan(sides[0].lasting) & ~np.isnan(sides[1].lasting)
    if metric in ("error_rate", "unscored"):
        # An error is one of an execution; a case has a score or has none.
        parts = [(side.errors, side.tries) if metric == "error_rate" else side.unscored for side in sides]
        columns = [np.stack(part, axis=1) for part in parts]
        own = [part[0] / part[1] for part in parts]
        totals = SideTotals(columns[0], columns[1], share_of, (own[0], own[1]), pairing.clusters, (1,))
        return measure_totals(row, totals, limits, seed)
    if not enough.any():
        text = "no case was tried three times on both sides, which reliability takes"
        return Measured(replace(row, reason=text), limits)
    columns = [
        np.stack([np.where(enough, side.lasting, 0.0), enough.astype(np.float64), side.errors, side.tries], axis=1)
        for side in sides
    ]
    level: Level
    weights: tuple[int, ...]
    if metric == "pass_hat_3":
        level, weights = share_of, (1,)
        columns = [column[enough, :2] for column in columns]
        own = [side.lasting[enough] for side in sides]
        clusters = pairing.clusters[enough]
    else:
        level, clusters, weights = _reliable, pairing.clusters, (1, 3)
        own = [np.where(enough, side.lasting, 1.0) * (1.0 - side.errors / side.tries) for side in sides]
    totals = SideTotals(columns[0], columns[1], level, (own[0], own[1]), clusters, weights)
    return measure_totals(row, totals, limits, seed)


def per_execution(side: PairedSide, name: str, places: Codes) -> Numbers:
    """What an execution of each case uses. A case of which it is not known (every try failed) is taken to use what
    the others of its benchmark do; NaN where nothing is known of the benchmark."""
    values = side.used(name)
    if name == _MONEY or not np.isnan(values).any():
        return values
    for place in np.unique(places):
        own = places == place
        known = own & ~np.isnan(values)
        if known.any():
            mean = float((values[known] * side.tries[known]).sum() / side.tries[known].sum())
            values = np.where(own & np.isnan(values), mean, values)
    return values


def _tries(side: PairedSide) -> Numbers:
    return side.tries


def _successes(side: PairedSide) -> Numbers:
    return side.passed


def _spent(pairing: Pairing, name: str, divide_by: Divisor) -> _Spent | None:
    """Totals per case of both sides.

    Money that is not known anywhere makes the whole unknown: a sum without it would be too low.
    """
    sides = pairing.first, pairing.second
    values = [per_execution(side, name, pairing.places) * side.tries for side in sides]
    known: Flags = ~np.isnan(values[0]) & ~np.isnan(values[1])
    if not known.any() or (name == _MONEY and not known.all()):
        return None
    if not all(divide_by(side)[known].sum() for side in sides):
        return None
    return _Spent((np.where(known, values[0], 0.0), np.where(known, values[1], 0.0)), known)


def _quotients(pairing: Pairing, used: Sequence[_Spent], divide_by: Divisor) -> SideTotals:
    columns: tuple[list[Numbers], list[Numbers]] = ([], [])
    logs: tuple[list[Numbers], list[Numbers]] = ([], [])
    for held in used:
        for place, (spent, side) in enumerate(zip(held.sides, (pairing.first, pairing.second), strict=True)):
            per = divide_by(side)
            columns[place].extend([spent, np.where(held.known, per, 0.0)])
            with np.errstate(divide="ignore", invalid="ignore"):
                logs[place].append(np.log(np.where(per > 0, spent / per, np.inf)))
    with np.errstate(invalid="ignore"):
        own = np.mean(logs[0], axis=0), np.mean(logs[1], axis=0)
    stacked = [np.stack(side, axis=1) for side in columns]
    totals = tuple(range(0, 2 * len(used), 2))
    return SideTotals(stacked[0], stacked[1], _log_quotients, own, pairing.clusters, totals)


def _per_try(pairing: Pairing, names: Sequence[str]) -> float:
    """The relative change per execution, of several parts by their geometric mean."""
    logs = []
    for name in names:
        held = _spent(pairing, name, _successes)
        assert held is not None
        tries = [float(side.tries[held.known].sum()) for side in (pairing.first, pairing.second)]
        first, second = (float(spent.sum()) / of for spent, of in zip(held.sides, tries, strict=True))
        logs.append(math.log(second / first))
    return math.expm1(math.fsum(logs) / len(logs))


def measure_totals(row: PairedRow, totals: SideTotals, limits: VerdictLimits, seed: int) -> Measured:
    codes = (np.cumsum(np.bincount(totals.clusters) > 0) - 1)[totals.clusters]
    clusters = int(codes.max()) + 1
    first, second = (_by_cluster(side, codes, clusters) for side in (totals.first, totals.second))
    levels = [float(totals.level(side.sum(axis=0, keepdims=True))[0]) for side in (first, second)]
    shift = levels[1] - levels[0]
    with np.errstate(invalid="ignore"):
        gains = totals.own[1] - totals.own[0] if row.higher_is_better else totals.own[0] - totals.own[1]
    gains = np.nan_to_num(gains, nan=0.0, posinf=np.inf, neginf=-np.inf)
    gains = np.where(np.abs(gains) < 1e-12, 0.0, gains)
    row = replace(
        row,
        baseline=math.exp(levels[0]) if row.relative else levels[0],
        candidate=math.exp(levels[1]) if row.relative else levels[1],
        change=math.expm1(shift) if row.relative else shift,
        effect=rank_biserial(gains),
        cases=len(codes),
        clusters=clusters,
        wins=int((gains > 0).sum()),
        losses=int((gains < 0).sum()),
    )
    if clusters < 2:
        return Measured(replace(row, reason=ONE_CASE), limits)
    error = jackknife_error(first, second, totals.level)
    tested = _test(SideTotals(first, second, totals.level, totals.own, codes, totals.weights), shift, error, seed)
    if clusters < len(codes):
        tested = replace(tested, method=f"{tested.method}, over groups of cases")
    return with_inversion(Measured(row, limits, shift), tested, error)


def _test(units: SideTotals, shift: float, error: float | None, seed: int) -> Inversion:
    """The sides of units exchanged; of thousands of units the normal law, which says the same."""
    first, second, level = units.first, units.second, units.level
    if len(first) > MOST_SWAPPED and error:
        return invert_law(shift, error, alpha=ALPHA)
    shares = unit_shares((first, second), units.weights)
    if level is share_of and np.array_equal(first[:, 1], second[:, 1]):
        return invert_linear_swap(
            (second[:, 0] - first[:, 0]) / float(first[:, 1].sum()), shares, alpha=ALPHA, seed=seed
        )
    return invert_totals(first, second, level, shares, alpha=ALPHA, seed=seed)


def unit_shares(sides: tuple[Numbers, Numbers], columns: Sequence[int]) -> Numbers:
    """How much every unit weighs, by these columns of both sides; they add up to 1."""
    held = [side[:, column] / side[:, column].sum() for side in sides for column in columns if side[:, column].any()]
    return np.asarray(np.mean(held, axis=0)) if held else np.full(len(sides[0]), 1.0 / len(sides[0]))


def _from_nothing(
    pairing: Pairing, row: PairedRow, part: tuple[str, _Spent], divide_by: Divisor, options: MeasureOptions
) -> Measured:
    """One side uses none of it: there is no ratio, and the difference itself is compared."""
    name, held = part
    sides = pairing.first, pairing.second
    columns = [
        np.stack([spent, np.where(held.known, divide_by(side), 0.0)], axis=1)
        for spent, side in zip(held.sides, sides, strict=True)
    ]
    plain = _row(row.metric, row.benchmark, [name], relative=False)
    totals = SideTotals(columns[0], columns[1], share_of, held.sides, pairing.clusters, (1,))
    return measure_totals(plain, totals, VerdictLimits(0.0, 0.0, "nothing"), options.seed)


def _row(metric: str, benchmark: str, parts: Sequence[str], *, relative: bool) -> PairedRow:
    known = len(parts) == 1
    unit = ("ratio" if metric in _SHARES else known_metric(parts[0]).unit) if known else "ratio"
    return PairedRow(
        metric, benchmark, _AND.join(parts), unit, metric in ("reliability", "pass_hat_3"), relative, None, None
    )


_SHARES = ("reliability", "pass_hat_3", "error_rate", "unscored")


def _as_index(row: PairedRow) -> PairedRow:
    """Several resources have no common unit: the baseline is 1."""
    return replace(row, baseline=1.0, candidate=None if row.change is None else 1.0 + row.change)


def _never(pairing: Pairing) -> str | None:
    never = [
        record.agent
        for record, side in ((pairing.baseline, pairing.first), (pairing.candidate, pairing.second))
        if not side.passed.sum()
    ]
    return f"{' and '.join(never)} never succeeded" if never else None


def _unknown(pairing: Pairing, parts: Sequence[str]) -> str:
    for record, side in ((pairing.baseline, pairing.first), (pairing.candidate, pairing.second)):
        missing = {name: int(np.isnan(side.used(name)).sum()) for name in parts}
        if all(missing.values()):
            cases = f"in {min(missing.values())} of {len(pairing.keys)} cases"
            return f"{' and '.join(parts)} of {record.agent} is not known {cases}"
    return f"no case has {' or '.join(parts)} on both sides"


def _by_cluster(columns: Numbers, codes: Codes, clusters: int) -> Numbers:
    return np.stack([np.bincount(codes, column, minlength=clusters) for column in columns.T], axis=1)


def _log_quotients(sums: Numbers) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.mean(np.log(sums[:, 0::2]) - np.log(np.maximum(sums[:, 1::2], 0.0)), axis=1))


def share_of(sums: Numbers) -> Numbers:
    """The first column as a part of the second."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])


def _reliable(sums: Numbers) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1] * (1.0 - sums[:, 2] / sums[:, 3]))
