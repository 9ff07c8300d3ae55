"""``dyno rescore`` and ``dyno show --case``: stored answers looked at again, no agent asked."""

from __future__ import annotations

import pytest

from ...command import Bench
from ...loaded_commands import Commands, LoadedBench

AGENT = """
from agentdyno import tool_call

def answer(text):
    with open("calls", "a") as log:
        log.write("x")
    with tool_call("think", {"about": text}) as result:
        result.append("done")
    return f"The answer is {text.upper()}."
"""
JUDGE = """
from agentdyno import register_scorer

@register_scorer("polite")
def polite(output, word="please"):
    return 1.0 if word in output else 0.25
"""
SUITE = """
name: answers
imports: [judge.py]
scorer: [exact, {name: polite, weight: 0.5, word: The}]
epochs: 2
warmup: 0
dataset: {cases: [{id: refund-01, input: a, target: A}, {id: refund-04, input: b, target: Q}]}
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, loaded_commands: Commands) -> Bench:
    bench = LoadedBench(tmp_path_factory.mktemp("rescore"), loaded_commands)
    bench.write("agent.py", AGENT)
    bench.write("evals/judge.py", JUDGE)
    bench.write("evals/suite.yaml", SUITE)
    bench.write("here.py", "def long(output): return len(output) > 5\n")
    done = bench.dyno("run", "evals/suite.yaml", "--agent", "agent.py@answer", "--json")
    assert done.code == 0, done.err
    assert done.json["arms"][0]["statuses"] == {"failed": 4}
    bench.environ["FIRST"] = done.json["run_id"]
    return bench


def test_another_scorer_judges_the_same_answers_in_a_new_run(bench: Bench) -> None:
    done = bench.dyno("rescore", bench.environ["FIRST"], "--scorer", "includes", "--json")
    assert done.code == 0, done.err
    assert {key: done.json[key] for key in ("judged", "now_right", "now_wrong")} == {
        "judged": 4,
        "now_right": 2,
        "now_wrong": 0,
    }
    assert "4 answers judged again: 2 right that were wrong" in done.err
    result = done.json["result"]
    assert result["run_id"] != bench.environ["FIRST"]
    assert result["arms"][0]["statuses"] == {"ok": 2, "failed": 2}
    assert "rescored" in {warning["code"] for warning in result["warnings"]}
    old = bench.dyno("show", bench.environ["FIRST"], "--json").json
    assert old["arms"][0]["statuses"] == {"failed": 4}
    assert (bench.folder / "calls").read_text() == "xxxx", "no agent is called"
    durations = [[sample["readings"]["duration_s"] for sample in run["arms"][0]["samples"]] for run in (old, result)]
    assert durations[0] == durations[1]


def test_the_same_rubric_gives_the_same_scores_with_scorers_that_the_suite_imports(bench: Bench) -> None:
    done = bench.dyno("rescore", bench.environ["FIRST"], "--json")
    assert done.code == 0, done.err
    assert (done.json["now_right"], done.json["now_wrong"]) == (0, 0)
    scores = [sample["scores"]["score"] for sample in done.json["result"]["arms"][0]["samples"]]
    assert scores == pytest.approx([1 / 3] * 4)


def test_a_scorer_of_the_current_folder_takes_options_and_weights(bench: Bench) -> None:
    scorers = ("--scorer", "here.py@long", "--scorer", "polite:word=zzz,weight=3")
    done = bench.dyno("rescore", bench.environ["FIRST"], *scorers, "--json")
    assert done.code == 0, done.err
    samples = done.json["result"]["arms"][0]["samples"]
    assert [sample["scores"]["score"] for sample in samples] == pytest.approx([(1 + 3 * 0.25) / 4] * 4)


def test_what_cannot_be_rescored_is_told_in_one_message(bench: Bench) -> None:
    for words, arguments in (
        ("Did you mean exact?", (bench.environ["FIRST"], "--scorer", "exat")),
        ("no option 'ignore_cas'", (bench.environ["FIRST"], "--scorer", "exact:ignore_cas=true")),
        ("cannot judge it", (bench.environ["FIRST"], "--scorer", "numeric")),
        ("there is no run 'nobody'", ("nobody",)),
    ):
        done = bench.dyno("rescore", *arguments)
        assert (done.code, done.out) == (2, ""), done.err
        assert words in done.err
        assert "Traceback" not in done.err


def test_one_case_is_shown_with_input_target_answers_scores_and_trajectory(bench: Bench) -> None:
    done = bench.dyno("show", bench.environ["FIRST"], "--case", "refund-04")
    assert done.code == 0, done.err
    for words in ("Case refund-04", "The answer is B.", "exact", "polite", "think", "epoch"):
        assert words in done.out
    as_json = bench.dyno("show", bench.environ["FIRST"], "--case", "refund-04", "--json").json
    assert "refund-04" in str(as_json)
    assert str(as_json).count("'output': 'The answer is B.'") == 2

    unknown = bench.dyno("show", bench.environ["FIRST"], "--case", "refund-4")
    assert unknown.code == 2
    assert "Did you mean refund-04" in unknown.err
    assert bench.dyno("show", bench.environ["FIRST"], "--agent", "answer").code == 2, "--agent goes with --case"
