"""A mistake costs one clear message, exit code 2, and nothing that was measured before."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ..chat_server import Asked, Reply, serving
from ..command import Bench, Done

AGENT = "def answer(text):\n    return text.upper()\n"
SUITE = """
name: two
scorer: exact
epochs: 1
warmup: 0
dataset:
  cases: [{id: a, input: a, target: A}, {id: b, input: b, target: B}]
"""
ZEROS = """
constraints: {token_limit: 0, cost_limit_usd: 0}
case_constraints: {time_limit_ms: 0, memory_limit_mb: 0}
"""
NOBODY = "http://127.0.0.1:9/v1"
SWEPT = f'agents: {{many: {{use: "openai:a", config: {{base_url: "{NOBODY}"}}, sweep: {{temperature: [0, 1]}}}}}}'


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """Commands of these tests are run often and do little."""
    return loaded_bench


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and words of the message that says so."""

    says: tuple[str, ...]
    agent: str = "agent.py@answer"
    suite: str = SUITE
    options: tuple[str, ...] = ()
    workspace: str = ""


MISTAKES = {
    "an agent whose import fails": Mistake(
        ("broken.py", "No module named 'nothing_of_this_name'", "Install nothing_of_this_name"), "broken.py@answer"
    ),
    "an agent whose file is not there": Mistake(("no file agnt.py", "Did you mean agent.py"), "agnt.py@answer"),
    "a function that the file does not have": Mistake(("no agent called 'answr'", "answer?"), "agent.py@answr"),
    "an unknown agent": Mistake(
        ("unknown agent 'starer'", "Did you mean starter?"), "starer", workspace="agents: {starter: agent.py@answer}"
    ),
    "a command that is not there": Mistake(("command not found: no-such-program",), "cmd:no-such-program --fast"),
    "an endpoint that refuses": Mistake(
        ("nothing listens there", "Is the server running"),
        "dead",
        workspace=f'agents: {{dead: {{use: "openai:small", config: {{base_url: "{NOBODY}"}}}}}}',
    ),
    "a row without input": Mistake(
        ("suite.yaml: dataset.cases[1].input: expected an input",), suite=SUITE.replace("id: b, input: b", "id: b")
    ),
    "two cases with one id": Mistake(("the id 'a' appears twice",), suite=SUITE.replace("id: b", "id: a")),
    "a target that the scorer cannot judge": Mistake(
        ("benchmark two, case a", "numeric cannot judge it", "'A' is not one number"),
        suite=SUITE.replace("exact", "numeric"),
    ),
    "a rubric with an unknown metric": Mistake(
        ("scoring_rubric.targets.duratoin_s", "unknown metric", "Did you mean duration_s?"),
        suite=SUITE + "scoring_rubric: {targets: {duratoin_s: 1}, limits: {duration_s: 2}}\n",
    ),
    "limits of zero": Mistake(
        ("constraints.token_limit", "constraints.cost_limit_usd", "case_constraints.time_limit_ms", "more than 0"),
        suite=SUITE + ZEROS,
    ),
    "a cost limit of zero": Mistake(("--max-cost", "not in the range"), options=("--max-cost", "0")),
    "a time limit of zero": Mistake(("--timeout", "not in the range"), options=("--timeout", "0")),
    "an unknown scorer": Mistake(
        ("unknown scorer 'exat'", "Did you mean exact?"), suite=SUITE.replace("exact", "exat")
    ),
    "an option that the scorer does not have": Mistake(
        ("scorer exact", "no option 'ignore_cas'", "Did you mean ignore_case?"),
        suite=SUITE.replace("exact", "{name: exact, ignore_cas: true}"),
    ),
    "a cost limit without a price": Mistake(
        ("--max-cost", "the price of paid@", "unknown", "`prices:`"),
        "paid",
        options=("--max-cost", "1"),
        workspace=f'agents: {{paid: {{use: "openai:small", config: {{base_url: "{NOBODY}", paid: true}}}}}}',
    ),
    "an option of experiments": Mistake(("--iterations means nothing for a suite",), options=("--iterations", "3")),
    "a case that is not there": Mistake(("no case 'c'", "Known: a, b."), options=("--case", "c")),
    "an agent twice": Mistake(("takes part twice",), options=("--agent", "agent.py@answer")),
    "a judge that is a sweep": Mistake(
        ("judge many", "stands for 2 agents"),
        suite=SUITE.replace("exact", "{name: model_graded, agent: many}"),
        workspace=SWEPT,
    ),
}


def assert_clear(done: Done, *words: str) -> None:
    assert done.code == 2, (done.code, done.err)
    assert "Traceback" not in done.err
    assert sum(line.startswith("Error:") for line in done.err.splitlines()) == 1, done.err
    assert done.out == ""
    told = " ".join(done.err.split())
    for word in words:
        assert word in told, (word, told)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_one_message_with_exit_code_2(bench: Bench, name: str) -> None:
    mistake = MISTAKES[name]
    bench.write("agent.py", AGENT)
    bench.write("broken.py", "import nothing_of_this_name\n" + AGENT)
    bench.write("suite.yaml", mistake.suite)
    bench.write("dyno.yaml", mistake.workspace)
    done = bench.dyno("run", "suite.yaml", "--agent", mistake.agent, *mistake.options)
    assert_clear(done, *mistake.says)
    assert "is kept" not in done.err, "nothing was measured that could be kept"


def test_an_option_of_suites_is_refused_for_an_experiment(bench: Bench) -> None:
    bench.write("spec.yaml", "experiment: retrieval\n")
    assert_clear(bench.dyno("run", "spec.yaml", "--epochs", "2"), "--epochs means nothing for an experiment")


def test_without_anything_to_run_the_next_step_is_named(bench: Bench) -> None:
    assert_clear(bench.dyno("run"), "nothing to run", "`dyno init`")


def test_a_wrong_model_name_ends_the_run_with_the_nearest_one(bench: Bench) -> None:
    bench.write("suite.yaml", SUITE)
    with serving(lambda _: Reply("The model `smal` does not exist", 404)) as server:
        bench.write("dyno.yaml", f'agents: {{m: {{use: "openai:smal", config: {{base_url: "{server.url}"}}}}}}')
        done = bench.dyno("run", "suite.yaml", "--agent", "m")
    assert_clear(done, "no model smal", "Did you mean small?")
    assert len(server.asked) == 1


def test_a_key_that_is_refused_after_some_cases_leaves_them_and_resume_goes_on(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE.replace("epochs: 1", "epochs: 3"))
    revoked = True

    def answer(asked: Asked) -> Reply:
        return Reply("key revoked", 401) if revoked and asked.number > 2 else Reply(asked.text.upper())

    with serving(answer) as server:
        bench.write(
            "dyno.yaml",
            f'agents: {{healthy: agent.py@answer, m: {{use: "openai:small", config: {{base_url: "{server.url}"}}}}}}',
        )
        done = bench.dyno("run", "suite.yaml", "--agent", "m", "--agent", "healthy")
        assert_clear(
            done, "401 Unauthorized: key revoked", "OPENAI_API_KEY", "What was measured is kept: `dyno resume"
        )
        before = bench.dyno("show", "last", "--json").json
        assert before["status"] == "partial"
        assert sum(arm["statuses"].get("ok", 0) for arm in before["arms"] if arm["agent"].startswith("m@")) == 2

        revoked = False
        after = bench.dyno("resume", "last", "--json")
    assert after.code == 0, after.err
    assert after.json["status"] == "complete"
    assert [arm["statuses"] for arm in after.json["arms"]] == [{"ok": 6}, {"ok": 6}]
    assert len(server.asked) == 7, "two answers, one refusal, four answers"
    kept = {key(sample) for arm in before["arms"] for sample in arm["samples"] if sample["status"] == "ok"}
    assert kept <= {key(sample) for arm in after.json["arms"] for sample in arm["samples"]}


def key(sample: dict[str, object]) -> tuple[object, ...]:
    return sample["arm_id"], sample["case_id"], sample["iteration"], sample["started_at_ms"]
