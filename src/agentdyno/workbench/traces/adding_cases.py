"""Cases out of what happened: of a run of the store, or of a file of traces, written to a suite's data set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.profile.ask import named_case
from agentdyno.importers.document import printable, read_text_document
from agentdyno.importers.evals.otlp import case_of, traces_of
from agentdyno.model import Case, Phase, RunResult
from agentdyno.model.codec import to_plain
from agentdyno.model.sample import AnswerMark
from agentdyno.servers.otlp.document import read_documents
from agentdyno.servers.otlp.protobuf import BadTrace
from agentdyno.servers.otlp.secrets import hide_secrets
from agentdyno.store import Store
from agentdyno.workbench.traces.cases_place import CasesPlace, find_cases

_SUITE = "name: {name}\ndataset: {cases}\nscoring_rubric: exact\n"


@dataclass(frozen=True, slots=True)
class AddedCase:
    """A case that was written, and the file it went to; ``made_suite`` where that was not there before."""

    case: Case
    file: Path
    made_suite: bool = False


def case_from_run(store: Store, reference: str, case_id: str) -> Case:
    """A case of a stored run with where it comes from and what people said of its answers; what looks secret in it is
    hidden. A case without a target gets the answer that people marked right."""
    header = store.runs.load(store.runs.find(reference), samples=False)
    benchmark, own = named_case(header, case_id, None)
    found = next(
        case
        for item in (header.suite.benchmarks if header.suite is not None else ())
        if item.benchmark_id == benchmark
        for case in item.cases
        if case.id == own
    )
    provenance: dict[str, object] = {"run": header.run_id, "benchmark": benchmark, "case": own, **header.origin}
    marks = [mark for mark in store.judging.marks(header.run_id, own) if mark.benchmark == benchmark]
    if marks:
        provenance["marks"] = [_said(mark) for mark in marks]
    target = found.target if found.target is not None else _answer_marked_right(store, header, marks)
    kept = {"provenance": provenance, **found.metadata}
    return Case(found.id, hide_secrets(found.input), hide_secrets(target), _object(hide_secrets(kept)), found.group)


def _said(mark: AnswerMark) -> dict[str, object]:
    told = {"right": mark.is_right, "who": mark.who, "at": mark.at, "agent": mark.agent, "epoch": mark.iteration}
    return {**told, "note": mark.note} if mark.note else told


def _answer_marked_right(store: Store, header: RunResult, marks: Sequence[AnswerMark]) -> object:
    """The answer that people call right and nobody wrong, the one with most marks; ``None`` where there is none."""
    votes: dict[tuple[str, int], list[bool]] = {}
    for mark in marks:
        votes.setdefault((mark.agent, mark.iteration), []).append(mark.is_right)
    right = {answer: len(said) for answer, said in votes.items() if all(said)}
    if not right:
        return None
    agent, iteration = max(right, key=lambda answer: right[answer])
    arms = {arm.arm_id: arm for arm in header.arms}
    for sample in store.runs.find_samples(header.run_id, marks[0].case_id):
        arm = arms[sample.arm_id]
        same = (arm.agent, sample.iteration) == (agent, iteration) and sample.phase is Phase.MEASURED
        if same and arm.benchmark == marks[0].benchmark and not sample.instrument:
            return sample.output
    return None


def case_from_traces(file: Path, case_id: str) -> Case:
    """A trace of a file, by its id or a unique beginning of it."""
    text, _ = read_text_document(file)
    try:
        traces = traces_of(read_documents(text))
    except BadTrace as error:
        raise SpecError(f"no OTLP traces: {error}", where=str(file), remedy="Give a run, or OTLP/JSON.") from None
    found = [trace for trace in traces if trace == case_id] or [
        trace for trace in traces if trace.lstrip("0").startswith(case_id.lower().lstrip("0")) and case_id.strip("0")
    ]
    if len(found) != 1:
        problem = f"{len(found)} traces begin with {case_id!r}" if found else f"there is no trace {case_id!r}"
        raise SpecError(problem, where=str(file), remedy=nearest(case_id, list(traces)))
    return case_of(found[0], traces[found[0]], printable(file.name))


def add_case(case: Case, suite: Path, benchmark: str | None = None) -> AddedCase:
    """Appends a case to the data set of a suite, or of one of its benchmarks: to the list in the suite's own file, or
    to the file of cases that it names. A suite that is not there yet is begun, with a file of cases."""
    made = not suite.exists()
    place = CasesPlace(suite.with_name(f"{suite.stem}-cases.jsonl")) if made else find_cases(suite, benchmark)
    if case.id in place.known_ids():
        raise SpecError(
            f"there is a case {case.id!r} already", where=str(place.file), remedy="Give it another id with --as."
        )
    row = {"id": case.id, "input": case.input, "target": case.target, "metadata": case.metadata, "group": case.group}
    kept = {name: value for name, value in row.items() if value not in (None, {}, "") or name in ("id", "input")}
    if made:
        text = _SUITE.format(name=json.dumps(suite.stem), cases=json.dumps(place.file.name))
        suite.write_text(text, encoding="utf-8")
    place.append(_object(to_plain(kept)))
    return AddedCase(case, place.file, made)


def _object(value: object) -> dict[str, object]:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}
