"""One case with its answers, and two answers side by side, over HTTP."""

from __future__ import annotations

from agentdyno.specs import parse_suite
from tests.suites import Room
from tests.workbench.answering import Answerer, cases, put

from .asking import SCRIPT, Seeded, client_of, fields


def test_a_case_is_shown_with_every_answer(seeded: Seeded) -> None:
    found = seeded.client.ok(f"/api/runs/{seeded.second}/cases/c05")
    assert (found["run_id"], found["benchmark"]) == (seeded.second, "room")
    case = found["case"]
    assert (case["id"], case["input"], case["target"], case["group"]) == ("c05", "word 5", "WORD 5", None)
    told = [(item["agent"], item["iteration"], item["status"], item["score"]) for item in found["answers"]]
    assert told == [
        ("steady@2.0", 0, "error", None),
        ("steady@2.0", 1, "error", None),
        ("tracer@2.0", 0, "ok", 1.0),
        ("tracer@2.0", 1, "ok", 1.0),
    ]
    broken, _, fine, _ = found["answers"]
    assert broken["failure"]["kind"] == "exception"
    assert "no answer" in broken["failure"]["message"]
    assert (fine["output"], fine["scores"]["score"], fine["failure"]) == ("WORD 5", 1.0, None)
    assert fine["scoring"][0]["scorer"] == "exact"
    assert fine["duration_s"] > 0


def test_outputs_are_whole_up_to_a_limit(seeded: Seeded) -> None:
    def output(case_id: str) -> tuple[object, bool]:
        answer = seeded.client.ok(f"/api/runs/{seeded.odd}/cases/{case_id}")["answers"][0]
        return answer["output"], answer["output_cut"]

    assert output("c01") == ("x" * 3_000, False)
    assert output("c02") == ("y" * 200_000, True)
    assert output("c03") == ({"answer": [SCRIPT]}, False)


def test_markup_in_an_answer_is_json_text(seeded: Seeded) -> None:
    found = seeded.client.get(f"/api/runs/{seeded.odd}/cases/c03")
    assert found.headers["content-type"] == "application/json"
    assert found.json()["answers"][0]["agent"] == f"{SCRIPT}@1"


def test_simulated_answers_are_marked(seeded: Seeded) -> None:
    answers = seeded.client.ok(f"/api/runs/{seeded.odd}/cases/c00")["answers"]
    assert [item["simulated"] for item in answers] == [True, False]


def test_a_case_of_several_benchmarks_needs_the_name_of_one(room: Room) -> None:
    parts = [{"name": name, "dataset": {"cases": cases(2)}} for name in ("One", "Two")]
    document = {"name": "twice", "scorer": "exact", "epochs": 1, "warmup": 0, "benchmarks": parts}
    result = put(room, parse_suite(document, base_dir=room.folder), Answerer("a"))
    client = client_of(room)
    path = f"/api/runs/{result.run_id}/cases/c00"
    problem = client.problem(path, 422)
    assert fields(problem) == ["benchmark"]
    assert problem["remedy"] == "Name one: one, two."
    assert client.ok(path, benchmark="two")["benchmark"] == "two"
    assert client.problem(path, 404, benchmark="too")["near"] == ["two"]
    client.app.state.services.close()


def test_an_id_of_a_case_may_hold_a_slash(room: Room) -> None:
    rows = [{"id": "a/b c", "input": "x", "target": "X"}]
    result = put(room, room.suite(dataset={"cases": rows}), Answerer("a"))
    client = client_of(room)
    assert client.ok(f"/api/runs/{result.run_id}/cases/a%2Fb%20c")["case"]["id"] == "a/b c"
    client.app.state.services.close()


def test_an_unknown_case_is_not_found_and_the_nearest_are_named(seeded: Seeded) -> None:
    problem = seeded.client.problem(f"/api/runs/{seeded.first}/cases/c9", 404)
    assert problem["detail"] == "there is no case 'c9' here"
    assert "c00" in str(problem["near"]) + str(problem["remedy"])


def test_two_trajectories_part_at_their_first_different_step(seeded: Seeded) -> None:
    asked = {"first_run": seeded.first, "second_run": seeded.second, "case_id": "c00"}
    found = seeded.client.ok("/api/divergence", **asked, first_agent="tracer", second_agent="tracer")
    assert found["divergence"] == 1
    assert (found["first"]["agent"], found["second"]["agent"]) == ("tracer@1.0", "tracer@2.0")
    assert [event["name"] for event in found["first"]["events"]] == ["user", "look", "assistant"]
    assert [event["name"] for event in found["second"]["events"]] == ["user", "guess", "assistant"]
    assert found["case"]["target"] == "WORD 0"
    assert (found["first"]["status"], found["second"]["status"]) == ("ok", "failed")


def test_equal_trajectories_do_not_part(seeded: Seeded) -> None:
    asked = {"first_run": seeded.first, "second_run": "last~2", "case_id": "c03", "first_agent": "tracer@1.0"}
    found = seeded.client.ok("/api/divergence", **asked, second_agent="tracer@2.0")
    assert found["divergence"] is None


def test_what_cannot_be_set_side_by_side_is_said(seeded: Seeded) -> None:
    asked = {"first_run": seeded.first, "second_run": seeded.second}
    assert fields(seeded.client.problem("/api/divergence", 422, **asked)) == ["query.case_id"]
    wrong = {**asked, "case_id": "c00", "first_agent": "trace"}
    assert "tracer@1.0" in seeded.client.problem("/api/divergence", 404, **wrong)["near"]
    gone = {**asked, "second_run": "nothing", "case_id": "c00"}
    assert fields(seeded.client.problem("/api/divergence", 404, **gone)) == ["second_run"]
