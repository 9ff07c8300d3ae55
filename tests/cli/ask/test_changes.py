"""``dyno changes`` as a user types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.cli.main import main
from agentdyno.store import Store

from ...suites import Room
from ...workbench.answering import Answerer, ids, run


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "140")
    with Store.open(tmp_path / ".dyno" / "dyno.db") as store:
        yield Room(tmp_path, store)


def dyno(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["dyno", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_the_worst_is_on_top_in_a_table_and_in_json(
    room: Room, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 12)), Answerer("b"), count=24)
    capsys.readouterr()
    assert dyno(monkeypatch, "changes") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Broke: right in every try of the baseline, wrong in every one now"
    assert lines[3].split()[:5] == ["a@1.1", "room", "12", "c00,", "c01,"]
    start = lines.index("Changes: 1 worse, 1 no-baseline")
    assert lines[start + 3].split()[:5] == ["✗", "worse", "(critical)", "a@1.1", "room"]
    assert "Worse than a@1.0: accuracy -50.0 points" in " ".join(lines)
    assert any(line.startswith("Alerts: ") for line in lines)
    assert dyno(monkeypatch, "changes", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in found["changes"]["rows"]] == ["worse", "no-baseline"]
    assert found["changes"]["rows"][0]["broken"][0] == {"benchmark": "room", "case_id": "c00"}
    assert "accuracy" in {alert["regression"]["metric"] for alert in found["alerts"]}


def test_an_empty_store_says_what_to_type(
    room: Room, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert room.folder == Path.cwd()
    assert dyno(monkeypatch, "changes") == 0
    assert "`dyno run SUITE --agent AGENT` does it" in capsys.readouterr().out


def test_without_a_store_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    assert dyno(monkeypatch, "changes") == 2
    assert "there is no store here" in capsys.readouterr().err
