"""The commands that conclude, as a user types them; in this process, which saves starting one for each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agentdyno.cli.main import main
from agentdyno.model import Case, Suite, Workspace
from agentdyno.runs.kind import Choices
from agentdyno.runs.lineup import Entrant
from agentdyno.runs.suite.prepare import candidates_of
from agentdyno.store import Execution, Store

from ..command import Done
from ..store.suite_builders import SUITE
from ..suites import Room
from ..workbench.answering import Answerer, cases, ids, put, run

Dyno = Callable[..., Done]
FIXTURES = Path(__file__).parent.parent / "importers" / "fixtures"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """An empty folder, made the current one, with its own store where the commands look for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    with Store.open(tmp_path / ".dyno" / "dyno.db") as store:
        yield Room(tmp_path, store)


@pytest.fixture
def dyno(room: Room, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dyno:
    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["dyno", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert isinstance(left.value.code, int)
        return Done(left.value.code, out, err)

    assert room.folder == Path.cwd()
    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``a`` knows everything, ``b`` a third; ``c`` one case less than all. Version 1.1 of ``a`` knows half."""
    folder = tmp_path_factory.mktemp("made")
    with Store.open(folder / ".dyno" / "dyno.db") as store:
        room = Room(folder, store)
        agents = Answerer("a", "1.0"), Answerer("b", wrong=ids(0, 16)), Answerer("c", wrong=ids(0, 1))
        run(room, *agents, count=24, epochs=3)
        run(room, Answerer("a", "1.1", wrong=ids(0, 12)), count=24, epochs=3)
    return folder


@pytest.fixture
def filled(made: Path, room: Room) -> Iterator[Room]:
    """A copy of what was made."""
    room.store.close()
    shutil.copytree(made, room.folder, dirs_exist_ok=True)
    with Store.open(room.folder / ".dyno" / "dyno.db") as store:
        yield Room(room.folder, store)


def test_the_board_is_a_table_or_one_json_document(filled: Room, dyno: Dyno) -> None:
    done = dyno("board", "--metric", "accuracy")
    assert (done.code, done.err) == (0, "")
    assert "4 agents in 30 days. First: a@1.0, not told apart from c@1.0." in done.out
    shown = [line.split()[2] for line in done.out.splitlines() if line[:1].isdigit()]
    assert shown[:4] == ["a@1.0", "c@1.0", "a@1.1", "b@1.0"]
    board = dyno("board", "--metric", "accuracy", "--limit", "2", "--suite", "room", "--json").json
    assert (board["metric"], board["total"], len(board["entries"])) == ("accuracy", 4, 2)
    matrix = dyno("board", "--matrix", "--suite", "room", "--json").json
    assert [entry["agent"] for entry in matrix["entries"]][:1] == ["a@1.0"]
    stale = dyno("board", "--stale", "--json").json
    assert (stale["agents"], stale["fresh"], stale["stale"]) == (3, 3, [])


def test_weights_of_dyno_yaml_are_those_of_the_board(filled: Room, dyno: Dyno) -> None:
    weights = "{accuracy: 1, speed: 0, efficiency: 0, cost: 0, reliability: 0}"
    filled.workspace(f"weights: {weights}\nstore: .dyno/dyno.db\n")
    board = dyno("board", "--json").json
    assert board["weights"]["accuracy"] == 1
    scores = [entry["scores"]["overall"]["score"] for entry in board["entries"]]
    assert scores == pytest.approx([1.0, 23 / 24, 0.5, 8 / 24])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("board", "--category", "acuracy"), "Did you mean accuracy"),
        (("board", "--matrix", "--category", "acuracy"), "Did you mean accuracy"),
        (("board", "--metric", "sped"), "Did you mean speed"),
        (("board", "--suite", "rom"), "Did you mean room"),
        (("board", "--matrix", "--stale"), "ask one"),
        (("board", "--all-versions"), "--stale"),
        (("board", "--days", "0"), "--days"),
        (("board", "--format", "htm"), "Did you mean html"),
        (("history", "aa"), "neither an agent nor an experiment 'aa'"),
        (("history", "a", "--metric", "sped"), "Did you mean speed"),
        (("history", "a", "--gate"), "--regressions"),
        (("history", "a", "--regressions", "--benchmark", "room"), "--benchmark"),
        (("history", "a", "--suite", "rom"), "Did you mean room"),
        (("history", "a", "--benchmark", "rom"), "Did you mean room"),
        (("history", "a", "--regressions", "--baseline", "7"), "a has no version '7' here"),
        (("history", "a", "--regressions", "--threshold", "-1"), "--threshold"),
        (("cost", "nobody"), "no agent 'nobody'"),
        (("cost", "--volume", "0"), "--volume"),
        (("baseline", "set", "nobody"), "no agent 'nobody'"),
        (("baseline", "clear", "a"), "no baseline of a is set"),
        (("baseline", "export", "b.json"), "no baseline is set"),
        (("compare", "a"), "name a second one"),
        (("compare", "last", "last", "last"), "two results"),
        (("compare", "last", "last~1", "--suite", "room"), "--suite goes with agents"),
        (("compare", "last"), "one side only"),
        (("compare", "nothing.json", "last"), "no file nothing.json"),
        (("import", "gone.json"), "cannot be read"),
        (("import", "gone.json", "--format", "hyperfin"), "Did you mean hyperfine"),
        (("import",), "Missing argument"),
        (("check",), "nothing to run"),
    ],
)
def test_a_mistake_exits_2_and_says_what_to_do(
    filled: Room, dyno: Dyno, arguments: tuple[str, ...], said: str
) -> None:
    done = dyno(*arguments)
    assert done.code == 2, done.err
    assert said in done.err
    assert done.out == ""
    assert len(filled.store.runs.newest()) == 2


@pytest.mark.parametrize("command", ["board", "cost", "history", "compare"])
def test_asking_an_empty_folder_makes_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dyno: Dyno, command: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setenv("DYNO_STORE", str(empty / "none.db"))
    subjects = {"history": ("a",), "compare": ("a", "b")}.get(command, ())
    done = dyno(command, *subjects)
    assert done.code == 2
    assert "there is no store here" in done.err
    assert not (empty / "none.db").exists()


def test_a_history_is_drawn_and_regressions_gate(filled: Room, dyno: Dyno) -> None:
    done = dyno("history", "a", "--metric", "accuracy", "--baseline", "1.0")
    assert done.code == 0, done.err
    assert "2 points" in done.out
    series = dyno("history", "a", "--metric", "accuracy", "--json").json
    assert [point["value"] for point in series["points"]] == [1.0, 0.5]
    report = dyno("history", "a", "--regressions", "--json")
    assert report.code == 0
    found = [item for item in report.json["regressions"] if item["metric"] == "accuracy"]
    assert [(item["baseline"], item["current"]) for item in found] == [(1.0, 0.5)]
    assert dyno("history", "a", "--regressions", "--gate").code == 1
    both = dyno("history", "a", "--regressions", "--metric", "accuracy")
    assert "health" in both.out


def test_costs_are_those_of_the_agents_named_or_of_all(filled: Room, dyno: Dyno) -> None:
    assert len(dyno("cost", "--json").json["rows"]) == 4
    both = dyno("cost", "a@1.0", "b", "--reliability", "--json").json
    assert [row["agent"] for row in both["cost"]["rows"]] == ["a@1.0", "b@1.0"]
    assert both["reliability"][0]["agent"] == "a@1.0"
    done = dyno("cost", "a", "--reliability")
    assert done.code == 0
    assert "pass^3" in done.out


def test_two_agents_are_a_duel_with_a_winner_only_where_it_is_significant(filled: Room, dyno: Dyno) -> None:
    duel = dyno("compare", "a@1.0", "b", "--suite", "room", "--json").json
    assert {"baseline", "candidate", "rows", "benchmark_rows", "flips", "winner", "why", "recommendations"} <= set(
        duel
    )
    row = next(item for item in duel["rows"] if item["metric"] == "accuracy")
    assert (row["baseline"], row["verdict"]) == (1.0, "worse")
    assert row["candidate"] == pytest.approx(8 / 24)
    assert row["adjusted_p"] < 0.05
    assert duel["dimension_winners"]["accuracy"] == "a@1.0"
    assert len(duel["flips"]["broken"]) == 16
    close = dyno("compare", "a@1.0", "c", "--json").json
    assert close["dimension_winners"]["accuracy"] is None
    done = dyno("compare", "a@1.0", "c")
    assert done.code == 0
    assert "a@1.0" in done.out


def test_three_agents_are_a_tournament_and_the_gate_holds_the_others_against_the_first(
    filled: Room, dyno: Dyno
) -> None:
    found = dyno("compare", "a@1.0", "b", "c", "--json").json
    assert len(found["duels"]) == 3
    assert dyno("compare", "a@1.0", "b", "c", "--gate").code == 1
    assert dyno("compare", "a@1.0", "b", "--gate").code == 1
    assert filled.folder == Path.cwd()


def test_two_runs_of_suites_are_compared_agent_by_agent(filled: Room, dyno: Dyno) -> None:
    run(filled, Answerer("b", "1.1"), Answerer("a", "1.2"), count=24)
    found = dyno("compare", "last~2", "last", "--json").json
    assert [(item["baseline"], item["candidate"]) for item in found] == [("b@1.0", "b@1.1"), ("a@1.0", "a@1.2")]
    assert dyno("compare", "last~2", "last~1").code == 0
    file = next((filled.folder / "runs").glob("*/result.json"))
    from_file = dyno("compare", str(file), "last~1", "--json")
    assert from_file.code == 0, from_file.err


def test_the_two_sides_of_a_run_are_compared(filled: Room, dyno: Dyno) -> None:
    loaded = filled.suite(dataset={"cases": cases(24)})
    put(filled, loaded, Answerer("a", "2.0"), Answerer("a", "2.1", wrong=ids(0, 20)), until_decided=True)
    found = dyno("compare", "last", "--json")
    assert found.code == 0, found.err
    assert (found.json["baseline"], found.json["candidate"]) == ("a@2.0", "a@2.1")
    assert dyno("compare", "last", "--gate").code == 1


def test_an_agent_and_a_result_do_not_go_together(filled: Room, dyno: Dyno) -> None:
    done = dyno("compare", "a", "last")
    assert done.code == 3
    assert "a is an agent and last is not" in done.err
    done = dyno("compare", "a", "a@1.1")
    assert done.code == 3
    assert "a@1.1 cannot be set against itself" in done.err
    assert filled.folder == Path.cwd()


def test_a_baseline_is_set_shown_exported_and_cleared(filled: Room, dyno: Dyno) -> None:
    done = dyno("baseline", "set", "a@1.0", "--note", "released")
    assert done.code == 0
    assert "Baseline of a in room: a@1.0, run " in done.err
    assert "released" in dyno("baseline", "show").out
    assert [row["version"] for row in dyno("baseline", "show", "a", "--json").json] == ["1.0"]
    assert dyno("baseline", "show", "b", "--json").json == []
    assert dyno("baseline", "export", "b.json", "--json").json == {"file": "b.json", "agents": ["a@1.0"]}
    exported = dyno("baseline", "export", "all.json", "--agent", "b", "--agent", "c")
    assert "b@1.0: 24 cases of room" in exported.err
    assert dyno("baseline", "clear", "a@1.0", "--json").json == {"cleared": 1}
    assert dyno("baseline", "show", "--json").json == []
    assert "dyno baseline set" in dyno("baseline", "show").out
    assert filled.folder == Path.cwd()


def test_files_of_other_tools_are_imported_once_and_tried_without_storing(room: Room, dyno: Dyno) -> None:
    files = [str(FIXTURES / "pyperf" / "words.json"), str(FIXTURES / "hyperfine" / "two.json")]
    tried = dyno("import", *files, "--dry-run")
    assert tried.code == 0
    assert "2 runs could be read. Nothing was stored." in tried.err
    assert room.store.runs.newest() == []
    done = dyno("import", *files)
    assert "Stored 2 runs" in done.err
    assert "Reading " in done.err
    again = dyno("import", *files, str(FIXTURES / "asv" / "results"), "--json").json
    assert [(item["format"], item["known"]) for item in again[:2]] == [("pyperf", True), ("hyperfine", True)]
    assert all(item["stored"] and item["format"] == "asv" for item in again[2:])
    broken = room.folder / "broken.json"
    broken.write_text('{"benchmarks": [')
    before = len(room.store.runs.newest(100))
    failed = dyno("import", files[0], str(broken))
    assert failed.code == 2
    assert "broken.json" in failed.err
    assert len(room.store.runs.newest(100)) == before
    name = room.store.boards.arm_series()[0].name
    assert dyno("history", name).code == 0


def gate_files(room: Room, first_right: int = 0) -> None:
    (room.folder / "agent.py").write_text(
        f"def answer(text):\n    return text.upper() if int(text.split()[1]) >= {first_right} else 'no'\n"
    )
    document = {"name": "room", "scorer": "exact", "epochs": 1, "warmup": 0, "dataset": {"cases": cases(24)}}
    (room.folder / "suite.json").write_text(json.dumps(document))
    metrics = "{duration_s: off, error_rate: {tier: critical, tolerance: 0.05}}"
    room.workspace(f"agents: {{s: {{use: agent.py@answer}}}}\nsuites: [suite.json]\ngate: {{metrics: {metrics}}}\n")


def test_the_gate_blocks_warns_and_passes_with_its_exit_codes(room: Room, dyno: Dyno) -> None:
    gate_files(room)
    assert dyno("run", "suite.json").code == 0
    assert dyno("baseline", "set", "s").code == 0
    same = dyno("check", "--json")
    assert (same.code, same.json[0]["verdict"]) == (0, "PASS")
    gate_files(room, 1)
    unsure = dyno("check")
    assert unsure.code == 0, unsure.err
    assert "INCONCLUSIVE" in unsure.out
    assert dyno("check", "--strict").code == 4
    assert "Already measured" in dyno("check").err
    gate_files(room, 12)
    files = ("--junit", "out/j.xml", "--markdown", "out/c.md", "--format", "md,html,json,png")
    blocked = dyno("check", "suite.json", *files)
    assert blocked.code == 1, blocked.err
    assert "BLOCK" in blocked.out
    junit = ElementTree.fromstring(Path("out/j.xml").read_text())
    failed = [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None]
    assert failed == ["accuracy", *(f"c{i:02d}" for i in range(12))]
    assert "BLOCK" in Path("out/c.md").read_text()
    assert "Wrote out/c.md" in blocked.err


@dataclass
class Interrupting(Answerer):
    """The user presses Ctrl-C at the fifth case."""

    def run(self, case: Case) -> object:
        if len(self.asked) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return super().run(case)


def test_an_interrupted_check_exits_130_and_begins_nothing_else(
    room: Room, dyno: Dyno, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate_files(room)
    (room.folder / "second.json").write_text((room.folder / "suite.json").read_text().replace('"room"', '"second"'))
    put(room, room.suite(dataset={"cases": cases(24)}), Answerer("base"))
    put(room, room.suite(dataset={"cases": cases(24)}, name="second"), Answerer("base"))
    agent = Interrupting("s", "9")

    def chosen(suite: Suite, workspace: Workspace, choices: Choices) -> list[Entrant]:
        return candidates_of(suite, workspace, replace(choices, agents=(agent,)))

    monkeypatch.setattr("agentdyno.workbench.check.candidates_of", chosen)
    done = dyno("check", "suite.json", "second.json", "--against", "base", "--json")
    assert done.code == 130, done.err
    assert [item["suite"] for item in done.json] == ["room"]
    assert [row.name for row in room.store.runs.newest()] == ["room", "second", "room"]


def test_reports_go_where_they_are_asked_to_go(filled: Room, dyno: Dyno) -> None:
    done = dyno("compare", "a@1.0", "b", "--format", "html,md,csv,json,png", "--output-dir", "out")
    assert done.code == 0, done.err
    names = {path.suffix for path in (filled.folder / "out").iterdir()}
    assert {".html", ".md", ".csv", ".json", ".png"} <= names
    assert done.err.count("Wrote out/") == len(list((filled.folder / "out").iterdir()))


def test_a_board_without_anything_real_on_it_says_so(room: Room, dyno: Dyno) -> None:
    room.store.boards.add_suite(SUITE, now_ms=1)
    row = Execution("x", "1", SUITE.digest, "sums", 1_700_000_000_000, accuracy=1.0, simulated=True)
    room.store.boards.add_executions([row])
    for arguments in (("board",), ("board", "--matrix")):
        done = dyno(*arguments)
        assert done.code == 0
        assert "x" not in done.out.split()
    assert dyno("board", "--json").json["entries"] == []
