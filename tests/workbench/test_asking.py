"""The Python API of conclusions: one function for each question, from any store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import agentdyno
from agentdyno.errors import NotComparable, SpecError, StoreError
from agentdyno.findings.baseline.ask import set_baseline
from agentdyno.findings.duel.model import AllAgainstAll, Duel
from agentdyno.model.codec import encode
from agentdyno.workbench import asking

from ..suites import Room
from .answering import Answerer, ids, run

PYPERF = Path(__file__).parent.parent / "importers" / "fixtures" / "pyperf" / "words.json"


@pytest.fixture
def filled(room: Room) -> Room:
    run(
        room,
        Answerer("a", "1.0"),
        Answerer("b", wrong=ids(0, 16)),
        Answerer("c", wrong=ids(0, 20)),
        count=24,
        epochs=3,
    )
    run(room, Answerer("a", "1.1", wrong=ids(0, 12)), count=24, epochs=3)
    return room


def test_boards_name_every_agent(filled: Room) -> None:
    board = asking.leaderboard(store=filled.store, metric="accuracy", suite="room")
    assert [entry.agent for entry in board.entries] == ["a@1.0", "a@1.1", "b@1.0", "c@1.0"]
    assert [entry.scores["accuracy"].rank for entry in board.entries] == [1, 2, 3, 4]
    matrix = asking.matrix(store=filled.store, suite="room", weights={"accuracy": 0.5})
    assert (matrix.suite, matrix.weights["accuracy"]) == ("room", 0.5)
    assert asking.coverage(store=filled.store).fresh == 3, "the newest version of each"
    assert asking.leaderboard(store=filled.store, category="comprehensive", limit=1).total == 4


def test_two_agents_give_a_duel_and_three_a_tournament(filled: Room) -> None:
    two = asking.compare_agents("a@1.0", "b", store=filled.store)
    assert isinstance(two, Duel)
    assert two.dimension_winners["accuracy"] == "a@1.0"
    three = asking.compare_agents("a@1.0", "b", "c", store=filled.store, suite="room")
    assert isinstance(three, AllAgainstAll)
    for alone in ((), ("a",)):
        with pytest.raises(NotComparable, match="one agent alone"):
            asking.compare_agents(*alone, store=filled.store)


def test_history_regressions_cost_and_reliability_answer(filled: Room) -> None:
    series = asking.history("a", "accuracy", store=filled.store)
    assert [point.value for point in series.points] == [1.0, 0.5]
    report = asking.regressions("a", store=filled.store)
    assert (report.baseline, report.current) == ("a@1.0", "a@1.1")
    assert "accuracy" in {item.metric for item in report.regressions}
    set_baseline(filled.store, "a@1.1", workspace="team")
    own = asking.regressions("a", store=filled.store, workspace="team")
    assert "is-baseline" in {warning.code for warning in own.warnings}
    spent = asking.cost("a@1.0", "b", store=filled.store, volume=10)
    assert (spent.volume, [row.agent for row in spent.rows]) == (10, ["a@1.0", "b@1.0"])
    relied = [item for item in asking.reliability("b", store=filled.store) if not item.benchmark]
    assert [item.agent for item in relied] == ["b@1.0"]
    assert dict(relied[0].pass_hat)[3].value == pytest.approx(8 / 24)
    assert len(asking.cost(store=filled.store).rows) == 4


def test_a_store_may_be_open_a_path_a_url_or_the_one_of_the_project(
    filled: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled.folder / "dyno.db"
    monkeypatch.setenv("DYNO_STORE", str(path))
    answers = [asking.matrix(store=store) for store in (filled.store, path, str(path), f"sqlite:///{path}", None)]
    assert all(answer == answers[0] for answer in answers)
    assert filled.store.runs.newest(), "a store that was given stays open"


def test_a_store_that_is_not_there_is_not_made_by_asking(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    for question in (
        lambda: asking.leaderboard(store=path),
        lambda: asking.matrix(store=path),
        lambda: asking.coverage(store=path),
        lambda: asking.compare_agents("a", "b", store=path),
        lambda: asking.history("a", store=path),
        lambda: asking.regressions("a", store=path),
        lambda: asking.cost(store=path),
        lambda: asking.reliability(store=path),
    ):
        with pytest.raises(StoreError, match="there is no store here"):
            question()
    assert not path.exists()
    (item,) = asking.import_results(PYPERF, store=path)
    assert not item.known, "importing makes one"


def test_a_question_that_makes_no_sense_is_refused(filled: Room) -> None:
    with pytest.raises(SpecError):
        asking.leaderboard(store=filled.store, weights={"accuracy": -1.0})
    with pytest.raises((SpecError, ValueError)):
        asking.cost(store=filled.store, volume=0)
    with pytest.raises((SpecError, ValueError)):
        asking.regressions("a", store=filled.store, threshold=-1.0)


def test_every_answer_is_a_json_document(filled: Room) -> None:
    for answer in (
        asking.leaderboard(store=filled.store),
        asking.matrix(store=filled.store),
        asking.coverage(store=filled.store),
        asking.compare_agents("a", "b", store=filled.store),
        asking.history("a", store=filled.store),
        asking.regressions("a", store=filled.store),
        asking.cost(store=filled.store),
        asking.reliability(store=filled.store),
    ):
        assert json.loads(encode(answer), parse_constant=pytest.fail), "no NaN, no infinity"


@pytest.mark.parametrize(
    "name",
    ["leaderboard", "matrix", "coverage", "compare_agents", "history", "regressions", "cost", "reliability"],
)
def test_the_package_exports_every_question(name: str) -> None:
    assert getattr(agentdyno, name) is getattr(asking, name)
