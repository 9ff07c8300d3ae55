from __future__ import annotations

import pytest
from rich.cells import cell_len

from agentdyno.findings.board.judge import leaderboard, matrix
from agentdyno.findings.board.model import Coverage, Leaderboard, Matrix, RankedScore, StaleAgent
from agentdyno.findings.board.tables import (
    coverage_tables,
    leaderboard_tables,
    matrix_tables,
    rank_text,
    sections,
    trend_text,
    weights_text,
)
from agentdyno.findings.conclusions import Conclusions
from agentdyno.reports import render_console
from agentdyno.show.table import Table

from ..board_rows import even, leaderboard_row, matrix_row

UNTIL = 1_772_800_000_000  # 2026-03-06 12:26 UTC
TEN = (10, None, None)
HOSTILE = "<script>|`x` \x1b[31m\x00 漢字 🚀 " + "long" * 20


def cells(table: Table, row: int) -> dict[str, str]:
    return {column.header: cell.text for column, cell in zip(table.columns, table.rows[row], strict=True)}


def a_matrix() -> Matrix:
    return matrix(
        [
            matrix_row("quick@1.1", "facts", (0.8, 0.9, 0.7, 0.6, 0.8), errors=even(0.02), cases=TEN, size=10),
            matrix_row("quick@1.1", "maths", (0.6, 0.9, 0.7, 0.6, 0.8), errors=even(0.02), cases=TEN, size=12),
            matrix_row("cheap@0123456789abcdef", "facts", (0.5, 0.4, 0.5, None, 0.5), errors=even(0.04)),
            matrix_row("cheap@0123456789abcdef", "maths", (0.5, 0.4, 0.5, None, 0.5), status="failed"),
            matrix_row("late@2", "facts", even(0.5), errors=even(0.03)),
            matrix_row("never@1", "facts", status="failed", succeeded=False),
        ],
        suite="comprehensive",
    )


def a_board(metric: str = "overall", limit: int | None = None) -> Leaderboard:
    return leaderboard(
        [
            leaderboard_row(
                "quick@1.1", even(0.8), errors=even(0.01), n=12, last=UNTIL, cost_usd=0.0123, scored_of=(30, 30)
            ),
            leaderboard_row("cheap@2", (0.5, 0.5, 0.5, 0.9, None), errors=even(0.01), last=UNTIL, scored_of=(28, 30)),
            leaderboard_row("cheap@1", even(0.45), errors=even(0.1), last=UNTIL),
            leaderboard_row("never@1", n=0, benchmarks=0, last=None),
        ],
        [leaderboard_row("quick@1.1", even(0.75))],
        metric=metric,
        days=30,
        until=UNTIL,
        limit=limit,
    )


def test_the_matrix_shows_scores_and_ranks_with_their_intervals() -> None:
    scores, ranks = matrix_tables(a_matrix())
    assert scores.title == "Comparison matrix: comprehensive"
    # Means of two with errors of 2 points: 2.77 points to either side. Overall 0.21 + 0.18 + 0.14 + 0.09 + 0.12.
    assert cells(scores, 0) == {
        "agent": "quick@1.1",
        "overall": "74 73–75",
        "accuracy": "70 67–73",
        "speed": "90 87–93",
        "efficiency": "70 67–73",
        "cost": "60 57–63",
        "reliability": "80 77–83",
        "cases": "20/22",
        "done": "2/2",
    }
    assert cells(ranks, 0)["overall"] == "1"
    assert cells(ranks, 1)["accuracy"] in ("2", "2 2–3")
    assert "Weights: accuracy 30, speed 20, efficiency 20, cost 15, reliability 15." in scores.notes
    assert "3 agents" not in scores.notes[0]
    assert scores.notes[0] == "4 agents, 2 benchmarks: means over the last success in each."


def test_partial_scores_are_marked_and_explained() -> None:
    scores, _ = matrix_tables(a_matrix())
    by_agent = {cells(scores, row)["agent"]: cells(scores, row) for row in range(4)}
    assert by_agent["quick@1.1"]["overall"] == "74 73–75"
    assert by_agent["cheap@0123456789"]["overall"].endswith("*")
    assert by_agent["cheap@0123456789"]["cost"] == "-"
    assert by_agent["late@2"]["overall"].endswith("*")
    assert by_agent["late@2"]["done"] == "1/2"
    assert by_agent["never@1"]["overall"] == "-"
    notes = " ".join(scores.notes)
    assert "* partial, of what is known: " in notes
    assert "cheap@0123456789 without cost" in notes
    assert "late@2 without some benchmarks" in notes
    assert "never@1 without" not in notes


def test_failed_last_attempts_are_named() -> None:
    scores, _ = matrix_tables(a_matrix())
    assert scores.notes[-1] == "The last attempt was no success: cheap@0123456789 in maths; never@1 in facts."


def test_a_single_agent_has_no_table_of_ranks() -> None:
    assert len(matrix_tables(matrix([matrix_row("a@1", scores=even(0.5))]))) == 1


def test_a_leaderboard_shows_the_place_and_what_it_rests_on() -> None:
    places, dimensions = leaderboard_tables(a_board())
    assert places.title == "Leaderboard: all categories"
    assert cells(places, 0) == {
        "rank": "1",
        "agent": "quick@1.1",
        "overall": "80 79–81",
        "trend": "+5.0",
        "best rank": "1",
        "benchmarks": "2",
        "cases": "30",
        "runs": "12/13",
        "$ per run": "$0.012",
        "last success": "2026-03-06",
    }
    # 0.15 + 0.1 + 0.1 + 0.135 of 0.85
    assert cells(places, 1)["overall"] == "57 56–58*"
    assert cells(places, 2)["rank"] == "3"
    assert cells(places, 3)["rank"] == cells(places, 3)["overall"] == cells(places, 3)["last success"] == "-"
    first = [cells(dimensions, 1)[name] for name in ("accuracy", "cost", "reliability")]
    assert first == ["50 #2 (28/30)", "90 #1", "-"]
    assert places.notes == (
        "4 agents, 30 days to 2026-03-06 12:26 UTC. Simulated results are not counted.",
        "Points of 100 with their 95 % interval where it is known.",
        "Ranks: 1 is best, equals share one; beside it the 95 % interval.",
        "Accuracy is of 30 cases; cheap@2 scored 28 of 30.",
        "Trend: points since the 30 days before.",
        "Weights: accuracy 30, speed 20, efficiency 20, cost 15, reliability 15.",
        "* partial, of what is known: cheap@2 without reliability.",
    )


def test_a_board_by_one_dimension_says_nothing_of_weights() -> None:
    places, _ = leaderboard_tables(a_board("cost", 2))
    assert places.title == "Leaderboard: all categories, by cost"
    assert [cells(places, row)["cost"] for row in range(2)] == ["90 88–92", "80 78–82"]
    assert places.notes[0].startswith("2 of 4 agents, ")
    assert not any("Weights" in note or "partial" in note for note in places.notes)


def test_who_leads_is_named_and_a_tie_has_no_first() -> None:
    def led(*names: str) -> str:
        rows = [leaderboard_row(name, even(0.8)) for name in names]
        board = leaderboard([*rows, leaderboard_row("last@1", even(0.1))], [], days=30, until=UNTIL)
        (section,) = sections(Conclusions(leaderboards=(board,)))
        return section.lead.text

    assert led("a@1") == "2 agents in 30 days. First: a@1."
    scores = {"a@1": 0.8, "b@1": 0.79, "c@1": 0.1}
    rows = [leaderboard_row(name, even(score), errors=even(0.02)) for name, score in scores.items()]
    near = leaderboard(rows, [], days=30, until=UNTIL)
    (section,) = sections(Conclusions(leaderboards=(near,)))
    assert section.lead.text == "3 agents in 30 days. First: a@1, not told apart from b@1."
    assert led("a@1", "b@1") == "3 agents in 30 days. 2 share the first place: a@1, b@1."
    assert (
        led("a@1", "b@1", "c@1", "d@1") == "5 agents in 30 days. 4 share the first place: a@1, b@1, c@1 and 1 more."
    )
    empty = leaderboard([], [], days=30, until=UNTIL)
    assert [section.lead.text for section in sections(Conclusions(leaderboards=(empty,)))] == ["0 agents in 30 days."]


def test_an_empty_board_says_so() -> None:
    (only,) = leaderboard_tables(leaderboard([], [], category="speed", days=1, until=UNTIL))
    assert (only.title, only.rows) == ("Leaderboard: category speed", ())
    assert only.notes == ("Nothing was benchmarked in the 1 day to 2026-03-06 12:26 UTC.",)
    assert matrix_tables(matrix([]))[0].title == "Comparison matrix: all suites"
    assert matrix_tables(matrix([]))[0].notes == ("No agent was put to a benchmark here yet.",)


def test_coverage_lists_what_was_not_benchmarked() -> None:
    stale = (
        StaleAgent("new@1", "new", "1", None, UNTIL, None),
        StaleAgent("old@3", "old", "3", UNTIL, None, 41.6),
    )
    (only,) = coverage_tables(Coverage(30, 8, 6, stale))
    assert cells(only, 0) == {
        "agent": "new@1",
        "last success": "never",
        "days ago": "-",
        "last attempt": "2026-03-06 12:26",
    }
    assert cells(only, 1)["days ago"] == "42"
    assert only.notes == ("6 of 8 agents benchmarked in the last 30 days (75 %).",)
    every = coverage_tables(Coverage(1, 2, 2, ()))[0]
    assert (every.rows, every.notes) == ((), ("2 of 2 agents benchmarked in the last day (100 %).",))
    assert coverage_tables(Coverage(30, 0, 0, ()))[0].notes == ("No agent is known here yet.",)


def test_ranks_trends_and_weights_as_text() -> None:
    assert rank_text(RankedScore(None)) == "-"
    assert rank_text(RankedScore(0.5, None, 2)) == "2"
    assert rank_text(RankedScore(0.5, None, 2, (2, 2))) == "2"
    assert rank_text(RankedScore(0.5, None, 2, (1, 3))) == "2 1–3"
    assert [trend_text(value) for value in (None, 0.0, -0.0001, 0.0321, -0.2)] == ["-", "0.0", "0.0", "+3.2", "-20.0"]
    assert weights_text({"accuracy": 2, "speed": 0.0, "cost": 1}) == "accuracy 66.7, cost 33.3"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_no_line_of_a_board_is_wider_than_the_terminal(width: int) -> None:
    tables = [
        *matrix_tables(a_matrix()),
        *leaderboard_tables(a_board()),
        *matrix_tables(matrix([matrix_row(HOSTILE, HOSTILE, even(0.5), errors=even(0.1), status="failed")] * 2)),
        *leaderboard_tables(leaderboard([leaderboard_row(HOSTILE, even(0.5))], [], days=30, until=UNTIL)),
    ]
    text = render_console(tables, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text


def test_eighty_columns_show_every_dimension_of_the_matrix_and_all_that_matters_of_a_board() -> None:
    header = render_console(matrix_tables(a_matrix())[0], 80).splitlines()[1].split()
    assert header == ["agent", "overall", "accuracy", "speed", "efficiency", "cost", "reliability"]
    header = render_console(leaderboard_tables(a_board())[0], 80).splitlines()[1].split()
    assert header[:7] == ["rank", "agent", "overall", "trend", "best", "rank", "benchmarks"]
    assert header[-2:] == ["last", "success"]


def test_an_accuracy_of_which_nobody_knows_of_how_many_cases_it_is_says_nothing_of_them() -> None:
    old = leaderboard_row("old@1", even(0.9), errors=even(0.02), scored_of=(0, 24))
    new = leaderboard_row("new@1", even(0.5), errors=even(0.02), scored_of=(28, 30))
    places, dimensions = leaderboard_tables(leaderboard([old, new], [], days=30, until=UNTIL))
    assert [cells(places, row)["cases"] for row in range(2)] == ["-", "28/30"]
    assert [cells(dimensions, row)["accuracy"] for row in range(2)] == ["90 #1", "50 #2 (28/30)"]
    assert any(note == "Accuracy is of 30 cases; new@1 scored 28 of 30." for note in places.notes)
