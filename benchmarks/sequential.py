"""How often ``--until-decided`` errs when it looks after every case, and how many cases it saves.

Simulated comparisons with known truth: agents that are right or wrong and differ on 20 to 40 % of the cases, and
agents whose case scores are means of five epochs. The rule is beside a paired t-test at the end of the fixed plan
and the same test made after every case until it says p < 0.05. Differences are in multiples of the minimum
detectable effect (MDE): what the fixed plan finds in 8 of 10 runs at the 5 % level.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.stats import Capital, Decision, minimum_detectable_difference
from agentdyno.stats.distributions import t_quantile
from agentdyno.stats.samples import Array

ERROR_GOAL, SHARE_GOAL = 0.05, 0.60
"""At most: wrong verdicts of any kind, and the mean share of the planned cases that twice the MDE takes."""
ALPHA, TOLERANCE, LEAST = 0.05, 0.03, 8
EPOCHS = 5
PLANNED = (50, 100, 200, 400)
VERDICTS = ("", "better", "worse", "same")
Draw = Callable[[np.random.Generator, tuple[int, int], float], Array]
"""Differences of case scores by experiment and case, with the given mean."""


@dataclass(frozen=True, slots=True)
class Law:
    """A kind of agents; ``spread`` is the standard deviation of the difference at a mean difference."""

    name: str
    draw: Draw
    spread: Callable[[float], float]

    def detectable(self, n: int) -> float:
        """What a t-test over ``n`` cases detects in 8 of 10 runs, with the spread that such a difference has."""
        found = minimum_detectable_difference(self.spread(0.0), n, alpha=ALPHA)
        for _ in range(30):
            found = minimum_detectable_difference(self.spread(found), n, alpha=ALPHA)
        return found


@dataclass(frozen=True, slots=True)
class Ends:
    """By experiment: the verdict (an index of VERDICTS) and the cases it took, all of them without a verdict."""

    verdicts: np.typing.NDArray[np.int64]
    cases: np.typing.NDArray[np.int64]

    def share(self, *names: str) -> float:
        return float(np.isin(self.verdicts, [VERDICTS.index(name) for name in names]).mean())


def right_or_wrong(discordant: float) -> Law:
    def draw(rng: np.random.Generator, shape: tuple[int, int], mean: float) -> Array:
        share = _discordant(discordant, mean)
        even = rng.random(shape)
        return np.where(even < (share + mean) / 2, 1.0, np.where(even < share, -1.0, 0.0))

    def spread(mean: float) -> float:
        return math.sqrt(_discordant(discordant, mean) - mean * mean)

    return Law(f"right or wrong, {100 * discordant:.0f} % differ", draw, spread)


def _discordant(usual: float, mean: float) -> float:
    """More cases must differ where the difference is larger than the usual share."""
    return max(usual, min(1.0, 1.1 * abs(mean)))


def mean_of_epochs(seed: int) -> Law:
    """Cases of all difficulties; the candidate's chance of being right is lower by a shift, down to never."""
    hard = np.random.default_rng(seed).beta(1.2, 0.8, 100_000)

    def shift_for(mean: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if (hard - np.maximum(hard - middle, 0)).mean() < abs(mean) else (low, middle)
        return low

    def draw(rng: np.random.Generator, shape: tuple[int, int], mean: float) -> Array:
        chance = rng.choice(hard, shape)
        lowered = np.maximum(chance - shift_for(mean), 0.0)
        difference = (rng.binomial(EPOCHS, chance) - rng.binomial(EPOCHS, lowered)) / EPOCHS
        return np.asarray(math.copysign(1.0, mean) * difference)

    def spread(mean: float) -> float:
        return float(draw(np.random.default_rng(seed), (1, 100_000), mean).std())

    return Law(f"mean of {EPOCHS} epochs", draw, spread)


def lopsided() -> Law:
    """Many small losses and few large gains; the mean is zero or above."""

    def draw(rng: np.random.Generator, shape: tuple[int, int], mean: float) -> Array:
        even = rng.random(shape)
        return np.where(even < 0.1 + mean, 1.0, np.where(even < 0.6 + mean, -0.2, 0.0))

    return Law("many small losses, few large gains", draw, lambda mean: math.sqrt(0.12 + mean - mean * mean))


def decide(values: Array) -> Ends:
    """The rule of a run for all experiments at once: the four capitals that its verdicts rest on."""
    experiments, n = values.shape
    zeros = np.zeros(experiments)
    better, worse = Capital(zeros, above=True), Capital(zeros, above=False)
    not_less, not_more = Capital(zeros - TOLERANCE, above=True), Capital(zeros + TOLERANCE, above=False)
    verdicts, cases = np.zeros(experiments, dtype=np.int64), np.full(experiments, n)
    for case in range(n):
        for capital in (better, worse, not_less, not_more):
            capital.add(values[:, case])
        if case + 1 < LEAST:
            continue
        same = np.minimum(not_less.most, not_more.most)
        reached = np.stack([better.most, worse.most, same]) >= 2 / ALPHA
        new = (verdicts == 0) & reached.any(axis=0)
        verdicts[new] = reached[:, new].argmax(axis=0) + 1
        cases[new] = case + 1
    return Ends(verdicts, cases)


def t_test(values: Array, looks: range) -> Ends:
    """A paired t-test at each of the looks (numbers of cases) until one says p < 0.05."""
    sums, squares = values.cumsum(axis=1), (values**2).cumsum(axis=1)
    experiments, n = values.shape
    verdicts, cases = np.zeros(experiments, dtype=np.int64), np.full(experiments, n)
    for look in looks:
        total = sums[:, look - 1]
        variance = np.maximum(squares[:, look - 1] - total**2 / look, 0.0) / (look - 1)
        error = np.sqrt(variance * look)
        new = (verdicts == 0) & (np.abs(total) > t_quantile(1 - ALPHA / 2, look - 1) * error) & (error > 0)
        verdicts[new] = np.where(total[new] > 0, 1, 2)
        cases[new] = look
    return Ends(verdicts, cases)


def check_agreement(values: Array, ends: Ends) -> None:
    """The rule that a run uses, case by case, must say the same."""
    for row, verdict, cases in zip(values, ends.verdicts, ends.cases, strict=True):
        decision = Decision(TOLERANCE, ALPHA, LEAST)
        for value in row:
            decision.add(float(value))
        if (decision.verdict or "", decision.sequence.n) != (VERDICTS[verdict], cases):
            raise RuntimeError(f"the rule says {decision.verdict} after {decision.sequence.n}, expected {cases}")


def streams(seed: int) -> Iterator[np.random.Generator]:
    number = 0
    while True:
        yield np.random.default_rng([seed, number])
        number += 1


def print_errors(laws: list[Law], lengths: tuple[int, ...], experiments: int, seed: int) -> None:
    rows, worst = [], 0.0
    rngs = streams(seed)
    for law in laws:
        for n in lengths:
            values = law.draw(next(rngs), (experiments, n), 0.0)
            ours = decide(values)
            check_agreement(values[:20], Ends(ours.verdicts[:20], ours.cases[:20]))
            wrong = ours.share("better", "worse")
            worst = max(worst, wrong)
            fixed = t_test(values, range(n, n + 1)).share("better", "worse")
            peeking = t_test(values, range(LEAST, n + 1)).share("better", "worse")
            rows.append(
                [law.name, f"{n:,}", *(f"{100 * x:.1f} %" for x in (wrong, fixed, peeking, ours.share("same")))]
            )
    header = ["agents", "cases", "until decided", "t-test at the end", "t-test at every case", "said to be the same"]
    notes = [
        f"{experiments:,} comparisons of equal agents in each row, looked at after every case from the {LEAST}th on",
        f"goal: until decided errs in at most {100 * ERROR_GOAL:.0f} %: {met(worst <= ERROR_GOAL)}"
        f" (most: {100 * worst:.1f} %)",
    ]
    print_table("Equal agents said to be better or worse", header, rows, notes)


def print_boundary(experiments: int, seed: int, n: int) -> None:
    rows, worst = [], 0.0
    for rng, discordant in zip(streams(seed + 1), (0.04, 0.1), strict=False):
        values = right_or_wrong(discordant).draw(rng, (experiments, n), TOLERANCE)
        ours = decide(values)
        wrong = ours.share("same", "worse")
        worst = max(worst, wrong)
        rows.append(
            [
                f"{100 * discordant:.0f} % differ",
                f"{n:,}",
                f"{100 * wrong:.1f} %",
                f"{100 * ours.share('better'):.1f} %",
            ]
        )
    note = f"goal: at most {100 * ERROR_GOAL:.0f} % said to be the same or worse: {met(worst <= ERROR_GOAL)}"
    title = f"Better by just {100 * TOLERANCE:.0f} points, the tolerance"
    print_table(title, ["agents", "cases", "same or worse", "better"], rows, [note])


def print_savings(laws: list[Law], experiments: int, seed: int) -> None:
    rows, worst = [], 0.0
    rngs = streams(seed + 2)
    for law in laws:
        for n in PLANNED:
            detectable = law.detectable(n)
            row = [law.name, f"{n:,}", f"{100 * detectable:.1f}"]
            for multiple in (1, 2, 3):
                values = law.draw(next(rngs), (experiments, n), multiple * detectable)
                ours = decide(values)
                used = float(ours.cases.mean()) / n
                row.append(f"{100 * used:.0f} % ({100 * ours.share('better'):.0f} %)")
                if multiple == 2:
                    worst = max(worst, used)
                if multiple == 1:
                    fixed = t_test(values, range(n, n + 1)).share("better")
            rows.append([*row, f"{100 * fixed:.0f} %"])
    header = ["agents", "cases", "MDE, points", "1x MDE", "2x MDE", "3x MDE", "t-test at 1x"]
    goal = f"at most {100 * SHARE_GOAL:.0f} % of the fixed plan at twice its MDE"
    notes = [
        f"mean share of the planned cases used (and of {experiments:,} comparisons decided rightly within the plan)",
        f"goal: {goal}: {met(worst <= SHARE_GOAL)} (most: {100 * worst:.0f} %)",
    ]
    print_table("Cases used until decided", header, rows, notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few comparisons: does it still work?")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print_heading()
    begin = time.perf_counter()
    experiments = 100 if options.quick else 2_000
    laws = [*(right_or_wrong(share) for share in (0.2, 0.3, 0.4)), mean_of_epochs(options.seed)]
    lengths = (50, 100) if options.quick else (*PLANNED, 1_000)
    print_errors([*laws, lopsided()], lengths, experiments, options.seed)
    print_boundary(experiments, options.seed, 200 if options.quick else 1_000)
    print_savings(laws, experiments, options.seed)
    print(f"\ntook {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
