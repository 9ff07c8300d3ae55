"""How often the gate blocks a version held against itself, and how surely it stops a worse one.

A run of the comprehensive suite is made (or ``--store URL --run RUN`` names one). Its stored samples are drawn again
twice, epoch by epoch with replacement, as if the same version had been measured two more times; 200 such pairs go
through the gate. Then every worse version of the same agent in the run goes through it 200 times as well.
Before that come the figures of a pass rate that is required of every case (``gate_requirement.py``).

    python benchmarks/gate.py                  rule agents
    python benchmarks/gate.py --model local    the bundled language model too (several minutes)
    python benchmarks/gate.py --only requirement
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.gate.model import GateVerdict
from agentdyno.findings.record.judge import record_of
from agentdyno.model import RunResult, Sample
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE as SUITE_KIND
from agentdyno.runs.kinds import kind_named
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.specs import load_suite, load_workspace
from agentdyno.store import Store
from agentdyno.workbench.listing import find_workload

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.gate_requirement import report

SUITE = "workload:comprehensive/comprehensive"
RULES = ("rules@1", "rules")
MODELS = ("smollm2-tools@1", "smollm2-tools")


def main() -> int:
    options = _options()
    met = options.only == "resampled" or report(options.checks, options.draws, options.seed)
    if options.only == "requirement":
        return 0 if met else 1
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(options.store or Path(folder) / "dyno.db", must_exist=bool(options.store)) as store,
    ):
        run_id = store.runs.find(options.run) if options.run else _run(store, Path(folder), options.model).run_id
        result = store.runs.load(run_id)
    agents = list(dict.fromkeys(arm.agent for arm in result.arms if arm.agent))
    print(f"{'version':28} {'against':28} {'block':>6} {'incon.':>7} {'warn':>6} {'pass':>6}   of {options.pairs}")
    worst = 0
    for agent in agents:
        counts = judged(result, agent, agent, options.pairs, options.seed)
        worst = max(worst, counts[GateVerdict.BLOCK])
        _row(agent, "itself", counts)
    for agent in agents:
        for other in agents:
            if agent != other and agent.rpartition("@")[0] == other.rpartition("@")[0]:
                _row(agent, other, judged(result, other, agent, options.pairs, options.seed))
    print(f"goal: at most 2 of 200 block against themselves; worst seen {worst} of {options.pairs}")
    return 0 if met and worst <= options.pairs // 100 else 1


def judged(result: RunResult, baseline: str, candidate: str, pairs: int, seed: int) -> dict[GateVerdict, int]:
    """Verdicts of ``candidate`` against ``baseline``, both drawn again from their stored samples."""
    rng = random.Random(seed)
    counts = dict.fromkeys(GateVerdict, 0)
    for _ in range(pairs):
        report = judge_gate(drawn(result, baseline, rng), drawn(result, candidate, rng), GatePolicy())
        counts[report.verdict] += 1
    return counts


def drawn(result: RunResult, agent: str, rng: random.Random) -> AgentRecord:
    """The agent's record, the executions of each case drawn with replacement."""
    assert result.suite is not None
    figures = {}
    for arm in result.arms:
        if arm.agent == agent:
            again = _again(arm.samples, rng)
            figures[arm.arm_id] = ArmFigures.of(result.suite.benchmark(arm.benchmark or ""), again)
    return record_of(result, figures, agent)


def _again(samples: Sequence[Sample], rng: random.Random) -> list[Sample]:
    cases: dict[str, list[Sample]] = {}
    for sample in samples:
        cases.setdefault(sample.case_id, []).append(sample)
    return [sample for own in cases.values() for sample in rng.choices(own, k=len(own))]


def _run(store: Store, folder: Path, model: str) -> RunResult:
    loaded = load_suite(find_workload(SUITE))
    agents = RULES + (MODELS if model == "local" else ())
    tools = Tools(store, folder / "runs", load_workspace(folder), choices=Choices(agents))
    kind = kind_named(SUITE_KIND)
    with kind.prepare(suite_request(loaded), tools) as prepared:
        print(f"running {prepared.announced.calls:,} calls ...", file=sys.stderr)
        return start(kind, prepared, tools)


def _row(agent: str, against: str, counts: dict[GateVerdict, int]) -> None:
    order = (GateVerdict.BLOCK, GateVerdict.INCONCLUSIVE, GateVerdict.WARN, GateVerdict.PASS)
    numbers = [counts[verdict] for verdict in order]
    print(f"{agent:28} {against:28} {numbers[0]:6} {numbers[1]:7} {numbers[2]:6} {numbers[3]:6}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--only", choices=("", "requirement", "resampled"), default="")
    parser.add_argument("--checks", type=int, default=2_000, help="of the requirement")
    parser.add_argument("--draws", type=int, default=100_000, help="of a single case under the requirement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", choices=("none", "local"), default="none")
    parser.add_argument("--store", help="URL or path of a store with a run of a suite")
    parser.add_argument("--run", help="the run in that store")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
