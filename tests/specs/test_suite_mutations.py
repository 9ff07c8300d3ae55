"""Whatever stands in a suite, the answer is a suite or one readable error; its digest tells what matters."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentdyno.model import Suite
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.specs import load_suite, parse_suite, plan_suite, trial_count

from ..properties import examples
from .mutations import ANY_BYTES, mutated, refused_readably

VALID: list[dict[str, object]] = [
    {
        "suite_name": "Everything",
        "category": "accuracy",
        "version": "1",
        "created_at": "2025-01-31",
        "benchmarks": [
            {
                "benchmark_id": "sums",
                "test_type": "synthetic",
                "metrics_measured": ["accuracy", "duration_s"],
                "dataset": {
                    "size": 2,
                    "complexity": "low",
                    "data_source": "made up",
                    "cases": [
                        {"id": "a", "input": "1 + 1", "metadata": {"level": "easy"}, "group": "g"},
                        {"input": {"question": [1, 2]}, "target": 3},
                    ],
                },
                "constraints": {"time_limit_ms": 500, "token_limit": 100},
                "expected_outputs": ["2", None],
                "scoring_rubric": {
                    "scorer": ["exact", {"name": "numeric", "weight": 2, "tolerance": 0.1}],
                    "reducer": "pass@2",
                    "targets": {"duration_s": 1},
                    "limits": {"duration_s": 2},
                },
                "num_runs": 2,
            },
            {"name": "Talk", "dataset": ["hello", "bye"], "scorer": "includes"},
        ],
        "baseline_scores": [{"agent_id": "old", "scores": {"accuracy": 0.5}}],
        "agents": ["x", {"use": "a.py@f", "config": {"k": 1}, "env": ["KEY"], "sweep": {"m": ["s", "l"]}}],
        "quick": {"limit": 2, "epochs": 2, "cases": {"where": {"level": "easy"}}, "agents": ["x"]},
    },
    {
        "dataset": {"path": "cases.jsonl", "columns": {"input": "question"}},
        "scorer": "exact",
        "epochs": 3,
        "warmup": 0,
        "concurrency": 2,
        "constraints": {"cost_limit_usd": 1.5},
        "tags": ["t"],
        "seed": 1,
        "quick": {"benchmarks": ["suite"], "cases": ["*"]},
    },
]
MANY = 20_000


def _plan(path: Path, quick: bool) -> None:
    loaded = load_suite(path, quick=quick)
    assert from_plain(Suite, to_plain(loaded.suite)) == loaded.suite
    assert all(item.cases for item in loaded.suite.benchmarks)
    agents = [(use, use.version or "0") for use in loaded.suite.agents]
    if agents and trial_count(loaded.suite, len(agents)) < MANY:
        plan = plan_suite(loaded.suite, agents, seed=loaded.settings.seed)
        assert len({arm.name for arm in plan.arms}) == len(plan.arms)


@examples(600, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 2**32), which=st.sampled_from(VALID), times=st.integers(1, 4), quick=st.booleans())
def test_a_mutated_suite_is_planned_or_refused(
    tmp_path: Path, seed: int, which: dict[str, object], times: int, quick: bool
) -> None:
    ending, data = mutated(which, times, random.Random(seed))
    (tmp_path / "cases.jsonl").write_text('{"question": 1}\n{"question": 2}\n')
    path = tmp_path / f"suite{ending}"
    path.write_bytes(data)
    with refused_readably(tmp_path):
        _plan(path, quick)


@examples(300, HealthCheck.function_scoped_fixture)
@given(data=ANY_BYTES)
@pytest.mark.parametrize("name", ["cases.jsonl", "cases.json", "cases.csv", "cases.yaml"])
def test_any_bytes_in_a_data_file_are_cases_or_refused(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    path = tmp_path / "suite.yaml"
    path.write_text(f"dataset: {name}\n")
    with refused_readably(tmp_path):
        _plan(path, quick=False)


def _shuffled(value: object, rng: random.Random) -> object:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: _shuffled(value[key], rng) for key in keys}
    return [_shuffled(item, rng) for item in value] if isinstance(value, list) else value


@examples(50, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 2**32))
def test_the_digest_does_not_depend_on_the_order_of_keys_or_on_comments(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    text = yaml.safe_dump(_shuffled(VALID[0], rng), sort_keys=False)
    lines = text.split("\n")
    lines.insert(0, "# a comment")
    path = tmp_path / "suite.yaml"
    path.write_text("\n".join(lines))
    assert load_suite(path).suite.digest == parse_suite(VALID[0]).suite.digest


CHANGES: list[tuple[str, object]] = [
    ("dataset.cases.0.id", "other"),
    ("dataset.cases.0.input", "1 + 2"),
    ("dataset.cases.0.metadata.level", "hard"),
    ("dataset.cases.0.metadata.more", None),
    ("dataset.cases.0.group", "h"),
    ("dataset.cases.1.input.question", [2, 1]),
    ("dataset.cases.1.target", 4),
    ("expected_outputs.0", "3"),
    ("constraints.time_limit_ms", 501),
    ("constraints.token_limit", 101),
    ("constraints.cost_limit_usd", 1),
    ("scoring_rubric.scorer.0", "includes"),
    ("scoring_rubric.scorer.1.weight", 3),
    ("scoring_rubric.scorer.1.tolerance", 0.2),
    ("scoring_rubric.reducer", "pass@1"),
    ("scoring_rubric.reducer", "pass^2"),
    ("scoring_rubric.pass_threshold", 0.6),
    ("scoring_rubric.targets.duration_s", 0.9),
    ("scoring_rubric.limits.duration_s", 2.1),
    ("benchmark_id", "sum"),
]


@pytest.mark.parametrize(("place", "value"), CHANGES)
def test_any_change_of_a_case_or_a_rubric_changes_the_digest(place: str, value: object) -> None:
    document = json.loads(json.dumps(VALID[0]))
    *parents, last = place.split(".")
    holder = document["benchmarks"][0]
    for part in parents:
        holder = holder[int(part) if part.isdigit() else part]
    holder[int(last) if last.isdigit() else last] = value
    assert parse_suite(document).suite.digest != parse_suite(VALID[0]).suite.digest


@pytest.mark.parametrize(
    "change",
    [
        {"description": "other"},
        {"agents": ["other"]},
        {"concurrency": 9},
        {"epochs": 9},
        {"notes": "x"},
        {"seed": 5},
        {"version": "2"},
    ],
)
def test_what_is_not_asked_or_judged_does_not_change_the_digest(change: dict[str, object]) -> None:
    assert parse_suite({**VALID[0], **change}).suite.digest == parse_suite(VALID[0]).suite.digest
