"""How often separate runs are judged wrongly on a busy machine, and how far figures wander between them.

One table: the spread between runs of subjects of several kinds, each run in a fresh process, by each way of
normalising. The other: equal code and +30 % work, beside a process that loads the machine in bursts. Runs of both are
made in turns, each held against the unchanged run before it, with five earlier ones known. Our rule (the run as the
unit, against the spread between runs, at 1 % with Holm over its rows) and those of the peers judge the same runs.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.background_load import loaded
from benchmarks.ratio_table import BENCHMARKS, met, print_heading, print_table
from benchmarks.separate_subjects import KINDS

from agentdyno.findings.engine.between_runs import ALPHA, RunContrast, contrast_runs
from agentdyno.findings.figures.normalised import NORMALISED
from agentdyno.findings.figures.summarise import summarise
from agentdyno.findings.record.judge_spread import (
    QUANTITIES,
    RAW,
    ComparedRuns,
    RunFigure,
    quantity_spread,
    steadiest_way,
    way_value,
    within_spread,
)
from agentdyno.model import Arm, ArmResult, Entry, Iterations, Limits, Sample, Spec
from agentdyno.model.record import QuantitySpread
from agentdyno.runner.bench.affinity import choose_cpu
from agentdyno.runner.bench.job import ArmJob, CodeReference, Launch
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.host_state import HostState, ReferenceStandard
from agentdyno.runs.normalising import WAYS, Normaliser
from agentdyno.settings.judging import TOLERANCE
from agentdyno.specs import make_plan
from agentdyno.stats import holm, mann_whitney, wilson
from agentdyno.workers.reference import ALLOWANCE_S

EARLIER = 5
MORE = 1.3
SAMPLES = 60
FALSE_ALARMS, JUDGED, FOUND, SMALL = 8 / 400, 0.95, 0.80, 0.045
"""The goals: at most, at least, at least where the remaining spread is at most."""
UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class OneRun:
    """A run in a fresh process: its medians, and its durations for the peers."""

    figure: RunFigure
    durations: tuple[float, ...]


class Host:
    """Makes runs. The first one sets the reference standard, as on a host that was never calibrated."""

    def __init__(self) -> None:
        self._state = HostState()
        self._count = 0

    def run(self, kind: str, work: int = 100, version: str = UNCHANGED) -> OneRun:
        self._count += 1
        normaliser = Normaliser(state=lambda: self._state, keep=self._keep)
        samples = [normaliser.take(sample) for sample in _samples(kind, work, seed=self._count)]
        arm = ArmResult("a", kind, kind, samples=tuple(samples), metrics=summarise(samples))
        closed = normaliser.added_to_arm(arm, whole=True)
        medians = {name: item.median for name, item in closed.metrics.items() if item.median is not None}
        figure = RunFigure(kind, "", version, str(self._count), medians)
        return OneRun(figure, tuple(sample.readings["duration_s"] for sample in samples))

    def _keep(self, key: str, standard: ReferenceStandard) -> ReferenceStandard:
        self._state = HostState({**self._state.standards, key: standard})
        return standard


def _samples(kind: str, work: int, seed: int) -> list[Sample]:
    iterations = Iterations(warmup=3, measured=SAMPLES)
    arm = Arm("a", kind, kind)
    plan = make_plan(Spec(kind, (Entry(kind, iterations=iterations),), seed=seed), [(arm, iterations)], [])
    code = CodeReference(kind, files=(str(BENCHMARKS / "separate_subjects.py"),))
    with tempfile.TemporaryDirectory(prefix="dyno-bench-") as folder:
        job = ArmJob("", "a", code, {"work": work}, seed=seed, warmup=3, inner_loops=1, cpu=choose_cpu())
        job = _placed(job, folder)
        found = list(Schedule(plan, ProcessExecutor({"a": job})))
    failed = next((sample.failure for sample in found if not sample.usable), None)
    if failed is not None:
        raise RuntimeError(f"a sample of {kind} failed: {failed}")
    return found


def _placed(job: ArmJob, folder: str) -> ArmJob:
    launch = Launch(cwd=folder, sys_path=(str(BENCHMARKS.parent),))
    return replace(job, artifacts_dir=folder, launch=launch, limits=Limits(timeout_s=60), reference_s=ALLOWANCE_S)


@dataclass(frozen=True, slots=True)
class Judgement:
    """``alarmed`` rows are significant after Holm's correction and beyond the tolerance. ``detectable`` is the change
    (a logarithm) that the time row could have shown; ``shows`` tells whether it would show a further one."""

    alarmed: tuple[str, ...]
    slower: bool
    detectable: float
    shows: Callable[[float], bool]


def judge(earlier: Sequence[OneRun], baseline: OneRun, candidate: OneRun) -> Judgement | None:
    """Our rule; ``None`` where the time cannot be judged."""
    figures = [item.figure for item in (candidate, baseline, *earlier)]
    sides = (
        ComparedRuns(UNCHANGED, (baseline.figure.run_id,)),
        ComparedRuns(candidate.figure.version, (candidate.figure.run_id,)),
    )
    readers = {name: _reader(name) for name in QUANTITIES if name != RAW}
    readers[NORMALISED] = way_value(WAYS[0], baseline.figure.values)
    found: dict[str, RunContrast] = {}
    spreads: dict[str, QuantitySpread] = {}
    for name, value_of in readers.items():
        first, second = value_of(baseline.figure), value_of(candidate.figure)
        spread = quantity_spread(figures, value_of, "own", sides)
        if spread is not None and first and second:
            found[name], spreads[name] = contrast_runs(math.log(second / first), spread), spread
    if NORMALISED not in found:
        return None
    corrected = zip(found, holm([item.p_value for item in found.values()]), strict=True)
    alarmed = [
        name for name, p in corrected if p < ALPHA and abs(found[name].log_ratio) > math.log1p(TOLERANCE.default)
    ]
    time_row, spread = found[NORMALISED], spreads[NORMALISED]

    def shows(log_change: float) -> bool:
        return contrast_runs(time_row.log_ratio + spread.offset + log_change, spread).p_value < ALPHA

    return Judgement(tuple(alarmed), time_row.log_ratio > 0, time_row.detectable, shows)


def _reader(name: str) -> Callable[[RunFigure], float | None]:
    return lambda figure: figure.values.get(name)


def mann_whitney_rule(baseline: OneRun, candidate: OneRun) -> bool:
    return mann_whitney(baseline.durations, candidate.durations).p_value < 0.05


def pyperf_rule(baseline: OneRun, candidate: OneRun) -> bool:
    """What ``pyperf compare_to`` calls significant: Student's t over samples at 5 %."""
    from scipy.stats import ttest_ind

    return bool(ttest_ind(baseline.durations, candidate.durations, equal_var=True).pvalue < 0.05)


def slower(baseline: OneRun, candidate: OneRun) -> bool:
    return median(candidate.durations) > median(baseline.durations)


@dataclass(frozen=True, slots=True)
class Pair:
    earlier: tuple[OneRun, ...]
    baseline: OneRun
    same: OneRun
    more: OneRun


def pairs(kind: str, count: int, say: Callable[[str], None]) -> list[Pair]:
    """Runs in turns, unchanged and with more work. Each unchanged run is the candidate of one pair, the baseline of
    the next, and one of the earlier ones of five more."""
    host, unchanged, found = Host(), [], []
    host.run(kind)  # sets the standard
    for number in range(count + EARLIER + 1):
        unchanged.append(host.run(kind, version=UNCHANGED))
        if len(unchanged) > EARLIER + 1:
            more = host.run(kind, work=round(100 * MORE), version="more")
            *known, baseline, same = unchanged[-EARLIER - 2 :]
            same = OneRun(_as_candidate(same.figure), same.durations)
            found.append(Pair(tuple(known), baseline, same, more))
        say(f"\r{kind}: {number + 1} of {count + EARLIER + 1} ")
    say("\r")
    return found


def _as_candidate(figure: RunFigure) -> RunFigure:
    return RunFigure(figure.subject, figure.part, "again", figure.run_id, figure.values)


def show_pairs(kind: str, found: Sequence[Pair]) -> None:
    same = [judge(item.earlier, item.baseline, item.same) for item in found]
    more = [judge(item.earlier, item.baseline, item.more) for item in found]
    judged = [item for item in same if item is not None]
    changed = [item for item in more if item is not None]
    runs = [item.baseline.figure for item in found]
    raw_sd = within_spread(runs, _reader(RAW))[0]
    left_sd = within_spread(runs, way_value(WAYS[0], runs[0].values))[0]
    alarms = sum(bool(item.alarmed) for item in judged)
    hits = sum(NORMALISED in item.alarmed and item.slower for item in changed)
    by_row = Counter(name for item in judged for name in item.alarmed)
    detectable = median(item.detectable for item in judged)
    true = fmean(item.shows(item.detectable) for item in judged)
    rows = [
        (
            "ours",
            f"{alarms} of {len(found)}",
            _interval(alarms, len(found)),
            f"{hits} of {len(found)}",
            f"{len(judged)}",
        ),
        _peer("Mann-Whitney, p < 0.05", found, mann_whitney_rule),
        _peer("pyperf's rule", found, pyperf_rule),
    ]
    goals = [
        f"false alarms at most {FALSE_ALARMS:.0%}: {met(alarms <= FALSE_ALARMS * len(found))}",
        f"judged at least {JUDGED:.0%}: {met(len(judged) >= JUDGED * len(found))}",
    ]
    if left_sd <= SMALL:
        goals.append(f"+30 % found in at least {FOUND:.0%}: {met(hits >= FOUND * len(found))}")
    print_table(
        f"{kind}: {len(found)} pairs of separate runs, {EARLIER} earlier runs known; "
        f"spread of the median {raw_sd:.3f} raw, {left_sd:.3f} normalised",
        ("rule", "alarms on equal code", "95 % interval", "+30 % found", "judged"),
        rows,
        (
            *goals,
            f"Rows that alarmed on equal code: {dict(by_row) or 'none'}.",
            f"Smallest detectable change: {math.expm1(detectable):+.1%} (median); a change of the size that each "
            f"pair prints, added to the equal pairs, is found in {true:.0%}.",
        ),
    )


def _interval(count: int, total: int) -> str:
    found = wilson(count, total)
    return f"{found.low:.1%} to {found.high:.1%}"


def _peer(name: str, found: Sequence[Pair], rule: Callable[[OneRun, OneRun], bool]) -> tuple[str, ...]:
    alarms = sum(rule(item.baseline, item.same) for item in found)
    hits = sum(rule(item.baseline, item.more) and slower(item.baseline, item.more) for item in found)
    total = len(found)
    return name, f"{alarms} of {total}", _interval(alarms, total), f"{hits} of {total}", f"{total}"


def show_kinds(kinds: Sequence[str], count: int, say: Callable[[str], None]) -> None:
    """Runs of all kinds in turns, so that they meet the machine in the same moods."""
    host = Host()
    host.run("loop")
    figures: dict[str, list[RunFigure]] = {kind: [] for kind in kinds}
    for number in range(count):
        for kind in kinds:
            figures[kind].append(host.run(kind).figure)
        say(f"\r{number + 1} of {count} runs of each kind ")
    say("\r")
    rows = []
    for kind, own in figures.items():
        raw = within_spread(own, _reader(RAW))[0]
        ways = [within_spread(own, way_value(way, own[-1].values))[0] for way in WAYS]
        cpu = within_spread(own, _reader("cpu_s"))[0]
        spent = fmean(item.values["reference.spent_s"] for item in own)
        took = f"{1000 * median(item.values[RAW] for item in own):.1f} ms"
        way = steadiest_way(own[::-1], WAYS) or "not learned"
        cells = (f"{value:.3f}" if value else "-" for value in (raw, cpu, *ways))
        rows.append((kind, took, *cells, way, f"{1000 * spent:.0f} ms"))
    print_table(
        f"Spread between {count} runs of {SAMPLES} samples (standard deviation of the logarithm of the median)",
        ("subject", "median", "raw", "CPU time", *(f"by {way}" for way in WAYS), "learned", "readings"),
        rows,
        ("`by none` only leaves out the time in the run queue. `raw`: normalising does not halve the spread.",),
    )


@contextmanager
def beside(processes: int) -> Iterator[None]:
    with ExitStack() as stack:
        for number in range(processes):
            stack.enter_context(loaded(seed=number))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400, help="pairs of the first table; 0 leaves it out")
    parser.add_argument("--runs", type=int, default=50, help="runs of each kind for the second; 0 leaves it out")
    parser.add_argument("--kind", choices=sorted(KINDS), default="text", help="the subject of the first table")
    parser.add_argument("--load", type=int, default=1, help="processes that load the machine in bursts")
    options = parser.parse_args()
    print_heading()
    started = time.perf_counter()

    def say(line: str) -> None:
        print(line, end="", file=sys.stderr, flush=True)

    with beside(options.load):
        print(f"Beside {options.load} bursty processes.")
        if options.runs:
            show_kinds(list(KINDS), options.runs, say)
        if options.pairs:
            show_pairs(options.kind, pairs(options.kind, options.pairs, say))
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
