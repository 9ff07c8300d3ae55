"""Judges of a run held against people, calibrations of the store and of files, and which of them a run needs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.findings.calibration.ask_labels import Label, place_label
from agentdyno.findings.calibration.judge import calibrate_judge
from agentdyno.findings.calibration.model import GradedAnswer, JudgeCalibration, JudgeIdentity
from agentdyno.model import Phase, RunResult, Sample, Status, Suite
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.sample import JUDGED_BY, scoring_items
from agentdyno.settings.judging import PASS_THRESHOLD
from agentdyno.store import Store

CHARACTERS_A_TOKEN = 4.0
_JUDGED = (Status.OK, Status.FAILED)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A graded answer with what a person needs to judge it: its text, and the fingerprint and name of its judge."""

    answer: GradedAnswer
    text: str
    fingerprint: str
    judge: str
    question: object = None
    reference: object = None


def judged_answers(store: Store, run: RunResult) -> Iterator[StoredAnswer]:
    """Every answer of a run that a model graded, once for each judge of its rubric."""
    arms = {arm.arm_id: arm for arm in run.arms}
    cases = {
        (item.benchmark_id, case.id): case
        for item in (run.suite.benchmarks if run.suite else ())
        for case in item.cases
    }
    for sample in store.runs.iter_samples(run.run_id, details=True):
        if sample.phase is not Phase.MEASURED or sample.status not in _JUDGED:
            continue
        arm = arms[sample.arm_id]
        text = sample.output if isinstance(sample.output, str) else json.dumps(to_plain(sample.output))
        case = cases.get((arm.benchmark or "", sample.case_id))
        for _, item in scoring_items(sample.details):
            details, grade = item.get("details"), _grade(item)
            if not isinstance(details, Mapping) or JUDGED_BY not in details or grade is None:
                continue
            answer = GradedAnswer(
                arm.benchmark or "",
                sample.case_id,
                arm.agent or "",
                sample.iteration,
                grade,
                length_tokens=len(text) / CHARACTERS_A_TOKEN,
                own=_own(sample, details),
                by_order=_by_order(details),
            )
            yield StoredAnswer(
                answer,
                text,
                str(details[JUDGED_BY]),
                str(details.get("judge", "")),
                None if case is None else case.input,
                None if case is None else case.target,
            )


def calibrate_run(store: Store, run_id: str, labels: Sequence[Label], now_ms: int) -> list[JudgeCalibration]:
    """One calibration for each judge of a run that people have labelled answers of. Raises ``SpecError``."""
    run = store.runs.load(run_id, samples=False)
    by_judge: dict[tuple[str, str, float], list[StoredAnswer]] = defaultdict(list)
    for stored in judged_answers(store, run):
        by_judge[stored.fingerprint, stored.judge, _threshold(run.suite, stored.answer)].append(stored)
    if not by_judge:
        raise SpecError(
            "no answer of it was graded by a model",
            where=f"run {run_id[:13]}",
            remedy="Judge it with model_graded: `dyno rescore RUN --scorer model_graded:agent=JUDGE`.",
        )
    said = [label for label in labels if label.value is not None]
    if not said:
        remedy = "`dyno judge sheet RUN` writes a file to fill; answers can be marked in the dashboard, too."
        raise SpecError("nobody has labelled an answer of it", where=f"run {run_id[:13]}", remedy=remedy)
    _refuse_strays(said, [stored for group in by_judge.values() for stored in group])
    found = []
    for (fingerprint, judge, threshold), group in by_judge.items():
        answers = _labelled(group, said)
        suite_id = run.suite.suite_id if run.suite else ""
        if any(answer.labels for answer in answers):
            identity = JudgeIdentity(fingerprint, judge, suite_id, (run_id,), threshold)
            found.append(calibrate_judge(answers, identity, now_ms))
    return found


def _refuse_strays(labels: Sequence[Label], graded: Sequence[StoredAnswer]) -> None:
    """Every label has to belong to an answer: one that is silently left out makes the rest look better than it is."""
    by_case = _by_case(graded)
    for label in labels:
        place_label(label, by_case)


def _labelled(graded: Sequence[StoredAnswer], labels: Sequence[Label]) -> list[GradedAnswer]:
    by_case = _by_case(graded)
    said: dict[GradedAnswerKey, dict[str, float]] = defaultdict(dict)
    for label in labels:
        if label.case_id in by_case:
            try:
                said[_key(place_label(label, by_case))][label.who] = label.value or 0.0
            except SpecError:
                continue  # of another benchmark, whose judge is another
    return [replace(stored.answer, labels=said.get(_key(stored.answer), {})) for stored in graded]


GradedAnswerKey = tuple[str, str, str, int]


def _key(answer: GradedAnswer) -> GradedAnswerKey:
    return answer.benchmark, answer.case_id, answer.agent, answer.iteration


def _by_case(graded: Sequence[StoredAnswer]) -> dict[str, list[tuple[GradedAnswer, str]]]:
    found: dict[str, list[tuple[GradedAnswer, str]]] = defaultdict(list)
    for stored in graded:
        found[stored.answer.case_id].append((stored.answer, stored.text))
    return found


def _threshold(suite: Suite | None, answer: GradedAnswer) -> float:
    return PASS_THRESHOLD.default if suite is None else suite.benchmark(answer.benchmark).rubric.pass_threshold


def _grade(item: Mapping[str, object]) -> float | None:
    """The judge's main value: its correctness, else the mean of its grades."""
    values = item.get("values")
    if not isinstance(values, Mapping):
        return None
    known = [float(value) for value in values.values() if isinstance(value, (int, float))]
    main = values.get("correctness")
    if isinstance(main, (int, float)):
        return float(main)
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _votes(details: Mapping[str, object]) -> list[Mapping[str, object]]:
    votes = details.get("votes")
    return [vote for vote in votes if isinstance(vote, Mapping)] if isinstance(votes, (list, tuple)) else []


def _own(sample: Sample, details: Mapping[str, object]) -> bool | None:
    """Whether one of the judge's models wrote the answer; ``None`` where either does not say what it is."""
    models = {str(vote["model"]) for vote in _votes(details) if vote.get("model")}
    if isinstance(details.get("judge_model"), str):
        models.add(str(details["judge_model"]))
    author = sample.details.get("model")
    return author in models if models and isinstance(author, str) else None


def _by_order(details: Mapping[str, object]) -> dict[str, float]:
    grades: dict[str, list[float]] = defaultdict(list)
    for vote in _votes(details):
        grade = _grade(vote)
        if grade is not None:
            grades[str(vote.get("order", ""))].append(grade)
    return {order: sum(known) / len(known) for order, known in grades.items()}


def keep_calibrations(store: Store, found: Sequence[JudgeCalibration]) -> None:
    """Each in place of an older one of the same judge, prompt and rubric."""
    for item in found:
        store.judging.keep_calibration(item.identity.fingerprint, item.made_at, to_plain(item))


def known_calibrations(store: Store | None, files: Sequence[Path] = ()) -> dict[str, JudgeCalibration]:
    """By fingerprint: those of the store and of files, the newest of each. Raises ``SpecError`` for a bad file."""
    found: dict[str, JudgeCalibration] = {}
    documents = [] if store is None else list(store.judging.calibrations())
    for path in files:
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            remedy = "`dyno judge calibrate LABELS --output FILE` writes one."
            raise SpecError(f"no calibrations can be read: {error}", where=str(path), remedy=remedy) from None
        documents += read if isinstance(read, list) else [read]
    for document in documents:
        try:
            item = from_plain(JudgeCalibration, document)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise SpecError(f"is no calibration of a judge: {error}", where="calibrations") from None
        before = found.get(item.identity.fingerprint)
        if before is None or before.made_at <= item.made_at:
            found[item.identity.fingerprint] = item
    return found


def judges_of_run(store: Store, run: RunResult) -> dict[str, str]:
    """The judges whose grades count in a run's scores: fingerprint to name. Looks at one answer an arm."""
    found: dict[str, str] = {}
    for arm in run.arms:
        for sample in store.runs.iter_samples(run.run_id, arm_id=arm.arm_id, details=True):
            items = [item for _, item in scoring_items(sample.details) if item.get("weight", 1.0) != 0]
            for item in items:
                details = item.get("details")
                if isinstance(details, Mapping) and JUDGED_BY in details:
                    found[str(details[JUDGED_BY])] = str(details.get("judge", ""))
            if items:
                break
    return found
