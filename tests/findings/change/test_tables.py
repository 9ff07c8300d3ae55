"""The changes and the alerts as tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from agentdyno.findings.change.model import Alert, ChangeRow, Changes
from agentdyno.findings.change.tables import changes_tables, sparkline
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.history.model import History, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Regression, Severity
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey
from agentdyno.reports import render_console

HOSTILE = "<script>|`x` \x1b[31m\x00 漢字 " + "long" * 30


def history(*values: float) -> History:
    points = tuple(HistoryPoint(place, value) for place, value in enumerate(values))
    return History("a", "accuracy", "ratio", True, points)


WORSE = ChangeRow(
    agent="a@1.1",
    name="a",
    version="1.1",
    suite_id="facts",
    suite_name="Facts",
    baseline="a@1.0",
    verdict="worse",
    summary="Worse than a@1.0: accuracy -12.5 points.",
    finished_at=1_767_225_600_000,
    run_id="run",
    since="1.1",
    severity=Severity.MEDIUM,
    accuracy=PairedRow(
        "accuracy", "", "score", "ratio", True, False, 1.0, 0.875, change=-0.125, verdict=Verdict.WORSE
    ),
    latency=PairedRow("speed", "", "duration_s", "s", False, True, 1.0, 0.8, change=-0.2, verdict=Verdict.BETTER),
    cost=PairedRow("cost", "", "cost_usd", "usd", False, True, 1.0, 1.01, change=0.01, verdict=Verdict.SAME),
    latency_p95=(2.0, 1.5),
    broken=(CaseKey("facts", "c1"), CaseKey("facts", "c2")),
    fixed=(CaseKey("facts", "c3"),),
    spark=history(1.0, 0.0),
    command="dyno compare a@1.0 a@1.1 --suite facts",
)
LONE = ChangeRow("b@1", "b", "1", "facts", "Facts", "", "no-baseline", "b@1 has no baseline.", 0, "")
COUNTS = {"worse": 1, "inconclusive": 0, "better": 0, "same": 0, "no-baseline": 1}
CHANGES = Changes((WORSE, LONE), COUNTS, spent_today_usd=1.25, runs_today=2, unpriced_today=3)
ALERT = Alert(
    "0123456789abcdef",
    "a",
    "facts",
    Regression(Detector.VERSION, "drop", "accuracy", 1.0, 0.875, 0.125, True, 0.1, Severity.HIGH, "it fell", "sums"),
)


def test_every_agent_is_a_row_with_its_deltas_and_the_command_that_says_more() -> None:
    (table,) = changes_tables(CHANGES)
    assert table.title == "Changes: 1 worse, 1 no-baseline"
    assert [[cell.text for cell in row] for row in table.rows] == [
        [
            "✗ worse (medium)",
            "a@1.1",
            "facts",
            "1.0",
            "1.1",
            "-12.5 pts ✗",
            "-20.0 % ✓",
            "+1.0 %",
            "2 s → 1.50 s",
            "2:1",
            "█▁",
            "2026-01-01 00:00",
            "dyno compare a@1.0 a@1.1 --suite facts",
        ],
        ["· no-baseline", "b@1", "facts", *["-"] * 7, "", "1970-01-01 00:00", ""],
    ]
    assert table.notes == (
        "Worse than a@1.0: accuracy -12.5 points.",
        "Today (UTC): 2 runs, $1.25 spent, the cost of 3 executions not known.",
    )


def test_when_it_is_quiet_that_is_said() -> None:
    (table,) = changes_tables(Changes((LONE,), {"no-baseline": 1}, quiet="Nothing is worse than its baseline."))
    assert table.notes == ("Nothing is worse than its baseline.", "Today (UTC): 0 runs.")
    (empty,) = changes_tables(Changes((), {}, quiet="No agent has been benchmarked."))
    assert (empty.title, empty.rows, empty.notes[0]) == ("Changes", (), "No agent has been benchmarked.")


def test_alerts_follow_with_why() -> None:
    _, table = changes_tables(CHANGES, [ALERT])
    assert [cell.text for cell in table.rows[0]] == [
        "high",
        "a",
        "facts",
        "accuracy in sums",
        "-",
        "it fell",
        "0123456789abcdef",
    ]
    doubtful = replace(ALERT, regression=replace(ALERT.regression, confirmed=False, version="1.1"))
    _, many = changes_tables(CHANGES, [doubtful] * 23)
    assert (many.rows[0][0].text, many.rows[0][4].text) == ("high ?", "1.1")
    assert (many.title, len(many.rows)) == ("Alerts: 23", 20)
    assert many.notes == ("3 more alerts left out; --json has all.",)


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ((), ""),
        ((0.5,), ""),
        ((0.5, 0.5), "▄▄"),
        ((0.0, 0.5, 1.0), "▁▅█"),
        ((*[0.0] * 20, *[1.0] * 2), "▁" * 14 + "██"),
    ],
)
def test_a_sparkline_shows_the_last_points(values: tuple[float, ...], drawn: str) -> None:
    assert sparkline(history(*values)) == drawn
    assert sparkline(None) == ""


@pytest.mark.parametrize("width", [60, 100, 160])
def test_hostile_names_stay_in_their_line_and_width(width: int) -> None:
    bad = replace(WORSE, agent=HOSTILE, suite_id=HOSTILE, since=HOSTILE, command=HOSTILE, summary=HOSTILE)
    alert = replace(ALERT, agent=HOSTILE, suite_id=HOSTILE)
    text = render_console(changes_tables(replace(CHANGES, rows=(bad,)), [alert]), width)
    assert "\x1b" not in text
    assert "\x00" not in text
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_a_row_that_rests_on_history_says_so() -> None:
    fell = replace(LONE, verdict="worse", severity=Severity.HIGH, evidence="history", since="2")
    (table,) = changes_tables(replace(CHANGES, rows=(fell, replace(fell, baseline="b@0"))))
    assert [[cell.text for cell in row[:5]] for row in table.rows] == [
        ["✗ worse (high)", "b@1", "facts", "its history", "2"]
    ] * 2


def test_times_of_separate_runs_that_nothing_judges_say_so_with_the_command_that_would() -> None:
    reason = "separate runs, not judged: `dyno run SUITE --agent a --against REF` measures both interleaved"
    apart = PairedRow("speed", "", "duration_s", "s", False, True, 1.0, 0.8, change=-0.2, reason=reason)
    rows = (replace(WORSE, latency=apart), replace(WORSE, agent="a@1.2", latency=apart))
    (table,) = changes_tables(replace(CHANGES, rows=rows))
    assert [row[6].text for row in table.rows] == ["-20.0 % (not judged)"] * 2
    assert f"Time per case of a@1.1, a@1.2: {reason}." in table.notes
