"""What people say of answers, from a file, and to which answers of a run it belongs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.calibration.model import GradedAnswer
from agentdyno.model.sample import AnswerMark
from agentdyno.specs.dataset.files import read_rows
from agentdyno.specs.files.problems import FileProblem, shorten, spec_error

COLUMNS = {
    "label": ("label", "human", "mark", "verdict", "right", "correct", "pass"),
    "case": ("case", "case_id", "id"),
    "benchmark": ("benchmark",),
    "agent": ("agent",),
    "epoch": ("epoch", "iteration"),
    "who": ("who", "person", "rater", "annotator", "by"),
    "answer": ("answer", "output", "response"),
    "grade": ("grade", "judge"),
}
"""Usual names of columns, by what they mean."""
_RIGHT = ("right", "pass", "passed", "yes", "true", "correct", "good", "ok", "y", "1")
_WRONG = ("wrong", "fail", "failed", "no", "false", "incorrect", "bad", "n", "0")
SOMEBODY = "somebody"
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Label:
    """``value`` is 0..1, ``None`` where nobody has judged the answer yet. What is "" or ``None`` was not said."""

    place: str
    case_id: str
    value: float | None
    who: str = SOMEBODY
    benchmark: str = ""
    agent: str = ""
    epoch: int | None = None
    answer: str = ""
    grade: float | None = None


def read_labels(path: Path) -> tuple[Label, ...]:
    """The labels of a CSV, TSV, JSONL, JSON or YAML file; raises one ``SpecError`` that names every wrong row."""
    where = str(path)
    rows = read_rows(path, where, of="labels", remedy="`dyno judge sheet` writes a file to fill.")
    names = dict.fromkeys(str(key) for row in rows if isinstance(row.value, Mapping) for key in row.value)
    columns = {
        field: next((name for word in usual for name in names if name.strip().lower() == word), "")
        for field, usual in COLUMNS.items()
    }
    for field in ("label", "case"):
        if not columns[field]:
            raise SpecError(
                f"expected a column {field}, there are {', '.join(names) or 'none'}",
                where=where,
                remedy=f"Name it one of: {', '.join(COLUMNS[field])}. `dyno judge sheet` writes such a file.",
            )
    problems: list[FileProblem] = []
    labels: list[Label] = []
    for row in rows:
        value = row.value if isinstance(row.value, Mapping) else {}
        given = {field: value.get(name) if name else None for field, name in columns.items()}
        try:
            labels.append(_label(row.place, given))
        except ValueError as error:
            problems.append(FileProblem(row.place, str(error), "Write right or wrong, 1 or 0, or leave it empty."))
    if problems:
        raise spec_error(where, problems[:_MOST_PROBLEMS])
    return tuple(labels)


def _label(place: str, given: Mapping[str, object]) -> Label:
    text = {field: "" if value is None else str(value).strip() for field, value in given.items()}
    if not text["case"]:
        raise ValueError("expected the id of a case, got nothing")
    epoch = text["epoch"]
    if epoch and not epoch.isdigit():
        raise ValueError(f"expected a whole number as epoch, got {shorten(repr(epoch))}")
    return Label(
        place,
        text["case"],
        _value(text["label"], "label"),
        text["who"] or SOMEBODY,
        text["benchmark"],
        text["agent"],
        int(epoch) if epoch else None,
        text["answer"],
        _value(text["grade"], "grade"),
    )


def _value(text: str, name: str) -> float | None:
    word = text.lower()
    if not word:
        return None
    if word in _RIGHT or word in _WRONG:
        return float(word in _RIGHT)
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        number = -1.0
    if 0.0 <= number <= 1.0:
        return number
    raise ValueError(f"expected a {name} such as right, wrong or a number in 0..1, got {shorten(repr(text))}")


def labels_of_marks(marks: Sequence[AnswerMark]) -> tuple[Label, ...]:
    """What people marked in the store."""
    return tuple(
        Label(
            f"mark of {mark.who}",
            mark.case_id,
            float(mark.is_right),
            mark.who,
            mark.benchmark,
            mark.agent,
            mark.iteration,
        )
        for mark in marks
    )


def graded_in_file(labels: Sequence[Label]) -> list[GradedAnswer]:
    """Answers of a file that has the judge's grades itself; rows of one answer by several people are one answer."""
    found: dict[tuple[str, str, str, int], GradedAnswer] = {}
    for label in labels:
        if label.grade is None:
            raise SpecError("has no grade of the judge", where=label.place, remedy="Fill the column grade.")
        key = (label.benchmark, label.case_id, label.agent, label.epoch or 0)
        tokens = len(label.answer) / 4.0
        before = found.get(key) or GradedAnswer(*key, label.grade, {}, tokens)
        said = before.labels if label.value is None else {**before.labels, label.who: label.value}
        found[key] = GradedAnswer(*key, label.grade, said, tokens)
    return list(found.values())


def place_label(label: Label, answers: Mapping[str, Sequence[tuple[GradedAnswer, str]]]) -> GradedAnswer:
    """The answer of a run that a label is of; ``answers`` gives by case those that were graded, with their texts.

    Where a label names no epoch it is of the answer that it quotes, else of the first one. Raises ``SpecError``.
    """
    fitting = [
        (answer, text)
        for answer, text in answers.get(label.case_id, ())
        if label.benchmark in ("", answer.benchmark)
        and (label.agent in ("", answer.agent) or label.agent == answer.agent.rpartition("@")[0])
        and label.epoch in (None, answer.iteration)
    ]
    quoted = [pair for pair in fitting if label.answer and pair[1].strip() == label.answer]
    fitting = quoted or fitting
    agents = {answer.agent for answer, _ in fitting}
    if not fitting:
        raise SpecError(
            f"no graded answer to case {shorten(repr(label.case_id))} fits",
            where=label.place,
            remedy=nearest(label.case_id, answers) if label.case_id not in answers else "Check agent and epoch.",
        )
    if len(agents) > 1:
        told = f"{len(agents)} agents answered {shorten(label.case_id)}: {', '.join(sorted(agents))}"
        raise SpecError(told, where=label.place, remedy="Say which in a column agent.")
    return min((answer for answer, _ in fitting), key=lambda answer: answer.iteration)
