"""The JSON of every command that asks the store, over one store with suites, experiments, a load run and jobs."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from .asking import NOW_MS, Project
from .golden import DATA, check, check_json
from .plain import named, replaced, round_text, rounded, without_run_ids

SUITE_RUN, EARLIER, SWEEP, NEXT_SWEEP, SIDES = "019b95c0", "019b8127", "019b9b1e", "019b9b55", "019b9b8c"
JOB = "019b9c00-0000-7000-8000-00000000000"
ASKED = {
    "board-accuracy": ("board", "--category", "accuracy", "--metric", "cost", "--days", "7"),
    "board-matrix-of-a-suite": ("board", "--matrix", "--suite", "support"),
    "board-stale": ("board", "--stale", "--days", "1", "--all-versions"),
    "changes": ("changes",),
    "compare-agents": ("compare", "helper", "scout"),
    "compare-versions": ("compare", "helper@1.0", "helper@2.0", "--suite", "support"),
    "compare-three": ("compare", "helper@1.0", "helper@1.1", "helper@2.0"),
    "compare-suite-runs": ("compare", EARLIER, SUITE_RUN),
    "compare-runs": ("compare", SWEEP, NEXT_SWEEP),
    "compare-arms": ("compare", f"{SWEEP}:sorting size=100", f"{SWEEP}:sorting size=400"),
    "compare-sides": ("compare", SIDES),
    "compare-files": ("compare", "given.json", "given.json", "--tolerance", "0.1"),
    "cost": ("cost", "helper", "scout", "--volume", "100000"),
    "history-accuracy": ("history", "helper", "--metric", "accuracy", "--benchmark", "orders"),
    "history-regressions": ("history", "helper", "--regressions", "--baseline", "1.0", "--threshold", "0.05"),
    "check-agent": ("check", "--against", "helper@1.0", "--agent", "helper"),
    "show-case": ("show", SUITE_RUN, "--case", "order-05"),
    "show-experiment": ("show", SIDES),
    "jobs-queued": ("jobs", "list", "--status", "queued"),
    "jobs-follow": ("jobs", "follow", f"{JOB}1"),
    "import-hyperfine": ("import", "hyperfine.json", "--dry-run"),
    "import-promptfoo": ("import", "promptfoo.json", "--dry-run"),
}


@pytest.fixture
def asked(seeded: Project) -> Project:
    for name in ("hyperfine", "promptfoo"):
        made = shutil.copy(DATA / "given" / f"{name}.json", seeded.folder)
        os.utime(made, (NOW_MS / 1000, NOW_MS / 1000))  # where a tool writes no time, that of the file counts
    shutil.copy(DATA / "given" / "experiment.json", seeded.folder / "given.json")
    return seeded


@pytest.mark.parametrize("name", ASKED)
def test_a_question_is_answered_as_before(name: str, asked: Project) -> None:
    check(f"json/{name}.json", round_text(asked.text(*ASKED[name], "--json")))


def test_a_baseline_is_set_shown_exported_and_cleared_as_before(seeded: Project) -> None:
    said = [
        seeded.text("baseline", "set", "scout", "--suite", "support", "--note", "first", "--json"),
        seeded.text("baseline", "show", "--json"),
        seeded.text("baseline", "export", "baseline.json", "--json"),
        seeded.text("baseline", "clear", "helper", "--json"),
    ]
    check_json("json/baseline.json", [json.loads(text) for text in said])
    check("baseline_file.json", (seeded.folder / "baseline.json").read_text(encoding="utf-8"))


def test_a_baseline_file_is_a_baseline_as_before(seeded: Project) -> None:
    shutil.copy(DATA / "frozen" / "baseline_file.json", seeded.folder / "baseline.json")
    done = seeded.ask("check", "--against", "baseline.json", "--agent", "helper", "--json")
    assert done.code == 0, done.err
    check("json/check-file.json", round_text(done.out))


def test_a_run_is_judged_again_as_before(seeded: Project) -> None:
    said = seeded.text("rescore", SUITE_RUN, "--scorer", "includes:weight=2", "--scorer", "exact", "--json")
    document = json.loads(without_run_ids(said))
    for arm in document["result"]["arms"]:
        del arm["samples"][2:]  # two show the form; what was judged is in the scores
    check_json("json/rescore.json", rounded(document))


def test_a_run_is_imported_once_as_before(asked: Project) -> None:
    said = [json.loads(asked.text("import", "hyperfine.json", "promptfoo.json", "--json")) for _ in range(2)]
    check_json("json/import.json", rounded(said))


def test_reports_are_named_as_before(seeded: Project) -> None:
    said = seeded.text("report", SUITE_RUN, "--format", "md,csv,json,junit", "--output-dir", "out", "--json")
    check("json/report.json", said)


def test_the_store_is_looked_after_as_before(seeded: Project) -> None:
    sizes = named({"size_bytes": "bytes", "before_bytes": "bytes", "after_bytes": "bytes"})
    said = [
        seeded.text("store", "rebuild", "--json"),
        seeded.text("store", "backup", "copy.db", "--json"),
        seeded.text("store", "vacuum", "--json"),
    ]
    check_json("json/store.json", [replaced(json.loads(text), sizes) for text in said])


def test_jobs_and_keys_are_kept_as_before(seeded: Project) -> None:
    made_up = named({"secret": "secret", "prefix": "prefix", "key_id": "id"})
    said = [
        seeded.text("jobs", "cancel", f"{JOB}3", "--json"),
        seeded.text("keys", "create", "new", "--scope", "admin", "--json"),
        seeded.text("keys", "revoke", "ci", "--json"),
        seeded.text("keys", "list", "--json"),
    ]
    check_json("json/jobs-and-keys.json", [replaced(json.loads(text), made_up) for text in said])


def test_a_machine_is_examined_in_the_same_form(seeded: Project) -> None:
    said = json.loads(seeded.text("doctor", "--json"))
    assert list(said) == ["checks", "calibration"]
    assert said["calibration"] is None  # the one of the store is of another machine
    assert {tuple(row) for row in said["checks"]} == {("name", "level", "seen", "remedy")}


def test_a_workflow_for_pull_requests_is_written_as_before(project: Project) -> None:
    check("json/write-ci.json", project.text("check", "--write-ci", "--json"))
    check("dyno.yml", (project.folder / ".github" / "workflows" / "dyno.yml").read_text(encoding="utf-8"))
