from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentdyno.findings.duel.charts import dumbbell_chart
from agentdyno.findings.duel.model import AllAgainstAll, CaseScores, Duel, PairedRow
from agentdyno.findings.duel.tables import duel_tables, tournament_tables
from agentdyno.findings.run.charts import drawing
from agentdyno.findings.standing.model import HeadToHead
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey
from agentdyno.reports.console import render_console
from agentdyno.show.axes import inline_svg, png

OLD, NEW = "clerk@1.0", "clerk@1.1"


def accuracy(benchmark: str = "", verdict: Verdict = Verdict.BETTER) -> PairedRow:
    return PairedRow(
        metric="accuracy",
        benchmark=benchmark,
        quantity="score",
        unit="ratio",
        higher_is_better=True,
        relative=False,
        baseline=0.644,
        candidate=0.738,
        baseline_score=0.644,
        candidate_score=0.738,
        change=0.094,
        interval=(0.047, 0.141),
        p_value=0.0003,
        adjusted_p=0.0013,
        effect=0.49,
        detectable=0.066,
        cases=100,
        clusters=100,
        wins=47,
        losses=17,
        verdict=verdict,
    )


SPEED = replace(
    accuracy(),
    metric="speed",
    quantity="duration_s",
    unit="s",
    higher_is_better=False,
    relative=True,
    baseline=2.06,
    candidate=2.17,
    change=0.101,
    interval=(-0.068, 2.5),
    adjusted_p=0.2,
    verdict=Verdict.INCONCLUSIVE,
    reason="not significant",
    more_cases=140,
)
COST = PairedRow(
    "cost",
    "",
    "cost_usd",
    "usd",
    False,
    True,
    None,
    None,
    reason="cost_usd of clerk@1.1 is not known in 3 of 9 cases",
)
FLIPS = HeadToHead(
    OLD,
    NEW,
    cases=100,
    clusters=100,
    baseline_mean=0.644,
    candidate_mean=0.738,
    difference=0.094,
    interval=(0.047, 0.141),
    p_value=0.0003,
    method="wilcoxon normal",
    detectable=0.066,
    fixed=tuple(CaseKey("facts", f"c{i:02}") for i in range(14)),
    broken=(CaseKey("facts", "x1"), CaseKey("sums", "x1")),
    both_right=66,
    both_wrong=18,
    unpaired=3,
)
DUEL = Duel(
    baseline=OLD,
    candidate=NEW,
    suite="suite 1",
    rows=(replace(accuracy(), family=2), replace(SPEED, family=5), COST),
    benchmark_rows=(accuracy("facts"), replace(COST, benchmark="facts"), accuracy("sums", Verdict.INCONCLUSIVE)),
    flips=FLIPS,
    winner=NEW,
    why="better in accuracy +9.4 points (95 %: +4.7 to +14.1), p = 0.0013; and worse in nothing",
    category_winners={"accuracy": NEW, "cost": None},
    recommendations=("Look first at the 2 cases that broke: facts/x1, sums/x1.",),
    paired=False,
)
OTHER = "a very long name of an agent that somebody wrote@3"
TOURNAMENT = AllAgainstAll(
    agents=(OLD, NEW, OTHER),
    suite="suite 1",
    duels=(
        DUEL,
        replace(DUEL, candidate=OTHER, winner=None, why="no winner: accuracy 0.0 points, needs about 140 more cases"),
    ),
    wins={OLD: 0, NEW: 1, OTHER: 0},
    winner=NEW,
    why="beats clerk@1.0; not told apart from the other 1",
    cases=(
        CaseScores(CaseKey("facts", "c01"), {OLD: 0.0, NEW: 1.0, OTHER: None}, True),
        CaseScores(CaseKey("facts", "c02"), {OLD: 1.0, NEW: 1.0, OTHER: 1.0}, False),
    ),
)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_head_to_head_says_who_wins_and_by_how_much() -> None:
    text = render_console(duel_tables(DUEL), 80)
    assert "accuracy 64.4 73.8 +9.4 [+4.7, +14.1] pts ✓ better" in lines(text)
    assert "time per case 2.06 s 2.17 s +10.1 [-6.8, +250] % ? inconclusive" in lines(text)
    assert "cost per case - - - not compared" in lines(text)
    joined = " ".join(text.split())
    assert "Winner: clerk@1.1: better in accuracy +9.4 points" in joined
    assert "time per case: not significant; about 140 more cases would decide" in joined
    assert "cost per case: cost_usd of clerk@1.1 is not known in 3 of 9 cases" in joined
    assert "100 cases; p is after Holm's correction: accuracy over 2 rows, the others over 5." in joined
    assert "From separate runs, not interleaved." in joined
    assert "Better accuracy by category: accuracy: clerk@1.1." in joined
    assert "Look first at the 2 cases that broke: facts/x1, sums/x1." in joined


def test_wide_terminals_show_effect_and_what_could_be_seen() -> None:
    text = render_console(duel_tables(DUEL), 160)
    assert "accuracy 64.4 73.8 +9.4 [+4.7, +14.1] pts ✓ better 0.0013 +0.49 47:17 6.6 points" in lines(text)


def test_cases_that_flipped_are_named_and_the_rest_counted() -> None:
    text = " ".join(render_console(duel_tables(DUEL), 80).split())
    assert "fixed 14 c00, c01" in text
    assert "and 2 more" in text
    assert "broken 2 facts/x1, sums/x1" in text
    assert "3 cases without a score on both sides left out." in text
    other = replace(DUEL, candidate="other@1", winner=None)
    assert "only clerk 2" in " ".join(render_console(duel_tables(other), 80).split())


def test_benchmarks_are_shown_where_there_are_several() -> None:
    titles = [table.title for table in duel_tables(DUEL)]
    assert titles == ["clerk@1.0 → clerk@1.1", "By benchmark", "Cases decided differently", "What to do"]
    single = replace(DUEL, benchmark_rows=DUEL.benchmark_rows[:2], recommendations=())
    assert [table.title for table in duel_tables(single)] == ["clerk@1.0 → clerk@1.1", "Cases decided differently"]
    assert "1 row not compared left out." in render_console(duel_tables(DUEL), 80)


def test_no_winner_is_a_sentence() -> None:
    found = replace(DUEL, winner=None, why="no winner: accuracy 0.0 points")
    assert "No winner: accuracy 0.0 points." in lines(render_console(duel_tables(found), 80))


def test_all_against_all_is_a_square_with_pairs_and_disagreements() -> None:
    text = render_console(tournament_tables(TOURNAMENT), 80)
    assert "1 clerk@1.0 0 · ✗ loses ?" in lines(text)
    assert "2 clerk@1.1 1 ✓ wins · -" in lines(text)
    joined = " ".join(text.split())
    assert "Winner: clerk@1.1: beats clerk@1.0; not told apart from the other 1." in joined
    assert "Holm's correction within the families of all 4 rows of all pairs together." in joined
    assert "facts/c01 0 100 -" in joined
    assert "c02" not in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for tables in (duel_tables(DUEL), tournament_tables(TOURNAMENT)):
        assert max(map(len, render_console(tables, width).splitlines())) <= width


def test_the_chart_shows_both_agents_and_marks_what_is_decided() -> None:
    with drawing():
        svg = inline_svg(dumbbell_chart(DUEL), "k")
        picture = png(dumbbell_chart(DUEL))
        again = png(dumbbell_chart(DUEL))
    for text in ("clerk@1.0 (baseline)", "clerk@1.1 (candidate)", "✓ better", "? inconclusive", "not compared"):
        assert text in svg
    assert "no score" in svg
    assert picture.startswith(b"\x89PNG")
    assert picture == again


def test_better_is_to_the_right_whatever_the_direction() -> None:
    with drawing():
        figure = dumbbell_chart(DUEL)
    right = figure.axes[1]
    points = {}
    for line in right.lines:
        if line.get_marker() == "D":
            across, down = np.asarray(line.get_xydata())[0]
            points[round(down)] = across
    assert points[0] == pytest.approx(9.4)
    assert points[1] == pytest.approx(-10.1)


def test_a_chart_of_nothing_comparable_still_draws() -> None:
    nothing = replace(DUEL, rows=(COST,), winner=None)
    with drawing():
        assert "not compared" in inline_svg(dumbbell_chart(nothing), "k")


def test_what_was_seen_of_single_cases_comes_before_what_it_means_for_others() -> None:
    broken = (CaseKey("facts", "q1"), CaseKey("facts", "q2"))
    tables = duel_tables(replace(DUEL, steady_broken=broken, steady_fixed=(CaseKey("facts", "q3"),)))
    assert tables[0].title == "Seen: right in every try of one, wrong in every one of the other"
    assert [[cell.text for cell in row] for row in tables[0].rows] == [
        ["broken", "2", "q1, q2"],
        ["fixed", "1", "q3"],
    ]
    assert tables[1].title == duel_tables(DUEL)[0].title
