"""How often a version that became worse is told from one that did not: the judge of `dyno changes` on known truth.

Two versions of an agent answer the same 100 questions three times each, in turns. The second is the first again, or
is right less often (from 0.9), or costs more, or takes longer. Agents that are right 90 % of the time are of three
kinds: *steady* (a case is right in all its tries or in none), *mixed* (most cases are nearly safe, a few are
doubtful) and *noisy* (every case comes out right in nine tries of ten); the worst of the three counts.

All commands read the same rows and differ in what they hold them to: `dyno changes` says worse at 5 %, the gate at
what `gate: {alpha: ...}` says, 1 % by default. The goals are held against 2 %, between the two; the other levels
stand beside it. `history --regressions` and the API's regressions also leave out
what is within a threshold (10 % of the value before by default), which the last column shows.

Records are made of numbers and judged by the function that the commands call. At the end two versions go the whole
way: files, `dyno run`, a store, `dyno changes`; and its p-values are held against those of the function on equal
numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.calibration_tool import Answers, Numbers, Setting, make_record
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno import evaluate
from agentdyno.findings.change.ask import Changing
from agentdyno.findings.change.judge import judge_change
from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD
from agentdyno.findings.history.judge_versions import judge_rows
from agentdyno.model import Verdict
from agentdyno.model.record import AgentRecord
from agentdyno.stats import wilson
from agentdyno.store import Store

SHAPE = Setting(cases=100, epochs=3)
LEVEL = 0.9
KINDS = ("steady", "mixed", "noisy")
LEVELS = (0.05, 0.02, 0.01)
"""Of `dyno changes`, of an alarm here, and of the gate by default; p is after correction within its family."""
ALARM = 0.02
ALARMS = 8 / 400
"""Of unchanged versions, at most this share may raise an alarm."""
_MIXED = (1.8, 0.2)
"""The beta distribution of the chances of a mixed agent's cases: mean 0.9, most of them near 1."""
_TIME_NOISE, _COST_NOISE = 0.25, 0.3
"""Of one try, as the standard deviation of the logarithm."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the second version; ``goal`` is the least share that must be found."""

    name: str
    metric: str
    goal: float | None = None
    points: float = 0.0
    cost: float = 1.0
    time: float = 1.0
    counts: bool = True
    """Whether the accuracy of detection is stated over it."""


UNCHANGED = Change("unchanged", "")
CHANGES = (
    Change("accuracy -5 points", "accuracy", None, points=0.05, counts=False),
    Change("accuracy -10 points", "accuracy", 0.80, points=0.10),
    Change("accuracy -15 points", "accuracy", 0.95, points=0.15),
    Change("cost +20 %", "cost", 0.95, cost=1.2),
    Change("time +30 %, interleaved", "speed", 0.95, time=1.3),
)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Of one pair: the corrected p-values of the rows that are worse at 5 %, and what is so beyond 10 %."""

    worse: Mapping[str, float]
    reported: frozenset[str]

    def alarm(self, level: float) -> bool:
        return any(p_value < level for p_value in self.worse.values())

    def finds(self, metric: str, level: float) -> bool:
        return self.worse.get(metric, 1.0) < level


def chances(kind: str, random: np.random.Generator) -> Numbers:
    """How likely each case is answered rightly, 0.9 in the mean."""
    if kind == "mixed":
        drawn = random.beta(*_MIXED, SHAPE.cases)
        return np.asarray(drawn)
    if kind == "noisy":
        return np.full(SHAPE.cases, LEVEL)
    steady = np.ones(SHAPE.cases)
    steady[random.permutation(SHAPE.cases)[: round(SHAPE.cases * (1.0 - LEVEL))]] = 0.0
    return steady


def lowered(chance: Numbers, kind: str, points: float, random: np.random.Generator) -> Numbers:
    """The same cases for an agent that is right less often by so much; of a steady one so many break for good."""
    if kind != "steady":
        return chance * (1.0 - points / LEVEL)
    found = chance.copy()
    found[random.permutation(np.flatnonzero(chance))[: round(points * SHAPE.cases)]] = 0.0
    return found


def draw_pair(kind: str, change: Change, random: np.random.Generator) -> tuple[AgentRecord, AgentRecord]:
    """Two versions on the same cases, which differ from each other in length and price."""
    chance = chances(kind, random)
    seconds, dollars = np.exp(random.normal(0.7, 0.6, SHAPE.cases)), np.exp(random.normal(-6.0, 0.8, SHAPE.cases))

    def answers(right: Numbers, time: float, cost: float) -> Answers:
        passed = random.random((SHAPE.cases, SHAPE.epochs)) < right[:, None]
        noise = [np.exp(random.normal(0.0, size, passed.shape)) for size in (_TIME_NOISE, _COST_NOISE)]
        return Answers(
            passed.sum(axis=1).astype(np.float64),
            np.zeros(SHAPE.cases),
            {
                "duration_s": np.median(time * seconds[:, None] * noise[0], axis=1),
                "cost_usd": (cost * dollars[:, None] * noise[1]).mean(axis=1),
            },
        )

    before = answers(chance, 1.0, 1.0)
    after = answers(lowered(chance, kind, change.points, random), change.time, change.cost)
    first, second = make_record("agent@1", before, SHAPE), make_record("agent@2", after, SHAPE)
    return replace(first, name="agent"), replace(second, name="agent", version="2")


def judged(first: AgentRecord, second: AgentRecord) -> Verdicts:
    found = judge_change(first, second)
    rows = [row for row in (*found.rows, found.reliability, found.error_rate) if row is not None]
    worse, _ = judge_rows(rows, first, second, DEFAULT_THRESHOLD)  # the engine has but one row of each
    told = {row.metric: row.adjusted_p or 0.0 for row in rows if row.verdict is Verdict.WORSE}
    return Verdicts(told, frozenset(item.metric for item in worse))


def print_unchanged(pairs: int, seed: int) -> None:
    rows, worst = [], 0.0
    for kind in KINDS:
        random = np.random.default_rng([seed, 0, KINDS.index(kind)])
        found = [judged(*draw_pair(kind, UNCHANGED, random)) for _ in range(pairs)]
        worst = max(worst, _share(item.alarm(ALARM) for item in found))
        by_row = ", ".join(
            f"{name} {count}"
            for name in ("accuracy", "speed", "cost", "reliability")
            if (count := sum(item.finds(name, ALARM) for item in found))
        )
        counts = [sum(item.alarm(level) for item in found) for level in LEVELS]
        reported = sum(bool(item.reported) for item in found)
        rows.append([kind, str(pairs), *map(str, counts), by_row or "none", str(reported)])
    notes = [f"goal: at most {ALARMS:.0%} raise an alarm at {ALARM:.0%}, worst {worst:.1%}: {met(worst <= ALARMS)}"]
    header = ["agent", "pairs", *_at_levels(), f"rows at {ALARM:.0%}", "at 5 %, beyond 10 %"]
    print_table("Unchanged versions that any row calls worse", header, rows, notes)


def print_changed(pairs: int, seed: int) -> tuple[int, int]:
    """Returns how many changes over which accuracy is stated were found, and how many there were."""
    rows, notes, hits, of = [], [], 0, 0
    for place, change in enumerate(CHANGES, start=1):
        least = 1.0
        for kind in KINDS:
            random = np.random.default_rng([seed, place, KINDS.index(kind)])
            found = [judged(*draw_pair(kind, change, random)) for _ in range(pairs)]
            shares = [_share(item.finds(change.metric, level) for item in found) for level in LEVELS]
            reported = _share(change.metric in item.reported for item in found)
            least = min(least, shares[LEVELS.index(ALARM)])
            rows.append([change.name, kind, *(f"{share:.1%}" for share in shares), f"{reported:.1%}"])
            if change.counts:
                hits, of = hits + sum(item.finds(change.metric, ALARM) for item in found), of + pairs
        if change.goal is not None:
            goal = f"goal: {change.name} found in at least {change.goal:.0%} at {ALARM:.0%}, least {least:.1%}"
            notes.append(f"{goal}: {met(least >= change.goal)}")
    header = ["change", "agent", *_at_levels(), "at 5 %, beyond 10 %"]
    print_table(f"Versions that became worse: the row that says so, {pairs} pairs of each", header, rows, notes)
    return hits, of


def _at_levels() -> list[str]:
    return [f"at {level:.0%}" for level in LEVELS]


def _share(answers: Iterable[bool]) -> float:
    found = list(answers)
    return sum(found) / len(found)


def print_accuracy(found: tuple[int, int]) -> None:
    bounds = wilson(*found)
    share = found[0] / found[1]
    print(
        f"\naccuracy of regression detection at {ALARM:.0%} over -10 points and more: {share:.1%} of {found[1]:,} "
        f"({bounds.low:.1%} to {bounds.high:.1%}), goal 90 %: {met(bounds.low >= 0.9)}"
    )


_AGENT = """from agentdyno import Response, Usage

TOKENS = {tokens!r}


def answer(question: str, side: int, wrong: frozenset[str]) -> Response:
    usage = Usage(input_tokens=TOKENS[question][side])
    return Response("no" if question in wrong else "yes", usage=usage, model="known-1")


def first(question: str) -> Response:
    return answer(question, 0, frozenset({first!r}))


def second(question: str) -> Response:
    return answer(question, 1, frozenset({second!r}))
"""


_WORKSPACE = """agents:
  "agent@1": {use: agent.py@first}
  "agent@2": {use: agent.py@second}
prices:
  known-1: {input: 1.0, output: 1.0}
"""


def print_end_to_end(seed: int) -> None:
    """Two versions through files, a run, a store and `dyno changes`, beside the function on the same numbers."""
    random = np.random.default_rng([seed, 99])
    before = chances("steady", random)
    after = lowered(before, "steady", 0.10, random)
    tokens = np.exp(random.normal(7.0, 0.8, SHAPE.cases))
    spent = tokens.round(), (tokens * np.exp(random.normal(0.05, 0.3, SHAPE.cases))).round()
    names = [f"c{number:04}" for number in range(SHAPE.cases)]
    wrong = [sorted(name for name, right in zip(names, side, strict=True) if not right) for side in (before, after)]
    with tempfile.TemporaryDirectory(prefix="dyno-regression-") as folder, contextlib.chdir(folder):
        table = {name: (int(one), int(other)) for name, one, other in zip(names, *spent, strict=True)}
        Path("agent.py").write_text(_AGENT.format(tokens=table, first=wrong[0], second=wrong[1]))
        Path("dyno.yaml").write_text(_WORKSPACE)
        cases = [f"      - {{id: {name}, input: {name}, target: 'yes'}}" for name in names]
        head = (
            f"name: known\nbenchmarks:\n  - name: b0\n    epochs: {SHAPE.epochs}\n    scorer: exact\n    dataset:\n"
        )
        Path("suite.yaml").write_text(head + "\n".join(cases) + "\n")
        run = evaluate("suite.yaml", ["agent@1", "agent@2"], store="sqlite:///dyno.db", output_dir="results")
        with Store.open("sqlite:///dyno.db") as store:
            (row,) = Changing(store, now_ms=run.finished_at).changes().rows
    sides = [
        Answers(3.0 * side, np.zeros(SHAPE.cases), {"cost_usd": used / 1e6})
        for side, used in zip((before, after), spent, strict=True)
    ]
    found = judge_change(make_record("agent@1", sides[0], SHAPE), make_record("agent@2", sides[1], SHAPE))
    told = {item.metric: item for item in found.rows}
    rows = [
        [name, _p(stored.p_value), _p(told[name].p_value), str(stored.verdict), str(told[name].verdict)]
        for name, stored in (("accuracy", row.accuracy), ("cost", row.cost))
        if stored is not None
    ]
    equal = all(line[1] == line[2] and line[3] == line[4] for line in rows)
    notes = [f"goal: the same to the last digit shown: {met(equal and len(rows) == 2)}"]
    header = ["row", "p, dyno changes", "p, function", "verdict, dyno changes", "verdict, function"]
    print_table("The same versions through a run, a store and dyno changes", header, rows, notes)


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.12g}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400, help="of each class and kind of agent (default 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few pairs: shows that it works")
    options = parser.parse_args(arguments)
    pairs = 20 if options.quick else options.pairs
    print_heading()
    print_unchanged(pairs, options.seed)
    print_accuracy(print_changed(pairs, options.seed))
    print_end_to_end(options.seed)


if __name__ == "__main__":
    main()
