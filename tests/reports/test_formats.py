from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agentdyno.contracts import Report, Reporter
from agentdyno.errors import DynoError, RunError
from agentdyno.model import Side, Status, Verdict
from agentdyno.model.result_file import decode_result
from agentdyno.reports import (
    CsvReporter,
    HtmlReporter,
    JsonReporter,
    JunitReporter,
    MarkdownReporter,
    PngReporter,
    write_result,
)
from agentdyno.reports.csv_files import comparison_csv, guarded, samples_csv, summary_csv
from agentdyno.reports.junit import render_junit
from agentdyno.reports.markdown import escape, render_markdown

from ..given_results import RUN_ID, Factory

REPORTERS = (MarkdownReporter, HtmlReporter, CsvReporter, JsonReporter, PngReporter, JunitReporter)
Kind = type[MarkdownReporter | HtmlReporter | CsvReporter | JsonReporter | PngReporter | JunitReporter]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("kind", REPORTERS)
def test_every_reporter_writes_every_odd_result(make: Factory, kind: Kind, tmp_path: Path) -> None:
    for number, (name, report) in enumerate(make.degenerate().items()):
        paths = kind().write(report, tmp_path / str(number))
        assert paths, name
        assert all(path.stat().st_size > 0 for path in paths), name


@pytest.mark.parametrize("kind", REPORTERS)
def test_the_same_report_gives_the_same_bytes(make: Factory, kind: Kind, tmp_path: Path) -> None:
    report = make.report(make.rich(), comparisons=[make.comparison(Verdict.WORSE)])
    first = [path.read_bytes() for path in kind().write(report, tmp_path / "first")]
    again = [path.read_bytes() for path in kind().write(report, tmp_path / "again")]
    assert first == again


@pytest.mark.parametrize("kind", REPORTERS)
def test_every_reporter_has_a_name_and_says_in_one_line_what_it_writes(kind: Kind) -> None:
    assert isinstance(kind(), Reporter)
    assert kind.name
    assert kind.__doc__ is not None
    assert kind.__doc__.splitlines()[0].endswith(".")


@pytest.mark.parametrize("kind", REPORTERS)
def test_a_folder_that_cannot_be_made_is_an_error_with_a_remedy(make: Factory, kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RunError) as caught:
        kind().write(make.report(make.result([make.arm()])), tmp_path / "taken" / "below")
    assert isinstance(caught.value, DynoError)
    assert caught.value.remedy
    assert "taken" in (caught.value.where or "")


def test_the_files_have_the_expected_names(make: Factory, tmp_path: Path) -> None:
    report = make.report(make.sweep())
    names = {path.name for kind in REPORTERS for path in kind().write(report, tmp_path)}
    assert names == {
        *("report.md", "report.html", "summary.csv", "samples.csv", "report.json"),
        *("distribution.png", "sweep.png", "junit.xml"),
    }
    assert {path.name for path in tmp_path.iterdir()} == names


def test_importing_the_package_loads_no_rendering_library() -> None:
    heavy = ("rich", "jinja2", "matplotlib", "numpy")
    code = (
        "import sys; from agentdyno.reports import *; import agentdyno.findings.run.tables, agentdyno.show.listings; "
    )
    code += f"print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


# PNG


def test_pictures_are_png_files(make: Factory, tmp_path: Path) -> None:
    for path in PngReporter().write(make.report(make.sweep()), tmp_path):
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_there_is_no_sweep_picture_without_a_sweep(make: Factory, tmp_path: Path) -> None:
    paths = PngReporter().write(make.report(make.result([make.arm()])), tmp_path)
    assert [path.name for path in paths] == ["distribution.png"]


# Markdown


def test_markdown_starts_with_the_verdict(make: Factory) -> None:
    text = render_markdown(make.report(make.sweep(), comparisons=[make.comparison(Verdict.WORSE, Verdict.SAME)]))
    lines = text.splitlines()
    assert lines[0] == "## sorting"
    assert lines[2].startswith("**✗ worse**")
    assert "| **✗ worse** |" in text
    assert "> [!WARNING]" in text


def test_markdown_tables_have_as_many_cells_in_every_row(make: Factory) -> None:
    for name, report in make.degenerate().items():
        block: list[int] = []
        for line in [*render_markdown(report).splitlines(), ""]:
            if line.startswith("|"):
                block.append(line.replace("\\|", "").count("|"))
            else:
                assert len(set(block)) <= 1, name
                block = []


def test_markdown_acts_on_nothing_in_a_name() -> None:
    assert escape("<b>|`x`|</b>") == "&lt;b&gt;\\|\\`x\\`\\|&lt;/b&gt;"
    assert escape("two\nlines") == "two lines"
    assert "@octocat" not in escape("@octocat")
    assert escape("peak_rss_bytes") == "peak_rss_bytes"
    assert escape("_private_") == "\\_private\\_"


def test_a_long_comparison_still_fits_a_comment_and_shows_what_is_worse(make: Factory) -> None:
    verdicts = [Verdict.SAME] * 180 + [Verdict.WORSE]
    arms = [replace(arm, name=f"arm {i}") for i, arm in enumerate(make.comparison(*verdicts).arms)]
    value = replace(make.comparison(), arms=tuple(arms))
    text = render_markdown(Report(make.degenerate()["many arms"].results, make.report(comparisons=[value]).findings))
    assert len(text) < 65_536
    assert "| arm 180 | duration |" in text
    assert "81 more rows" in text


# CSV


def test_the_summary_reads_back_with_every_figure(make: Factory) -> None:
    result = make.sweep()
    found = rows(summary_csv(make.report(result)))
    assert len(found) == sum(len(arm.metrics) for arm in result.arms)
    arm = result.arms[3]
    row = next(row for row in found if row["arm_id"] == arm.arm_id and row["metric"] == "duration_s")
    duration = arm.metrics["duration_s"]
    assert duration.ci is not None
    assert float(row["median"]) == duration.median
    assert (float(row["ci_low"]), float(row["ci_high"])) == duration.ci
    assert json.loads(row["params"]) == arm.params
    assert row["ok"] == "40"


def test_an_arm_without_metrics_keeps_its_row(make: Factory) -> None:
    report = make.report(make.result([make.arm(durations=(), failures=[make.failure()])]))
    (row,) = rows(summary_csv(report))
    assert (row["arm"], row["metric"], row["error"]) == ("sort", "", "1")


def test_raw_samples_read_back_exactly(make: Factory) -> None:
    arm = make.arm(failures=[make.failure(message="line one\nline two, with a comma")])
    found = rows(samples_csv(make.report(make.result([arm]))))
    assert [float(row["duration_s"]) for row in found[:-1]] == [s.readings["duration_s"] for s in arm.samples[:-1]]
    assert found[-1]["status"] == "error"
    assert found[-1]["failure_message"] == "line one\nline two, with a comma"
    assert found[-1]["duration_s"] == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1"])
def test_text_that_a_spreadsheet_would_run_is_disarmed(make: Factory, text: str) -> None:
    assert str(guarded(text)).startswith("'")
    (row, *_) = rows(summary_csv(make.report(make.result([make.arm(text)], name=text))))
    assert row["arm"].startswith("'")
    assert row["run"].startswith("'")


def test_numbers_are_left_alone() -> None:
    assert guarded(-1.5) == -1.5
    assert guarded(float("nan")) is None


def test_verdicts_are_written_one_row_a_metric_and_alone_where_there_is_no_run(make: Factory, tmp_path: Path) -> None:
    compared = make.comparison(Verdict.WORSE, None)
    found = rows(comparison_csv(make.report(comparisons=[compared])))
    expected = [row for arm in compared.arms for row in arm.metrics]
    assert [row["metric"] for row in found] == [row.metric.name for row in expected]
    assert [row["verdict"] for row in found] == [row.verdict.value if row.verdict else "" for row in expected]
    assert float(found[0]["ratio"]) == expected[0].ratio
    written = CsvReporter().write(make.report(comparisons=[compared]), tmp_path)
    assert [path.name for path in written] == ["comparison.csv"]


# JSON


def test_a_result_file_reads_back_as_the_same_result(make: Factory, tmp_path: Path) -> None:
    result = make.rich()
    path = write_result(result, tmp_path / RUN_ID / "result.json")
    assert decode_result(path.read_text("utf-8"), str(path)) == result
    assert [item.name for item in path.parent.iterdir()] == ["result.json"]


def test_many_samples_are_thinned_evenly_and_the_file_says_so(make: Factory, tmp_path: Path) -> None:
    rich = make.rich()
    path = write_result(rich, tmp_path / "result.json", cap=20)
    back = decode_result(path.read_text("utf-8"), str(path))
    assert all(len(arm.samples) == 20 for arm in back.arms)
    assert [arm.samples_total for arm in back.arms[:8]] == [40] * 8
    kept = [sample.iteration for sample in back.arms[0].samples]
    assert (kept[0], kept[-1]) == (0, 39)
    assert {late - early for early, late in pairwise(kept)} <= {2, 3}
    assert "cprofile" in back.arms[-1].samples[-1].details
    warning = back.warnings[-1]
    assert warning.code == "samples-thinned"
    assert warning.message == "this file holds 180 of 354 samples, evenly spaced."
    assert back.arms[0].metrics == rich.arms[0].metrics


def test_thinning_twice_leaves_one_warning(make: Factory, tmp_path: Path) -> None:
    once = decode_result(write_result(make.sweep(), tmp_path / "a.json", cap=20).read_text("utf-8"), "a")
    twice = decode_result(write_result(once, tmp_path / "b.json", cap=10).read_text("utf-8"), "b")
    assert [warning.code for warning in twice.warnings] == ["samples-thinned"]
    assert twice.arms[0].samples_total == 40


def test_a_result_that_came_with_some_of_its_samples_says_how_many_its_file_holds(
    make: Factory, tmp_path: Path
) -> None:
    sweep = make.sweep()
    arms = tuple(replace(arm, samples=arm.samples[:10]) for arm in sweep.arms)
    path = write_result(replace(sweep, arms=arms), tmp_path / "a.json")
    (warning,) = decode_result(path.read_text("utf-8"), "a").warnings
    assert warning.message == f"this file holds {10 * len(arms)} of {40 * len(arms)} samples, evenly spaced."


def test_a_failed_write_leaves_the_old_file(make: Factory, tmp_path: Path) -> None:
    path = write_result(make.sweep(), tmp_path / "result.json")
    before = path.read_bytes()
    bad = make.result([make.arm()], notes=object())
    with pytest.raises(TypeError):
        write_result(bad, path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["result.json"]


def test_a_json_report_holds_results_and_findings(make: Factory, tmp_path: Path) -> None:
    report = make.report(make.sweep(), comparisons=[make.comparison(Verdict.WORSE)])
    (path,) = JsonReporter().write(report, tmp_path)
    plain = json.loads(path.read_text("utf-8"))
    assert plain["results"][0]["run_id"] == RUN_ID
    assert plain["findings"]["comparisons"][0]["arms"][0]["metrics"][0]["verdict"] == "worse"


def test_half_a_surrogate_pair_survives_in_json(make: Factory, tmp_path: Path) -> None:
    result = make.result([make.arm()], notes="odd \udc80 text")
    path = write_result(result, tmp_path / "result.json")
    assert decode_result(path.read_text("utf-8"), str(path)) == result


# JUnit


def test_each_arm_is_a_test_case(make: Factory) -> None:
    root = ElementTree.fromstring(render_junit(make.report(make.sweep())))
    (suite,) = root.findall("testsuite")
    assert suite.attrib["tests"] == "8"
    assert suite.attrib["failures"] == suite.attrib["errors"] == "0"
    assert suite.findall("testcase")[0].attrib["name"] == "sort[size=10,kind=quick]"
    assert root.find(".//skipped") is None


def test_an_arm_without_a_usable_sample_fails(make: Factory) -> None:
    arm = make.arm(durations=(), failures=[make.failure(i) for i in range(3)])
    root = ElementTree.fromstring(render_junit(make.report(make.result([arm]))))
    failure, error = root.find(".//failure"), root.find(".//error")
    assert failure is not None
    assert "no usable sample of 3 planned" in failure.attrib["message"]
    assert error is not None
    assert error.attrib == {"message": "boom (3 times)", "type": "error.exception"}
    assert "ValueError" in (error.text or "")


def test_a_wrong_answer_is_no_error(make: Factory) -> None:
    arm = make.arm(durations=(), failures=[make.failure(status=Status.FAILED)])
    root = ElementTree.fromstring(render_junit(make.report(make.result([arm]))))
    assert root.find(".//error") is None
    assert root.find(".//failure") is None
    assert "1 failed" in (root.findtext(".//system-out") or "")


def test_a_worse_metric_fails_and_an_inconclusive_one_is_noted(make: Factory) -> None:
    report = Report((), make.report(comparisons=[make.comparison(Verdict.WORSE, Verdict.INCONCLUSIVE)]).findings)
    (suite,) = ElementTree.fromstring(render_junit(report)).findall("testsuite")
    worse, undecided = suite.findall("testcase")
    assert suite.attrib["failures"] == "1"
    failure = worse.find("failure")
    assert failure is not None
    assert "duration is worse: 1.23 ms → 1.38 ms (+12 %)" in failure.attrib["message"]
    assert undecided.find("failure") is None
    assert "inconclusive" in (undecided.findtext("system-out") or "")
    assert "45 more samples" in (undecided.findtext("system-out") or "")


def test_junit_is_well_formed_whatever_the_names(make: Factory) -> None:
    for report in make.degenerate().values():
        ElementTree.fromstring(render_junit(report))


def test_the_two_sides_of_one_run_are_told_apart(make: Factory) -> None:
    arms = [replace(make.arm(), side=side, arm_id=side.value) for side in Side]
    root = ElementTree.fromstring(render_junit(make.report(make.result(arms))))
    assert [case.attrib["name"] for case in root.iter("testcase")] == ["sort (baseline)", "sort (candidate)"]
