"""Every command as a user types it: what it prints, where, and its exit code."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentdyno.model.codec import encode
from agentdyno.store import Store
from agentdyno.workbench.importing import save_imported

from ..command import Bench
from ..given_results import Factory
from ..loaded_commands import Commands, LoadedBench
from ..waiting import wait_while_running

SPEC = """
experiment: bench.py@bench
sweep: {n: [100, 1000]}
iterations: {warmup: 1, measured: 12}
quick: {iterations: 6, sweep: {n: [100]}}
"""
CODE = "def bench(n: int = 100):\n    '''Adds numbers.'''\n    return {'total': sum(range(n))}\n"
SLOW = """
import itertools, os, time
calls = itertools.count()
def slow():
    time.sleep(0.002)
    while next(calls) > 30 and not os.path.exists("go"):
        time.sleep(0.01)  # whoever is to interrupt it may be late
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, loaded_commands: Commands) -> Bench:
    """A folder with two runs of the same spec in its store."""
    bench = LoadedBench(tmp_path_factory.mktemp("measured"), loaded_commands)
    bench.write("bench.py", CODE)
    bench.write("spec.yaml", SPEC)
    for _ in range(2):
        assert bench.dyno("run", "spec.yaml").code == 0
    return bench


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, loaded_commands: Commands) -> Bench:
    """A folder with one run in its store, in which ten times the work took ten times as long."""
    bench = LoadedBench(tmp_path_factory.mktemp("given"), loaded_commands)
    make = Factory()
    arms = [
        replace(make.arm("bench", [n * 1e-8 * (1 + 0.001 * i) for i in range(12)], {"n": n}), name=f"bench n={n}")
        for n in (100, 1000)
    ]
    result = make.result(arms)
    with Store.open(bench.folder / ".dyno" / "dyno.db") as store:
        save_imported(store, result)
    bench.write("result.json", encode(result))
    return bench


def test_help_lists_every_command_with_a_line(bench: Bench) -> None:
    done = bench.dyno("--help")
    assert done.code == 0
    for name in ("run", "resume", "compare", "report", "show", "list", "doctor", "schema", "demo", "store"):
        assert f"\n  {name} " in done.out
        help_text = bench.dyno(name, "--help")
        assert help_text.code == 0
        assert help_text.out.startswith(f"Usage: dyno {name}")


def test_the_package_is_run_as_the_command_is(bench: Bench) -> None:
    asked = [sys.executable, "-m", "agentdyno", "rnu"]
    done = subprocess.run(
        asked, cwd=bench.folder, env=bench.environ, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 2
    assert "no command 'rnu'. Did you mean run?" in done.stderr


def test_run_prints_tables_on_stdout_and_everything_else_on_stderr(bench: Bench) -> None:
    bench.write("bench.py", CODE)
    bench.write("spec.yaml", SPEC)
    done = bench.dyno("run", "spec.yaml")
    assert done.code == 0
    assert "bench n=100" in done.out
    assert "median" in done.out
    assert "2 arms, 24 trials, interleaved" in done.err
    assert "result.json" in done.err
    assert max(len(line) for line in done.out.splitlines()) <= 100


def test_tables_fit_into_eighty_columns(measured: Bench) -> None:
    for command in (("show", "last"), ("compare", "last~1", "last"), ("list",), ("list", "runs"), ("doctor",)):
        done = measured.dyno(*command, COLUMNS="80")
        assert done.code == 0, done.err
        assert max(len(line) for line in done.out.splitlines()) <= 80, command


def test_json_is_one_document_on_stdout(measured: Bench) -> None:
    for command in (
        ("show", "last"),
        ("compare", "last~1", "last"),
        ("list",),
        ("list", "experiments"),
        ("list", "specs"),
        ("list", "runs"),
        ("doctor",),
        ("run", "spec.yaml", "--dry-run"),
        ("report", "last", "--format", "md"),
        ("store", "migrate"),
        ("store", "vacuum"),
    ):
        done = measured.dyno(*command, "--json")
        assert done.code == 0, done.err
        json.loads(done.out)


def test_what_is_listed_again_is_remembered_until_something_changes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)  # a command that is started, as one that has loaded everything remembers nothing
    first = bench.dyno("list", "experiments")
    remembered = list((bench.folder / ".cache" / "agentdyno").glob("shown-*"))
    assert len(remembered) == 1
    assert bench.dyno("list", "experiments").out == first.out
    assert bench.dyno("list", "experiments", COLUMNS="80").out != first.out
    remembered[0].write_text("not what was written there")
    assert bench.dyno("list", "experiments").out == first.out
    package = bench.folder / "more"
    bench.write("more/extra.py", "def extra(n: int = 1):\n    'Something more.'\n")
    bench.write("more/extra-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
    bench.write("more/extra-1.0.dist-info/entry_points.txt", "[agentdyno.experiments]\nextra = extra:extra\n")
    assert "Something more." in bench.dyno("list", "experiments", PYTHONPATH=str(package)).out
    bench.write("more/extra.py", "def extra(n: int = 1):\n    'Something else.'\n")
    assert "Something else." in bench.dyno("list", "experiments", PYTHONPATH=str(package)).out
    shutil.rmtree(bench.folder / ".cache")
    (bench.folder / ".cache").write_text("no folder can be made here")
    assert bench.dyno("list", "experiments").out == first.out


def test_a_dry_run_shows_the_plan_and_measures_nothing(measured: Bench) -> None:
    before = measured.dyno("list", "runs", "--json").json
    done = measured.dyno("run", "spec.yaml", "--dry-run")
    assert "bench n=1000" in done.out
    assert "Nothing was run" in done.err
    assert measured.dyno("list", "runs", "--json").json == before


def test_quick_applies_the_overrides_of_the_spec(bench: Bench) -> None:
    bench.write("bench.py", CODE)
    bench.write("spec.yaml", SPEC)
    done = bench.dyno("run", "spec.yaml", "--quick", "--json")
    assert [(arm["params"]["n"], arm["samples_total"]) for arm in done.json["arms"]] == [(100, 6)]


def test_compare_reads_files_runs_and_arms_and_changes_nothing(measured: Bench) -> None:
    runs = measured.dyno("list", "runs", "--json").json
    newest, before = (f".dyno/runs/{run['run_id']}/result.json" for run in runs[:2])
    by_file = measured.dyno("compare", before, newest, "--json").json
    by_name = measured.dyno("compare", runs[1]["run_id"][:13], "last", "--json").json
    assert by_file["arms"] == by_name["arms"]
    assert not by_file["paired"]
    assert "unpaired" in {warning["code"] for warning in by_file["warnings"]}
    by_arm = measured.dyno("compare", "last:n=100", "last:n=1000", "--json").json
    assert [arm["differing"] for arm in by_arm["arms"]] == [{"n": [100, 1000]}]
    assert measured.dyno("list", "runs", "--json").json == runs


def test_two_arms_of_a_run_are_compared_and_judged(given: Bench) -> None:
    (arm,) = given.dyno("compare", "last:n=100", "last:n=1000", "--json").json["arms"]
    assert arm["differing"] == {"n": [100, 1000]}
    duration = next(row for row in arm["metrics"] if row["metric"]["name"] == "duration_s")
    assert duration["verdict"] == "worse"
    assert duration["ratio"] == pytest.approx(10.0)


def test_the_gate_turns_verdicts_into_exit_codes(given: Bench) -> None:
    assert given.dyno("compare", "last:n=100", "last:n=1000").code == 0
    assert given.dyno("compare", "last:n=100", "last:n=1000", "--gate").code == 1
    assert given.dyno("compare", "last:n=1000", "last:n=100", "--gate").code == 0
    result = json.loads((given.folder / "result.json").read_text())
    result["environment"]["machine_id"] = "another"
    given.write("elsewhere.json", json.dumps(result))
    done = given.dyno("compare", "last", "elsewhere.json", "--gate")
    assert done.code == 3
    assert "different machines" in done.out


def test_what_has_nothing_in_common_is_not_comparable(measured: Bench) -> None:
    measured.write("other.py", "def other():\n    pass\n")
    assert measured.dyno("run", "other.py@other", "--iterations", "4", "--store", "other.db").code == 0
    (result,) = (measured.folder / "runs").glob("*/result.json")
    done = measured.dyno("compare", str(result), "last")
    assert done.code == 3
    assert "no arm in common" in done.err


def test_every_report_format_is_written(measured: Bench) -> None:
    done = measured.dyno("report", "last", "--format", "md,html,csv,json,png,junit", "--output-dir", "out")
    assert done.code == 0, done.err
    names = {path.name for path in (measured.folder / "out").iterdir()}
    assert {"report.md", "report.html", "summary.csv", "samples.csv", "report.json", "distribution.png"} <= names
    page = (measured.folder / "out" / "report.html").read_text()
    assert "bench n=1000" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    suite = ElementTree.parse(measured.folder / "out" / "junit.xml").getroot()
    assert len(list(suite.iter("testcase"))) == 2


def test_a_report_reaches_a_format_that_a_local_file_registers(measured: Bench) -> None:
    measured.write(
        "reporters.py",
        """
from agentdyno import register_reporter

@register_reporter("first-arm")
class FirstArm:
    def write(self, report, output_dir):
        path = output_dir / "first.txt"
        path.write_text(report.results[0].arms[0].name)
        return [path]
""",
    )
    unknown = measured.dyno("report", "last", "--format", "first-arm", "--output-dir", "own")
    assert (unknown.code, "no report format 'first-arm'" in unknown.err) == (2, True)
    missing = measured.dyno("report", "last", "--import", "reportes.py", "--output-dir", "own")
    assert (missing.code, "reportes.py: no such file" in missing.err) == (2, True)
    asked = ("--format", "first-arm", "--import", "reporters.py", "--output-dir", "own")
    assert measured.dyno("report", "last", *asked).code == 0
    assert (measured.folder / "own" / "first.txt").read_text().startswith("bench n=")


def test_a_reporter_of_ones_own_receives_results_and_findings(bench: Bench) -> None:
    bench.write("bench.py", CODE)
    bench.write(
        "use.py",
        """
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from agentdyno import register_reporter, run_spec
from agentdyno.contracts import Report
from agentdyno.model import Findings
from agentdyno.workbench.reporting import write_reports

@register_reporter("names")
class Names:
    def write(self, report, output_dir):
        path = Path(output_dir) / "names.txt"
        path.write_text(",".join(arm.name for result in report.results for arm in result.arms))
        return [path]

@register_reporter("plain")
def plain(results, output_dir):
    (Path(output_dir) / "plain.txt").write_text(str(len(results)))

result = run_spec({"experiment": "bench.py@bench", "sweep": {"n": [1, 2]}, "iterations": 3})
write_reports(Report((result,), Findings()), ["names", "plain"], Path("."))
""",
    )
    import subprocess
    import sys

    subprocess.run([sys.executable, "use.py"], cwd=bench.folder, env=bench.environ, check=True)
    assert (bench.folder / "names.txt").read_text() == "bench n=1,bench n=2"
    assert (bench.folder / "plain.txt").read_text() == "2", "a function receives one result for each arm"


def test_ctrl_c_leaves_a_partial_result_that_can_be_resumed(bench: Bench) -> None:
    bench.write("slow.py", SLOW)
    run = bench.start("-v", "run", "slow.py@slow", "--iterations", "60", "--json")
    wait_while_running(run, lambda: stored_samples(bench.folder))
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 130, err
    result = json.loads(out)
    assert result["status"] == "partial"
    assert result["stopped_because"] == "interrupted"
    assert "dyno resume" in err
    bench.write("go", "")
    done = bench.dyno("resume", "--json")
    assert done.code == 0, done.err
    assert done.json["status"] == "complete"
    assert [sample["iteration"] for sample in done.json["arms"][0]["samples"]] == list(range(60))


def test_a_resumed_run_writes_the_reports_that_its_spec_names(bench: Bench) -> None:
    bench.write("slow.py", SLOW)
    bench.write("spec.yaml", "name: late\nexperiment: slow.py@slow\niterations: 60\nreports: [md]\n")
    run = bench.start("run", "spec.yaml")
    wait_while_running(run, lambda: stored_samples(bench.folder))
    run.kill()
    run.communicate(timeout=120)
    assert not list(bench.folder.rglob("*.md"))
    bench.write("go", "")
    done = bench.dyno("resume")
    assert done.code == 0, done.err
    assert [path.suffix for path in bench.folder.rglob("*.md")] == [".md"], done.err


def stored_samples(folder: Path) -> int:
    import sqlite3

    file = folder / ".dyno" / "dyno.db"
    if not file.is_file():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
        try:
            return int(store.execute("SELECT count(*) FROM samples").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_the_store_is_found_upward_and_by_variable_and_by_option(measured: Bench, loaded_commands: Commands) -> None:
    below = measured.folder / "some" / "folder"
    below.mkdir(parents=True)
    inside = LoadedBench(below, loaded_commands)
    runs = measured.dyno("list", "runs", "--json").json
    assert inside.dyno("list", "runs", "--json").json == runs
    assert inside.dyno("list", "runs", "--json", DYNO_STORE="elsewhere.db").json == []
    assert inside.dyno("list", "runs", "--json", "--store", str(measured.folder / ".dyno/dyno.db")).json == runs


def test_a_backup_is_a_store(measured: Bench) -> None:
    done = measured.dyno("store", "backup", "copy.db")
    assert done.code == 0, done.err
    copied = measured.dyno("list", "runs", "--json", "--store", "copy.db").json
    assert copied == measured.dyno("list", "runs", "--json").json
    again = measured.dyno("store", "backup", "copy.db")
    assert again.code == 2
    assert "copy.db" in again.err


def test_doctor_calibrates_this_machine_and_compare_uses_the_floor(measured: Bench) -> None:
    done = measured.dyno("doctor", "--calibrate", "--comparisons", "5", "--json")
    assert done.code == 0, done.err
    calibration = done.json["calibration"]
    assert calibration["comparisons"] == 5
    assert calibration["noise_floor"] >= 0
    compared = measured.dyno("compare", "last~1", "last", "--json").json
    assert compared["noise_floor"] == pytest.approx(calibration["noise_floor"])


def test_schema_describes_spec_files(bench: Bench) -> None:
    import jsonschema

    schema: Any = bench.dyno("schema").json
    jsonschema.validate({"experiment": "x", "params": {"n": [1, 2]}, "iterations": "auto"}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"experiment": "x", "itertions": 3}, schema)


def test_precision_ends_an_automatic_run_early(bench: Bench) -> None:
    # However busy the machine: what is added to a tenth of a second is small beside it.
    bench.write("steady.py", "import time\ndef steady():\n    time.sleep(0.1)\n")
    bench.write(
        "spec.yaml", "experiment: steady.py@steady\niterations: {auto: {precision: 0.5, min: 10, max: 400}}\n"
    )
    done = bench.dyno("run", "spec.yaml", "--json")
    assert done.code == 0, done.err
    (arm,) = done.json["arms"]
    assert 10 <= arm["samples_total"] < 400
    assert done.json["status"] == "complete"


def test_demo_compares_two_versions_of_an_agent_and_says_what_to_type_next(bench: Bench) -> None:
    done = bench.dyno("demo", "--model", "none")
    assert done.code == 0, done.err
    assert "not decided between rules@1 and rules@2" in done.out
    assert "arithmetic/arith-07" in done.out
    assert done.err.count("report.html") == 1
    assert "What to type next" in done.err


def test_bands_say_what_figures_mean_in_the_console_and_in_reports(measured: Bench) -> None:
    shown = measured.dyno("show", "last", "--bands")
    assert "latency p95" in shown.out
    assert "fit for real-time use" in shown.out
    assert "latency p95" not in measured.dyno("show", "last").out, "nobody asked"
    done = measured.dyno("run", "spec.yaml", "--quick", "--bands", "--format", "md,json,html")
    assert done.code == 0, done.err
    folder = Path(done.err.rpartition("Result: ")[2].partition("result.json")[0])
    folder = folder if folder.is_absolute() else measured.folder / folder
    assert "### Bands" in (folder / "report.md").read_text()
    assert "fit for real-time use" in (folder / "report.html").read_text()
    bands = json.loads((folder / "report.json").read_text())["findings"]["bands"]
    latency = next(item for item in bands if item["band"] == "latency_p95")
    assert (latency["level"], latency["label"], latency["threshold"]) == ("good", "real time", 0.2)


def test_report_and_output_write_the_files_that_other_benchmarks_write(measured: Bench) -> None:
    assert measured.dyno("run", "spec.yaml", "--quick", "--report", "json").code == 0
    assert [path.name for path in (measured.folder / "benchmark_results").iterdir()] == ["benchmark_results.json"]
    done = measured.dyno("run", "spec.yaml", "--quick", "--report", "both", "--format", "csv", "--output", "mine")
    assert done.code == 0, done.err
    written = {path.name for path in (measured.folder / "mine").iterdir()}
    assert written == {"benchmark_results.html", "benchmark_results.json", "summary.csv", "samples.csv"}
    (result,) = json.loads((measured.folder / "mine" / "benchmark_results.json").read_text())["results"]
    assert result["run_id"] in done.err
    refused = measured.dyno("run", "spec.yaml", "--report", "pdf")
    assert (refused.code, "html or json or both" in refused.err) == (2, True)


def test_a_folder_for_reports_without_a_report_gets_both(measured: Bench) -> None:
    assert measured.dyno("run", "spec.yaml", "--quick", "--output", "both").code == 0
    names = sorted(path.name for path in (measured.folder / "both").iterdir())
    assert names == ["benchmark_results.html", "benchmark_results.json"]
