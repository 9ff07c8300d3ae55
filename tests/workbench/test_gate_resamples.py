"""The gate on stored samples: a version held against itself passes, a worse one does not."""

from __future__ import annotations

import random
from collections.abc import Sequence

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.gate.model import GatePolicy, GateVerdict
from agentdyno.findings.record.judge import record_of
from agentdyno.model import RunResult, Sample
from agentdyno.model.record import AgentRecord

from ..suites import Room

AGENT = """
import random

CHANCE = random.Random(3)

def steady(case):
    return case.target if CHANCE.random() < 0.25 + 0.7 * (int(case.id) % 8) / 7 else "no"

def worse(case):
    return case.target if CHANCE.random() < 0.05 + 0.6 * (int(case.id) % 8) / 7 else "no"
"""
PAIRS = 200


def drawn(result: RunResult, name: str, rng: random.Random) -> AgentRecord:
    """What the agent did, the executions of each case drawn with replacement from the stored ones."""
    arm = next(arm for arm in result.arms if (arm.agent or "").startswith(f"{name}@"))
    cases: dict[str, list[Sample]] = {}
    for sample in arm.samples:
        cases.setdefault(sample.case_id, []).append(sample)
    again: Sequence[Sample] = [item for own in cases.values() for item in rng.choices(own, k=len(own))]
    assert result.suite is not None
    figures = {arm.arm_id: ArmFigures.of(result.suite.benchmark(arm.benchmark or ""), again)}
    return record_of(result, figures, arm.agent or "")


def verdicts(result: RunResult, baseline: str, candidate: str, pairs: int) -> dict[GateVerdict, int]:
    rng = random.Random(5)
    counts = dict.fromkeys(GateVerdict, 0)
    for _ in range(pairs):
        report = judge_gate(drawn(result, baseline, rng), drawn(result, candidate, rng), GatePolicy())
        counts[report.verdict] += 1
    return counts


def test_of_200_resamples_of_one_version_against_itself_at_most_two_block(room: Room) -> None:
    (room.folder / "agent.py").write_text(AGENT)
    rows = [{"id": str(number), "input": str(number), "target": "yes"} for number in range(64)]
    result = room.store.runs.load(
        room.run(room.suite(dataset={"cases": rows}, epochs=5), "agent.py@steady", "agent.py@worse").run_id
    )
    assert verdicts(result, "steady", "steady", PAIRS)[GateVerdict.BLOCK] <= 2
    assert verdicts(result, "steady", "worse", 30)[GateVerdict.BLOCK] >= 28
