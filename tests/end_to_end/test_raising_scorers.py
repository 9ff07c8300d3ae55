"""Scorers of five lines that raise, as their author meets them: in the gate, in tables, and after mending them."""

from __future__ import annotations

import json

import pytest

from ..command import Bench

CASES = "".join(json.dumps({"id": f"c{i:02}", "input": f"q{i}", "target": f"a{i}"}) + "\n" for i in range(30))
SCORER = """
import json

def valid(output, target):
    return json.loads(output)["answer"] == target
"""
LINE = 5
UNSURE = """
import json

from agentdyno import Unscorable

def valid(output, target):
    if not output.startswith("{"):
        raise Unscorable("no JSON, so nothing to judge")
    return json.loads(output)["answer"] == target
"""
AGENT = """
import json

REFUSES = 0

def answer(case):
    if int(case.id[1:]) < REFUSES:
        return "Sorry, I cannot help"
    return json.dumps({"answer": case.target})

def refuse(case):
    return "Sorry, I cannot help"
"""
SUITE = """
name: support
dataset: cases.jsonl
epochs: 1
warmup: 0
scorer: SCORERS
agents: [AGENTS]
"""
REASON = (
    f"scorer scorers.py@valid raised JSONDecodeError: Expecting value: line 1 column 1 (char 0) (scorers.py:{LINE})"
)


@pytest.fixture
def project(loaded_bench: Bench) -> Bench:
    bench = loaded_bench
    bench.write("cases.jsonl", CASES)
    bench.write("scorers.py", SCORER)
    bench.write("agent.py", AGENT)
    write_suite(bench)
    bench.write("dyno.yaml", "gate: {metrics: {duration_s: off}}\n")
    bench.write(".gitignore", ".dyno/\n.cache/\n__pycache__/\n")
    bench.git("init", "-q", "-b", "main")
    bench.git("add", ".")
    bench.git("commit", "-qm", "first")
    return bench


def write_suite(bench: Bench, scorer: str = "scorers.py@valid", agents: str = "agent.py@answer") -> None:
    bench.write("suite.yaml", SUITE.replace("SCORERS", scorer).replace("AGENTS", agents))


def refusing(bench: Bench, cases: int = 10) -> None:
    bench.write("agent.py", AGENT.replace("REFUSES = 0", f"REFUSES = {cases}"))


def words(text: str) -> str:
    return " ".join(text.split())


def rule(report: dict[str, object], metric: str) -> dict[str, object]:
    rows = report["rows"]
    assert isinstance(rows, list)
    return next(row for row in rows if row["rule"]["metric"] == metric)


def test_a_refusal_that_the_scorer_cannot_read_is_wrong_and_blocks(project: Bench) -> None:
    refusing(project)
    done = project.dyno("check", "suite.yaml", "--against", "main", "--markdown", "c.md", "--json")
    assert done.code == 1, done.err
    (report,) = done.json
    assert report["verdict"] == "BLOCK"
    accuracy = rule(report, "accuracy")
    assert (accuracy["row"]["baseline"], accuracy["row"]["cases"]) == (1.0, 30)  # type: ignore[index]
    assert accuracy["row"]["candidate"] == pytest.approx(20 / 30)  # type: ignore[index]
    assert str(accuracy["reason"]).endswith("; accuracy is of 30 cases")
    assert rule(report, "error_rate")["row"]["candidate"] == 0.0, "an error of the agent is something else"  # type: ignore[index]
    assert {item["why"] for item in report["broken"]} == {REASON}
    (warning,) = [item for item in report["warnings"] if item["code"] == "scorer-raised"]
    assert f"{REASON} on 10 of 30 answers" in warning["message"]
    assert "raised JSONDecodeError" in (project.folder / "c.md").read_text()


def test_every_view_of_the_run_names_the_scorer_the_exception_and_the_line(project: Bench) -> None:
    refusing(project)
    assert project.dyno("run", "suite.yaml").code == 0
    shown = words(project.dyno("show", "last", "-v").out)
    assert f"{REASON} on 10 of 30 answers, each of which counts as 0: cases c00, c01, c02 and 7 more" in shown
    assert "Scorers that could not judge" in shown
    assert "Accuracy is of 30 cases." in shown
    assert "ended in an error" not in shown
    case = project.dyno("show", "last", "--case", "c03")
    assert REASON in words(case.out)
    sample = project.dyno("show", "last", "--case", "c03", "--json").json["executions"][0]["sample"]
    assert (sample["status"], sample["scores"]) == ("failed", {"score": 0.0, "correctness": 0.0})
    assert sample.get("failure") is None
    assert sample["details"]["scoring"][0]["details"]["problem"]["where"] == f"scorers.py:{LINE}"
    assert project.dyno("report", "last", "--format", "md,html,json", "--output-dir", "out").code == 0
    for name in ("report.md", "report.html", "report.json"):
        assert "raised JSONDecodeError" in (project.folder / "out" / name).read_text(), name


def test_a_mended_scorer_judges_the_stored_answers_by_the_new_rule(project: Bench) -> None:
    refusing(project)
    project.dyno("run", "suite.yaml")
    project.write("scorers.py", UNSURE)
    done = project.dyno("rescore", "last", "--json")
    assert done.code == 0, done.err
    arm = done.json["result"]["arms"][0]
    assert arm["case_figures"] | {"variance": None} == {
        **{"cases": 30, "scored": 20, "mean": 1.0, "variance": None, "passed": 20, "samples": 30}
    }
    codes = {item["code"]: item["message"] for item in done.json["result"]["warnings"]}
    assert codes["unscored"] == "scored 20 of 30 cases: 10 answers could not be judged"
    assert "scorers.py@valid 10 (scorer scorers.py@valid gave no verdict: no JSON" in codes["not-judged"]
    assert "answer scored 20 of 30" in words(project.dyno("show", "last", "-v").out)


def test_more_answers_without_a_verdict_than_the_baseline_has_block(project: Bench) -> None:
    project.write("scorers.py", UNSURE)
    refusing(project)
    done = project.dyno("check", "suite.yaml", "--against", "main", "--json")
    assert done.code == 1, done.err
    (report,) = done.json
    assert rule(report, "accuracy")["verdict"] == "PASS"
    assert rule(report, "unscored")["verdict"] == "BLOCK"
    assert rule(report, "unscored")["row"]["candidate"] == pytest.approx(1 / 3)  # type: ignore[index]
    assert "scored 20 of 30 cases on both sides" in str(rule(report, "accuracy")["reason"])


def test_a_scorer_that_raises_on_everything_is_a_mistake_of_the_suite_and_loses_no_answer(project: Bench) -> None:
    write_suite(project, agents="agent.py@answer, agent.py@refuse")
    project.write("scorers.py", SCORER.replace('["answer"]', '["reply"]["text"]'))
    done = project.dyno("run", "suite.yaml")
    assert done.code == 2
    assert "scorer scorers.py@valid raised" in done.err
    assert f"(scorers.py:{LINE}) on all 60 answers of all agents: nothing was judged" in done.err
    assert "as on each of the first 5 answers" in done.err, "which is told while the run goes on"
    assert "Traceback" not in done.err
    (run,) = project.dyno("list", "runs", "--json").json
    assert (run["status"], run["samples"]) == ("failed", 60)
    entries = project.dyno("board", "--json").json["entries"]
    scores = [entry["scores"]["accuracy"]["score"] for entry in entries]
    assert not any(score is not None for score in scores), "its scores say nothing about the agents"

    again = project.dyno("rescore", "last")
    assert again.code == 2, "it is as broken as before"
    project.write("scorers.py", SCORER)
    mended = project.dyno("rescore", run["run_id"], "--json")
    assert mended.code == 0, mended.err
    means = {arm["name"].rpartition(" · ")[2]: arm["case_figures"]["mean"] for arm in mended.json["result"]["arms"]}
    assert means == {"answer": 1.0, "refuse": 0.0}


def test_of_two_agents_one_on_whose_answers_the_scorer_always_raises_scores_0(project: Bench) -> None:
    write_suite(project, agents="agent.py@answer, agent.py@refuse")
    done = project.dyno("run", "suite.yaml", "--json")
    assert done.code == 0, done.err
    means = {arm["name"].rpartition(" · ")[2]: arm["case_figures"]["mean"] for arm in done.json["arms"]}
    assert means == {"answer": 1.0, "refuse": 0.0}
    codes = [item["code"] for item in done.json["warnings"]]
    assert "scorer-raised" in codes
    assert "scorer-broken" not in codes


def test_against_a_stored_baseline_its_answers_say_who_is_to_blame(project: Bench) -> None:
    project.dyno("run", "suite.yaml")
    project.dyno("baseline", "set", "answer")
    refusing(project, 30)
    blamed = project.dyno("check", "suite.yaml", "--json")
    assert blamed.code == 1, blamed.err
    assert rule(blamed.json[0], "accuracy")["row"]["candidate"] == 0.0  # type: ignore[index]
    project.write("scorers.py", SCORER.replace('["answer"]', '["reply"]'))
    broken = project.dyno("check", "suite.yaml", "--rerun")
    assert broken.code == 2, broken.err
    assert "nothing was judged" in broken.err
    project.write("scorers.py", SCORER)
    project.dyno("baseline", "export", "baseline.json")
    fresh = {"DYNO_STORE": str(project.folder / "empty" / "dyno.db")}
    by_file = project.dyno("check", "suite.yaml", "--against", "baseline.json", "--json", **fresh)
    assert by_file.code == 1, "the file says that the scorer could judge the baseline"


def test_beside_a_scorer_that_raises_the_other_one_still_counts(project: Bench) -> None:
    refusing(project)
    write_suite(project, "[{name: regex, pattern: '.', weight: 3}, {name: scorers.py@valid, weight: 1}]")
    done = project.dyno("run", "suite.yaml", "--json")
    assert done.code == 0, done.err
    samples = {sample["case_id"]: sample for sample in done.json["arms"][0]["samples"]}
    assert (samples["c00"]["status"], samples["c00"]["scores"]["score"]) == ("failed", 0.75)
    assert [item["values"] for item in samples["c00"]["details"]["scoring"]] == [
        {"correctness": 1.0},
        {"correctness": 0.0},
    ]
    assert samples["c20"]["status"] == "ok"


def test_async_scorers_and_those_that_give_several_values_keep_to_the_rule(project: Bench) -> None:
    refusing(project)
    project.write(
        "scorers.py",
        "import asyncio, json\n\n"
        "async def valid(output, target):\n"
        "    await asyncio.sleep(0)\n"
        "    found = json.loads(output)\n"
        "    return {'facts': found['answer'] == target, **({'form': 1.0} if target != 'a29' else {})}\n",
    )
    done = project.dyno("run", "suite.yaml", "--json")
    assert done.code == 0, done.err
    (arm,) = done.json["arms"]
    assert arm["case_figures"]["mean"] == pytest.approx(20 / 30)
    assert (arm["metrics"]["facts"]["n"], arm["metrics"]["facts"]["mean"]) == (30, pytest.approx(20 / 30))
    assert (arm["metrics"]["form"]["n"], arm["metrics"]["form"]["mean"]) == (29, pytest.approx(19 / 29))
    assert "correctness" not in arm["metrics"]
    assert any("(scorers.py:5) on 10 of 30 answers" in item["message"] for item in done.json["warnings"])
