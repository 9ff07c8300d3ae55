"""hyperfine reports the figures that are in its files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.timings.hyperfine import HyperfineImporter
from agentdyno.model import Status

from ..known import FILES, FIXTURES, read

HERE = FIXTURES / "hyperfine"


@pytest.mark.parametrize("path", FILES["hyperfine"], ids=lambda path: path.name)
def test_the_figures_are_those_that_hyperfine_reports(path: Path) -> None:
    stated = json.loads(path.read_text())["results"]
    result = read(path)
    assert [item.name for item in result.arms] == [item["command"] for item in stated]
    for item, wanted in zip(result.arms, stated, strict=True):
        summary = item.metrics["duration_s"]
        assert [sample.readings["duration_s"] for sample in item.samples] == wanted["times"]
        assert summary.mean == pytest.approx(wanted["mean"], rel=1e-12)
        assert summary.median == pytest.approx(wanted["median"], rel=1e-12)
        assert summary.std == pytest.approx(wanted["stddev"], rel=1e-9)
        assert (summary.minimum, summary.maximum) == (wanted["min"], wanted["max"])
        assert item.observed["cpu_s_mean"] == wanted["user"] + wanted["system"]


def test_scanned_and_listed_parameters_are_typed() -> None:
    assert [item.params for item in read(HERE / "scan.json").arms] == [{"count": n} for n in (1000, 2000, 3000)]
    assert read(HERE / "list.json").arms[1].params == {"count": 10, "shell": "dash"}


def test_a_command_that_exits_with_an_error_is_counted_as_hyperfine_does_and_marked() -> None:
    result = read(HERE / "list.json")
    assert result.arms[0].statuses == {"failed": 4}
    assert {sample.status for sample in result.arms[0].samples} == {Status.FAILED}
    assert result.arms[0].samples[0].details == {"ended": "exit code 3"}
    assert result.warnings[0].code == "failed-commands"


def test_the_same_file_is_the_same_run_whenever_it_was_copied(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_bytes((HERE / "two.json").read_bytes())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    first = read(path)
    os.utime(path, (1_800_000_000, 1_800_000_000))
    second = read(path)
    assert (first.started_at, second.started_at) == (1_700_000_000_000, 1_800_000_000_000)
    assert first.run_id == second.run_id
    assert [warning.code for warning in first.warnings[:2]] == ["undated", "unknown-machine"]


def test_one_command_measured_twice_gives_two_arms(tmp_path: Path) -> None:
    plain = json.loads((HERE / "two.json").read_text())
    plain["results"].append(plain["results"][0])
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(plain))
    result = read(path)
    assert [item.name for item in result.arms] == ["with a name", "sh spin.sh 6000", "with a name (2)"]
    assert len({item.arm_id for item in result.arms}) == 3


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("0.00254133926,\n        0.0027658722600000006", "0.00254133926,\n        -0.002", r"times\[1\]: expected"),
        ("0.0027658722600000006", "0.0047658722600000006", "mean: says .* they do not belong together"),
        ('"exit_codes": [\n        0,', '"exit_codes": [', "has 5 elements for 6 times"),
        ('"command": "with a name"', '"command": null', "command: expected a text, found null"),
        ('"times"', '"time"', r"results\[0\]: has no 'times'"),
    ],
)
def test_a_mangled_file_is_refused_with_the_place(old: str, new: str, problem: str, tmp_path: Path) -> None:
    text = (HERE / "two.json").read_text()
    assert old in text
    path = tmp_path / "mangled.json"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ImportFailed, match=problem):
        HyperfineImporter().read(path)


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text('{"results": []}')
    with pytest.raises(ImportFailed, match="holds no benchmark"):
        HyperfineImporter().read(path)
