"""How often a verdict is wrong on a noisy machine: equal code called different, and 5 % more work not noticed.

Baseline and candidate are the same function; the candidate does 5 % more rounds, or as many. A second process loads
the machine in bursts all the while. Both sides go through the executor that ``dyno run`` uses, in fresh processes for
each comparison. Our rule and those of the peers judge the same samples. A part of the comparisons is repeated with
one process a side, taking turns and one after the other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.background_load import loaded
from benchmarks.ratio_table import BENCHMARKS, met, print_heading, print_table
from pyperf._utils import is_significant

from agentdyno.findings.engine.measure_samples import SampleJudging, compare_arms
from agentdyno.findings.figures.summarise import summarise
from agentdyno.model import Arm, ArmResult, Entry, Iterations, Limits, Order, Sample, Side, Spec, Verdict
from agentdyno.runner.bench.affinity import choose_cpu
from agentdyno.runner.bench.job import ArmJob, CodeReference, Launch
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.runner.schedule import Schedule
from agentdyno.settings.run import PROCESSES_PER_SIDE
from agentdyno.specs import make_plan
from agentdyno.stats import mann_whitney, quantile, wilson

ROUNDS = 160
MORE_WORK = 168
WARMUP = 3
OTHERS_EVERY = 4
FALSE_ALARMS, DETECTED = 0.01, 0.95
"""The goals: at most, and at least."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How each comparison is made: samples per side, spread over so many fresh processes."""

    samples: int
    processes: int
    order: Order = Order.INTERLEAVED


@dataclass(frozen=True, slots=True)
class Pair:
    """The two sides of one comparison."""

    baseline: ArmResult
    candidate: ArmResult

    def durations(self) -> tuple[list[float], list[float]]:
        first, second = (
            [sample.readings["duration_s"] for sample in arm.samples] for arm in (self.baseline, self.candidate)
        )
        return first, second


Rule = Callable[[Pair], str]
"""Judges a pair: one of the words of ``Verdict``."""


def collect(setting: Setting, candidate_rounds: int, seed: int) -> Pair:
    """Both sides as ``dyno run --against`` measures them."""
    iterations = Iterations(warmup=WARMUP, measured=setting.samples)
    spec = Spec(
        name="error rates",
        entries=(Entry("busy", iterations=iterations),),
        seed=seed,
        processes=setting.processes,
        order=setting.order,
    )
    arms = [Arm(side.value, side.value, "busy", side=side) for side in Side]
    plan = make_plan(spec, [(arm, iterations) for arm in arms], [])
    rounds = {Side.BASELINE.value: ROUNDS, Side.CANDIDATE.value: candidate_rounds}
    code = CodeReference("busy", files=(str(BENCHMARKS / "subjects.py"),))
    samples: dict[str, list[Sample]] = {arm.arm_id: [] for arm in arms}
    cpu = choose_cpu()
    with tempfile.TemporaryDirectory(prefix="dyno-bench-") as folder:
        jobs = {
            arm.arm_id: ArmJob(
                "",
                arm.arm_id,
                code,
                {"rounds": rounds[arm.arm_id]},
                seed=seed,
                warmup=WARMUP,
                cpu=cpu,
                artifacts_dir=folder,
                limits=Limits(timeout_s=60),
                launch=Launch(cwd=folder),
            )
            for arm in arms
        }
        for sample in Schedule(plan, ProcessExecutor(jobs)):
            if not sample.usable:
                raise RuntimeError(f"a sample failed: {sample.failure}")
            samples[sample.arm_id].append(sample)
    first, second = (
        ArmResult(
            arm.arm_id,
            arm.name,
            arm.experiment,
            samples=tuple(samples[arm.arm_id]),
            metrics=summarise(samples[arm.arm_id]),
        )
        for arm in arms
    )
    return Pair(first, second)


def our_rule(pair: Pair, judging: SampleJudging) -> str:
    return _row(pair, judging)[0]


def our_ratio(pair: Pair, *, paired: bool) -> float:
    return _row(pair, SampleJudging(paired=paired))[1]


def _row(pair: Pair, judging: SampleJudging) -> tuple[str, float]:
    rows = compare_arms(pair.baseline, pair.candidate, judging)
    row = next(row for row in rows if row.metric.name == "duration_s")
    if row.verdict is None or row.ratio is None:
        raise RuntimeError(f"not judged: {row.reason}")
    return row.verdict.value, row.ratio


def mann_whitney_rule(pair: Pair) -> str:
    """p < 0.05, and nothing else; medians tell which side is slower, as its ranks do not heed outliers."""
    first, second = pair.durations()
    if mann_whitney(first, second).p_value >= 0.05:
        return Verdict.INCONCLUSIVE.value
    return _slower(median(first), median(second))


def pyperf_rule(pair: Pair) -> str:
    """What ``pyperf compare_to`` calls significant, without its optional least speed-up; it compares means."""
    first, second = pair.durations()
    if not is_significant(first, second)[0]:
        return Verdict.INCONCLUSIVE.value
    return _slower(mean(first), mean(second))


def _slower(first: float, second: float) -> str:
    return Verdict.WORSE.value if second > first else Verdict.BETTER.value


def paired_rule(pair: Pair) -> str:
    return our_rule(pair, SampleJudging(paired=True))


def unpaired_rule(pair: Pair) -> str:
    return our_rule(pair, SampleJudging())


INTERLEAVED: tuple[tuple[str, Rule], ...] = (
    ("agentdyno", paired_rule),
    ("agentdyno, unpaired", unpaired_rule),
    ("Mann-Whitney p < 0.05", mann_whitney_rule),
    ("pyperf compare_to", pyperf_rule),
)
SEQUENTIAL = INTERLEAVED[1:]
"""Sides that did not run side by side are not paired."""


@dataclass(slots=True)
class Counts:
    """Verdicts of one rule: of equal code, and of 5 % more work."""

    equal: list[str]
    more: list[str]

    @property
    def alarms(self) -> int:
        return sum(word in ("better", "worse") for word in self.equal)

    @property
    def detected(self) -> int:
        return sum(word == "worse" for word in self.more)


@dataclass(slots=True)
class Lane:
    """One way of collecting, the rules that judge its samples, and what they said."""

    setting: Setting
    rules: tuple[tuple[str, Rule], ...]
    every: int = 1
    """Only each so many-th comparison is also made in this way."""
    counts: list[Counts] = field(default_factory=list)
    ratios: dict[str, list[float]] = field(default_factory=lambda: {"equal": [], "more": []})

    def __post_init__(self) -> None:
        self.counts = [Counts([], []) for _ in self.rules]

    @property
    def name(self) -> str:
        plural = "" if self.setting.processes == 1 else "es"
        return f"{self.setting.order.value}, {self.setting.processes} process{plural}"

    def add(self, kind: str, seed: int) -> None:
        pair = collect(self.setting, ROUNDS if kind == "equal" else MORE_WORK, seed)
        self.ratios[kind].append(our_ratio(pair, paired=self.setting.order is Order.INTERLEAVED))
        for count, (_, rule) in zip(self.counts, self.rules, strict=True):
            (count.equal if kind == "equal" else count.more).append(rule(pair))


def measure(lanes: Sequence[Lane], comparisons: int, seed: int) -> None:
    """Lanes and kinds by turns, so that all of them see the same hours of this machine."""
    for index in range(comparisons):
        for kind in ("equal", "more"):
            for lane in lanes:
                if index % lane.every == 0:
                    lane.add(kind, seed + index)


def show(lanes: Sequence[Lane]) -> None:
    rows = []
    for lane in lanes:
        for (name, rule), count in zip(lane.rules, lane.counts, strict=True):
            is_ours, total = rule is paired_rule, len(count.equal)
            rows.append(
                (
                    name,
                    lane.name,
                    str(total),
                    _share(count.alarms, total),
                    f"<= {FALSE_ALARMS:.0%} {met(count.alarms <= FALSE_ALARMS * total)}" if is_ours else "",
                    _share(count.detected, total),
                    f">= {DETECTED:.0%} {met(count.detected >= DETECTED * total)}" if is_ours else "",
                )
            )
    print_table(
        "n comparisons of equal code, and n of 5 % more work",
        ("rule", "collected", "n", "false alarms [95 %]", "goal", "detected [95 %]", "goal"),
        rows,
    )


def show_ratios(lanes: Sequence[Lane]) -> None:
    rows = []
    for lane in lanes:
        for kind, values in lane.ratios.items():
            low, middle, high = (quantile(values, q) for q in (0.025, 0.5, 0.975))
            rows.append((f"{lane.name}, {kind} work", f"{middle:.4f}", f"{low:.4f}", f"{high:.4f}"))
    header = ("candidate / baseline", "median", "2.5 %", "97.5 %")
    print_table("what the comparisons estimated (truth: 1 and 1.05)", header, rows)


def _share(count: int, total: int) -> str:
    interval = wilson(count, total)
    return f"{count / total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 + 10 comparisons: shows that it works")
    parser.add_argument("--comparisons", type=int, help="of each kind (default 200, quick 10)")
    parser.add_argument("--samples", type=int, default=60, help="per side of each comparison (default 60)")
    parser.add_argument(
        "--processes", type=int, default=PROCESSES_PER_SIDE, help="fresh processes per side (default: as dyno run)"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    comparisons = options.comparisons or (10 if options.quick else 200)
    lanes = (
        Lane(Setting(options.samples, options.processes), INTERLEAVED),
        Lane(Setting(options.samples, 1), INTERLEAVED, every=OTHERS_EVERY),
        Lane(Setting(options.samples, 1, Order.SEQUENTIAL), SEQUENTIAL, every=OTHERS_EVERY),
    )
    print_heading()
    start = time.perf_counter()
    with loaded(options.seed):
        measure(lanes, comparisons, options.seed)
    print(f"N = {options.samples} samples per side of each comparison; {time.perf_counter() - start:.0f} s in all")
    show(lanes)
    show_ratios(lanes)


if __name__ == "__main__":
    main()
