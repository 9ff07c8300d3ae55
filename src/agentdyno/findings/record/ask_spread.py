"""What is known of the noise between runs, for two records that are to be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentdyno.findings.figures.normalised import CPU_NORMALISED, NORMALISED
from agentdyno.findings.record.judge_spread import (
    QUANTITIES,
    ComparedRuns,
    RunFigure,
    quantity_spread,
    shared_way,
    way_value,
    with_sides,
)
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, QuantitySpread, RunSpread
from agentdyno.runs.host_state import read_state
from agentdyno.runs.learning import figures_of
from agentdyno.runs.normalising import WAYS, interpreter_key
from agentdyno.store import Store
from agentdyno.store.rows import RepeatRow

_Value = Callable[[RunFigure], float | None]


def known_spread(store: Store | None, baseline: AgentRecord, candidate: AgentRecord) -> RunSpread:
    """The spread between runs on the host of both records; unknown where there is no store, or nothing in it.

    Of each quantity it is that of both agents' own runs of the same suite and form, version by version; else that of
    everything that was run more than once on this host; else what ``dyno doctor --calibrate`` measured there.
    """
    run_ids = (*baseline.run_ids, *candidate.run_ids)
    hosts = store.runs.hosts(run_ids) if store is not None and run_ids else {}
    found = {hosts.get(run_id, "") for run_id in run_ids}
    if store is None or len(found) != 1 or "" in found:
        return UNKNOWN_SPREAD
    (host,) = found
    rows = store.runs.repeated(host)
    compared = [row for row in rows if row.run_id in run_ids]
    own = figures_of([row for row in rows if _is_alike(row, compared, (baseline, candidate))])
    everything = figures_of(rows)
    sides = (ComparedRuns(baseline.agent, baseline.run_ids), ComparedRuns(candidate.agent, candidate.run_ids))
    quantities: dict[str, QuantitySpread] = {}
    for quantity, value_of in _values(compared, (baseline, candidate)).items():
        spread = (
            quantity_spread(own, value_of, "own", sides)
            or _beside(quantity_spread(everything, value_of, "pooled"), own, value_of, sides)
            or _beside(_calibrated(quantity), own, value_of, sides)
        )
        if spread is not None:
            quantities[quantity] = spread
    return RunSpread(host, quantities)


def _is_alike(row: RepeatRow, compared: Sequence[RepeatRow], records: tuple[AgentRecord, AgentRecord]) -> bool:
    """Whether it is a run of one of the agents in the form of the compared ones."""
    names = {record.name for record in records}
    forms = {(item.suite, item.benchmark, item.planned) for item in compared}
    return row.agent.rpartition("@")[0] in names and (row.suite, row.benchmark, row.planned) in forms


def _values(compared: Sequence[RepeatRow], records: tuple[AgentRecord, AgentRecord]) -> dict[str, _Value]:
    """How to read each quantity of a run. Normalised times are there only where both sides' rest on one standard."""
    normalised = (NORMALISED, CPU_NORMALISED)
    values: dict[str, _Value] = {name: _reading(name) for name in QUANTITIES if name not in normalised}
    labels = {record.agent for record in records}
    own = [row for row in compared if row.agent in labels]
    way = shared_way([row.medians for row in own], WAYS)
    if way is not None and len({row.python for row in own}) == 1:
        for name in normalised:
            value_of = way_value(way, own[0].medians, name)
            if all(value_of(figure) is not None for figure in figures_of(own)):
                values[name] = value_of
    return values


def _reading(name: str) -> _Value:
    return lambda figure: figure.values.get(name)


def _beside(
    spread: QuantitySpread | None,
    own: Sequence[RunFigure],
    value_of: _Value,
    sides: tuple[ComparedRuns, ComparedRuns],
) -> QuantitySpread | None:
    return None if spread is None else with_sides(spread, own, value_of, sides)


def _calibrated(quantity: str) -> QuantitySpread | None:
    known = read_state().spreads.get(interpreter_key())
    log_sd: Mapping[str, float] = {} if known is None else known.log_sd
    if known is None or quantity not in log_sd:
        return None
    return QuantitySpread(log_sd[quantity], known.runs - 1, "calibrated")
