"""google-benchmark reports repetitions as the aggregate rows of its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.timings.google_benchmark import GoogleBenchmarkImporter
from agentdyno.model import Direction, Status

from ..known import FIXTURES, arm, read

HERE = FIXTURES / "google_benchmark"
SECONDS = {"ns": 1e9, "us": 1e6}
NAMES = ("Reverse/64", "Reverse/1024", "Append/count:200/real_time")


def stated(file: str, name: str, kind: str, key: str) -> float:
    """What an aggregate row says, in seconds where it is a time."""
    rows = json.loads((HERE / file).read_text())["benchmarks"]
    (row,) = [row for row in rows if row["run_name"] == name and row.get("aggregate_name") == kind]
    return float(row[key]) / (SECONDS[row["time_unit"]] if key.endswith("_time") else 1.0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("key", "metric"), [("real_time", "duration_s"), ("cpu_time", "cpu_s")])
def test_repetitions_give_the_figures_that_are_reported(name: str, key: str, metric: str) -> None:
    summary = arm(read(HERE / "repeated.json"), name).metrics[metric]
    assert summary.n == 4
    assert summary.mean == pytest.approx(stated("repeated.json", name, "mean", key), rel=1e-12)
    assert summary.median == pytest.approx(stated("repeated.json", name, "median", key), rel=1e-12)
    assert summary.std == pytest.approx(stated("repeated.json", name, "stddev", key), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_aggregates_alone_are_kept_as_figures_without_samples(name: str) -> None:
    result = read(HERE / "aggregates.json")
    found = arm(result, name)
    summary = found.metrics["duration_s"]
    assert (summary.n, found.samples, summary.ci) == (4, (), None)
    assert summary.mean == stated("aggregates.json", name, "mean", "real_time")
    assert summary.median == stated("aggregates.json", name, "median", "real_time")
    assert summary.std == stated("aggregates.json", name, "stddev", "real_time")
    assert (summary.p95, summary.p99, summary.mad, summary.minimum, summary.maximum) == (None,) * 5
    assert result.warnings[0].code == "aggregates-only"
    assert "3 of 4 benchmarks" in result.warnings[0].message


def test_the_unit_of_a_row_is_taken_into_account() -> None:
    sample = arm(read(HERE / "plain.json"), "Append/count:200/real_time").samples[0]
    assert sample.readings["duration_s"] == 2.7900214584175320e-01 / 1e6
    assert sample.inner_loops == 26563


def test_counters_are_results_and_only_rates_have_a_direction() -> None:
    metrics = arm(read(HERE / "repeated.json"), "Reverse/64").metrics
    rate = metrics["result.bytes_per_second"]
    assert (rate.unit, rate.direction) == ("bytes/s", Direction.HIGHER)
    assert rate.mean == pytest.approx(stated("repeated.json", "Reverse/64", "mean", "bytes_per_second"), rel=1e-12)
    assert (metrics["result.length"].mean, metrics["result.length"].direction) == (64.0, Direction.UNKNOWN)


def test_a_name_is_taken_apart_and_fits_are_no_benchmarks() -> None:
    result = read(HERE / "plain.json")
    assert [(item.experiment, item.params) for item in result.arms] == [
        ("Reverse", {"arg0": 64}),
        ("Reverse", {"arg0": 1024}),
        ("Append", {"count": 200, "clock": "real_time"}),
        ("Refuses", {}),
    ]


def test_a_benchmark_that_refused_is_an_error_with_its_message() -> None:
    refused = arm(read(HERE / "repeated.json"), "Refuses")
    assert refused.statuses == {"error": 4}
    assert refused.metrics == {}
    failure = refused.samples[0].failure
    assert refused.samples[0].status is Status.ERROR
    assert failure is not None
    assert failure.message == "no input"


def test_the_header_tells_date_program_and_release() -> None:
    result = read(HERE / "newer.json")
    assert result.started_at == 1794751408000
    assert (result.name, result.origin["version"]) == ("bench_strings.py", "1.9.5")
    assert result.environment.cpu_count == 2
    assert "bench-box" not in str(result)


def test_what_a_crashed_program_left_is_cut_off() -> None:
    with pytest.raises(ImportFailed, match="the file is cut off"):
        read(HERE / "crashed.json")


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("plain.json", '"time_unit": "ns"', '"time_unit": "fortnight"', "expected one of ns, us, ms, s"),
        ("plain.json", '"real_time": 1', '"real_time": -1', "real_time: expected a finite number of at least 0"),
        ("plain.json", '"iterations": ', '"iterations": 0.', "iterations: expected a whole number of at least 1"),
        (
            "aggregates.json",
            '"aggregate_name": "median"',
            '"aggregate_name": "p50"',
            "none for the median of Reverse/64",
        ),
        ("plain.json", '"date"', '"day"', "context: has no 'date'"),
    ],
)
def test_a_mangled_file_is_refused_with_the_place(
    file: str, old: str, new: str, problem: str, tmp_path: Path
) -> None:
    text = (HERE / file).read_text()
    assert old in text
    path = tmp_path / "mangled.json"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ImportFailed, match=problem):
        GoogleBenchmarkImporter().read(path)


def test_a_counter_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "nan.json"
    path.write_text((HERE / "plain.json").read_text().replace('"length": 6.4', '"length": NaN, "x": 6.4', 1))
    readings = arm(read(path), "Reverse/64").samples[0].readings
    assert "result.length" not in readings
    assert readings["result.x"] == 64.0
