"""A calibration as tables."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.calibration.model import JudgeCalibration, JudgedRate
from agentdyno.findings.calibration.words import bias_words, kappa_words, lead_words
from agentdyno.model.sample import AnswerMark
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, when


def calibration_tables(found: JudgeCalibration) -> tuple[Table, ...]:
    """Agreement, biases, and the pass rates that follow."""
    return _agreement(found), _biases(found), _rates(found)


def calibrations_table(found: Sequence[JudgeCalibration]) -> Table:
    """One row a judge."""
    columns = (
        Column("judge", heading=True),
        Column("hash", priority=1),
        Column("suite"),
        Column("labelled", Align.RIGHT),
        Column("kappa (95 %)", wrap=True),
        Column("biases found", wrap=True),
        Column("made", priority=1),
    )
    rows = tuple(
        (
            Cell(item.identity.judge),
            Cell(item.identity.fingerprint[:12], Tone.MUTED),
            Cell(item.identity.suite_id),
            Cell(f"{item.labelled:,} of {item.answers:,}"),
            Cell(kappa_words(item).removeprefix("kappa ")),
            Cell(", ".join(bias.name for bias in item.biases if bias.found) or NOTHING),
            Cell(when(item.made_at)),
        )
        for item in found
    )
    return Table("Judges that were held against people", columns, rows)


def marks_table(marks: Sequence[AnswerMark]) -> Table:
    """One row a mark."""
    columns = (
        Column("case", heading=True),
        Column("agent"),
        Column("epoch", Align.RIGHT, priority=1),
        Column("mark"),
        Column("who"),
        Column("when", priority=1),
        Column("note", wrap=True),
    )
    rows = tuple(
        (
            Cell(mark.case_id),
            Cell(mark.agent),
            Cell(f"{mark.iteration + 1}"),
            Cell("right", Tone.GOOD) if mark.is_right else Cell("wrong", Tone.BAD),
            Cell(mark.who),
            Cell(when(mark.at)),
            Cell(mark.note),
        )
        for mark in marks
    )
    return Table("Marks of people", columns, rows)


def _agreement(found: JudgeCalibration) -> Table:
    columns = (Column("people say"), Column("judge: pass", Align.RIGHT), Column("judge: fail", Align.RIGHT))
    rows = tuple(
        (
            Cell(said),
            Cell(f"{found.confusion[f'{said}/pass']:,}", Tone.BAD if said == "fail" else Tone.PLAIN),
            Cell(f"{found.confusion[f'{said}/fail']:,}", Tone.BAD if said == "pass" else Tone.PLAIN),
        )
        for said in ("pass", "fail")
    )
    notes = [lead_words(found)]
    if found.alpha is not None and found.alpha_interval is not None:
        low, high = found.alpha_interval
        notes.append(f"Krippendorff's alpha, people and judge: {found.alpha:.2f} (95 %: {low:.2f} to {high:.2f}).")
    if found.people_alpha is not None:
        notes.append(f"Krippendorff's alpha, people alone: {found.people_alpha:.2f}.")
    if found.tied:
        notes.append(f"{found.tied:,} answers on which people are divided are left out of kappa.")
    return Table(f"Judge {found.identity.fingerprint[:12]}", columns, rows, tuple(notes))


def _biases(found: JudgeCalibration) -> Table:
    columns = (Column("bias"), Column("what it does to the grade, people's verdict being equal", wrap=True))
    tones = {True: Tone.BAD, False: Tone.GOOD, None: Tone.MUTED}
    rows = tuple((Cell(item.name), Cell(bias_words(item), tones[item.found])) for item in found.biases)
    return Table("Biases", columns, rows)


def _rates(found: JudgeCalibration) -> Table:
    columns = (
        Column("agent", heading=True),
        Column("answers", Align.RIGHT),
        Column("labelled", Align.RIGHT),
        Column("judge says", Align.RIGHT),
        Column("corrected (95 %)", Align.RIGHT),
    )
    rows = tuple(
        (
            Cell(item.agent or "all"),
            Cell(f"{item.answers:,}"),
            Cell(f"{item.labelled:,}"),
            Cell(f"{100 * item.graded:.1f} %"),
            _corrected(item),
        )
        for item in found.rates
    )
    notes = [f"{item.agent or 'all'}: {item.reason}." for item in found.rates if item.reason]
    return Table("Pass rate", columns, rows, tuple(notes))


def _corrected(item: JudgedRate) -> Cell:
    if item.rate is None or item.interval is None:
        return Cell(NOTHING, Tone.MUTED)
    low, high = item.interval
    return Cell(f"{100 * item.rate:.1f} % ({100 * low:.1f} to {100 * high:.1f})")
