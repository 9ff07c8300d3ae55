"""Values are those that pyperf itself reports: reported_by_pyperf.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.timings.pyperf import PyperfImporter
from agentdyno.model import Direction, Phase
from agentdyno.model.identity import experiment_arm_id

from ..known import FIXTURES, arm, read

HERE = FIXTURES / "pyperf"
REPORTED = json.loads((HERE / "reported_by_pyperf.txt").read_text())


@pytest.mark.parametrize(
    ("file", "name", "metric"),
    [
        ("words.json", "split", "duration_s"),
        ("words.json", "count", "duration_s"),
        ("memory.json", "sum", "memory_bytes"),
        ("single.json.gz", "sum", "duration_s"),
    ],
)
def test_the_figures_are_those_that_pyperf_reports(file: str, name: str, metric: str) -> None:
    stated = REPORTED[file]["benchmarks"][name]
    summary = arm(read(HERE / file), name).metrics[metric]
    assert summary.n == stated["values"]
    assert summary.mean == pytest.approx(stated["mean"], rel=1e-12)
    assert summary.median == pytest.approx(stated["median"], rel=1e-12)
    assert summary.std == pytest.approx(stated["stdev"], rel=1e-12)
    assert summary.mad == pytest.approx(stated["mad"], rel=1e-9)


def test_each_value_keeps_its_process_and_the_number_of_its_calls() -> None:
    split = arm(read(HERE / "words.json"), "split")
    assert split.arm_id == experiment_arm_id("split", {})
    measured = [sample for sample in split.samples if sample.phase is Phase.MEASURED]
    # The first process calibrates and has no value.
    assert [sample.process for sample in measured] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert [sample.iteration for sample in measured] == list(range(12))
    assert measured[0].readings == {"duration_s": 8.388229980837991e-06, "peak_rss_bytes": 19509248.0}
    assert {sample.inner_loops for sample in measured} == {2048}


def test_warm_ups_are_kept_and_enter_no_figure() -> None:
    split = arm(read(HERE / "words.json"), "split")
    warmups = [sample for sample in split.samples if sample.phase is Phase.WARMUP]
    assert len(warmups) == 16 + 4 * 2
    assert [sample.inner_loops for sample in warmups[:3]] == [1, 2, 4]
    assert warmups[0].readings == {"duration_s": 1.1567000910872594e-05}
    assert (split.statuses, split.planned, split.samples_total) == ({"ok": 12}, 12, 36)


def test_duplicated_statements_count_as_calls() -> None:
    whole = arm(read(HERE / "single.json.gz"), "sum")
    stated = REPORTED["single.json.gz"]["benchmarks"]["sum"]["total_loops"]
    assert {sample.inner_loops for sample in whole.samples if sample.phase is Phase.MEASURED} == {stated}


def test_bytes_are_no_durations() -> None:
    summary = arm(read(HERE / "memory.json"), "sum").metrics
    assert "duration_s" not in summary
    assert (summary["memory_bytes"].unit, summary["memory_bytes"].direction) == ("bytes", Direction.LOWER)


def test_the_header_tells_when_where_and_from_what() -> None:
    result = read(HERE / "words.json")
    assert result.started_at == 1794751041040  # 2026-11-15 13:57:21.039598
    assert result.finished_at == 1794751042762 + 107
    environment = result.environment
    assert (environment.os, environment.kernel, environment.python) == ("Linux x86_64", "6.1.0", "3.11.7")
    assert (environment.cpu_model, environment.cpu_count, environment.implementation) == ("AMD EPYC", 2, "cpython")
    assert environment.machine_id.startswith("imported-")  # pyperf does not say how much memory there is
    assert result.origin["tool"] == "pyperf"
    assert result.origin["version"] == "2.10.0"
    assert result.origin["file"] == "words.json"
    assert "bench-box" not in str(result)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("8.388229980837991e-06", "NaN", r"benchmarks\[0\]\.runs\[1\]\.values\[0\]: expected a finite number"),
        ("8.388229980837991e-06", "-8e-06", r"values\[0\]: expected a finite number of at least 0, found -8e-06"),
        ("8.388229980837991e-06", "0", "expected a number above 0"),
        ("8.388229980837991e-06", '"8e-06"', 'found "8e-06"'),
        ('"loops":2048', '"loops":0', "expected a whole number of at least 1, found 0"),
        ('"unit":"second"', '"unit":"parsec"', "expected one of second, byte, integer"),
        ('"version":"1.0"', '"version":6', "expected the format version"),
        ('"name":"split"', '"nom":"split"', r"benchmarks\[0\]: has no name"),
        ("[[1,1.1567000910872594e-05]", "[[1]", r"warmups\[0\]: expected a pair"),
        ("2026-11-15 13:57:21.039598", "long ago", "expected a date and time"),
    ],
)
def test_a_mangled_file_is_refused_with_the_place(old: str, new: str, problem: str, tmp_path: Path) -> None:
    text = (HERE / "words.json").read_text()
    assert old in text
    path = tmp_path / "words.json"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ImportFailed, match=problem):
        PyperfImporter().read(path)
