"""A judge held against people: agreement, biases, and the pass rate behind its grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.settings.judging import PASS_THRESHOLD

Range = tuple[float, float]
"""A 95 % interval."""


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One answer that a judge graded. ``grade`` is 0..1, ``labels`` what people say of it by who (0..1).

    ``length_tokens`` counts four characters as one. ``own`` is whether the judge's own model wrote it, ``None`` where
    that is not known. ``by_order`` is the mean grade by what the judge read first, where it read both ways.
    """

    benchmark: str
    case_id: str
    agent: str
    iteration: int
    grade: float
    labels: Mapping[str, float] = field(default_factory=dict)
    length_tokens: float = 0.0
    own: bool | None = None
    by_order: Mapping[str, float] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """Answers to one question are not independent."""
        return f"{self.benchmark}/{self.case_id}"


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """What a calibration holds for: ``fingerprint`` is of judge, prompt and rubric; ``judge`` names it for people.

    ``pass_threshold`` is the grade from which an answer counts as right.
    """

    fingerprint: str
    judge: str
    suite_id: str = ""
    run_ids: tuple[str, ...] = ()
    pass_threshold: float = PASS_THRESHOLD.default


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """Something that moves the grade although people say the same of the answer. ``value`` is by how much, of 0..1,
    and ``unit`` per what. ``found``: it is beyond chance (two-sided 5 %), ``None`` where it could not be measured,
    and ``reason`` says why."""

    name: str
    unit: str
    value: float | None = None
    interval: Range | None = None
    p_value: float | None = None
    found: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedRate:
    """The pass rate of an agent ("" is all together). ``graded`` is what the judge alone says of all ``answers``,
    ``rate`` is corrected by the ``labelled`` ones, with its 95 % interval; ``None`` with too few labels."""

    agent: str
    answers: int
    labelled: int
    graded: float
    rate: float | None = None
    interval: Range | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """``kappa`` is Cohen's, of the judge against the majority of people; ``alpha`` Krippendorff's, of people and
    judge together; ``people_alpha`` of people alone. ``confusion`` counts answers by "people/judge": ``pass/fail``
    are those that people let pass and the judge does not. ``tied`` answers have as many people for as against."""

    identity: JudgeIdentity
    made_at: int
    people: tuple[str, ...]
    answers: int
    labelled: int
    tied: int
    agreement: float | None
    kappa: float | None
    kappa_interval: Range | None
    alpha: float | None
    alpha_interval: Range | None
    people_alpha: float | None
    confusion: Mapping[str, int]
    biases: tuple[JudgeBias, ...]
    rates: tuple[JudgedRate, ...]
