from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from agentdyno.findings.history.judge import history, history_regressions
from agentdyno.findings.history.judge_health import regression_report
from agentdyno.findings.history.model import History, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Impact, Regression, RegressionReport, Severity
from agentdyno.findings.history.tables import history_plot, history_tables, regression_tables
from agentdyno.model.case import CaseKey
from agentdyno.reports import render_console
from agentdyno.show.wording import show

DAY = 86_400_000
START = 1_767_225_600_000
"""2026-01-01."""
WAVE = (0.0, 0.01, -0.01, 0.02, -0.02, 0.01, 0.0, -0.01)
HOSTILE = "<script>|`x` \x1b[31m\x00 漢字 " + "long" * 30


def made(
    *levels: tuple[float, int, str], subject: str = "helper", baseline: float | None = None, benchmark: str = ""
) -> History:
    points: list[HistoryPoint] = []
    for level, length, version in levels:
        points += [
            HistoryPoint(START + DAY * (len(points) + place), level * (1 + WAVE[place % 8]), version)
            for place in range(length)
        ]
    return history(
        subject, "duration_s", points, unit="s", higher_is_better=False, baseline=baseline, benchmark=benchmark
    )


STEPS = made((1.0, 30, "1.3"), (1.5, 30, "1.4"), (1.2, 30, "1.5"), (2.0, 3, "1.6"), baseline=1.0)


def test_every_change_is_a_row_with_its_levels_version_and_verdict() -> None:
    (table,) = history_tables(STEPS)
    rows = [[cell.text for cell in row] for row in table.rows]
    assert rows == [
        ["2026-01-31 00:00", "1 s → 1.50 s", "+50 %", "1.3 → 1.4", "✗ worse"],
        ["2026-03-02 00:00", "1.50 s → 1.20 s", "-20 %", "1.4 → 1.5", "✓ better"],
        ["2026-04-01 00:00", "1.20 s → 2 s", "+67 %", "1.5 → 1.6", "✗ worse, provisional"],
    ]
    first, now = table.notes[0].split("; ")
    assert first == "93 points from 2026-01-01 00:00 to 2026-04-03 00:00"
    assert now == "now 2 s [1.98, 2.02], provisional, baseline 1 s (+100 %)."
    assert any(note.startswith("Provisional") for note in table.notes)


def test_a_change_with_the_suite_is_neither_better_nor_worse() -> None:
    points = [replace(point, suite="a" if place < 30 else "b") for place, point in enumerate(STEPS.points[:60])]
    (table,) = history_tables(history("helper", "duration_s", points, unit="s", higher_is_better=False))
    assert [cell.text for cell in table.rows[0]][-2:] == ["◆ not comparable", "the suite changed"]


def test_a_history_without_changes_says_so() -> None:
    (table,) = history_tables(made((1.0, 30, "1")))
    assert table.rows == ()
    assert table.notes[-1] == "No change of level beyond the noise."
    (short,) = history_tables(made((1.0, 1, "1")))
    assert short.notes == (
        "1 point of 2026-01-01 00:00; now 1 s.",
        "1 point: 6 are needed to tell a change, 5 more.",
    )
    (empty,) = history_tables(made())
    assert empty.notes == ("No point: 6 are needed to tell a change, 6 more.",)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    hostile = made((1.0, 30, HOSTILE), (1.5, 30, "2"), subject=HOSTILE, benchmark=HOSTILE)
    for item in (STEPS, hostile):
        text = render_console(history_tables(item), width) + history_plot(item, width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        assert "\x1b" not in text
    text = render_console(regression_tables(regressions(HOSTILE)), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_eighty_columns_keep_every_column_of_the_changes() -> None:
    lines = render_console(history_tables(STEPS), 80).splitlines()
    assert lines[1].split() == ["since", "from", "→", "to", "change", "version", "verdict"]


def test_the_plot_shows_levels_and_marks_changes_where_they_are() -> None:
    plot = history_plot(STEPS, 80, 10)
    lines = plot.splitlines()
    assert len(lines) == 12
    assert lines[0].startswith("2.02 s ┤")
    axis = lines[10]
    columns = len(lines[10]) - axis.index("└") - 1
    offset = axis.index("└") + 1
    assert [sign for sign in axis if sign in "✗✓?"] == ["✗", "✓", "✗", "?"]
    assert axis.index("✗") - offset == pytest.approx(columns * 30 / 93, abs=1)
    assert axis.index("✓") - offset == pytest.approx(columns * 60 / 93, abs=1)
    assert lines[11].split() == ["2026-01-01", "2026-04-03"]
    assert sum(line.count("│") for line in lines[:10]) > 10
    assert "┊" in plot


def test_every_point_is_a_dot_of_the_plot() -> None:
    plot = history_plot(made((1.0, 5, "1")), 80, 10)
    dots = sum(bin(ord(sign) - 0x2800).count("1") for sign in plot if 0x2800 < ord(sign) < 0x2900)
    assert dots == 5


def test_one_point_far_off_does_not_flatten_the_plot() -> None:
    points = list(made((1.0, 60, "1")).points)
    points[20] = replace(points[20], value=50.0)
    plot = history_plot(history("a", "duration_s", points, unit="s", higher_is_better=False), 80)
    assert plot.splitlines()[0].startswith("1.0")


def test_plots_of_nothing_one_point_and_constants_are_drawn() -> None:
    assert history_plot(made()) == ""
    assert "2026-01-01" in history_plot(made((1.0, 1, "1")))
    zeros = [HistoryPoint(place, 0.0) for place in range(20)]
    assert history_plot(history("a", "accuracy", zeros, unit="ratio", higher_is_better=True), 80, 1)


@pytest.mark.parametrize("value", [1.0, 0.37, -2.5])
@pytest.mark.parametrize("height", [3, 4, 10])
def test_a_constant_has_one_tick_beside_its_dots(value: float, height: int) -> None:
    points = [HistoryPoint(place, value) for place in range(5)]
    drawn = history("a", "accuracy", points, unit="", higher_is_better=True)
    rows = history_plot(drawn, 80, height).splitlines()[:height]
    named = [row for row in rows if row.partition("┤")[0].strip()]
    assert [row.partition("┤")[0].strip() for row in named] == [show(value, "")]
    assert any(0x2800 < ord(sign) < 0x2900 for sign in named[0])


def regressions(name: str = "code") -> RegressionReport:
    drop = Regression(
        detector=Detector.VERSION,
        kind="drop",
        metric="accuracy",
        baseline=0.8,
        current=0.4,
        amount=0.5,
        relative=True,
        threshold=0.1,
        severity=Severity.CRITICAL,
        explanation="accuracy in code: 0.800 → 0.400",
        benchmark=name,
        since=START,
        version="1.6",
        impact=Impact(tuple(CaseKey(name, f"case-{number}") for number in range(7)), 0.12, "7 of 20 cases"),
        unit="ratio",
    )
    worse, better = history_regressions([STEPS])
    creep = replace(
        drop,
        detector=Detector.PATTERN,
        kind="error-creep",
        metric="failure_rate",
        amount=0.05,
        relative=False,
        severity=Severity.LOW,
        impact=Impact(),
    )
    return regression_report(name, "1.3", "1.6", [drop, creep, *worse], better, suite=name)


def test_health_and_action_come_first_and_the_worst_regression_next() -> None:
    summary, worse, better = regression_tables(regressions())
    assert summary.title == "code: health 0 of 100"
    assert summary.notes[0].startswith("Do not release; go back to the baseline: accuracy in code, critical.")
    assert summary.notes[1] == "1.3 → 1.6 on code."
    assert [cell.text for cell in worse.rows[0]][:6] == [
        "critical",
        "accuracy",
        "code",
        "0.800 → 0.400",
        "50 %",
        "2026-01-01",
    ]
    assert [row[1].text for row in worse.rows] == ["accuracy", "duration", "duration", "failure rate (creep)"]
    assert worse.rows[0][6].text == "case-0, case-1, case-2, case-3, case-4 and 2 more"
    assert worse.rows[-1][4].text == "5 points"
    assert [row[4].text for row in better.rows] == ["20 %"]


def test_a_healthy_agent_has_one_table() -> None:
    (table,) = regression_tables(regression_report("helper", "", "", [], []))
    assert table.title == "helper: health 100 of 100"
    assert table.notes == ("Nothing to do: nothing became worse beyond threshold and chance.",)


def test_a_provisional_regression_is_marked_and_explained() -> None:
    worse = regression_tables(regressions())[1]
    marked = [row[0].text for row in worse.rows if row[0].text.endswith("?")]
    assert marked == ["critical ?"]
    assert any(note.startswith("? provisional") for note in worse.notes)
