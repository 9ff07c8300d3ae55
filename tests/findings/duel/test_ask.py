"""Agents side by side: of the store, of one run, of two runs, of the two sides of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.ask import compare_agents, compare_runs, compare_sides
from agentdyno.model import RunResult

from ...suites import Room
from ...workbench.answering import Answerer, cases, ids, put, run


def test_a_winner_is_named_only_where_the_difference_is_significant(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", wrong=ids(0, 1)), Answerer("c", wrong=ids(0, 16)), count=24)
    (close,) = compare_agents(room.store, ["a", "b"]).duels
    accuracy = close.row("accuracy")
    assert accuracy.change == pytest.approx(-1 / 24)
    assert accuracy.verdict == "inconclusive"
    assert (accuracy.detectable or 0) > 1 / 24, "the smallest difference that would show is said"
    assert close.dimension_winners["accuracy"] is None
    (clear,) = compare_agents(room.store, ["a", "c"]).duels
    assert clear.dimension_winners["accuracy"] == "a@1.0"
    assert clear.row("accuracy").verdict == "worse"
    assert (clear.row("accuracy").adjusted_p or 1) < 0.05
    assert [key.case_id for key in clear.flips.broken] == ids(0, 16)
    assert clear.paired


def test_the_first_agent_is_the_baseline(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", wrong=ids(0, 16)), count=24)
    (found,) = compare_agents(room.store, ["b", "a"]).duels
    assert (found.baseline, found.candidate) == ("b@1.0", "a@1.0")
    assert found.row("accuracy").verdict == "better"
    assert found.row("accuracy").percentage == pytest.approx(200.0)


def test_an_agent_against_one_that_knows_nothing_has_no_percentage(room: Room) -> None:
    run(room, Answerer("a", wrong=ids(0, 24)), Answerer("b"), count=24)
    (found,) = compare_agents(room.store, ["a", "b"]).duels
    row = found.row("accuracy")
    assert (row.baseline, row.change, row.percentage) == (0.0, 1.0, None)


def test_three_agents_meet_all_against_all(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", wrong=ids(0, 20)), Answerer("c", wrong=ids(0, 22)), count=24)
    found = compare_agents(room.store, ["a", "b", "c"])
    assert found.duels == ()
    (item,) = found.tournaments
    assert [(duel.baseline, duel.candidate) for duel in item.duels] == [
        ("a@1.0", "b@1.0"),
        ("a@1.0", "c@1.0"),
        ("b@1.0", "c@1.0"),
    ]
    assert item.duels[0].dimension_winners["accuracy"] == "a@1.0"
    assert item.duels[2].dimension_winners["accuracy"] is None
    assert len(found.reliabilities) >= 3
    assert item.cases[0].disagree


def test_two_runs_of_one_agent_are_set_against_each_other(room: Room) -> None:
    before = run(room, Answerer("a", "1.0"), count=24)
    after = run(room, Answerer("a", "1.1", wrong=ids(0, 16)), count=24)
    (found,) = compare_runs(before, after, room.store).duels
    assert (found.baseline, found.candidate) == ("a@1.0", "a@1.1")
    assert not found.paired
    (other,) = compare_runs(before, run(room, Answerer("z"), count=24), room.store).duels
    assert other.candidate == "z@1.0", "one agent each is a question about these two"


def test_agents_that_two_runs_share_are_each_set_against_themselves(room: Room) -> None:
    before = run(room, Answerer("a", "1.0"), Answerer("b", "1.0"), Answerer("c", "1.0"))
    after = run(room, Answerer("b", "1.1"), Answerer("a", "1.1"), Answerer("d", "1.0"))
    found = compare_runs(before, after, None)
    assert [(duel.baseline, duel.candidate) for duel in found.duels] == [("b@1.0", "b@1.1"), ("a@1.0", "a@1.1")]
    nobody = run(room, Answerer("x"), Answerer("y"))
    with pytest.raises(NotComparable, match="no agent is in both runs: a, b, c and x, y"):
        compare_runs(before, nobody, room.store)


def test_figures_come_from_all_samples_where_a_file_has_only_some(room: Room) -> None:
    before = run(room, Answerer("a"), count=8)
    after = run(room, Answerer("b", wrong=ids(0, 4)), count=8)
    thinned = _thinned(after, 2)
    (whole,) = compare_runs(before, thinned, room.store).duels
    assert whole.row("accuracy").candidate == 0.5
    with pytest.raises(NotComparable, match=r"holds 2 of 8 samples of b@1\.0"):
        compare_runs(before, thinned, None)


def test_the_sides_of_a_run_are_compared_and_a_run_without_sides_has_none(room: Room) -> None:
    loaded = room.suite(dataset={"cases": cases(24)})
    plain = put(room, loaded, Answerer("a"), Answerer("b"))
    assert compare_sides(plain, room.store) is None
    sided = put(room, loaded, Answerer("a"), Answerer("b", wrong=ids(0, 20)), until_decided=True)
    found = compare_sides(sided, room.store)
    assert found is not None
    (item,) = found.duels
    assert (item.baseline, item.candidate) == ("a@1.0", "b@1.0")
    assert item.flips.broken


def _thinned(result: RunResult, most: int) -> RunResult:
    return replace(result, arms=tuple(replace(arm, samples=arm.samples[:most]) for arm in result.arms))
