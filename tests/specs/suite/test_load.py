"""What a suite file says is what the suite holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import (
    BaselineScores,
    Case,
    Category,
    Complexity,
    Constraints,
    Reducer,
    ScorerUse,
    Suite,
    TestType,
)
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.specs import Dataset, is_suite, load_suite, parse_suite, suite_changes

EVERYTHING = """\
suite_id: support
suite_name: Support questions
category: reliability
description: |
  What customers ask,
  and what they should hear.
version: "2.1"
created_at: 2025-01-31T12:00:00Z
benchmarks:
  - benchmark_id: refunds
    name: Refunds and returns
    description: Who gets money back
    category: accuracy
    test_type: real_world
    metrics_measured: [accuracy, duration_s, cost_usd]
    dataset: {size: 2, complexity: high, data_source: tickets of 2024, cases: [
      {id: refund-01, input: "May I return it?", metadata: {difficulty: easy}, group: shoes},
      {input: "Where is my money?"}]}
    constraints: {time_limit_ms: 1500, memory_limit_mb: 64, token_limit: 400, cost_limit_usd: 0.02}
    expected_outputs: ["yes", "on its way"]
    scoring_rubric:
      scorer: [exact, {name: numeric, weight: 2, options: {tolerance: 0.1}}, {name: regex, flags: i}]
      pass_threshold: 0.8
      reducer: pass^3
      targets: {duration_s: 1, score: 1}
      limits: {duration_s: 10, score: 0.2}
    num_runs: 7
    warmup: 1
  - name: Small talk
    scorer: includes
    dataset: [Hello, Good bye]
baseline_scores:
  - {agent_id: old-bot, scores: {accuracy: 0.7, overall: 0.65}}
agents: [my-agent, bots.py@answer]
epochs: 4
warmup: 2
concurrency: 8
retries: 5
constraints: {cost_limit_usd: 3, time_limit_ms: 60000}
case_constraints: {time_limit_ms: 9000}
imports: [scorers.py]
tags: [nightly]
notes: first try
seed: 7
output_dir: out
max_failure_rate: 0.25
time_budget_s: 300
"""


def write(folder: Path, text: str, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def flat(**more: object) -> Suite:
    return parse_suite({"dataset": ["a", "b", "c"], **more}).suite


def test_every_field_of_the_document_is_read(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, EVERYTHING)).suite
    assert (suite.suite_id, suite.name, suite.category) == ("support", "Support questions", Category.RELIABILITY)
    assert suite.description == "What customers ask,\nand what they should hear.\n"
    assert (suite.version, suite.created_at) == ("2.1", "2025-01-31T12:00:00Z")
    assert (suite.epochs, suite.warmup, suite.concurrency, suite.retries) == (4, 2, 8, 5)
    assert suite.constraints == Constraints(time_limit_s=60, cost_limit_usd=3)
    assert suite.baseline_scores == (BaselineScores("old-bot", {"accuracy": 0.7, "overall": 0.65}),)
    assert [agent.name for agent in suite.agents] == ["my-agent", "answer"]
    assert suite.imports == ("scorers.py",)
    assert suite.base_dir == str(tmp_path)
    refunds, talk = suite.benchmarks
    assert refunds.cases == (
        Case("refund-01", "May I return it?", "yes", {"difficulty": "easy"}, "shoes"),
        Case("refunds-002", "Where is my money?", "on its way"),
    )
    assert (refunds.benchmark_id, refunds.name) == ("refunds", "Refunds and returns")
    assert (refunds.category, refunds.test_type) == (Category.ACCURACY, TestType.REAL_WORLD)
    assert refunds.metrics_measured == ("accuracy", "duration_s", "cost_usd")
    assert (refunds.complexity, refunds.data_source) == (Complexity.HIGH, "tickets of 2024")
    assert refunds.constraints == Constraints(1.5, 64 * 1024 * 1024, 400, 0.02)
    assert refunds.rubric.scorers == (
        ScorerUse("exact"),
        ScorerUse("numeric", 2.0, {"tolerance": 0.1}),
        ScorerUse("regex", 1.0, {"flags": "i"}),
    )
    assert (refunds.rubric.reducer, refunds.rubric.k) == (Reducer.PASS_HAT_K, 3)
    assert refunds.rubric.pass_threshold == 0.8
    assert refunds.rubric.targets == {"duration_s": 1.0, "score": 1.0}
    assert refunds.rubric.limits == {"duration_s": 10.0, "score": 0.2}
    assert (refunds.epochs, refunds.warmup) == (7, 1)
    assert (talk.benchmark_id, talk.epochs, talk.warmup) == ("small-talk", None, None)
    assert talk.category is Category.RELIABILITY
    assert talk.constraints == Constraints(time_limit_s=9)
    assert talk.data_source == "inline"


def test_settings_of_the_run_are_a_spec_without_entries(tmp_path: Path) -> None:
    path = write(tmp_path, EVERYTHING)
    settings = load_suite(path).settings
    assert settings.entries == ()
    assert (settings.name, settings.seed, settings.tags, settings.notes) == (
        "Support questions",
        7,
        ("nightly",),
        "first try",
    )
    assert (settings.parallelism, settings.output_dir, settings.max_failure_rate) == (8, "out", 0.25)
    assert settings.time_budget_s == 60  # the suite's own limit is the smaller one
    assert (settings.base_dir, settings.source) == (str(tmp_path), str(path))
    assert settings.imports == ("scorers.py",)


def test_a_loaded_suite_survives_the_codec(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, EVERYTHING)).suite
    assert from_plain(Suite, to_plain(suite)) == suite


def test_a_flat_suite_is_one_benchmark_with_every_default(tmp_path: Path) -> None:
    write(tmp_path, '{"input": "1 + 1", "target": "2"}\n', "data/cases.jsonl")
    loaded = load_suite(write(tmp_path, "dataset: data/cases.jsonl\nscorer: numeric\n", "sums.yaml"))
    (benchmark,) = loaded.suite.benchmarks
    assert (loaded.suite.name, loaded.suite.suite_id, loaded.settings.name) == ("sums", "sums", "sums")
    assert benchmark.benchmark_id == "sums"
    assert benchmark.cases == (Case("sums-001", "1 + 1", "2"),)
    assert benchmark.rubric.scorers == (ScorerUse("numeric"),)
    assert benchmark.data_source == "data/cases.jsonl"
    assert (loaded.suite.epochs, loaded.suite.warmup, loaded.settings.seed) == (5, None, 42)


def test_json_is_as_good_as_yaml(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, '{"name": "x", "dataset": ["a"]}', "x.json")).suite
    assert suite.benchmarks[0].cases == (Case("x-001", "a"),)


def test_a_suites_rubric_holds_where_a_benchmark_has_none() -> None:
    suite = parse_suite(
        {
            "scoring_rubric": {
                "scorer": "includes",
                "reducer": "pass@k",
                "k": 2,
                "targets": {"duration_s": 1},
                "limits": {"duration_s": 9},
            },
            "benchmarks": [
                {"name": "a", "dataset": ["x"]},
                {
                    "name": "b",
                    "dataset": ["x"],
                    "scorer": "exact",
                    "scoring_rubric": {"reducer": "max", "targets": {"cpu_s": 1}, "limits": {"cpu_s": 2}},
                },
            ],
        }
    ).suite
    first, second = (item.rubric for item in suite.benchmarks)
    assert (first.scorers[0].name, first.reducer, first.k) == ("includes", Reducer.PASS_AT_K, 2)
    assert (second.scorers[0].name, second.reducer, second.k) == ("exact", Reducer.MAX, 1)
    assert second.targets == {"duration_s": 1.0, "cpu_s": 1.0}


@pytest.mark.parametrize(
    ("word", "reducer", "k"),
    [
        ("mean", Reducer.MEAN, 1),
        ("max", Reducer.MAX, 1),
        ("pass@5", Reducer.PASS_AT_K, 5),
        ("pass^2", Reducer.PASS_HAT_K, 2),
    ],
)
def test_reducers_carry_their_k(word: str, reducer: Reducer, k: int) -> None:
    rubric = flat(scoring_rubric={"reducer": word}).benchmarks[0].rubric
    assert (rubric.reducer, rubric.k) == (reducer, k)


def test_python_may_give_cases_and_datasets_as_objects() -> None:
    cases = [Case("one", {"role": "user"}), Case("two", 2, target=4)]
    for dataset in (Dataset(cases), cases, {"cases": cases}, {"cases": Dataset(cases), "size": 2}):
        assert parse_suite({"name": "x", "dataset": dataset}).suite.benchmarks[0].cases == tuple(cases)


def test_python_may_give_more_cases_than_a_settings_file_may_hold_values() -> None:
    rows = [{"input": i, "target": i, "metadata": {"row": i}} for i in range(30_000)]
    assert len(parse_suite({"dataset": rows}).suite.benchmarks[0].cases) == 30_000


def test_suites_and_specs_are_told_apart() -> None:
    assert is_suite({"benchmarks": []})
    assert is_suite({"dataset": "x"})
    assert not is_suite({"experiment": "x"})
    assert not is_suite(["dataset"])
    assert not is_suite(None)


def test_overrides_replace_and_tags_are_added(tmp_path: Path) -> None:
    overrides = suite_changes(
        epochs=9,
        warmup=0,
        concurrency=2,
        retries=0,
        seed=1,
        tags=("nightly", "mine"),
        notes="other",
        output_dir="there",
        time_limit_s=0.25,
        time_budget_s=10,
        max_cost_usd=1.5,
        benchmarks=("refunds",),
        agents=("other-agent",),
    )
    loaded = load_suite(write(tmp_path, EVERYTHING), overrides=overrides)
    (benchmark,) = loaded.suite.benchmarks
    assert (loaded.suite.epochs, benchmark.epochs) == (9, None)
    assert (loaded.suite.warmup, benchmark.warmup) == (0, None)
    assert (loaded.suite.concurrency, loaded.suite.retries) == (2, 0)
    assert benchmark.constraints == Constraints(0.25, 64 * 1024 * 1024, 400, 0.02)
    assert loaded.suite.constraints == Constraints(time_limit_s=60, cost_limit_usd=1.5)
    assert (loaded.settings.seed, loaded.settings.tags) == (1, ("nightly", "mine"))
    assert (loaded.settings.notes, loaded.settings.output_dir) == ("other", "there")
    assert (loaded.settings.time_budget_s, loaded.settings.parallelism) == (10, 2)
    assert [agent.name for agent in loaded.suite.agents] == ["other-agent"]


def test_a_bad_override_is_the_command_lines_mistake() -> None:
    with pytest.raises(SpecError) as caught:
        parse_suite({"dataset": ["a"]}, overrides=suite_changes(epochs=0))
    assert caught.value.where == "command line: epochs"


def test_quick_changes_apply_when_asked_for(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        EVERYTHING + "quick: {limit: 1, epochs: 3, benchmarks: [refunds], agents: [answer], warmup: 0, seed: 8}\n",
    )
    assert load_suite(path).suite.epochs == 4
    quick = load_suite(path, quick=True)
    assert [len(item.cases) for item in quick.suite.benchmarks] == [1]
    assert (quick.suite.epochs, quick.suite.benchmarks[0].epochs, quick.suite.warmup) == (3, None, 0)
    assert [agent.uses for agent in quick.suite.agents] == ["bots.py@answer"]
    assert quick.settings.seed == 8
    more = load_suite(path, quick=True, overrides=suite_changes(limit=2))
    assert [len(item.cases) for item in more.suite.benchmarks] == [2]


def test_a_suite_loads_without_reading_data_of_benchmarks_left_out() -> None:
    document = {
        "benchmarks": [{"name": "here", "dataset": ["a"]}, {"name": "gone", "dataset": "nowhere.jsonl"}],
    }
    suite = parse_suite(document, overrides=suite_changes(benchmarks=("here",))).suite
    assert [item.benchmark_id for item in suite.benchmarks] == ["here"]
