"""How large a change separate runs can show where unchanged code spreads by so much: the judge on made-up runs.

Each time six runs of the version before are known and one of the next, as in `separate_runs.py`. Their figures are
drawn with exactly the spread that the row names (the standard deviation of the logarithm); 20 cases of a run differ
from each other by their own noise, which is part of what the judge goes by. It is told nothing of all that: it
estimates the spread from the runs that it knows. No clock is read and no process started.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.findings.engine.between_runs import ALPHA, RunContrast, contrast_runs
from agentdyno.findings.engine.measure_separate import restless
from agentdyno.findings.record.judge_spread import ComparedRuns, RunFigure, quantity_spread

Numbers = npt.NDArray[np.float64]

KNOWN, CASES = 6, 20
SPREADS = (0.02, 0.03, 0.04, 0.045, 0.06, 0.1)
CASE_NOISES = (0.0, 0.05, 0.1)
"""How far the cases of one pair of runs are from changing alike, as the standard deviation of the logarithm."""
SMALL, FOUND = 0.045, 0.80
_SIDES = ComparedRuns("1", (f"run {KNOWN}",)), ComparedRuns("2", ("candidate",))


@dataclass(frozen=True, slots=True)
class Machine:
    """How far runs of unchanged code spread, and how far the cases of two runs are from changing alike."""

    spread: float
    case_noise: float
    random: np.random.Generator

    def known_runs(self) -> Numbers:
        return self.random.normal(0.0, self.spread, KNOWN)

    def judged(self, own: Numbers, change: float) -> RunContrast:
        """What is concluded of a candidate whose true time is ``change`` longer, as a logarithm."""
        candidate = change + float(self.random.normal(0.0, self.spread))
        figures = [
            RunFigure("subject", "", "1", f"run {place}", {"s": math.exp(log)})
            for place, log in enumerate(own, start=1)
        ]
        figures.append(RunFigure("subject", "", "2", "candidate", {"s": math.exp(candidate)}))
        known = quantity_spread(figures, lambda figure: figure.values["s"], "own", _SIDES)
        assert known is not None, "six runs are enough"
        cases = self.random.normal(0.0, self.case_noise, CASES)
        within = restless(cases)
        return contrast_runs(candidate - float(own[-1]), known, within=within)


def is_slower(found: RunContrast) -> bool:
    return found.p_value < ALPHA and found.log_ratio > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2_000, help="of each row (default 2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few pairs: shows that it works")
    options = parser.parse_args()
    pairs = 100 if options.quick else options.pairs
    print_heading()
    rows, least = [], dict.fromkeys(CASE_NOISES, 1.0)
    for spread in SPREADS:
        for noise in CASE_NOISES:
            seed = [options.seed, round(1e4 * spread), round(1e4 * noise)]
            machine = Machine(spread, noise, np.random.default_rng(seed))
            known = [machine.known_runs() for _ in range(pairs)]
            equal = [machine.judged(own, 0.0) for own in known]
            more = sum(is_slower(machine.judged(own, math.log(1.3))) for own in known) / pairs
            # What is printed rests on the runs that are known: a further candidate beside the same ones.
            told = zip(known, equal, strict=True)
            shown = sum(is_slower(machine.judged(own, found.detectable)) for own, found in told) / pairs
            alarms = sum(found.p_value < ALPHA for found in equal) / pairs
            visible = math.expm1(median(found.detectable for found in equal))
            least[noise] = min(least[noise], more) if spread <= SMALL else least[noise]
            cells = f"{alarms:.2%}", f"{more:.1%}", f"{visible:+.0%}", f"{shown:.1%}"
            rows.append([f"{spread:.3f}", f"{noise:.2f}", *cells])
    notes = [
        f"{pairs:,} pairs of each; {KNOWN} runs before and one after, at {ALPHA:.0%}",
        *(
            f"goal: +30 % found in at least {FOUND:.0%} up to a spread of {SMALL}, cases apart by {noise:.2f}, "
            f"least {share:.1%}: {met(share >= FOUND)}"
            for noise, share in least.items()
        ),
    ]
    header = ["spread", "cases apart by", "equal code alarmed", "+30 % found", "visible from", "such a change found"]
    print_table("Separate runs of a known spread, simulated", header, rows, notes)


if __name__ == "__main__":
    main()
