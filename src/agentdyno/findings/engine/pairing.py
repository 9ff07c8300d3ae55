"""Which cases two agents have in common, as arrays: the ground of every paired comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.findings.figures.dimensions import RELIABLE_TRIES, Targets
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord, CaseRecord
from agentdyno.stats import pass_hat_k

Numbers: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PairedSide:
    """One agent's paired cases; NaN is unknown. ``lasting`` is the chance that three tries all succeed."""

    cases: tuple[CaseRecord, ...]
    score: Numbers
    tries: Numbers
    passed: Numbers
    errors: Numbers
    lasting: Numbers
    _used: dict[str, Numbers] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, cases: Sequence[CaseRecord]) -> PairedSide:
        return cls(
            tuple(cases),
            _column([case.score for case in cases]),
            _column([case.tries for case in cases]),
            _column([case.passed for case in cases]),
            _column([case.errors for case in cases]),
            _column([pass_hat_k(case.tries, case.passed, RELIABLE_TRIES) for case in cases]),
        )

    @property
    def unscored(self) -> tuple[Numbers, Numbers]:
        """Per case 1 where it was answered and has no score, and 1: a case counts once, however often it was tried.

        A case whose executions all ended in errors is not among them: the error rate tells of it.
        """
        return (np.isnan(self.score) & (self.errors < self.tries)).astype(np.float64), np.ones(len(self.cases))

    def used(self, name: str) -> Numbers:
        """Per execution of each case; negative readings are no readings. Every metric asks for the same few: what is
        given is kept, and not to be changed."""
        if name not in self._used:
            values = _column([case.used.get(name) for case in self.cases])
            found = np.where(values >= 0, values, np.nan)
            found.flags.writeable = False
            self._used[name] = found
        return self._used[name]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Cases that both agents tried, asked the same way. ``judged_alike`` marks those whose scores compare.

    ``clusters`` gives each case's cluster, 0 … ``cluster_count`` - 1, ``places`` the place of its benchmark in
    ``benchmarks``. Of common benchmarks, ``missed`` counts cases that only one agent tried, ``changed`` those that
    the two tried in different forms.
    """

    baseline: AgentRecord
    candidate: AgentRecord
    first: PairedSide
    second: PairedSide
    keys: tuple[CaseKey, ...]
    benchmarks: tuple[str, ...]
    places: Codes
    clusters: Codes
    judged_alike: Flags
    missed: int = 0
    changed: int = 0

    @property
    def cluster_count(self) -> int:
        return int(self.clusters.max()) + 1 if self.clusters.size else 0

    @property
    def labels(self) -> tuple[str, str]:
        """The agents; one agent twice is told apart by its runs."""
        first, second = self.baseline, self.candidate
        if first.agent != second.agent:
            return first.agent, second.agent
        runs = [record.run_ids[0] if len(record.run_ids) == 1 else "" for record in (first, second)]
        if runs[0] == runs[1] or "" in runs:
            return f"baseline:{first.agent}", f"candidate:{second.agent}"
        length = next(n for n in range(8, max(map(len, runs)) + 9) if runs[0][:n] != runs[1][:n])
        return f"{runs[0][:length]}:{first.agent}", f"{runs[1][:length]}:{second.agent}"

    @property
    def had_errors(self) -> bool:
        """Whether an execution of either agent ended in an error."""
        return bool(self.first.errors.any() or self.second.errors.any())

    @property
    def same_machine(self) -> bool:
        return self.baseline.machine_id == self.candidate.machine_id != ""

    @property
    def same_run(self) -> bool:
        """Whether the agents ran interleaved: every common benchmark is of one run."""
        runs = [
            (self.baseline.benchmark(name).run_id, self.candidate.benchmark(name).run_id) for name in self.benchmarks
        ]
        return bool(runs) and all(first == second != "" for first, second in runs)

    def targets(self, benchmark: str) -> Targets:
        """The baseline's, so that both sides are scored alike; the candidate's for what the baseline has none of."""
        first, second = self.baseline.benchmark(benchmark), self.candidate.benchmark(benchmark)
        return {**second.targets, **first.targets}

    def only(self, keep: Flags) -> Pairing:
        """Some of the cases; clusters and benchmarks are numbered anew."""
        if keep.all():
            return self
        chosen = np.flatnonzero(keep)
        return _pairing(
            self.baseline,
            self.candidate,
            [(self.first.cases[i], self.second.cases[i]) for i in chosen],
            (self.missed, self.changed),
        )

    def within(self, benchmark: str) -> Pairing:
        """One benchmark of it."""
        try:
            place = self.benchmarks.index(benchmark)
        except ValueError:
            return self.only(np.zeros(len(self.keys), dtype=np.bool_))
        return self.only(self.places == place)


def pair_records(baseline: AgentRecord, candidate: AgentRecord, benchmark: str = "") -> Pairing:
    """Pairs by benchmark and case id where the digests of what is asked are equal; ``benchmark`` "" takes all."""
    theirs = {(case.benchmark, case.case_id): case for case in candidate.cases if case.tries}
    known = {item.benchmark_id for item in baseline.benchmarks} & {item.benchmark_id for item in candidate.benchmarks}
    wanted = known if not benchmark else known & {benchmark}
    pairs, changed, met, own = [], 0, 0, 0
    for case in baseline.cases:
        if case.benchmark not in wanted or not case.tries:
            continue
        own += 1
        other = theirs.get((case.benchmark, case.case_id))
        if other is None:
            continue
        met += 1
        if other.digest == case.digest:
            pairs.append((case, other))
        else:
            changed += 1
    others = sum(name in wanted for name, _ in theirs)
    pairs.sort(key=lambda pair: (pair[0].benchmark, pair[0].case_id))
    return _pairing(baseline, candidate, pairs, (own + others - 2 * met, changed))


def _pairing(
    baseline: AgentRecord,
    candidate: AgentRecord,
    pairs: Sequence[tuple[CaseRecord, CaseRecord]],
    left_out: tuple[int, int],
) -> Pairing:
    names = tuple(dict.fromkeys(case.benchmark for case, _ in pairs))
    numbers = {name: place for place, name in enumerate(names)}
    labels: dict[str, int] = {}
    alike = {name: baseline.benchmark(name).rubric == candidate.benchmark(name).rubric for name in names}
    return Pairing(
        baseline,
        candidate,
        PairedSide.of([case for case, _ in pairs]),
        PairedSide.of([other for _, other in pairs]),
        tuple(case.key for case, _ in pairs),
        names,
        np.array([numbers[case.benchmark] for case, _ in pairs], dtype=np.int64),
        np.array([labels.setdefault(case.cluster, len(labels)) for case, _ in pairs], dtype=np.int64),
        np.array([alike[case.benchmark] for case, _ in pairs], dtype=np.bool_),
        *left_out,
    )


def _column(values: Sequence[float | None]) -> Numbers:
    """What is unknown or not finite becomes NaN."""
    made = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    made[~np.isfinite(made)] = math.nan
    return made
