"""What a reader should know before believing a comparison of two records."""

from __future__ import annotations

from collections.abc import Iterator

from agentdyno.findings.engine.pairing import Pairing
from agentdyno.model import RunWarning
from agentdyno.model.record import AgentRecord


def duel_cautions(pairing: Pairing) -> tuple[RunWarning, ...]:
    """Typed warnings about both sides, each with its remedy."""
    return (*_suites(pairing), *_measuring(pairing), *_judging(pairing), *_partial(pairing))


def suite_text(record: AgentRecord) -> str:
    """``facts 1.2``, with its digest where there is no version."""
    return f"{record.suite_name or record.suite_id} {record.suite_version or record.suite[:10]}".strip()


def _suites(pairing: Pairing) -> Iterator[RunWarning]:
    first, second = pairing.baseline, pairing.candidate
    common, remedy = len(pairing.keys), "Run both in one run: `dyno run SUITE --agent A --agent B`."
    if first.suite != second.suite:
        sides = [suite_text(record) for record in (first, second)]
        what = " and ".join(sides) if sides[0] != sides[1] else f"two versions of {sides[0]}"
        yield RunWarning("different-suites", f"{what}: only the {common} cases in common are compared", remedy)
    if pairing.changed:
        text = f"{pairing.changed} cases have the same id and ask something else: they are left out"
        yield RunWarning("changed-cases", text, remedy)
    if pairing.missed:
        yield RunWarning("missing-cases", f"{pairing.missed} cases were tried by one of the two only", remedy)


def _measuring(pairing: Pairing) -> Iterator[RunWarning]:
    first, second = pairing.baseline, pairing.candidate
    if first.simulated != second.simulated:
        made_up = first if first.simulated else second
        text = f"answers of {made_up.agent} come from a simulated model, those of the other do not"
        yield RunWarning("simulated", f"{text}: nothing is compared", "Run both against a real model.")
    elif first.simulated:
        text = "both sides come from a simulated model: their figures measure no real one"
        yield RunWarning("simulated", text, "Run both against a real model.")
    if not pairing.same_machine:
        text = "the two were not measured on one machine: time, CPU and memory are not compared"
        yield RunWarning("different-machines", text, "Run both on one machine to compare them.")
    if not pairing.same_run:
        text = "from separate runs, not interleaved: what changed in between looks like the agents' difference"
        yield RunWarning("separate-runs", text, "Run both in one run to compare times.")


def _judging(pairing: Pairing) -> Iterator[RunWarning]:
    sides = [
        (name, pairing.baseline.benchmark(name), pairing.candidate.benchmark(name)) for name in pairing.benchmarks
    ]
    judged = [name for name, first, second in sides if first.rubric != second.rubric]
    if judged:
        text = f"answers of {', '.join(judged)} were judged differently on the two sides: scores are not compared"
        yield RunWarning("different-rubrics", text, "`dyno rescore RUN` judges stored answers by today's rubric.")
    aimed = [name for name, first, second in sides if dict(first.targets) != dict(second.targets)]
    if aimed:
        text = f"the targets of {', '.join(aimed)} differ: both sides are scored by those of {pairing.baseline.agent}"
        yield RunWarning("different-targets", text, "Targets in the suite's rubric make scores last.")


def _partial(pairing: Pairing) -> Iterator[RunWarning]:
    for record in (pairing.baseline, pairing.candidate):
        tried = dict.fromkeys(pairing.benchmarks, 0)
        for case in record.cases:
            if case.benchmark in tried:
                tried[case.benchmark] += case.tries
        planned = sum(record.benchmark(name).planned for name in pairing.benchmarks)
        done = sum(tried.values())
        if done < planned:
            text = f"{record.agent} made {done} of {planned} planned executions"
            yield RunWarning("partial-run", text, "`dyno resume RUN` runs what is missing.")
