"""Real runs of a small suite, one after the other in one folder, and what the product concludes about pairs of them.

The folder is a workspace with a store and a host state of its own. A chain that was stopped goes on where it stopped:
the order of its runs is fixed, and what the store holds is done.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.ratio_table import BENCHMARKS
from benchmarks.separate_subjects import KINDS

from agentdyno import evaluate
from agentdyno.findings.change.ask import Changing
from agentdyno.findings.duel.ask import compare_runs
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judgement import judgement
from agentdyno.findings.record.ask_spread import known_spread
from agentdyno.model import ArmResult, MetricSummary, RunResult, RunStatus, Verdict
from agentdyno.model.policy import GatePolicy, GateRule, Tier
from agentdyno.runs.host_state import STATE_VARIABLE
from agentdyno.store import Store
from agentdyno.workbench.importing import save_imported

EARLIER = 5
WORK, MORE = 100, 130
CASES, EPOCHS = 20, 3
UNCHANGED, SAME, CHANGED = "1", "2", "3"
"""Versions: the chain, the same code again, and more work."""
_AGENT = """import sys

sys.path.insert(0, {root!r})
from benchmarks.separate_subjects import KINDS
"""
_FUNCTION = """

def {kind}_{work}(question: str) -> str:
    KINDS[{kind!r}]({work})
    return "yes"
"""
GATE = GatePolicy(
    rules=(
        GateRule("duration_s", Tier.CRITICAL, 0.03),
        GateRule("cpu_s", Tier.CRITICAL, 0.03),
        GateRule("peak_rss_bytes", Tier.CRITICAL, 0.03),
    )
)
"""A gate that looks at everything that depends on the machine."""
_TIMES = ("duration_s", "duration_norm_s", "cpu_s", "cpu_norm_s")


def order_of_runs(pairs: int, every: int) -> list[str]:
    """The versions in the order in which they are run: of every pair the same code, of every ``every``-th also more
    work, each after the unchanged runs that it is held against."""
    order = [UNCHANGED] * EARLIER
    for number in range(pairs):
        order += [UNCHANGED, SAME, *([CHANGED] if number % every == 0 else [])]
    return order


class Workspace:
    """A folder with a suite and an agent per kind of subject, each in three versions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        functions = [_FUNCTION.format(kind=kind, work=work) for kind in KINDS for work in (WORK, MORE)]
        (folder / "agent.py").write_text(_AGENT.format(root=str(BENCHMARKS.parent)) + "".join(functions))
        uses = [
            f'  "{kind}@{version}": {{use: agent.py@{kind}_{MORE if version == CHANGED else WORK}}}'
            for kind in KINDS
            for version in (UNCHANGED, SAME, CHANGED)
        ]
        (folder / "dyno.yaml").write_text("agents:\n" + "\n".join(uses) + "\n")
        cases = [f"      - {{id: c{number}, input: q{number}, target: 'yes'}}" for number in range(CASES)]
        text = f"name: separate\nbenchmarks:\n  - name: work\n    epochs: {EPOCHS}\n    scorer: exact\n    dataset:\n"
        (folder / "suite.yaml").write_text(text + "\n".join(cases) + "\n")
        self.url = f"sqlite:///{folder / 'dyno.db'}"

    @contextlib.contextmanager
    def entered(self) -> Iterator[Store]:
        """In this folder, with its host state; the store is open."""
        before = os.environ.get(STATE_VARIABLE)
        os.environ[STATE_VARIABLE] = str(self.folder / "state")
        try:
            with contextlib.chdir(self.folder), Store.open(self.url) as store:
                yield store
        finally:
            if before is None:
                del os.environ[STATE_VARIABLE]
            else:
                os.environ[STATE_VARIABLE] = before

    def run(self, kind: str, version: str) -> None:
        evaluate("suite.yaml", f"{kind}@{version}", store=self.url, output_dir=str(self.folder / "results"))

    def done(self, store: Store, kind: str) -> list[RunResult]:
        """The whole runs of a kind in the order in which they were made, without samples."""
        rows = reversed(store.runs.newest(100_000))
        runs = (store.runs.load(row.run_id, samples=False) for row in rows if row.status is RunStatus.COMPLETE)
        return [run for run in runs if _agent(run).rpartition("@")[0] == kind]


@dataclass(frozen=True, slots=True)
class Pair:
    """A candidate, the unchanged run before it, and the earlier ones; by run id."""

    earlier: tuple[str, ...]
    baseline: str
    same: str
    more: str | None


@dataclass(frozen=True, slots=True)
class Concluded:
    """What ``dyno compare`` says of a pair: its time row, and every row that raised an alarm there or in a gate on
    time, CPU time and memory; the verdict of ``dyno changes``; and the spread that the time was held against, which
    its row names."""

    time: PairedRow
    alarmed: tuple[str, ...]
    change: str
    spread: float

    @property
    def judged(self) -> bool:
        return self.time.verdict is not None

    @property
    def time_alarmed(self) -> bool:
        return self.time.verdict in (Verdict.BETTER, Verdict.WORSE)

    @property
    def slower(self) -> bool:
        return self.time.verdict is Verdict.WORSE


def chain(space: Workspace, store: Store, kind: str, order: Sequence[str], say: Callable[[str], None]) -> list[Pair]:
    """Makes what is missing of these runs, and returns the pairs of those that were finished."""
    done = space.done(store, kind)
    told = [_agent(run).rpartition("@")[2] for run in done]
    if told[: len(order)] != list(order[: len(told)]):
        raise SystemExit(f"{space.folder} holds a chain of another form: give another --folder")
    for number, version in enumerate(order[len(told) :], start=len(told) + 1):
        space.run(kind, version)
        say(f"\r{kind}: run {number} of {len(order)} ")
    say("\r")
    done = space.done(store, kind)
    if len(done) < len(order):  # one that was stopped in the middle, or at which two chains were in one folder
        say(f"{kind}: {len(order) - len(done)} of {len(order)} runs were not finished\n")
    return _pairs([(_agent(run).rpartition("@")[2], run.run_id) for run in done])


def _pairs(runs: list[tuple[str, str]]) -> list[Pair]:
    found: list[Pair] = []
    known: list[str] = []
    for version, run_id in runs:
        if version == UNCHANGED:
            known.append(run_id)
        elif version == SAME and len(known) > EARLIER:
            found.append(Pair(tuple(known[-EARLIER - 1 : -1]), known[-1], run_id, None))
        elif version == CHANGED and found:
            found[-1] = replace(found[-1], more=run_id)
    return found


class Judge:
    """Puts the earlier runs of a pair, its baseline and a candidate into a store of their own, and asks the product.

    Stores are copies of one that was made once: to lay out its tables takes longer than all the rest.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._empty, self._window = store, folder / "empty.db", folder / "window.db"
        Store.open(self._empty).close()

    def asked(self, pair: Pair, candidate: str, factor: float = 1.0) -> Concluded:
        """``factor`` makes the candidate's times so many times as long."""
        baseline, measured = self._store.runs.load(pair.baseline), self._store.runs.load(candidate)
        after = measured if factor == 1.0 else slowed(measured, factor)
        shutil.copyfile(self._empty, self._window)
        with Store.open(self._window) as window:
            for run_id in pair.earlier:
                save_imported(window, self._store.runs.load(run_id))
            for result in (baseline, after):
                save_imported(window, result)
            found = compare_runs(baseline, after, window)
            (row,) = Changing(window, now_ms=after.finished_at).changes().rows
            first, second = found.records
            spread = known_spread(window, first, second)
            gate = judgement(first, second, GATE, spread)
        (duel,) = found.duels
        rows = [*duel.rows, *duel.benchmark_rows, *gate.rows.values()]
        alarmed = [item.metric for item in rows if item.verdict in (Verdict.BETTER, Verdict.WORSE)]
        time = duel.row("speed")
        known = spread.quantities.get(time.quantity)
        return Concluded(
            time, tuple(dict.fromkeys(alarmed)), row.verdict, math.inf if known is None else known.log_sd
        )


def slowed(result: RunResult, factor: float) -> RunResult:
    """As if everything had taken ``factor`` times as long."""
    return replace(result, arms=tuple(_slowed_arm(arm, factor) for arm in result.arms))


def _slowed_arm(arm: ArmResult, factor: float) -> ArmResult:
    samples = tuple(
        replace(
            item,
            readings={name: value * factor if name in _TIMES else value for name, value in item.readings.items()},
        )
        for item in arm.samples
    )
    metrics = {
        name: _slowed_figures(item, factor) if name in _TIMES or name.startswith("normalised.") else item
        for name, item in arm.metrics.items()
    }
    return replace(arm, samples=samples, metrics=metrics)


def _slowed_figures(figures: MetricSummary, factor: float) -> MetricSummary:
    return replace(figures, mean=figures.mean * factor, median=(figures.median or 0.0) * factor)


def durations(result: RunResult) -> list[float]:
    return [item.readings["duration_s"] for arm in result.arms for item in arm.samples if item.usable]


def _agent(run: RunResult) -> str:
    return run.arms[0].agent or "" if run.arms else ""
