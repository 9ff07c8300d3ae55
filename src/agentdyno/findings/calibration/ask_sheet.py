"""Answers of a run for people to judge, and the marks that they made, as rows of a table."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.findings.calibration.ask import StoredAnswer, judged_answers
from agentdyno.model.sample import AnswerMark
from agentdyno.store import Store

SHEET = ("benchmark", "case", "agent", "epoch", "question", "reference", "answer", "label", "who", "note")
MARKS = ("run", "benchmark", "case", "agent", "epoch", "label", "who", "at", "note")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would take for a formula."""


def write_sheet(store: Store, run_id: str, file: Path, size: int, seed: int) -> int:
    """Writes at most ``size`` answers of a run that a model graded, drawn at random, for people to label; how many.

    The judge's grade is not among the columns: who sees it agrees with it.
    """
    run = store.runs.load(run_id, samples=False)
    graded = {_place(stored): stored for stored in judged_answers(store, run)}
    if not graded:
        raise SpecError(
            "no answer of it was graded by a model",
            where=f"run {run_id[:13]}",
            remedy="Judge it with model_graded: `dyno rescore RUN --scorer model_graded:agent=JUDGE`.",
        )
    chosen = random.Random(seed).sample(sorted(graded), min(size, len(graded)))
    rows = [
        [
            *(str(part) for part in place),
            *map(_harmless, (_text(graded[place].question), _text(graded[place].reference), graded[place].text)),
            "",
            "",
            "",
        ]
        for place in chosen
    ]
    _write(file, SHEET, rows)
    return len(rows)


def write_marks(marks: Sequence[AnswerMark], file: Path) -> int:
    """Writes marks as a file that ``dyno judge calibrate`` reads; how many."""
    rows = [
        [
            mark.run_id,
            mark.benchmark,
            mark.case_id,
            mark.agent,
            str(mark.iteration),
            "right" if mark.is_right else "wrong",
            mark.who,
            str(mark.at),
            _harmless(mark.note),
        ]
        for mark in marks
    ]
    _write(file, MARKS, rows)
    return len(rows)


def _place(stored: StoredAnswer) -> tuple[str, str, str, int]:
    answer = stored.answer
    return answer.benchmark, answer.case_id, answer.agent, answer.iteration


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _write(file: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with file.open("x", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


def _harmless(cell: str) -> str:
    """A text of an agent's or a person's as a text for spreadsheets, too."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
