"""What is remembered about a host between runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentdyno.model import Environment
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.runs.environment import capture_environment
from agentdyno.runs.host_state import (
    CalibratedSpread,
    HostState,
    ReferenceStandard,
    host_id,
    keep_spread,
    keep_standard,
    read_state,
    state_folder,
)

FIRST = ReferenceStandard({"interpreted": 4e-4}, "first run", 1)
LATER = ReferenceStandard({"interpreted": 9e-4}, "first run", 2)
CALIBRATED = ReferenceStandard({"interpreted": 5e-4}, "calibrated", 3)


def test_a_host_keeps_the_id_that_it_was_given_first(tmp_path: Path) -> None:
    first = host_id(tmp_path / "state")
    assert re.fullmatch("[0-9a-f]{16}", first)
    assert host_id(tmp_path / "state") == first
    assert host_id(tmp_path / "another") != first
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["host_id"]


@pytest.mark.parametrize("written", ["", "not an id", "\0"])
def test_a_damaged_id_is_unknown_and_not_replaced(tmp_path: Path, written: str) -> None:
    (tmp_path / "host_id").write_text(written)
    assert host_id(tmp_path) == ""
    assert (tmp_path / "host_id").read_text() == written


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_id(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = tmp_path / "file" / "state"
    assert host_id(blocked) == ""
    assert keep_standard("py", FIRST, blocked) == FIRST
    assert read_state(blocked) == HostState()


def test_the_folder_is_the_named_one_else_that_of_the_user(tmp_path: Path) -> None:
    assert state_folder({"DYNO_STATE": str(tmp_path), "XDG_STATE_HOME": "/elsewhere"}) == tmp_path
    assert state_folder({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "agentdyno"
    assert state_folder({"XDG_STATE_HOME": "relative"}) == Path("~/.local/state/agentdyno").expanduser()
    assert state_folder({}) == Path("~/.local/state/agentdyno").expanduser()


def test_the_environment_of_a_run_names_its_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNO_STATE", str(tmp_path))
    environment = capture_environment()
    assert environment.host_id == host_id(tmp_path) != ""
    assert from_plain(Environment, to_plain(environment)) == environment


def test_an_environment_from_before_has_no_host() -> None:
    plain = to_plain(capture_environment())
    del plain["host_id"]
    assert from_plain(Environment, plain).host_id == ""


def test_the_first_run_sets_the_standard_and_only_calibrating_moves_it(tmp_path: Path) -> None:
    assert keep_standard("py", FIRST, tmp_path) == FIRST
    assert keep_standard("py", LATER, tmp_path) == FIRST
    assert keep_standard("other", LATER, tmp_path) == LATER
    assert keep_standard("py", CALIBRATED, tmp_path) == CALIBRATED
    assert read_state(tmp_path).standards == {"py": CALIBRATED, "other": LATER}


def test_a_calibrated_spread_is_kept_beside_the_standards(tmp_path: Path) -> None:
    spread = CalibratedSpread({"duration_s": 0.2}, 12, 5)
    keep_standard("py", FIRST, tmp_path)
    keep_spread("py", spread, tmp_path)
    assert read_state(tmp_path) == HostState({"py": FIRST}, {}, {"py": spread})


def test_a_damaged_state_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text('{"standards": 3}')
    assert read_state(tmp_path) == HostState()
