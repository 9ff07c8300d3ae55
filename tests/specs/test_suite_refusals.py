"""A mistake in a suite gives one message: where it is, what is wrong, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.specs import load_suite, parse_suite

FLAT = "dataset: [a, b]\n"


def refused(folder: Path, text: str, name: str = "suite.yaml") -> SpecError:
    path = folder / name
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        load_suite(path)
    error = caught.value
    assert error.remedy
    assert error.where is not None
    error.where = error.where.replace(f"{folder}/", "")
    return error


@pytest.mark.parametrize(
    ("text", "key", "message", "remedy"),
    [
        (FLAT + "metrics_measured: [acuracy]", "metrics_measured[0]", "unknown metric 'acuracy'", "accuracy"),
        (FLAT + "metrics_measured: [api_calls]", "metrics_measured", "api_calls alone", "Add one of accuracy"),
        (
            FLAT + "scoring_rubric: {targets: {duration: 1}, limits: {duration: 2}}",
            "scoring_rubric.targets.duration",
            "unknown metric 'duration'",
            "duration_s",
        ),
        (
            FLAT + "scoring_rubric: {targets: {speed: 1}}",
            "scoring_rubric.targets.speed",
            "unknown metric 'speed'",
            "speed is scored from duration_s",
        ),
        (
            FLAT + "scoring_rubric: {targets: {duration_s: 1}, limits: {duration_s: 0}}",
            "scoring_rubric.limits.duration_s",
            "expected more than 0, got 0",
            "logarithmic",
        ),
        (
            FLAT + "scoring_rubric: {targets: {duration_s: 3}, limits: {duration_s: 2}}",
            "scoring_rubric.targets.duration_s",
            "expected a target better than the limit (less is better), got 3 and 2",
            "Exchange",
        ),
        (
            FLAT + "scoring_rubric: {targets: {score: 0.2}, limits: {score: 0.9}}",
            "scoring_rubric.targets.score",
            "(more is better), got 0.2 and 0.9",
            "Exchange",
        ),
        (
            FLAT + "scoring_rubric: {targets: {cpu_s: 3}}",
            "scoring_rubric.targets.cpu_s",
            "expected a limit for cpu_s too",
            "Add `cpu_s:` below limits.",
        ),
        (FLAT + "scoring_rubric: {reducer: median}", "scoring_rubric.reducer", "got 'median'", "pass@3"),
        (FLAT + "scoring_rubric: {reducer: pass@k}", "scoring_rubric.reducer", "expected a number for k", "pass@3"),
        (FLAT + "scoring_rubric: {k: 2}", "scoring_rubric.k", "expected no k with reducer mean", "pass@k"),
        (
            FLAT + "scoring_rubric: {reducer: pass@3}\nepochs: 2",
            "scoring_rubric.reducer",
            "pass@3 needs at least 3 epochs, got 2",
            "epochs",
        ),
        (FLAT + "scorer: exact\nscoring_rubric: {scorer: f1}", "scorer", "got both", "Remove"),
        (FLAT + "scorer: [{weight: 2}]", "scorer[0]", "expected a scorer's name", "scorer: exact"),
        (FLAT + "scorer: [{name: a, weight: 0}]", "scorer[0].weight", "expected more than 0", "weight: 2"),
        (FLAT + "scorer: [{name: a, x: 1, options: {x: 2}}]", "scorer[0].x", "given twice", "Keep"),
        ("dataset: {cases: [a, b], size: 3}", "dataset.size", "expected 3 cases as size says, got 2", "Correct"),
        ("dataset: {size: 3}", "dataset.cases", "expected cases, got none", "path"),
        ("dataset: {cases: []}", "dataset.cases", "expected at least one case", "input"),
        ("dataset: {cases: [a], path: b.csv}", "dataset.path", "got cases and path", "Keep one"),
        ("dataset: {cases: [a], split: test}", "dataset.split", "split belongs to hf", "Remove"),
        ("dataset: {data_source: synthetic}", "dataset.data_source", "got only the words 'synthetic'", "cases"),
        ("dataset: 5", "dataset", "expected cases, a path or a mapping, got an integer 5", "cases.jsonl"),
        ("dataset: {cases: [{target: x}]}", "dataset.cases[0].input", "got a row with 'target'", "Give `input`"),
        ("dataset: {cases: [{input: null}]}", "dataset.cases[0].input", "got nothing (null)", "Give `input`"),
        ("dataset: {cases: [{input: a, targt: x}]}", "dataset.cases[0].targt", "unknown key 'targt'", "target"),
        ("dataset: {cases: [[a]]}", "dataset.cases[0]", "expected a mapping with an input", "input"),
        (
            "dataset: {cases: [{id: x, input: a}, {id: x, input: b}]}",
            "dataset.cases[1].id",
            "the id 'x' appears twice, first at dataset.cases[0]",
            "id of its own",
        ),
        ("dataset: {cases: [{turns: [a, 1]}]}", "dataset.cases[0].turns", "list of texts", "turns:"),
        ("dataset: {cases: [{turns: [a], input: b}]}", "dataset.cases[0].input", "first of the turns", "Remove"),
        ("dataset: {cases: [{input: a, id: [1]}]}", "dataset.cases[0].id", "on one line", "short"),
        ("dataset: {cases: [{input: .inf}]}", "dataset.cases[0].input", "finite", "finite"),
        (FLAT + "expected_outputs: [x]", "expected_outputs", "each of the 2 cases, got 1", "as many"),
        (
            "dataset: {cases: [{input: a, target: x}]}\nexpected_outputs: [y]",
            "expected_outputs[0]",
            "the case suite-001 has another target",
            "Keep one",
        ),
        (FLAT + "constraints: {time_limit_ms: 0}", "constraints.time_limit_ms", "more than 0", "leave it out"),
        (FLAT + "constraints: {token_limit: 0}", "constraints.token_limit", "more than 0", "leave it out"),
        (FLAT + "constraints: {cost_limit_usd: -1}", "constraints.cost_limit_usd", "more than 0", "leave it out"),
        (FLAT + "constraints: {memory_limit_mb: 0}", "constraints.memory_limit_mb", "more than 0", "leave it out"),
        (FLAT + "version: 1.10", "version", "expected text, got a number 1.1", "quotes"),
        (FLAT + "created_at: yesterday", "created_at", "expected a date", "2025-01-31"),
        (FLAT + "epoch: 2", "epoch", "unknown key 'epoch'", "epochs"),
        (FLAT + "name: a\nsuite_name: b", "name", "got both", "Remove"),
        (FLAT + "category: fast", "category", "got text 'fast'", "comprehensive"),
        (FLAT + "benchmarks: [{name: a, dataset: [x]}]", "dataset", "got both", "into a benchmark"),
        ("name: x", "benchmarks", "expected benchmarks or a dataset", "dataset: cases.jsonl"),
        ("benchmarks: []", "benchmarks", "at least one", "benchmarks:"),
        ("benchmarks: [{name: a}]", "benchmarks[0].dataset", "the key is missing", "cases.jsonl"),
        ("benchmarks: [{dataset: [a]}]", "benchmarks[0].name", "expected a name", "name:"),
        (
            "benchmarks: [{name: A, dataset: [x]}, {benchmark_id: a, dataset: [x]}]",
            "benchmarks[1].benchmark_id",
            "two benchmarks have the id 'a', numbers 1 and 2",
            "another id",
        ),
        (
            "benchmarks: [{name: a, dataset: [x], epochs: 2, num_runs: 2}]",
            "benchmarks[0].num_runs",
            "got both",
            "Remove",
        ),
        (
            "benchmarks: [{name: a, dataset: [x], metric_measured: []}]",
            "benchmarks[0].metric_measured",
            "unknown key",
            "metrics_measured",
        ),
        (
            FLAT + "baseline_scores: [{agent_id: a, scores: {acuracy: 1}}]",
            "baseline_scores[0].scores.acuracy",
            "unknown dimension",
            "accuracy",
        ),
        (
            FLAT + "baseline_scores: [{agent_id: a, scores: {accuracy: 82}}]",
            "baseline_scores[0].scores.accuracy",
            "expected 0 to 1, got 82",
            "between 0 and 1",
        ),
        (FLAT + "quick: {epochs: 0}", "quick.epochs", "at least 1", "epochs: 5"),
        (FLAT + "quick: {suite_name: x}", "quick.suite_name", "unknown key 'suite_name'", "Known"),
        (FLAT + "quick: {cases: {were: {}}}", "quick.cases.were", "unknown key", "where"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, text: str, key: str, message: str, remedy: str) -> None:
    error = refused(tmp_path, text)
    assert error.where == f"suite.yaml: {key}"
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_all_bad_rows_are_named_in_one_message(tmp_path: Path) -> None:
    error = refused(tmp_path, "dataset: {cases: [{}, {input: a}, {input: b, id: ''}]}")
    assert error.where == "suite.yaml: dataset.cases[0].input"
    assert "also dataset.cases[2].id" in error.message


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "- a\n", "text"])
def test_a_file_that_holds_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    error = refused(tmp_path, text)
    assert error.where == "suite.yaml"
    assert "dataset: cases.jsonl" in (error.remedy or "")


def test_yaml_bombs_are_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for name, before in zip("bcdefg", "abcdef", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    error = refused(tmp_path, bomb + "dataset: *g\n")
    assert "values" in error.message


def test_a_missing_data_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"input": 1}\n')
    error = refused(tmp_path, "dataset: cases.json")
    assert (error.where, error.message) == ("cases.json", "no such file")
    assert "cases.jsonl" in (error.remedy or "")


def test_cases_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(SpecError) as caught:
        parse_suite({"dataset": [{"input": object()}]})
    assert caught.value.where == "suite: dataset.cases[0].input"
