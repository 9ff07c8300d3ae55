"""The gate as a pipeline uses it: against a revision, a file, a stored version; with an empty store."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from ..command import Bench

CASES = [{"id": f"case-{i:02d}", "input": f"word {i}", "target": f"WORD {i}"} for i in range(24)]
SUITE = json.dumps(
    {"name": "shouting", "scorer": "exact", "epochs": 3, "warmup": 0, "dataset": {"cases": CASES}}, indent=1
)
AGENT = """
from pathlib import Path

PROMPT = Path(__file__).with_name("prompt.txt")

def answer(text: str) -> str:
    return text.upper() if int(text.split()[1]) >= int(PROMPT.read_text()) else "no"
"""
WORKSPACE = """
agents: {shouter: {use: agent.py@answer}}
suites: [suite.json]
gate: {metrics: {duration_s: off, error_rate: {tier: critical, tolerance: 0.05}}}
"""


@pytest.fixture
def repository(loaded_bench: Bench) -> Bench:
    bench = loaded_bench
    bench.write("agent.py", AGENT)
    bench.write("prompt.txt", "1")
    bench.write("suite.json", SUITE)
    bench.write("dyno.yaml", WORKSPACE)
    bench.write(".gitignore", ".dyno/\n.cache/\n__pycache__/\n")
    bench.git("init", "-q", "-b", "main")
    bench.git("add", ".")
    bench.git("commit", "-qm", "first")
    return bench


def test_a_change_that_breaks_cases_is_blocked_and_the_cases_are_named(repository: Bench) -> None:
    repository.write("prompt.txt", "9")
    done = repository.dyno("check", "--against", "main", "--junit", "j.xml", "--markdown", "c.md", "--json")
    assert done.code == 1, done.err
    (report,) = done.json
    assert report["verdict"] == "BLOCK"
    assert report["paired"], "both sides were measured in turn"
    assert sorted(item["key"]["case_id"] for item in report["broken"]) == [f"case-{i:02d}" for i in range(1, 9)]
    assert report["broken"][0]["got"] == "no"
    accuracy = next(row for row in report["rows"] if row["rule"]["metric"] == "accuracy")
    assert accuracy["row"]["baseline"] == pytest.approx(23 / 24)
    assert accuracy["row"]["candidate"] == pytest.approx(15 / 24)
    assert (accuracy["exceeded"], accuracy["significant"]) == (True, True)
    junit = ElementTree.fromstring((repository.folder / "j.xml").read_text())
    failed = [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None]
    assert failed == ["accuracy", *(f"case-{i:02d}" for i in range(1, 9))]
    skipped = [case.get("name") for case in junit.iter("testcase") if case.find("skipped") is not None]
    assert skipped == ["case-00"], "it failed before, too"
    comment = (repository.folder / "c.md").read_text()
    assert "BLOCK" in comment
    assert "case-05" in comment
    again = repository.dyno("compare", "last", "--json").json
    assert again["flips"]["broken"], "the run keeps its two sides"


def test_an_unchanged_repository_passes_without_a_call(repository: Bench) -> None:
    done = repository.dyno("check", "--against", "main", "--json")
    assert done.code == 0, done.err
    assert done.json[0]["verdict"] == "PASS"
    assert "nothing has changed" in done.json[0]["summary"]
    assert repository.dyno("list", "runs", "--json").json == []


def test_a_file_that_the_agent_reads_counts_as_a_change_although_its_code_is_the_same(repository: Bench) -> None:
    repository.write("prompt.txt", "2")
    done = repository.dyno("check", "--against", "main", "--json")
    assert done.code == 0, done.err
    (report,) = done.json
    assert report["verdict"] == "INCONCLUSIVE", "one case of 24 proves nothing, and lies beyond the tolerance"
    assert [item["key"]["case_id"] for item in report["broken"]] == ["case-01"]
    assert repository.dyno("check", "--against", "main", "--strict").code == 4


def test_a_committed_baseline_file_gates_a_machine_without_any_store(repository: Bench) -> None:
    assert repository.dyno("run").code == 0
    assert repository.dyno("baseline", "set", "shouter").code == 0
    done = repository.dyno("baseline", "export", "baseline.json")
    assert done.code == 0, done.err
    repository.write("prompt.txt", "9")
    fresh = {"DYNO_STORE": str(repository.folder / "empty" / "dyno.db")}
    done = repository.dyno("check", "--against", "baseline.json", "--json", **fresh)
    assert done.code == 1, done.err
    assert done.json[0]["verdict"] == "BLOCK"
    known = repository.dyno("check", "--against", "baseline.json", "--json", **fresh)
    assert known.code == 1
    assert len(repository.dyno("list", "runs", "--json", **fresh).json) == 2, "a changed tree is measured again"
    repository.git("commit", "-qam", "second")
    repository.dyno("check", "--against", "baseline.json", **fresh)
    repository.dyno("check", "--against", "baseline.json", **fresh)
    assert len(repository.dyno("list", "runs", "--json", **fresh).json) == 3, "a commit that is known is not"


def test_the_baseline_that_was_set_is_the_default_and_without_one_the_remedy_is_named(repository: Bench) -> None:
    done = repository.dyno("check")
    assert done.code == 2
    assert "dyno baseline set" in done.err
    repository.dyno("run")
    repository.dyno("baseline", "set", "shouter")
    repository.write("prompt.txt", "12")
    done = repository.dyno("check", "--json")
    assert done.code == 1, done.err
    assert done.json[0]["baseline"].startswith("shouter@")
    assert len(repository.dyno("baseline", "show", "--json").json) == 1
    assert repository.dyno("baseline", "clear", "shouter").code == 0
    assert repository.dyno("check").code == 2


def test_a_revision_or_file_that_does_not_exist_is_a_mistake_and_nothing_is_run(repository: Bench) -> None:
    for against in ("nowhere", "missing.json", "shouter@9"):
        done = repository.dyno("check", "--against", against)
        assert done.code == 2, against
        assert "Traceback" not in done.err
        assert against.partition("@")[0] in done.err
    repository.write("cut.json", '{"schema": "agentdyno.baseline", "sch')
    done = repository.dyno("check", "--against", "cut.json")
    assert done.code == 2
    assert "cut.json" in done.err
    assert repository.dyno("list", "runs", "--json").json == []


def test_a_suite_whose_cases_were_all_replaced_is_not_comparable(repository: Bench) -> None:
    repository.dyno("run")
    repository.dyno("baseline", "set", "shouter")
    others = [{"id": f"other-{i}", "input": f"word {i + 90}", "target": "Q"} for i in range(6)]
    repository.write("suite.json", json.dumps({**json.loads(SUITE), "dataset": {"cases": others}}))
    done = repository.dyno("check")
    assert done.code == 3, done.err
    assert "no case in common" in done.err


def test_the_workflow_is_written_once_and_never_over_another(repository: Bench) -> None:
    done = repository.dyno("check", "--write-ci")
    assert done.code == 0, done.err
    path = repository.folder / ".github" / "workflows" / "dyno.yml"
    assert "dyno check" in path.read_text()
    path.write_text("name: mine\n")
    assert repository.dyno("check", "--write-ci").code == 2
    assert path.read_text() == "name: mine\n"


def test_a_spec_is_gated_as_code_is(bench: Bench) -> None:
    bench.write("lib.py", "import time\ndef work(n):\n    time.sleep(n / 600_000)\n")
    bench.write("bench.py", "import lib\ndef bench(n: int = 3000):\n    lib.work(n)\n")
    bench.write("spec.yaml", "name: work\nexperiment: bench.py@bench\niterations: 30\n")
    bench.git("init", "-q", "-b", "main")
    bench.git("add", ".")
    bench.git("commit", "-qm", "first")
    bench.write("lib.py", "import time\ndef work(n):\n    time.sleep(4 * n / 600_000)\n")
    done = bench.dyno("check", "spec.yaml", "--against", "main", "--json")
    assert done.code == 1, done.err
    (report,) = done.json
    assert report["verdict"] == "BLOCK"
    assert {row["rule"]["metric"] for row in report["rows"] if row["verdict"] == "BLOCK"} == {"duration_s"}


def test_a_run_that_stops_when_decided_says_what_it_saved(repository: Bench) -> None:
    repository.write("prompt.txt", "20")
    done = repository.dyno("run", "suite.json", "--against", "main", "--until-decided", "--json")
    assert done.code == 0, done.err
    result = done.json
    assert result["stopped_because"].startswith("decided: candidate is worse")
    assert "calls saved" in result["stopped_because"]
    asked = {(sample["case_id"], arm["side"]) for arm in result["arms"] for sample in arm["samples"]}
    assert len(asked) < 2 * len(CASES)
    shown = repository.dyno("run", "suite.json", "--against", "main", "--until-decided")
    assert "Decided: candidate is worse" in shown.err
    alone = repository.dyno("run", "suite.json", "--until-decided")
    assert alone.code == 2
    assert "two agents" in alone.err
