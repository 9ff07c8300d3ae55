"""From graded answers and what people say of some of them to a calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from agentdyno.findings.calibration.judge_biases import find_biases
from agentdyno.findings.calibration.model import GradedAnswer, JudgeCalibration, JudgedRate, JudgeIdentity, Range
from agentdyno.settings.judging import LEAST_LABELS
from agentdyno.stats.effects import Estimate
from agentdyno.stats.raters.agreement import cohens_kappa, confusion, krippendorff_alpha
from agentdyno.stats.raters.prediction_powered import corrected_rate

PASS, FAIL = "pass", "fail"


def calibrate_judge(answers: Sequence[GradedAnswer], identity: JudgeIdentity, made_at: int = 0) -> JudgeCalibration:
    """The judge ``identity`` held against the people who labelled some of ``answers``."""
    labelled = [answer for answer in answers if answer.labels]
    people = tuple(sorted({who for answer in labelled for who in answer.labels}))
    decided = [answer for answer in labelled if people_say(answer) != 0.5]
    threshold = identity.pass_threshold
    said = [_word(people_say(answer) > 0.5) for answer in decided]
    graded = [_word(answer.grade >= threshold) for answer in decided]
    kappa = cohens_kappa(said, graded, clusters_of(decided)) if decided else None
    rows = [[answer.labels.get(who) for who in people] for answer in labelled]
    binary = [[None if value is None else float(value > 0.5) for value in row] for row in rows]
    judged = [[*row, float(a.grade >= threshold)] for row, a in zip(binary, labelled, strict=True)]
    alpha = krippendorff_alpha(judged)
    alone = krippendorff_alpha(binary) if len(people) > 1 else None
    agents = sorted({answer.agent for answer in answers})
    return JudgeCalibration(
        identity=identity,
        made_at=made_at,
        people=people,
        answers=len(answers),
        labelled=len(labelled),
        tied=len(labelled) - len(decided),
        agreement=sum(a == b for a, b in zip(said, graded, strict=True)) / len(said) if said else None,
        kappa=None if kappa is None else kappa.point,
        kappa_interval=_range(kappa),
        alpha=None if alpha is None else alpha.point,
        alpha_interval=_range(alpha),
        people_alpha=None if alone is None else alone.point,
        confusion=_confusion(said, graded),
        biases=find_biases(answers),
        rates=tuple(
            _rate(name, [answer for answer in answers if name in ("", answer.agent)], threshold)
            for name in (["", *agents] if len(agents) > 1 else agents)
        ),
    )


def people_say(answer: GradedAnswer) -> float:
    """The mean of what people say of an answer."""
    return math.fsum(answer.labels.values()) / len(answer.labels)


def clusters_of(answers: Sequence[GradedAnswer]) -> list[str] | None:
    """Which answers are to one question; ``None`` where each is to its own."""
    questions = [answer.question for answer in answers]
    return questions if len(set(questions)) < len(questions) else None


def why_not_trusted(found: JudgeCalibration | None, floor: float) -> str:
    """Why a judge's verdicts may not block, "" where they may: it is calibrated, and its kappa reaches the floor."""
    if found is None:
        return "it is not calibrated, or judge, prompt or rubric have changed since"
    if found.labelled < LEAST_LABELS:
        return f"its calibration rests on {found.labelled} labelled answers, {LEAST_LABELS} are needed"
    if found.kappa is None:
        return "its calibration says nothing: people or judge gave one grade throughout"
    if round(found.kappa, 2) < floor:  # as it is shown
        return f"it agrees with people at kappa {found.kappa:.2f}, below the floor of {floor:g}"
    return ""


def _rate(agent: str, answers: Sequence[GradedAnswer], threshold: float) -> JudgedRate:
    labelled = [answer for answer in answers if answer.labels]
    others = [answer for answer in answers if not answer.labels]
    graded = float(np.mean([answer.grade >= threshold for answer in answers]))
    if len(labelled) < LEAST_LABELS:
        reason = f"{len(labelled)} labelled answers are too few to correct it, {LEAST_LABELS} are needed"
        return JudgedRate(agent, len(answers), len(labelled), graded, reason=reason)
    ordered = [*labelled, *others]
    found = corrected_rate(
        [people_say(answer) for answer in labelled],
        [float(answer.grade >= threshold) for answer in labelled],
        [float(answer.grade >= threshold) for answer in others],
        clusters_of(ordered),
    )
    interval = (found.interval.low, found.interval.high)
    return JudgedRate(agent, len(answers), len(labelled), graded, found.rate, interval)


def _confusion(people: Sequence[str], judge: Sequence[str]) -> Mapping[str, int]:
    counts = confusion(people, judge) if people else {}
    return {f"{a}/{b}": counts.get((a, b), 0) for a in (PASS, FAIL) for b in (PASS, FAIL)}


def _word(passed: bool) -> str:
    return PASS if passed else FAIL


def _range(found: Estimate | None) -> Range | None:
    return None if found is None else (found.interval.low, found.interval.high)
