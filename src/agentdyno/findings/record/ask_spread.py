"""What is known of the noise between runs, for two records that are to be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agentdyno.findings.figures.normalised import CPU_NORMALISED, NORMALISED
from agentdyno.findings.record.judge_spread import (
    QUANTITIES,
    ComparedRuns,
    RunFigure,
    quantity_spread,
    shared_way,
    speeds_apart,
    way_value,
    with_sides,
)
from agentdyno.model import ArmResult, RunResult
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, QuantitySpread, RunSpread
from agentdyno.runs.host_state import host_id, read_state
from agentdyno.runs.learning import figures_of
from agentdyno.runs.normalising import WAYS, interpreter_key
from agentdyno.store import Store
from agentdyno.store.rows import RepeatRow

_Value = Callable[[RunFigure], float | None]
_AT_ANY_SPEED = ("duration_s", "cpu_s", "ttft_s")
"""What a faster or slower machine changes and is not normalised."""
_NORMALISED = (NORMALISED, CPU_NORMALISED)
"""How well normalising follows the machine's speed is known of what was run more than once, and of nothing else."""


def known_spread(store: Store | None, baseline: AgentRecord, candidate: AgentRecord) -> RunSpread:
    """The spread between runs on the host of both records; unknown where there is no store, or nothing in it.

    Of each quantity it is that of both agents' own runs of the same suite and form, version by version; else that of
    everything that was run more than once on this host; else what ``dyno doctor --calibrate`` measured there.
    """
    return RecordSpreads(store)(baseline, candidate)


class RecordSpreads:
    """``known_spread`` for many records of one store: what a host has run is read once."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._of_host: dict[str, tuple[list[RepeatRow], list[RunFigure]]] = {}
        self._hosts: dict[str, str] = {}

    def __call__(self, baseline: AgentRecord, candidate: AgentRecord) -> RunSpread:
        run_ids = (*baseline.run_ids, *candidate.run_ids)
        unknown = [run_id for run_id in run_ids if run_id not in self._hosts]
        if self._store is not None and unknown:
            self._hosts.update(self._store.runs.hosts(unknown))
        found = {self._hosts.get(run_id, "") for run_id in run_ids}
        if self._store is None or len(found) != 1 or "" in found:
            return UNKNOWN_SPREAD
        (host,) = found
        if host not in self._of_host:
            rows = self._store.runs.repeated(host)
            self._of_host[host] = rows, figures_of(rows)
        rows, figures = self._of_host[host]
        compared = [row for row in rows if row.run_id in run_ids]
        labels = (baseline.agent, candidate.agent)
        sides = (ComparedRuns(baseline.agent, baseline.run_ids), ComparedRuns(candidate.agent, candidate.run_ids))
        of_records = [row for row in compared if row.agent in labels]
        own = _alike(rows, compared, (baseline, candidate))
        return _known(host, (figures, figures_of(own)), sides, _values(of_records, QUANTITIES))


class ArmSpreads:
    """The same for arms of two runs, which need not be in the store: by the rules of ``known_spread``, with the
    experiment and its parameters as the subject and the commit as its version. The store is read once, if at all."""

    def __init__(self, store: Store | None, baseline: RunResult, candidate: RunResult) -> None:
        self._store, self._runs = store, (baseline, candidate)
        hosts = {run.environment.host_id for run in self._runs}
        self._host = hosts.pop() if len(hosts) == 1 else ""
        self._rows: list[RepeatRow] | None = None
        self._figures: list[RunFigure] = []

    def __call__(self, baseline: ArmResult, candidate: ArmResult) -> RunSpread:
        if self._store is None or not self._host:
            return UNKNOWN_SPREAD
        if self._rows is None:
            self._rows = self._store.runs.repeated(self._host)
            self._figures = figures_of(self._rows)
        compared = [self._row(run, arm) for run, arm in zip(self._runs, (baseline, candidate), strict=True)]
        figures = figures_of(compared)
        alike = {(figure.subject, figure.part) for figure in figures}
        own = [figure for figure in (*figures, *self._figures) if (figure.subject, figure.part) in alike]
        first, second = (ComparedRuns(figure.version, (figure.run_id,)) for figure in figures)
        names = dict.fromkeys([*QUANTITIES, *baseline.metrics, *candidate.metrics])
        return _known(self._host, (self._figures, own), (first, second), _values(compared, tuple(names)))

    def _row(self, run: RunResult, arm: ArmResult) -> RepeatRow:
        stored = (row for row in self._rows or () if (row.run_id, row.arm_id) == (run.run_id, arm.arm_id))
        return next(stored, None) or _as_row(run, arm)


def _as_row(run: RunResult, arm: ArmResult) -> RepeatRow:
    """An arm that is not in the store."""
    commit = "" if run.vcs is None else f"{run.vcs.commit}{'+' * run.vcs.dirty}"
    medians = {name: item.median for name, item in arm.metrics.items() if item.median is not None}
    side = "" if arm.side is None else arm.side.value
    python = run.environment.python
    at = run.finished_at or run.started_at
    return RepeatRow(
        run.run_id, at, "", python, commit, arm.arm_id, arm.experiment, arm.params, "", "", side, arm.planned, medians
    )


def _known(
    host: str,
    figures: tuple[Sequence[RunFigure], Sequence[RunFigure]],
    sides: tuple[ComparedRuns, ComparedRuns],
    values: Mapping[str, _Value],
) -> RunSpread:
    """``figures`` are those of the host, and those of the compared subjects in the compared form.

    Two runs of one version are held against what the others of it show: the two themselves are what is asked about.
    """
    everything, own = figures
    apart = speeds_apart(own, sides, WAYS[0])
    counted: tuple[ComparedRuns, ComparedRuns] | None = sides
    if sides[0].version == sides[1].version:
        asked = (*sides[0].run_ids, *sides[1].run_ids)
        everything, own = ([item for item in found if item.run_id not in asked] for found in figures)
        counted = None
    quantities: dict[str, QuantitySpread] = {}
    for quantity, value_of in values.items():
        spread = (
            quantity_spread(own, value_of, "own", counted)
            or _beside(quantity_spread(everything, value_of, "pooled"), own, value_of, counted)
            or _beside(_calibrated(quantity, host), own, value_of, counted)
        )
        if spread is not None:
            moved = quantity in _AT_ANY_SPEED or (quantity in _NORMALISED and spread.source != "own")
            quantities[quantity] = replace(spread, speeds_apart=apart) if moved else spread
    return RunSpread(host, quantities)


def _alike(
    rows: Sequence[RepeatRow], compared: Sequence[RepeatRow], records: tuple[AgentRecord, AgentRecord]
) -> list[RepeatRow]:
    """Runs of one of the agents in the form of the compared ones."""
    names = {record.arm_agent.rpartition("@")[0] for record in records}
    forms = {(item.suite, item.benchmark, item.planned) for item in compared}
    return [
        row
        for row in rows
        if row.agent.rpartition("@")[0] in names and (row.suite, row.benchmark, row.planned) in forms
    ]


def _values(own: Sequence[RepeatRow], names: Sequence[str]) -> dict[str, _Value]:
    """How to read each quantity of a run. Normalised times are there only where both sides' rest on one standard."""
    values: dict[str, _Value] = {name: _reading(name) for name in names if name not in _NORMALISED}
    way = shared_way([row.medians for row in own], WAYS)
    if way is not None and len({row.python for row in own}) == 1:
        for name in _NORMALISED:
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
    sides: tuple[ComparedRuns, ComparedRuns] | None,
) -> QuantitySpread | None:
    return None if spread is None else with_sides(spread, own, value_of, sides)


def _calibrated(quantity: str, host: str) -> QuantitySpread | None:
    """What was measured on this host says nothing about another."""
    if host != host_id():
        return None
    known = read_state().spreads.get(interpreter_key())
    log_sd: Mapping[str, float] = {} if known is None else known.log_sd
    if known is None or quantity not in log_sd:
        return None
    return QuantitySpread(log_sd[quantity], known.runs - 1, "calibrated")
