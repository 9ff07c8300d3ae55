"""From a run that a model judged and a file of labels to a calibration."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.calibration.ask import calibrate_run, judges_of_run, keep_calibrations, known_calibrations
from agentdyno.findings.calibration.ask_gate import doubt_of_judges
from agentdyno.findings.calibration.ask_labels import graded_in_file, labels_of_marks, read_labels
from agentdyno.findings.calibration.ask_sheet import write_marks, write_sheet
from agentdyno.findings.calibration.tables import marks_table
from agentdyno.findings.record.ask import Records
from agentdyno.model import RunResult, Workspace
from agentdyno.model.codec import encode
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.sample import AnswerMark
from agentdyno.workbench.rescore import rescore

from ...suites import Room

JUDGE = """
def judge(text):
    answer = text.split("ANSWER-")[2].splitlines()[1]
    return "GRADE: " + ("PASS" if answer.startswith("right") or answer.endswith("7") else "FAIL")
"""
AGENT = """
def answer(text):
    number = int(text)
    return f"right {number}" if number % 3 else f"wrong {number}"
"""


@pytest.fixture
def judged(room: Room) -> RunResult:
    (room.folder / "judge.py").write_text(JUDGE)
    (room.folder / "agent.py").write_text(AGENT)
    rows = [{"id": f"c{i}", "input": str(i), "target": "right"} for i in range(40)]
    scorer = {"name": "model_graded", "agent": "judge.py@judge", "rubric": "Is it right?", "repeats": 3}
    suite = room.suite(dataset={"cases": rows}, scorer=scorer)
    return room.run(suite, "agent.py@answer")


def labels_for(room: Room, run: RunResult, size: int = 30) -> Path:
    """A sheet filled by somebody who knows the truth."""
    write_sheet(room.store, run.run_id, room.folder / "sheet.csv", size, seed=1)
    with (room.folder / "sheet.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert all(not row["label"] for row in rows)
    for row in rows:
        row.update(label="right" if row["answer"].startswith("right") else "wrong", who="ada")
    path = room.folder / "labels.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_run_is_held_against_a_filled_sheet_and_its_calibration_is_kept(room: Room, judged: RunResult) -> None:
    (found,) = calibrate_run(room.store, judged.run_id, read_labels(labels_for(room, judged)), 5)
    assert (found.answers, found.labelled, found.people) == (40, 30, ("ada",))
    assert found.kappa is not None
    assert found.kappa > 0.6
    assert found.confusion["pass/fail"] == 0
    assert found.biases[2].name == "position"
    assert found.biases[2].value == pytest.approx(0.0, abs=1e-12)
    keep_calibrations(room.store, [found])
    judge = judges_of_run(room.store, room.store.runs.load(judged.run_id, samples=False))
    assert list(judge) == [found.identity.fingerprint]
    assert known_calibrations(room.store) == {found.identity.fingerprint: found}
    file = room.folder / "calibration.json"
    file.write_text(encode([found]))
    assert known_calibrations(None, [file]) == {found.identity.fingerprint: found}


def test_marks_of_the_store_are_labels_and_go_out_as_a_file_that_is_one(room: Room, judged: RunResult) -> None:
    agent = judged.arms[0].agent or ""
    benchmark = judged.arms[0].benchmark or ""
    marks = [
        AnswerMark(judged.run_id, benchmark, f"c{i}", agent, 0, "bob", 1, is_right=bool(i % 3), note="=1+1")
        for i in range(25)
    ]
    for mark in marks:
        room.store.judging.mark(mark)
    stored = room.store.judging.marks(judged.run_id)
    (found,) = calibrate_run(room.store, judged.run_id, labels_of_marks(stored), 5)
    assert (found.labelled, found.people) == (25, ("bob",))
    file = room.folder / "marks.csv"
    assert write_marks(stored, file) == 25
    assert "'=1+1" in file.read_text()
    (again,) = calibrate_run(room.store, judged.run_id, read_labels(file), 5)
    assert again == found


def test_marks_are_listed_by_epoch_as_pages_count_them() -> None:
    mark = AnswerMark("run", "sums", "c1", "a@1", 0, "bob", 1, is_right=True)
    table = marks_table([mark])
    epoch = [column.header for column in table.columns].index("epoch")
    assert table.rows[0][epoch].text == "1"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("case,label\nc99,right\n", "no graded answer to case 'c99' fits"),
        ("case,label\nc1,maybe\n", "expected a label such as right, wrong or a number in 0..1, got 'maybe'"),
        ("case,label,epoch\nc1,right,first\n", "expected a whole number as epoch"),
        ("question,label\nc1,right\n", "expected a column case, there are question, label"),
        ("case,label\nc1,\n", "nobody has labelled an answer"),
    ],
)
def test_labels_that_fit_nothing_are_refused(room: Room, judged: RunResult, text: str, told: str) -> None:
    path = room.folder / "bad.csv"
    path.write_text(text)
    with pytest.raises(SpecError, match=told.replace("(", r"\(")):
        calibrate_run(room.store, judged.run_id, read_labels(path), 5)


def test_a_run_without_a_judge_says_how_to_get_one(room: Room) -> None:
    plain = room.run(room.suite(), "agent.py@good")
    with pytest.raises(SpecError, match="no answer of it was graded by a model"):
        write_sheet(room.store, plain.run_id, room.folder / "x.csv", 10, 1)


def test_a_file_with_grades_needs_no_run(tmp_path: Path) -> None:
    path = tmp_path / "graded.csv"
    path.write_text("case;grade;label;who\na;0,9;yes;x\na;0,9;no;y\nb;fail;wrong;x\nc;1;;\n", encoding="utf-8")
    answers = graded_in_file(read_labels(path))
    assert [(item.case_id, item.grade, dict(item.labels)) for item in answers] == [
        ("a", 0.9, {"x": 1.0, "y": 0.0}),
        ("b", 0.0, {"x": 0.0}),
        ("c", 1.0, {}),
    ]


def test_a_judge_may_block_while_its_calibration_stands_and_one_changed_byte_ends_that(
    room: Room, judged: RunResult
) -> None:
    def doubt(run: RunResult, policy: GatePolicy = DEFAULT_POLICY) -> str:
        header = room.store.runs.load(run.run_id, samples=False)
        (record,) = Records(room.store).of_run(judged.run_id)
        return doubt_of_judges(room.store, [header], record, policy, room.folder)

    assert "it is not calibrated" in doubt(judged)
    assert doubt(judged, GatePolicy(uncalibrated="allow")) == ""
    found = calibrate_run(room.store, judged.run_id, read_labels(labels_for(room, judged)), 5)
    (room.folder / "calibration.json").write_text(encode(found))
    assert doubt(judged, GatePolicy(calibrations=("calibration.json",))) == ""
    keep_calibrations(room.store, found)
    assert doubt(judged) == ""
    assert "below the floor of 0.99" in doubt(judged, GatePolicy(judge_floor=0.99))
    (room.folder / "judge.py").write_text(JUDGE + "#")
    again = rescore(room.store, judged.run_id, Workspace()).result
    assert "it is not calibrated, or judge, prompt or rubric have changed since" in doubt(again)
    with pytest.raises(SpecError, match="no calibrations can be read"):
        doubt(judged, GatePolicy(calibrations=("missing.json",)))


@pytest.mark.parametrize("text", ["", "case,label\n"])
def test_a_file_without_labels_says_what_writes_one(text: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="the file holds no labels") as caught:
        read_labels(tmp_path / "labels.csv")
    assert "dyno judge sheet" in (caught.value.remedy or "")
