"""A pass rate required of every case: how often an unchanged agent is blocked, and how surely a fallen case is found.

100 cases that truly pass 95 % of their tries, each required at 80 %, 5 epochs, at most 20 repeats of a case in doubt:
2,000 checks of an unchanged agent, and 2,000 with one case that passes 50 %, each through the functions of ``dyno
check``. Below them the exact chances of a single case, and simulated ones, for several true pass rates.

    python benchmarks/gate_requirement.py
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import numpy.typing as npt

from agentdyno.findings.gate.judge_requirements import judge_pass_rate, requirement_tests, state_of
from agentdyno.findings.gate.model import GateVerdict, Tries
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import CasePolicy, GatePolicy
from agentdyno.model.record import AgentRecord, CaseRecord
from agentdyno.stats.pass_rate import PassRateTest, Requirement, pass_rate_test

CASES, EPOCHS, REPEATS = 100, 5, 20
REQUIRED, HEALTHY, FALLEN = 0.8, 0.95, 0.5
POLICY = GatePolicy(cases=CasePolicy(pass_rate=REQUIRED))
SHOWN = (0.99, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.3, 0.0)


def main() -> int:
    options = _options()
    return 0 if report(options.checks, options.draws, options.seed) else 1


def report(number: int, draws: int, seed: int) -> bool:
    """Prints the figures; whether both goals are met."""
    rng = np.random.default_rng(seed)
    chances = np.full(CASES, HEALTHY)
    blocked, repeats = checks(chances, number, rng)
    print(f"{CASES} cases, {EPOCHS} epochs, each case required at {REQUIRED:.0%}, at most {REPEATS} repeats of one")
    print(f"unchanged, all at {HEALTHY:.0%}: {blocked} of {number:,} checks blocked (goal: at most 1 in 200)")
    print(f"  repeats a check: {repeats / number:.0f} on top of {CASES * EPOCHS} calls")
    chances[0] = FALLEN
    caught, _ = checks(chances, number, rng, because_of=0)
    print(f"one case at {FALLEN:.0%}: blocked because of it in {caught / number:.1%} (goal: at least 95 %)")
    test = pass_rate_test(REQUIRED, EPOCHS, REPEATS, CASES, POLICY.alpha / 2)
    print(f"rule: {test.broken} wrong answers within {test.most} tries")
    print(f"{'true pass rate':>14} {'blocked':>10} {'simulated':>10} {'repeats':>8}   of one case")
    for rate in SHOWN:
        seen = single(test, rate, draws, rng)
        print(f"{rate:14.0%} {test.chance_broken(rate):10.5f} {seen:10.5f} {test.expected_repeats(rate):8.1f}")
    return 200 * blocked <= number and test.chance_broken(FALLEN) >= 0.95


def checks(
    chances: npt.NDArray[np.float64], number: int, rng: np.random.Generator, because_of: int | None = None
) -> tuple[int, int]:
    """How many of ``number`` checks block (because of one case, where it is named), and the repeats they took."""
    blocked = repeated = 0
    for _ in range(number):
        record = drawn(chances, rng)
        tests, more = requirement_tests(record, POLICY), dict[CaseKey, Tries]()
        for case, chance in zip(record.cases, chances, strict=True):
            now = Tries(case.passed, case.tries)
            while state_of(tests[case.key], now) is Requirement.OPEN:
                now = Tries(now.passed + int(rng.random() < chance), now.tries + 1)
            if now.tries > case.tries:
                more[case.key] = Tries(now.passed - case.passed, now.tries - case.tries)
        (row,), still_open = judge_pass_rate(record, POLICY, more)
        assert not still_open
        wanted = because_of is None or record.cases[because_of].key in row.cases
        blocked += row.verdict is GateVerdict.BLOCK and wanted
        repeated += sum(item.tries for item in more.values())
    return blocked, repeated


def drawn(chances: npt.NDArray[np.float64], rng: np.random.Generator) -> AgentRecord:
    """What an agent did in the first epochs that passes each case with a chance of its own."""
    passed = rng.binomial(EPOCHS, chances)
    cases = tuple(
        CaseRecord("facts", f"c{i:03}", "", EPOCHS, EPOCHS, int(right), int(right) / EPOCHS)
        for i, right in enumerate(passed)
    )
    return AgentRecord("mine@1", "mine", "1", "s", "s", "s", "", 0, "", (), cases)


def single(test: PassRateTest, rate: float, number: int, rng: np.random.Generator) -> float:
    """The share of single cases with this pass rate that are called broken, all tried at once."""
    wrong = np.cumsum(rng.random((number, test.most)) >= rate, axis=1, dtype=np.int64)
    states = np.array(
        [
            [_CODES[test.state(tries, count)] if count <= tries else 0 for count in range(test.most + 1)]
            for tries in range(test.first, test.most + 1)
        ]
    )
    course = np.take_along_axis(states, wrong[:, test.first - 1 :].T, axis=1).T
    ends = np.argmax(course != 0, axis=1)
    return float(np.mean(course[np.arange(number), ends] == _CODES[Requirement.BROKEN]))


_CODES = {Requirement.OPEN: 0, Requirement.MET: 1, Requirement.BROKEN: 2}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checks", type=int, default=2_000)
    parser.add_argument("--draws", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
