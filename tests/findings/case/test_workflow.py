"""A workflow in the tables and pictures of a case: steps over time, what failed and what was skipped."""

from __future__ import annotations

from agentdyno.findings.case.charts_workflow import workflow_chart
from agentdyno.findings.case.judge_workflow import workflow_steps
from agentdyno.findings.case.tables_workflow import workflow
from agentdyno.model import Phase, Sample, Status
from agentdyno.show.axes import png


def _event(name: str, at_s: float, duration_s: float | None, **details: object) -> dict[str, object]:
    return {
        "kind": "step",
        "name": name,
        "content": f"run {name}",
        "at_s": at_s,
        "duration_s": duration_s,
        "details": {"parent": "workflow", "needs": [], **details},
    }


def _sample(*events: dict[str, object]) -> Sample:
    return Sample("arm", Phase.MEASURED, 0, Status.OK, 0, details={"events": list(events)})


STEPS = _sample(
    {"kind": "span", "name": "workflow", "at_s": 0.0, "details": {"span": "workflow"}},
    _event("load", 1.0, None, state="skipped"),
    _event("sort", 1.0, 3.0, state="done", critical=True, exit_code=0, files_written=["sorted.txt"]),
    _event("join", 4.0, 1.0, state="failed", needs=["sort"], critical=True, exit_code=2, why="exit status 2"),
    _event("last", 5.0, None, state="not run", needs=["join"]),
)


def test_steps_are_shown_with_their_time_state_and_files() -> None:
    table = workflow(STEPS)
    assert table is not None
    rows = [[cell.text for cell in row] for row in table.rows]
    assert [(row[0], row[1]) for row in rows] == [
        ("load", "skipped"),
        ("sort", "done"),
        ("join", "failed"),
        ("last", "not run"),
    ]
    assert rows[0][2] == "○"
    assert rows[1][2] == "━" * 18
    assert rows[2][2] == "·" * 18 + "━" * 6
    assert rows[1][8] == "wrote sorted.txt"
    assert rows[2][8] == "exit status 2"
    assert table.notes == ("The longest way through the plan (━): sort → join.",)


def test_the_graph_is_drawn() -> None:
    assert png(workflow_chart(workflow_steps(STEPS))).startswith(b"\x89PNG")


def test_what_is_no_workflow_has_no_such_table() -> None:
    assert workflow(_sample({"kind": "message", "name": "user", "content": "hi", "at_s": 0.0})) is None
