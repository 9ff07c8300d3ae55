"""Whether corrected pass rates hold the truth, and whether a judge's biases are found.

A simulated judge of known error grades 1,000 answers, of which 100 are labelled, and goes through the functions that
``dyno judge calibrate`` calls. Beside it the labels alone (Wilson's interval) and the judge alone. Pass rates,
agreement and kinds of errors vary; the worst figure of a column is the one that counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.findings.calibration.judge import calibrate_judge
from agentdyno.findings.calibration.judge_biases import find_biases
from agentdyno.findings.calibration.model import GradedAnswer, JudgeIdentity
from agentdyno.stats.intervals import wilson
from agentdyno.stats.samples import Array

ANSWERS, LABELS = 1_000, 100
COVERAGE_GOAL, WIDTH_GOAL, FOUND_GOAL, PLANTED = (0.93, 0.97), 1.02, 0.90, 0.07
IDENTITY = JudgeIdentity("simulated", "simulated")


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """``rate`` of the answers are right; the judge agrees at ``kappa``. ``kind`` judges err towards pass only.

    ``bias`` is what 100 tokens more add to the chance of a pass; lengths are log-normal with a median of 200 tokens.
    """

    rate: float
    kappa: float
    kind: bool = False
    bias: float = 0.0

    def answers(self, rng: np.random.Generator, sigma: float = 0.8, labels: int = LABELS) -> list[GradedAnswer]:
        right = rng.random(ANSWERS) < self.rate
        length = rng.lognormal(np.log(200), sigma, ANSWERS)
        missed, let_pass = self.errors()
        chance = np.where(right, 1 - missed, let_pass) + self.bias * (length - np.median(length)) / 100
        grades = rng.random(ANSWERS) < np.clip(chance, 0.0, 1.0)
        return [
            GradedAnswer(
                "b", str(i), "agent", 0, float(grades[i]), _label(bool(right[i]), i < labels), float(length[i])
            )
            for i in range(ANSWERS)
        ]

    def errors(self) -> tuple[float, float]:
        """Shares of right answers that it fails, and of wrong ones that it lets pass."""
        wrong = 1 - self.rate
        if not self.kind:
            off = (1 - self.kappa) * self.rate * wrong  # as many each way: equal margins
            return off / self.rate, off / wrong
        low, high = 0.0, 1.0
        for _ in range(60):  # kappa falls as more wrong answers are let pass
            share = (low + high) / 2
            passed = self.rate + wrong * share
            agreed, chance = 1 - wrong * share, self.rate * passed + wrong * (1 - passed)
            low, high = (share, high) if (agreed - chance) / (1 - chance) > self.kappa else (low, share)
        return 0.0, low


def _label(right: bool, given: bool) -> dict[str, float]:
    return {"p": float(right)} if given else {}


def coverage(judge: SimulatedJudge, seeds: int) -> list[str]:
    inside, alone_inside, judge_off = 0, 0, []
    widths, alone_widths, kappas = [], [], []
    for seed in range(seeds):
        answers = judge.answers(np.random.default_rng(seed))
        found = calibrate_judge(answers, IDENTITY)
        (rate,) = found.rates
        assert rate.interval is not None
        low, high = rate.interval
        inside += low <= judge.rate <= high
        widths.append(high - low)
        alone = wilson(sum(int(answer.labels["p"]) for answer in answers[:LABELS]), LABELS)
        alone_inside += alone.low <= judge.rate <= alone.high
        alone_widths.append(alone.high - alone.low)
        judge_off.append(rate.graded - judge.rate)
        kappas.append(found.kappa or 0.0)
    share, width = inside / seeds, float(np.mean(widths) / np.mean(alone_widths))
    return [
        f"{judge.rate:.0%}",
        f"{np.mean(kappas):.2f}{' (kind)' if judge.kind else ''}",
        f"{share:.1%}",
        met(COVERAGE_GOAL[0] <= share <= COVERAGE_GOAL[1]),
        f"{width:.3f}",
        met(width <= WIDTH_GOAL),
        f"{alone_inside / seeds:.1%}",
        f"{np.mean(judge_off):+.3f}",
    ]


def length_bias(judge: SimulatedJudge, sigma: float, seeds: int) -> list[str]:
    found, values = 0, []
    for seed in range(seeds):
        bias = find_biases(judge.answers(np.random.default_rng(10_000 + seed), sigma))[0]
        found += bool(bias.found)
        values.append(bias.value or 0.0)
    fewer = max(1, seeds // 5)  # what could be known at best: people have labelled every answer
    known = [judge.answers(np.random.default_rng(10_000 + seed), sigma, ANSWERS) for seed in range(fewer)]
    best = sum(bool(find_biases(answers)[0].found) for answers in known) / fewer
    share = found / seeds
    spread: Array = np.random.default_rng(0).lognormal(np.log(200), sigma, 100_000)
    goal = (
        met(share >= FOUND_GOAL) if judge.bias else met(share <= 0.064)
    )  # 5 %, and two standard errors of 1,000 seeds
    row = [
        f"{judge.rate:.0%}",
        f"{judge.kappa:g}",
        f"{spread.std():.0f}",
        f"{judge.bias:g}",
        f"{np.mean(values):.3f}",
    ]
    return [*row, f"{share:.1%}", goal, f"{best:.1%}"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few seeds: does it still work?")
    parser.add_argument("--only", choices=("coverage", "biases"))
    asked = parser.parse_args(arguments)
    seeds = 30 if asked.quick else 1_000
    began = time.monotonic()
    print_heading()
    if asked.only != "biases":
        print_coverage(seeds)
    if asked.only != "coverage":
        print_biases(seeds)
    print(f"{time.monotonic() - began:.0f} s")
    return 0


def print_coverage(seeds: int) -> None:
    judges = [SimulatedJudge(rate, kappa) for kappa in (0.6, 0.0, 0.3, 0.9) for rate in (0.5, 0.7, 0.9)]
    judges += [SimulatedJudge(rate, 0.6, kind=True) for rate in (0.5, 0.7, 0.9)]
    print_table(
        f"Corrected pass rate: {LABELS} labels, {ANSWERS:,} answers, {seeds:,} seeds",
        (
            "pass rate",
            "kappa",
            "95 % holds it",
            "goal",
            "width / labels",
            "goal",
            "labels alone",
            "judge is off",
        ),
        [coverage(judge, seeds) for judge in judges],
    )


def print_biases(seeds: int) -> None:
    planted = [
        (SimulatedJudge(rate, 0.6, bias=bias), sigma)
        for bias in (PLANTED, 0.0)
        for rate in (0.5, 0.7)
        for sigma in (0.6, 0.8, 1.0)
    ]
    print_table(
        f"Length bias: share found of {seeds:,}, by what was planted per 100 tokens",
        ("pass rate", "kappa", "spread of lengths", "planted", "measured", "found", "goal", "all labelled"),
        [length_bias(judge, sigma, seeds) for judge, sigma in planted],
    )


if __name__ == "__main__":
    sys.exit(main())
