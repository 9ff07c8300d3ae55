"""Values are those of promptfoo's own ``stats`` and of the metrics of its columns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.model import Failure, FailureKind, RunStatus, Status

from ..evaluations import BODIES, REPEATED, changed, only_arm, plain, read_log, sample_of


def rows(log: Any) -> Any:
    return log["results"]["results"]


@pytest.mark.parametrize("path", [BODIES, REPEATED])
def test_successes_failures_and_errors_are_those_that_promptfoo_counts(path: Path) -> None:
    stats = plain(path)["results"]["stats"]
    counted: Counter[str] = Counter()
    for arm in read_log(path).arms:
        counted.update(arm.statuses)
    assert (counted["ok"], counted["failed"], counted["error"]) == (
        stats["successes"],
        stats["failures"],
        stats["errors"],
    )


@pytest.mark.parametrize("path", [BODIES, REPEATED])
def test_tokens_are_those_that_promptfoo_counts(path: Path) -> None:
    usage = plain(path)["results"]["stats"]["tokenUsage"]
    readings = [sample.readings for arm in read_log(path).arms for sample in arm.samples]
    for theirs, ours in (("prompt", "input_tokens"), ("completion", "output_tokens"), ("total", "total_tokens")):
        assert sum(reading.get(ours, 0) for reading in readings) == usage[theirs] > 0


@pytest.mark.parametrize("path", [BODIES, REPEATED])
def test_every_column_has_the_figures_of_promptfoo(path: Path) -> None:
    columns = plain(path)["results"]["prompts"]
    arms = read_log(path).arms
    assert len(arms) == len(columns)
    for arm, column in zip(arms, columns, strict=True):
        metrics = column["metrics"]
        scores = [sample.scores.get("score") or 0.0 for sample in arm.samples]
        assert sum(scores) == pytest.approx(metrics["score"])
        assert sum(sample.readings.get("cost_usd", 0.0) for sample in arm.samples) == pytest.approx(metrics["cost"])
        latencies = [sample.readings["duration_s"] for sample in arm.samples]
        assert sum(latencies) * 1000 == pytest.approx(metrics["totalLatencyMs"])
        for name, total in metrics["namedScores"].items():
            assert sum(sample.scores.get(name) or 0.0 for sample in arm.samples) == pytest.approx(total)
        assert arm.observed["reported"] == metrics


def test_an_agent_is_a_provider_with_a_prompt() -> None:
    result = read_log(BODIES)
    assert result.suite is not None
    assert [(use.name, use.config) for use in result.suite.agents] == [
        ("echo", {"prompt": "What is the {{body}}?"}),
        ("echo", {"prompt": "In one sentence: what is the {{body}}?"}),
        ("table of bodies", {"edition": 2, "prompt": "What is the {{body}}?"}),
        ("table of bodies", {"edition": 2, "prompt": "In one sentence: what is the {{body}}?"}),
    ]
    assert len({use.version for use in result.suite.agents}) == 4
    assert [arm.agent for arm in result.arms] == [f"{use.name}@{use.version}" for use in result.suite.agents]
    assert {use.uses for use in result.suite.agents} == {"imported:promptfoo"}


def test_a_test_is_a_case_with_its_variables_and_assertions() -> None:
    result = read_log(BODIES)
    assert result.suite is not None
    (benchmark,) = result.suite.benchmarks
    assert [case.id for case in benchmark.cases] == ["the sun", "test-2", "test-3", "test-4"]
    assert benchmark.cases[0].input == {"body": "Sun"}
    assert benchmark.cases[0].target == [{"type": "icontains", "value": "star", "metric": "naming"}]
    assert benchmark.cases[0].metadata == {"description": "the sun"}
    assert (result.name, result.suite.suite_id) == ("heavenly bodies", "promptfoo-heavenly-bodies")


def test_repeats_are_epochs_of_one_case() -> None:
    result = read_log(REPEATED)
    arm = only_arm(result)
    assert result.suite is not None
    assert result.suite.epochs == 3
    assert {(sample.case_id, sample.iteration) for sample in arm.samples} == {
        (case, epoch) for case in ("test-1", "test-2") for epoch in range(3)
    }
    assert arm.case_figures is not None
    assert (arm.case_figures.mean, arm.case_figures.passed) == (0.75, 3)  # a whole and a half, three times each
    assert arm.totals["cost_usd"] == pytest.approx(plain(REPEATED)["results"]["prompts"][0]["metrics"]["cost"])


def test_a_half_right_answer_that_promptfoo_fails_has_failed() -> None:
    arm = read_log(BODIES).arms[2]
    sample = sample_of(arm, "test-3")
    assert (sample.status, sample.scores) == (Status.FAILED, {"score": 0.5})
    assert sample.output == "Pluto is a planet."
    scoring = sample.details["scoring"]
    assert isinstance(scoring, list)
    assert scoring[0] == {
        "scorer": "promptfoo:icontains",
        "value": 0,
        "explanation": 'Expected output to contain "dwarf"',
    }


def test_an_error_has_no_score_and_unknown_tokens() -> None:
    sample = sample_of(read_log(BODIES).arms[3], "test-4")
    assert (sample.status, sample.scores, sample.output) == (Status.ERROR, {}, None)
    assert sample.failure == Failure(FailureKind.EXCEPTION, "Mars is not in the table")
    assert sample.readings.keys() == {"duration_s"}


def test_a_provider_without_tokens_has_unknown_ones() -> None:
    echo = read_log(BODIES).arms[0]
    assert "total_tokens" not in echo.totals
    assert "simulated" not in echo.samples[0].details


def test_times_are_those_of_the_evaluation() -> None:
    result = read_log(BODIES)
    stats = plain(BODIES)["results"]["stats"]
    assert result.finished_at == result.started_at + stats["durationMs"]
    assert (result.status, result.origin["version"]) == (RunStatus.COMPLETE, "0.123.1")
    assert result.environment.details["nodeVersion"] == "v22.23.3"


def test_answers_from_the_cache_have_no_readings(tmp_path: Path) -> None:
    def cached(log: Any) -> None:
        for row in rows(log):
            row["response"]["cached"] = True

    arm = only_arm(read_log(changed(REPEATED, tmp_path, cached)))
    assert all(sample.details["cached"] and not sample.readings for sample in arm.samples)
    assert "duration_s" not in arm.metrics


def test_what_a_judging_model_cost_is_unknown(tmp_path: Path) -> None:
    def judged(log: Any) -> None:
        rows(log)[0]["gradingResult"]["tokensUsed"]["total"] = 80

    arm = only_arm(read_log(changed(REPEATED, tmp_path, judged)))
    assert "judge_cost_usd" not in arm.totals
    assert arm.totals["total_tokens"] == 99


def test_secrets_in_configurations_are_left_out(tmp_path: Path) -> None:
    def secret(log: Any) -> None:
        log["config"]["providers"][0]["config"] = {"apiKey": "sk-1", "temperature": 0, "auth": {"accessKey": "x"}}
        for row in rows(log):
            row["testCase"]["assert"][0]["provider"] = {"id": "judge", "config": {"api_key": "sk-2"}}

    result = read_log(changed(REPEATED, tmp_path, secret))
    assert result.suite is not None
    assert only_arm(result).params == {"temperature": 0, "auth": {}, "prompt": "What is the {{body}}?"}
    target = result.suite.benchmarks[0].cases[0].target
    assert isinstance(target, list)
    assert target[0]["provider"] == {"id": "judge", "config": {}}


def test_one_provider_listed_twice_stays_two_agents(tmp_path: Path) -> None:
    def twice(log: Any) -> None:
        log["results"]["prompts"] *= 2
        for row in list(rows(log)):
            rows(log).append({**row, "promptIdx": 1})
        for key in ("successes", "failures"):
            log["results"]["stats"][key] *= 2

    first, second = read_log(changed(REPEATED, tmp_path, twice)).arms
    assert second.agent == f"{first.agent}-2"
    assert len(first.samples) == len(second.samples) == 6


def test_logs_of_older_releases_tell_errors_by_their_missing_grade(tmp_path: Path) -> None:
    def older(log: Any) -> None:
        for row in rows(log):
            del row["failureReason"]

    assert [arm.statuses for arm in read_log(changed(BODIES, tmp_path, older)).arms] == [
        arm.statuses for arm in read_log(BODIES).arms
    ]


@pytest.mark.parametrize(
    ("keys", "value", "problem"),
    [
        (("stats", "successes"), 7, r"bodies.json: results.stats.successes: says 7, and the results hold 6"),
        (("version",), 2, r"results.version: expected results of version 3, found 2"),
        (("results", 3, "promptIdx"), 9, r"results.results\[3\].promptIdx: is 9, and there are 4 prompts"),
        (("results", 3, "success"), "yes", r"results.results\[3\].success: expected true or false"),
        (("results", 0, "failureReason"), 3, r"failureReason: expected 0, 1 or 2, found 3"),
        (("results", 1, "latencyMs"), "fast", r"latencyMs: expected a finite number of at least 0"),
        (("results", 1, "testCase"), None, r"results.results\[1\].testCase: expected an object"),
        (("prompts",), None, r"results.prompts: expected a list"),
        (("timestamp",), 5, r"results.timestamp: expected a text"),
    ],
)
def test_a_mangled_file_is_refused_by_place(
    keys: tuple[Any, ...], value: object, problem: str, tmp_path: Path
) -> None:
    def mangle(log: Any) -> None:
        log = log["results"]
        for key in keys[:-1]:
            log = log[key]
        log[keys[-1]] = value

    with pytest.raises(ImportFailed, match=problem):
        read_log(changed(BODIES, tmp_path, mangle))


def test_a_file_that_lost_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="says 8, and the results hold 7"):
        read_log(changed(BODIES, tmp_path, lambda log: rows(log).pop(0)))


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    def empty(log: Any) -> None:
        rows(log).clear()
        log["results"]["stats"] = {}

    with pytest.raises(ImportFailed, match="the file holds no evaluation"):
        read_log(changed(BODIES, tmp_path, empty))
