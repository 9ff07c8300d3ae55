"""Runs, their samples and their files over HTTP."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree

import pytest

from agentdyno.model import Arm, ArmResult, Artifact, RunStatus, Vcs
from agentdyno.model.policy import GatePolicy
from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings
from agentdyno.workbench.run_files import find_artifact, write_report
from tests.command import Bench
from tests.suites import Room
from tests.workbench.answering import Answerer, run

from .asking import FORMULA, SCRIPT, Client, Seeded, client_of, fields


def test_runs_come_newest_first(seeded: Seeded) -> None:
    items = seeded.client.ok("/api/runs")["items"]
    assert [item["run_id"] for item in items] == [seeded.odd, seeded.pair, seeded.second, seeded.first]
    newest, *_, oldest = items
    assert (newest["kind"], newest["name"], newest["status"], newest["arms"]) == ("suite", "odd", "complete", 2)
    assert (oldest["samples"], oldest["errors"]) == (36, 0)
    assert items[2]["errors"] == 2


def test_runs_are_found_by_kind_and_name(seeded: Seeded) -> None:
    named = seeded.client.ok("/api/runs", name="room")["items"]
    assert [item["run_id"] for item in named] == [seeded.second, seeded.first]
    assert seeded.client.ok("/api/runs", kind="experiment")["items"] == []


def test_runs_say_what_they_were_about_and_what_came_of_it(seeded: Seeded) -> None:
    newest, _, second, first = seeded.client.ok("/api/runs")["items"]
    assert (first["suite_id"], newest["suite_id"], first["commit"]) == ("room", "odd", "")
    assert [(item["label"], item["pass_rate"], item["metric"]) for item in first["subjects"]] == [
        ("steady@1.0", 1.0, "duration_s"),
        ("weak@1.0", 0.5, "duration_s"),
        ("tracer@1.0", 1.0, "duration_s"),
    ]
    assert first["subjects"][0]["score"] > first["subjects"][1]["score"]
    assert {item["verdict"] for item in second["subjects"]} == {None}


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("ROOM", ["second", "first"]),
        ("weak@", ["first"]),
        ("eady@2", ["pair", "second"]),
        ("%", []),
        ("odd", ["odd"]),
    ],
)
def test_runs_are_found_by_a_part_of_what_they_mention(seeded: Seeded, q: str, found: list[str]) -> None:
    ids = [item["run_id"] for item in seeded.client.ok("/api/runs", q=q)["items"]]
    assert ids == [getattr(seeded, name) for name in found]


def test_runs_are_found_by_the_beginning_of_their_id(seeded: Seeded) -> None:
    def found(q: str) -> list[str]:
        return [item["run_id"] for item in seeded.client.ok("/api/runs", q=q)["items"]]

    for text in (seeded.odd, seeded.odd[:18], seeded.odd[:18].upper(), seeded.odd.replace("-", "")):
        assert seeded.odd in found(text), text
    assert found(seeded.odd) == [seeded.odd]
    assert found(f"{seeded.odd}0") == found(seeded.odd[-6:]) == []


def test_runs_are_found_by_tag_and_commit(room: Room) -> None:
    done = run(room, Answerer("a"))
    told = replace(done, run_id=str(UUID(int=9)), tags=('nächtlich "x"',), vcs=Vcs("c0ffee12", None, dirty=False))
    room.store.runs.begin(told, [Arm("arm", "arm", "x", {"size": 3})], {"arm": 1})
    client = client_of(room)
    for text in ("ächtlich", '"x"', "C0FFEE"):
        assert [item["run_id"] for item in client.ok("/api/runs", q=text)["items"]] == [told.run_id]
    assert client.ok("/api/runs", q="c0ffee")["items"][0]["commit"] == "c0ffee12"
    for word in ("commit", "branch", "dirty", "null", "false"):  # how it is written down is nothing that it mentions
        assert client.ok("/api/runs", q=word)["items"] == [], word
    client.app.state.services.close()


def test_a_listed_run_is_judged_against_its_baseline_where_that_is_asked_for(room: Room) -> None:
    for version, wrong in (("1.0", []), ("2.0", [f"c{number:02d}" for number in range(12)])):
        run(room, Answerer("steady", version, wrong=wrong), count=24, epochs=2)
    client = client_of(room)
    newest, oldest = client.ok("/api/runs", verdicts=True)["items"]
    assert [(item["verdict"], item["against"]) for item in newest["subjects"]] == [("worse", "steady@1.0")]
    assert [(item["verdict"], item["against"]) for item in oldest["subjects"]] == [(None, "")]
    assert client.ok("/api/changes")["rows"][0]["verdict"] == "worse"
    client.app.state.services.close()


def test_timed_commands_are_held_against_the_first_as_in_a_terminal(loaded_bench: Bench) -> None:
    said = loaded_bench.dyno("time", "-r", "8", "sleep 0.001", "sleep 0.2", "-n", "short", "-n", "long")
    assert "long is" in said.out.splitlines()[0]
    settings = ServiceSettings(str(loaded_bench.folder / ".dyno" / "dyno.db"), loaded_bench.folder)
    client = Client(create_app(settings), "")
    found = client.ok(f"/api/runs/{client.ok('/api/runs')['items'][0]['run_id']}")
    (arm,) = found["comparison"]["arms"]
    row = next(row for row in arm["metrics"] if row["metric"]["name"] == "duration_s")
    assert (arm["name"], row["verdict"]) == ("long", "worse")
    assert found["run"]["arms"][0]["samples"] == []
    client.app.state.services.close()


def test_runs_are_found_by_how_they_stand(room: Room) -> None:
    done, going = run(room, Answerer("a")), run(room, Answerer("a"))
    unfinished = replace(going, run_id=str(UUID(int=7)), status=RunStatus.RUNNING, finished_at=None)
    room.store.runs.begin(unfinished, [Arm("arm", "arm", "x")], {"arm": 1})
    client = client_of(room)

    def found(**query: object) -> list[str]:
        return [item["run_id"] for page in client.walk("/api/runs", limit=1, **query) for item in page]

    assert found(status="running") == [unfinished.run_id]
    assert sorted(found(status="complete")) == sorted([done.run_id, going.run_id])
    assert len(found(status=["complete", "running"])) == len(found()) == 3
    assert found(status="failed") == []
    assert fields(client.problem("/api/runs", 422, status="lost")) == ["query.status.0"]
    client.app.state.services.close()


def test_pages_hold_every_run_once_while_others_begin(room: Room) -> None:
    known = [run(room, Answerer("a")).run_id for _ in range(5)][::-1]
    client, seen = client_of(room), []
    for page in client.walk("/api/runs", limit=2):
        seen += [item["run_id"] for item in page]
        run(room, Answerer("b"))
    assert seen == known
    client.app.state.services.close()


def test_a_run_is_shown_without_samples_and_cases_but_with_its_standing(seeded: Seeded) -> None:
    found = seeded.client.ok(f"/api/runs/{seeded.first}")
    header, standing = found["run"], found["standing"]
    assert (header["run_id"], header["status"], header["suite"]["suite_id"]) == (seeded.first, "complete", "room")
    assert [(arm["agent"], arm["samples_total"], arm["samples"]) for arm in header["arms"]] == [
        ("steady@1.0", 12, []),
        ("weak@1.0", 12, []),
        ("tracer@1.0", 12, []),
    ]
    assert header["suite"]["benchmarks"][0]["cases"] == []
    scores = {item["agent"]: item["scores"]["accuracy"]["value"] for item in standing["agents"]}
    assert scores == {"steady@1.0": 1.0, "tracer@1.0": 1.0, "weak@1.0": 0.5}
    assert found["comparison"] is None


def test_a_run_may_be_named_by_the_beginning_of_its_id_and_by_its_place(seeded: Seeded) -> None:
    assert seeded.client.ok("/api/runs/last")["run"]["run_id"] == seeded.odd
    assert seeded.client.ok("/api/runs/last~1")["run"]["run_id"] == seeded.pair
    assert seeded.client.ok(f"/api/runs/{seeded.odd[:35]}")["run"]["run_id"] == seeded.odd


@pytest.mark.parametrize("reference", ["nothing", "last~99", "00000000-0000-0000-0000-000000000000", "%00"])
def test_a_run_that_is_not_there_is_not_found(seeded: Seeded, reference: str) -> None:
    for path in ("", "/samples", "/artifacts", "/report", "/cases/c00"):
        assert fields(seeded.client.problem(f"/api/runs/{reference}{path}", 404)) == ["run_id"]


def test_a_run_that_goes_on_is_shown_too(room: Room) -> None:
    run(room, Answerer("a"))
    header = room.store.runs.load(room.store.runs.find("last"), samples=False)
    new = replace(header, run_id="0199aaaa-0000-7000-8000-000000000001", status=RunStatus.RUNNING, finished_at=None)
    arms = [Arm(arm.arm_id, arm.name, arm.experiment, arm.params, arm.benchmark, arm.agent) for arm in header.arms]
    room.store.runs.begin(new, arms, {arm.arm_id: 4 for arm in arms})
    client = client_of(room)
    found = client.ok(f"/api/runs/{new.run_id}")
    assert found["run"]["status"] == "running"
    assert [arm["planned"] for arm in found["run"]["arms"]] == [4]
    assert client.ok(f"/api/runs/{new.run_id}/samples") == {"items": [], "next": None}
    client.app.state.services.close()


def test_samples_are_listed_in_the_order_of_the_plan(seeded: Seeded) -> None:
    items = seeded.client.ok(f"/api/runs/{seeded.second}/samples", agent="steady", limit=500)["items"]
    assert [(item["iteration"], item["case_id"]) for item in items] == [
        (epoch, f"c{number:02d}") for epoch in (0, 1) for number in range(6)
    ]
    first, fine, last = items[0], items[2], items[5]
    assert (first["agent"], first["benchmark"], first["status"]) == ("steady@2.0", "room", "failed")
    assert (first["score"], first["output"], first["output_cut"], first["failure"]) == (0.0, "no", False, None)
    assert (fine["status"], fine["score"], fine["output"]) == ("ok", 1.0, "WORD 2")
    assert (last["status"], last["score"], last["output"]) == ("error", None, None)
    assert "no answer" in last["failure"]
    assert fine["duration_s"] > 0
    assert (fine["cost_usd"], fine["total_tokens"], fine["simulated"]) == (None, None, False)


@pytest.mark.parametrize("limit", [1, 5, 7, 24, 500])
def test_pages_of_samples_hold_every_one_once(seeded: Seeded, limit: int) -> None:
    whole = seeded.room.store.runs.load(seeded.second)
    expected = [(s.arm_id, s.iteration, s.case_id) for arm in whole.arms for s in arm.samples]
    pages = list(seeded.client.walk(f"/api/runs/{seeded.second}/samples", limit=limit))
    found = [(item["arm_id"], item["iteration"], item["case_id"]) for page in pages for item in page]
    assert found == expected
    assert all(len(page) == limit for page in pages[:-1])


def test_samples_are_found_by_status_agent_benchmark_and_case(seeded: Seeded) -> None:
    def count(run_id: str, **query: object) -> int:
        return sum(len(page) for page in seeded.client.walk(f"/api/runs/{run_id}/samples", limit=2, **query))

    assert count(seeded.second, status="error") == 2
    assert count(seeded.second, status="failed") == 6
    assert count(seeded.second, status=["failed", "error"]) == 8
    assert count(seeded.second, status="failed", agent="tracer@2.0") == 2
    assert count(seeded.second, case="c03") == 4
    assert count(seeded.pair, benchmark="talks") == 3
    assert count(seeded.second, phase="warmup") == 0


def test_samples_are_found_by_their_arm(seeded: Seeded) -> None:
    path = f"/api/runs/{seeded.second}/samples"
    arms = seeded.client.ok(f"/api/runs/{seeded.second}")["run"]["arms"]
    for arm in arms:
        for named in (arm["arm_id"], arm["name"]):
            items = seeded.client.ok(path, arm=named, limit=500)["items"]
            assert [item["arm_id"] for item in items] == [arm["arm_id"]] * 12
    problem = seeded.client.problem(path, 404, arm=arms[0]["name"] + "x")
    assert arms[0]["name"] in problem["near"]


def test_long_outputs_are_cut_in_lists(seeded: Seeded) -> None:
    items = seeded.client.ok(f"/api/runs/{seeded.odd}/samples", agent=SCRIPT)["items"]
    shown = {item["case_id"]: (len(item["output"]), item["output_cut"], item["simulated"]) for item in items}
    assert shown["c00"] == (6, False, True)
    assert shown["c01"] == (2_000, True, False)
    assert shown["c02"] == (2_000, True, False)
    assert items[3]["output"] == json.dumps({"answer": [SCRIPT]})


@pytest.mark.parametrize(
    ("query", "status"),
    [({"status": "great"}, 422), ({"limit": 0}, 422), ({"cursor": "WzFd"}, 422), ({"agent": "stedy"}, 404)],
)
def test_a_filter_that_makes_no_sense_is_refused(seeded: Seeded, query: dict[str, object], status: int) -> None:
    problem = seeded.client.problem(f"/api/runs/{seeded.second}/samples", status, **query)
    if status == 422:
        assert fields(problem)[0].removeprefix("query.").removesuffix(".0") == next(iter(query))
    else:
        assert "steady@2.0" in problem["near"]


def test_a_cursor_of_another_run_is_refused(seeded: Seeded) -> None:
    page = seeded.client.ok(f"/api/runs/{seeded.first}/samples", limit=1)
    seeded.client.problem(f"/api/runs/{seeded.odd}/samples", 422, cursor=page["next"])


def with_artifacts(room: Room) -> tuple[str, Path]:
    """A run with a small artifact in the store, one on disk alone, and one that is a link out of its folder."""
    result = run(room, Answerer("a"))
    folder = room.folder / "runs" / result.run_id
    own = folder / "artifacts" / result.arms[0].arm_id
    own.mkdir(parents=True, exist_ok=True)
    (own / "small.html").write_text(f"<b>{SCRIPT}</b>")
    (room.folder / "secret.txt").write_text("secret")
    prefix = f"artifacts/{result.arms[0].arm_id}"
    small = Artifact("small.html", f"{prefix}/small.html", (own / "small.html").stat().st_size, "text/html")
    arms: tuple[ArmResult, ...] = (replace(result.arms[0], artifacts=(small,)),)
    room.store.runs.finish(replace(result, arms=arms), folder=folder)
    return result.run_id, own


def test_artifacts_are_listed_and_sent_to_be_saved(room: Room) -> None:
    run_id, own = with_artifacts(room)
    client = client_of(room)
    (item,) = client.ok(f"/api/runs/{run_id}/artifacts")["items"]
    assert item["path"] == f"artifacts/{own.name}/small.html"
    (own / "small.html").unlink()
    found = client.get(f"/api/runs/{run_id}/artifacts/{item['path']}")
    assert found.text == f"<b>{SCRIPT}</b>", "the store keeps small ones"
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"] == "attachment; filename*=UTF-8''small.html"
    assert found.headers["x-content-type-options"] == "nosniff"
    client.app.state.services.close()


def test_large_artifacts_come_from_the_folder_of_the_run_and_from_nowhere_else(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, own = with_artifacts(room)
    client = client_of(room)
    path = f"/api/runs/{run_id}/artifacts/artifacts/{own.name}/small.html"
    monkeypatch.setattr("agentdyno.store.runs.repository.RunRepository.load_artifact", lambda *_: None)
    assert client.get(path).text == f"<b>{SCRIPT}</b>"
    (own / "small.html").unlink()
    client.problem(path, 404)
    (own / "small.html").symlink_to(room.folder / "secret.txt")
    client.problem(path, 404)
    client.app.state.services.close()


ESCAPES = [
    "../secret.txt",
    "..%2f..%2f..%2fsecret.txt",
    "%2e%2e/%2e%2e/secret.txt",
    "artifacts/../../../secret.txt",
    "%2Fetc%2Fpasswd",
    "/etc/passwd",
    "..%5c..%5csecret.txt",
    "artifacts%00",
    "small.html%00.txt",
    "%252e%252e%252fsecret.txt",
    "result.json",
    "",
]


def test_no_path_leads_out_of_the_list_of_artifacts(room: Room) -> None:
    run_id, _ = with_artifacts(room)
    client = client_of(room)
    for path in ESCAPES:
        found = client.get(f"/api/runs/{run_id}/artifacts/{path}")
        assert found.status_code == 404, path
        assert "secret" not in found.text.replace("secret.txt", "")
    client.app.state.services.close()


def test_a_made_up_path_is_no_artifact_whatever_it_is(room: Room) -> None:
    run_id, _ = with_artifacts(room)
    header = room.store.runs.load(run_id, samples=False)
    for path in ("../../secret.txt", str(room.folder / "secret.txt"), "\x00", "."):
        with pytest.raises(Exception, match="there is no artifact"):
            find_artifact(room.store, header, path)


@pytest.mark.parametrize(
    ("form", "media_type", "suffix"),
    [
        ("html", "text/html; charset=utf-8", ".html"),
        ("md", "text/markdown; charset=utf-8", ".md"),
        ("json", "application/json", ".json"),
        ("junit", "application/xml", ".xml"),
    ],
)
def test_a_report_of_one_file_is_sent_as_it_is(seeded: Seeded, form: str, media_type: str, suffix: str) -> None:
    found = seeded.client.get(f"/api/runs/{seeded.odd}/report", format=form)
    assert found.status_code == 200
    assert found.headers["content-type"] == media_type
    name = f"{seeded.odd[:13]}-report{suffix}"
    assert found.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
    assert SCRIPT not in found.text or form == "json"
    if form == "json":
        assert found.json()["results"][0]["run_id"] == seeded.odd
    if form == "junit":
        assert ElementTree.fromstring(found.text).tag == "testsuites"


def test_formulas_in_names_are_harmless_in_csv(seeded: Seeded) -> None:
    found = seeded.client.get(f"/api/runs/{seeded.odd}/report", format="csv")
    assert found.headers["content-type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(found.content))
    assert {"summary.csv", "samples.csv", "agents.csv"} <= set(archive.namelist())
    cells = [
        cell
        for name in archive.namelist()
        for row in csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig")))
        for cell in row
    ]
    assert any(FORMULA in cell for cell in cells)
    assert not any(cell.startswith(("=", "@")) for cell in cells)


def test_pictures_come_in_a_zip(seeded: Seeded) -> None:
    found = seeded.client.get(f"/api/runs/{seeded.first}/report", format="png")
    archive = zipfile.ZipFile(io.BytesIO(found.content))
    assert "distribution.png" in archive.namelist()
    assert archive.read("distribution.png").startswith(b"\x89PNG")


def test_a_report_in_an_unknown_format_is_refused(seeded: Seeded) -> None:
    assert fields(seeded.client.problem(f"/api/runs/{seeded.odd}/report", 422, format="doc")) == ["query.format"]


def test_a_run_that_is_too_large_is_not_reported_on_from_here(
    seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentdyno.workbench.run_files.MOST_SAMPLES", 3)
    problem = seeded.client.problem(f"/api/runs/{seeded.odd}/report", 409)
    assert "dyno report" in str(problem["remedy"])
    with pytest.raises(Exception, match="too many for a report"):
        write_report(seeded.room.store, seeded.odd, "md", GatePolicy())


def test_a_run_says_what_its_figures_mean_where_that_is_asked_for(seeded: Seeded) -> None:
    assert seeded.client.ok(f"/api/runs/{seeded.first}")["bands"] == []
    found = seeded.client.ok(f"/api/runs/{seeded.first}", bands="true")["bands"]
    latency = next(item for item in found if item["band"] == "latency_p95")
    assert (latency["metric"], latency["figure"], latency["threshold"]) == ("duration_s", "p95", 0.2)
    assert latency["sentence"]
    assert "stability" not in {item["band"] for item in found}, "cases differ"
