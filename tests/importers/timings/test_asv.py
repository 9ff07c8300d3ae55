"""Values are those that ``asv show`` prints: reported_by_asv.txt."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.timings.asv import AsvImporter
from agentdyno.model import Direction, Vcs
from agentdyno.model.identity import digest

from ..known import ASV, FILES, arm, copy_with, read

MEDIANS, SAMPLES = FILES["asv"]
ROWS = {path: json.loads(path.read_text())["results"] for path in FILES["asv"]}


def test_a_recorded_sample_is_a_sample_and_their_median_is_what_asv_shows() -> None:
    result = read(SAMPLES)
    recorded = ROWS[SAMPLES]["lists.time_sum"]
    found = arm(result, "lists.time_sum")
    assert [sample.readings["duration_s"] for sample in found.samples] == recorded[11][0]
    assert {sample.inner_loops for sample in found.samples} == {1755}
    assert found.metrics["duration_s"].median == pytest.approx(recorded[0][0], rel=1e-12)
    assert f"{(found.metrics['duration_s'].median or 0) * 1e6:.2f}" == "1.19"
    up = arm(result, "lists.Sorting.time_sort(10, 'up')")
    assert (up.metrics["duration_s"].n, f"{(up.metrics['duration_s'].median or 0) * 1e9:.0f}") == (10, "496")


def test_without_samples_the_one_value_stands_and_the_result_says_so() -> None:
    result = read(MEDIANS)
    found = arm(result, "lists.Sorting.time_sort(10, 'down')")
    assert found.metrics["duration_s"].n == 1
    assert found.metrics["duration_s"].median == ROWS[MEDIANS]["lists.Sorting.time_sort"][0][1]
    assert f"{(found.metrics['duration_s'].median or 0) * 1e9:.0f}" == "445"
    assert found.observed == {"repeat": 10}
    (warning,) = [item for item in result.warnings if item.code == "aggregates-only"]
    assert "of 5 timings" in warning.message


def test_memory_and_tracked_numbers_have_metrics_of_their_own() -> None:
    result = read(SAMPLES)
    memory = arm(result, "lists.mem_list").metrics["memory_bytes"]
    assert (memory.median, memory.unit, memory.direction) == (4056.0, "bytes", Direction.LOWER)
    assert arm(result, "lists.peakmem_list").metrics["peak_rss_bytes"].median == 27279360.0
    length = arm(result, "lists.track_length").metrics["result.length"]
    assert (length.median, length.unit, length.direction) == (42.0, "items", Direction.UNKNOWN)
    assert arm(result, "lists.track_answer").metrics["result.answer"].median == 0.5
    assert arm(result, "lists.timeraw_import").metrics["duration_s"].unit == "s"


def test_parameters_are_named_and_typed_and_what_does_not_apply_is_left_out() -> None:
    result = read(SAMPLES)
    sorting = [item for item in result.arms if item.experiment == "lists.Sorting.time_sort"]
    assert [item.params for item in sorting] == [
        {"size": 10, "order": "up"},
        {"size": 10, "order": "down"},
        {"size": 100, "order": "up"},
    ]
    assert "1 values are left out" in next(item.message for item in result.warnings if item.code == "left-out")


def test_a_benchmark_that_failed_is_an_error() -> None:
    broken = arm(read(SAMPLES), "lists.time_broken")
    assert (broken.statuses, broken.metrics) == ({"error": 1}, {})


def test_the_header_tells_commit_environment_and_machine() -> None:
    result = read(SAMPLES)
    assert result.vcs == Vcs("c27a6401267f9124f456563051a88c211ac80096", None, dirty=False)
    assert result.name == "virtualenv-py3.11"
    starts = [row[3] for row in ROWS[SAMPLES].values()]
    assert (result.started_at, result.finished_at) == (
        min(starts),
        max(row[3] + round(row[4] * 1000) for row in ROWS[SAMPLES].values()),
    )
    environment = result.environment
    assert (environment.os, environment.kernel, environment.python) == ("Linux x86_64", "6.1.0", "3.11")
    # Enough is known for the id that this machine has in runs made here.
    assert environment.machine_id == digest(["AMD EPYC", 2, round(25276518400 / 1024**3), "Linux x86_64"], 16)
    assert "bench-box" not in str(result)


def test_a_folder_gives_one_run_per_file_with_the_same_arms() -> None:
    for folder in (ASV, ASV / "bench-box"):
        first, second = AsvImporter().read(folder)
        assert [first.run_id, second.run_id] == [read(path).run_id for path in FILES["asv"]]
        assert [item.arm_id for item in first.arms] == [item.arm_id for item in second.arms]


def test_results_of_a_benchmark_that_has_changed_or_is_gone_are_left_out_as_asv_does(tmp_path: Path) -> None:
    path = copy_with(SAMPLES, SAMPLES.read_bytes(), tmp_path)
    listed = path.parent.parent / "benchmarks.json"
    known = json.loads(listed.read_text())
    del known["lists.time_sum"]
    known["lists.track_answer"]["version"] = "another"
    listed.write_text(json.dumps(known))
    result = read(path)
    assert not {"lists.time_sum", "lists.track_answer"} & {item.name for item in result.arms}
    assert "3 values are left out" in next(item.message for item in result.warnings if item.code == "left-out")


def test_files_that_only_describe_are_refused_with_what_to_import_instead() -> None:
    for path in (ASV / "benchmarks.json", ASV / "bench-box" / "machine.json"):
        with pytest.raises(ImportFailed, match="holds none"):
            read(path)


def test_a_result_away_from_its_folder_is_refused(tmp_path: Path) -> None:
    shutil.copy(SAMPLES, tmp_path / SAMPLES.name)
    with pytest.raises(ImportFailed, match=r"no benchmarks\.json"):
        read(tmp_path / SAMPLES.name)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    shutil.copy(ASV / "benchmarks.json", tmp_path)
    with pytest.raises(ImportFailed, match="no results of a machine"):
        AsvImporter().read(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"version": 2', '"version": 1', "format version 1, not 2"),
        ('[["10", "100"], [', '[["10"], [', "has 4 values for 2 combinations"),
        ('[["10", "100"], [', "[[", "has 1 parameters, and lists.Sorting.time_sort has 2"),
        (
            "[4.960002115694806e-07,",
            "[-1,",
            r"time_sort\"\[0\]\[0\]: expected a finite number of at least 0, found -1",
        ),
        ('"result_columns": ["result"', '"result_columns": ["outcome"', "has no column 'result'"),
        ('"commit_hash": "c27', '"commit_hash": 5, "x": "c27', "commit_hash: expected a text"),
    ],
)
def test_a_mangled_file_is_refused_with_the_place(old: str, new: str, problem: str, tmp_path: Path) -> None:
    text = SAMPLES.read_text()
    assert old in text
    with pytest.raises(ImportFailed, match=problem):
        AsvImporter().read(copy_with(SAMPLES, text.replace(old, new, 1).encode(), tmp_path))
