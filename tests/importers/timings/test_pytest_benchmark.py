"""pytest-benchmark reports the ``stats`` that are in its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.timings.pytest_benchmark import PytestBenchmarkImporter
from agentdyno.model import Vcs
from agentdyno.model.identity import experiment_arm_id

from ..known import AUTOSAVED, FIXTURES, arm, read

WITH_DATA = FIXTURES / "pytest_benchmark" / "with_data.json"
STATED = {item["name"]: item["stats"] for item in json.loads(WITH_DATA.read_text())["benchmarks"]}


@pytest.mark.parametrize("name", STATED)
def test_raw_rounds_give_the_figures_that_are_reported(name: str) -> None:
    stated, found = STATED[name], arm(read(WITH_DATA), name)
    summary = found.metrics["duration_s"]
    assert summary.n == stated["rounds"] == len(found.samples)
    assert [sample.readings["duration_s"] for sample in found.samples] == stated["data"]
    assert {sample.inner_loops for sample in found.samples} == {stated["iterations"]}
    assert summary.mean == pytest.approx(stated["mean"], rel=1e-12)
    assert summary.median == pytest.approx(stated["median"], rel=1e-12)
    assert summary.std == pytest.approx(stated["stddev"], rel=1e-9)
    assert (summary.minimum, summary.maximum) == (stated["min"], stated["max"])


def test_without_raw_data_the_reported_figures_stand_and_the_result_says_so() -> None:
    result = read(AUTOSAVED)
    stated = json.loads(AUTOSAVED.read_text())["benchmarks"][0]["stats"]
    found = arm(result, "test_sum")
    summary = found.metrics["duration_s"]
    assert (summary.n, summary.mean, summary.median) == (77, stated["mean"], stated["median"])
    assert (summary.std, summary.minimum, summary.maximum) == (stated["stddev"], stated["min"], stated["max"])
    assert summary.ci is None
    assert (found.samples, found.samples_total, found.planned) == ((), 0, 0)
    assert (summary.p95, summary.p99, summary.mad) == (None, None, None)
    assert [warning.code for warning in result.warnings] == ["aggregates-only"]
    assert "7 of 7 benchmarks" in result.warnings[0].message


def test_a_test_is_the_same_arm_in_every_file_with_typed_parameters() -> None:
    first, second = read(WITH_DATA), read(AUTOSAVED)
    assert [item.arm_id for item in first.arms] == [item.arm_id for item in second.arms]
    found = arm(first, "test_sort[10-False]")
    assert found.params == {"size": 10, "reverse": False}
    assert found.experiment == "test_sorting.py::test_sort"
    assert found.arm_id == experiment_arm_id("test_sorting.py::test_sort", {"size": 10, "reverse": False})
    assert found.observed == {"group": "sorting"}


def test_parameters_that_could_not_be_written_give_way_to_the_label_of_the_case() -> None:
    assert arm(read(WITH_DATA), "test_extreme[min]").params == {"case": "min"}


def test_the_header_tells_commit_date_and_machine() -> None:
    result = read(WITH_DATA)
    assert result.vcs == Vcs("1c6a6b2a3e1b5b2509f2a4148b8610e648b02185", "master", dirty=False)
    assert result.started_at == 1794751070422
    assert (result.environment.cpu_model, result.environment.python) == ("AMD EPYC", "3.11.7")
    assert result.origin["version"] == "5.3.1"
    assert "bench-box" not in str(result)


def mangled(tmp_path: Path, source: Path, old: str, new: str) -> Path:
    text = source.read_text()
    assert old in text
    path = tmp_path / "mangled.json"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (f'"rounds": {STATED["test_sum"]["rounds"]}', '"rounds": 66', "67 values, and the figures are of 66 rounds"),
        (f'"mean": {STATED["test_sum"]["mean"]}', '"mean": 2e-06', "they do not belong together"),
        (f'"mean": {STATED["test_sum"]["mean"]}', '"mean": 1', "mean: does not lie between min and max"),
        (f'"min": {STATED["test_sum"]["min"]}', '"min": NaN', r"stats\.min: expected a finite number"),
        ('"iterations": 10', '"iterations": 1.5', "expected a whole number"),
        ('"datetime"', '"date"', "has no 'datetime'"),
        ('"fullname": "test_sorting.py::test_sum"', '"fullname": 3', "fullname: expected a text, found 3"),
    ],
)
def test_a_mangled_file_is_refused_with_the_place(old: str, new: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=problem):
        PytestBenchmarkImporter().read(mangled(tmp_path, WITH_DATA, old, new))
