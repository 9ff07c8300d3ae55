"""Values are those that stand in the logs themselves: ``results``, ``stats`` and the samples."""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.evals.inspect_log import InspectImporter
from agentdyno.model import Failure, FailureKind, Reducer, RunStatus, Status

from ..evaluations import (
    CAPITALS,
    RIVERS,
    STOPPED,
    TOTALS,
    changed,
    changed_archive,
    members,
    only_arm,
    plain,
    read_log,
    sample_of,
    write_archive,
)


def reported(path: Path, scorer: str) -> dict[str, float]:
    """What Inspect itself says of a scorer."""
    scores = plain(path)["results"]["scores"]
    found = next(score for score in scores if score["name"] == scorer)
    return {name: metric["value"] for name, metric in found["metrics"].items()}


@pytest.mark.parametrize(("path", "scorer"), [(CAPITALS, "names_it"), (RIVERS, "includes"), (TOTALS, "includes")])
def test_the_accuracy_is_the_one_that_inspect_reports(path: Path, scorer: str) -> None:
    arm = only_arm(read_log(path))
    assert arm.case_figures is not None
    assert arm.scores["accuracy"] == arm.case_figures.mean == pytest.approx(reported(path, scorer)["accuracy"])
    error = (arm.case_figures.variance or 0.0) / arm.case_figures.scored
    assert error**0.5 == pytest.approx(reported(path, scorer)["stderr"])


def test_further_scorers_become_named_scores() -> None:
    arm = only_arm(read_log(CAPITALS))
    assert arm.metrics["brevity"].mean == pytest.approx(reported(CAPITALS, "brevity")["mean"])
    assert arm.observed["reported"] == [
        {"score": "names_it", "metrics": reported(CAPITALS, "names_it")},
        {"score": "brevity", "metrics": reported(CAPITALS, "brevity")},
    ]


def test_tokens_add_up_to_what_inspect_counted() -> None:
    usage = plain(CAPITALS)["stats"]["model_usage"]["mockllm/model"]
    arm = only_arm(read_log(CAPITALS))
    for name in ("input_tokens", "output_tokens", "total_tokens"):
        assert sum(sample.readings[name] for sample in arm.samples) == usage[name]
    assert arm.totals["total_tokens"] == usage["total_tokens"] == 214


def test_tokens_from_the_cache_are_part_of_the_input() -> None:
    sample = sample_of(only_arm(read_log(RIVERS)), "1")
    assert sample.readings["input_tokens"] == 40  # 30 at the full rate and 10 from the cache
    assert sample.usage == {"input_tokens": 40, "output_tokens": 4, "cached_tokens": 10}
    assert sample.readings["total_tokens"] == 44


def test_a_model_that_reports_no_tokens_has_unknown_ones() -> None:
    arm = only_arm(read_log(STOPPED))
    assert "total_tokens" not in arm.totals
    assert all("total_tokens" not in sample.readings for sample in arm.samples)


def test_samples_are_cases_times_epochs() -> None:
    result = read_log(CAPITALS)
    arm = only_arm(result)
    assert result.suite is not None
    assert (result.suite.epochs, result.suite.version) == (2, "2")
    assert [case.id for case in result.suite.benchmarks[0].cases] == plain(CAPITALS)["eval"]["dataset"]["sample_ids"]
    assert {(sample.case_id, sample.iteration) for sample in arm.samples} == {
        (case.id, epoch) for case in result.suite.benchmarks[0].cases for epoch in (0, 1)
    }
    assert (arm.planned, arm.statuses) == (12, {"error": 2, "failed": 2, "ok": 8})


def test_letters_are_scores_and_half_right_passes() -> None:
    arm = only_arm(read_log(CAPITALS))
    partly, wrong = sample_of(arm, "japan"), sample_of(arm, "spain", 1)
    assert (partly.status, partly.scores) == (Status.OK, {"score": 0.5, "brevity": 1.0})
    assert (wrong.status, wrong.scores["score"], wrong.output) == (Status.FAILED, 0.0, "Barcelona")
    assert wrong.details["scoring"] == [
        {"scorer": "names_it", "value": "I", "explanation": "Madrid is not named"},
        {"scorer": "brevity", "value": 1.0},
    ]


def test_an_error_is_a_failure_without_a_score() -> None:
    sample = sample_of(only_arm(read_log(CAPITALS)), "atlantis")
    assert (sample.status, sample.scores, sample.output) == (Status.ERROR, {}, None)
    assert sample.failure is not None
    assert (sample.failure.kind, sample.failure.message) == (
        FailureKind.EXCEPTION,
        "ValueError('Atlantis is not on the map')",
    )
    assert (sample.failure.traceback or "").endswith("ValueError: Atlantis is not on the map\n")


def test_times_are_those_of_the_sample() -> None:
    logged = members(CAPITALS)["samples/japan_epoch_2.json"]
    sample = sample_of(only_arm(read_log(CAPITALS)), "japan", 1)
    assert sample.readings["duration_s"] == logged["total_time"]
    assert sample.readings["working_s"] == logged["working_time"]
    result = read_log(RIVERS)
    assert (result.started_at, result.finished_at) == (1794752887000, 1794752888000)  # 14:28:07 and 14:28:08 UTC


def test_the_agent_is_the_model_with_its_solvers() -> None:
    result = read_log(CAPITALS)
    arm = only_arm(result)
    assert result.suite is not None
    (use,) = result.suite.agents
    assert (use.name, use.uses) == ("mockllm/model", "imported:inspect")
    assert use.config == {"temperature": 0.5, "solver": "sunken → generate"}
    assert arm.agent == f"mockllm/model@{use.version}"
    assert arm.params == use.config


def test_another_temperature_is_another_version_of_the_same_agent(tmp_path: Path) -> None:
    def hotter(log: dict[str, Any]) -> None:
        log["header.json"]["plan"]["config"]["temperature"] = 1.0

    warm, hot = read_log(CAPITALS), read_log(changed_archive(CAPITALS, tmp_path, hotter))
    assert warm.suite is not None
    assert hot.suite is not None
    assert warm.suite.digest == hot.suite.digest
    assert only_arm(warm).agent != only_arm(hot).agent
    assert only_arm(warm).arm_id != only_arm(hot).arm_id


def test_a_second_run_of_the_same_task_meets_the_same_arm(tmp_path: Path) -> None:
    def later(log: dict[str, Any]) -> None:
        log["eval"]["created"] = log["stats"]["started_at"] = log["stats"]["completed_at"] = "2027-01-01T00:00:00Z"
        log["eval"]["run_id"] = "another"
        for message in log["samples"][2]["input"]:
            message["id"] = "another"

    first, second = read_log(RIVERS), read_log(changed(RIVERS, tmp_path, later))
    assert only_arm(first).arm_id == only_arm(second).arm_id
    assert first.run_id != second.run_id


def test_messages_are_asked_without_the_ids_of_the_run() -> None:
    result = read_log(RIVERS)
    assert result.suite is not None
    first, _, third, _ = result.suite.benchmarks[0].cases
    assert (first.input, first.target) == ("Which river flows through Rome?", ["Tiber", "Tevere"])
    assert third.input == [
        {"content": "Be short.", "role": "system"},
        {"content": "Which river flows through Prague?", "role": "user"},
    ]


def test_the_model_that_answered_is_observed() -> None:
    arm = only_arm(read_log(RIVERS))
    assert arm.observed["model"] == "lookup-1"
    assert sample_of(arm, "1").details["imported"] is True


def test_only_the_mock_model_is_simulated() -> None:
    assert all(sample.details["simulated"] for sample in only_arm(read_log(CAPITALS)).samples)
    assert not any("simulated" in sample.details for sample in only_arm(read_log(RIVERS)).samples)


def test_an_evaluation_that_broke_off_is_partial() -> None:
    result = read_log(STOPPED)
    arm = only_arm(result)
    assert (result.status, result.stopped_because) == (RunStatus.PARTIAL, "error: RuntimeError('the mirror broke')")
    assert (arm.planned, arm.statuses) == (3, {"error": 1, "ok": 1})
    assert result.origin["version"] == "0.3.112"


def test_an_evaluation_that_was_killed_has_what_its_journal_has(tmp_path: Path) -> None:
    content = members(CAPITALS)
    del content["header.json"], content["summaries.json"], content["reductions.json"]
    del content["samples/peru_epoch_2.json"]
    result = read_log(write_archive(tmp_path / "killed.eval", content))
    assert (result.status, result.stopped_because) == (RunStatus.PARTIAL, "started")
    assert (only_arm(result).planned, len(only_arm(result).samples)) == (12, 11)


def test_a_log_without_samples_has_the_figures_of_inspect() -> None:
    result = read_log(TOTALS)
    arm = only_arm(result)
    assert [warning.code for warning in result.warnings] == ["aggregates-only"]
    assert arm.samples == ()
    assert arm.case_figures is not None
    assert (arm.case_figures.cases, arm.case_figures.mean, arm.case_figures.variance) == (4, 0.75, 0.25)
    assert arm.score_errors["accuracy"] == reported(TOTALS, "includes")["stderr"]


def test_values_outside_0_to_1_are_no_scores(tmp_path: Path) -> None:
    def graded(log: dict[str, Any]) -> None:
        for sample, grade in zip(log["samples"], (7, 9, 0.5, "8.5"), strict=True):
            sample["scores"]["includes"]["value"] = grade

    result = read_log(changed(RIVERS, tmp_path, graded))
    arm = only_arm(result)
    assert [sample.scores for sample in arm.samples] == [
        {"score": None},
        {"score": None},
        {"score": 0.5},
        {"score": None},
    ]
    assert arm.samples[3].details["outside_0_to_1"] == {"includes": 8.5}
    assert {"outside-0-to-1", "not-judged"} <= {warning.code for warning in result.warnings}


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", 1.0), ("N", 0.0), (True, 1.0), ("no", 0.0), ("0.25", 0.25), ("nan", None), ("A+", None), ([1], None)],
)
def test_values_become_numbers_as_inspect_makes_them(value: object, score: float | None, tmp_path: Path) -> None:
    def valued(log: dict[str, Any]) -> None:
        log["samples"] = log["samples"][:1]
        log["results"] = {"total_samples": 1, "completed_samples": 1, "scores": []}
        log["samples"][0]["scores"]["includes"]["value"] = value

    arm = only_arm(read_log(changed(RIVERS, tmp_path, valued)))
    assert arm.samples[0].scores["score"] == score


def test_a_value_with_parts_gives_a_score_for_each(tmp_path: Path) -> None:
    def parts(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            sample["scores"]["includes"]["value"] = {"right": 1, "polite": 0.5}
        first = log["results"]["scores"][0]
        first["name"], first["metrics"]["accuracy"]["value"] = "polite", 0.5
        log["results"]["headline"] = {"scorer": "includes", "score": "polite", "metric": "accuracy"}

    arm = only_arm(read_log(changed(RIVERS, tmp_path, parts)))
    assert arm.samples[0].scores == {"score": 0.5, "includes.right": 1.0}
    assert arm.scores["accuracy"] == 0.5


def test_reducers_that_exist_here_are_kept(tmp_path: Path) -> None:
    def reduced(name: str) -> Any:
        def change(log: dict[str, Any]) -> None:
            log["header.json"]["eval"]["config"]["epochs_reducer"] = [name]

        result = read_log(changed_archive(CAPITALS, tmp_path, change))
        assert result.suite is not None
        return result.suite.benchmarks[0].rubric, only_arm(result).case_figures, result.warnings

    best, figures, _ = reduced("max")
    assert (best.reducer, figures.mean) == (Reducer.MAX, 1.0)
    passing, figures, _ = reduced("pass_at_2")
    assert (passing.reducer, passing.k, passing.pass_threshold) == (Reducer.PASS_AT_K, 2, 1.0)
    assert figures.mean == 1.0
    _, figures, warnings = reduced("mode")
    assert figures.mean == 0.75
    assert "other-reducer" in {warning.code for warning in warnings}


def test_a_judge_is_not_the_agent(tmp_path: Path) -> None:
    def judge(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            usage = sample["model_usage"]
            usage["table/lookup"]["total_cost"] = 0.25
            usage["judge/large"] = {"input_tokens": 900, "output_tokens": 9, "total_tokens": 909}

    arm = only_arm(read_log(changed(RIVERS, tmp_path, judge)))
    assert arm.totals["total_tokens"] == 176
    assert arm.totals["cost_usd"] == 1.0
    assert "judge_cost_usd" not in arm.totals
    assert arm.samples[0].details["other_models"] == ["judge/large"]


def test_a_limit_counts_only_where_nothing_was_scored(tmp_path: Path) -> None:
    def limited(log: dict[str, Any]) -> None:
        log["status"] = "cancelled"
        log["samples"][0]["limit"] = log["samples"][1]["limit"] = {"type": "token", "limit": 40}
        log["samples"][1]["scores"] = {}

    first, second, *_ = only_arm(read_log(changed(RIVERS, tmp_path, limited))).samples
    assert (first.status, first.details["limit"]) == (Status.OK, "token")
    assert second.status is Status.ERROR
    assert second.failure == Failure(FailureKind.EXCEPTION, "ended by its token limit before it was scored")


def test_attachments_and_choices_are_resolved(tmp_path: Path) -> None:
    def attached(log: dict[str, Any]) -> None:
        sample = log["samples"][0]
        sample["attachments"] = {"abc": "a long question"}
        sample["input"] = "attachment://abc"
        sample["choices"] = ["Tiber", "Seine"]
        sample["metadata"] = {"source": "\ud800 odd \x00"}

    result = read_log(changed(RIVERS, tmp_path, attached))
    assert result.suite is not None
    case = result.suite.benchmarks[0].cases[0]
    assert case.input == "a long question"
    assert case.metadata == {"source": "\ufffd odd \ufffd", "choices": ["Tiber", "Seine"]}


def test_settings_that_hold_secrets_are_left_out(tmp_path: Path) -> None:
    def secret(log: dict[str, Any]) -> None:
        log["eval"]["model_args"] = {"api_key": "sk-1", "edition": 3, "client": {"password": "x"}}

    result = read_log(changed(RIVERS, tmp_path, secret))
    assert only_arm(result).params == {"edition": 3, "solver": "generate"}


def test_the_revision_is_kept(tmp_path: Path) -> None:
    def committed(log: dict[str, Any]) -> None:
        log["eval"]["revision"] = {
            "type": "git",
            "origin": "https://example.org/r",
            "commit": "abc1234",
            "dirty": True,
        }

    vcs = read_log(changed(RIVERS, tmp_path, committed)).vcs
    assert vcs is not None
    assert (vcs.commit, vcs.dirty) == ("abc1234", True)


@pytest.mark.parametrize(
    ("keys", "value", "problem"),
    [
        (("results", "total_samples"), 5, r"rivers.json: results.total_samples: says 5 samples, and the log holds 4"),
        (("results", "scores", 0, "metrics", "accuracy", "value"), 0.9, r"says 0.9, and the samples give 0.75"),
        (("samples", 1, "epoch"), 0, r"samples\[1\].epoch: expected a whole number of at least 1, found 0"),
        (("samples", 1, "id"), 1, r"has sample '1' twice in epoch 1"),
        (("samples", 1, "total_time"), -1, r"samples\[1\].total_time: expected a finite number of at least 0"),
        (("samples", 2, "scores"), [], r"samples\[2\].scores: expected an object, found a list"),
        (("eval", "model"), None, r"eval.model: expected a text, found null"),
        (("eval", "created"), "yesterday", r"eval.created: expected a date and time"),
        (("status",), "splendid", r"status: expected one of success, error, cancelled, started"),
        (("results",), None, r"says it ended with success and has no 'results'"),
    ],
)
def test_a_mangled_log_is_refused_by_place(
    keys: tuple[Any, ...], value: object, problem: str, tmp_path: Path
) -> None:
    def mangle(log: Any) -> None:
        log["stats"].pop("started_at")
        for key in keys[:-1]:
            log = log[key]
        log[keys[-1]] = value

    with pytest.raises(ImportFailed, match=problem):
        read_log(changed(RIVERS, tmp_path, mangle))


def test_an_archive_that_lost_a_sample_is_refused(tmp_path: Path) -> None:
    copy = changed_archive(CAPITALS, tmp_path, lambda log: log.pop("samples/peru_epoch_2.json"))
    with pytest.raises(
        ImportFailed, match=r"header.json: results.total_samples: says 12 samples, and the log holds 11"
    ):
        read_log(copy)


def test_a_wrong_value_in_an_archive_is_named_by_member(tmp_path: Path) -> None:
    copy = changed_archive(CAPITALS, tmp_path, lambda log: log["samples/peru_epoch_2.json"].pop("input"))
    with pytest.raises(ImportFailed, match=r"capitals.eval: samples/peru_epoch_2.json: has no 'input'"):
        read_log(copy)


@pytest.mark.parametrize("path", [CAPITALS, STOPPED])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_archive_is_refused_as_cut_off(path: Path, share: float, tmp_path: Path) -> None:
    content = path.read_bytes()
    cut = tmp_path / path.name
    cut.write_bytes(content[: max(60, int(len(content) * share))])
    with pytest.raises(ImportFailed, match="the file is cut off"):
        read_log(cut)


@pytest.mark.parametrize("path", [CAPITALS, STOPPED])
def test_a_damaged_archive_is_refused_where_it_is_damaged(path: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        info = next(info for info in archive.infolist() if info.filename.startswith("samples/"))
    content = bytearray(path.read_bytes())
    start = info.header_offset + 30 + len(info.filename) + 40
    content[start : start + 20] = b"\xff" * 20
    damaged = tmp_path / path.name
    damaged.write_bytes(content)
    with pytest.raises(ImportFailed, match=f"{path.name}: {info.filename}: the archive is damaged here"):
        read_log(damaged)


def test_content_that_does_not_fit_its_checksum_is_refused(tmp_path: Path) -> None:
    content = bytearray(CAPITALS.read_bytes())
    entry = content.rindex(b"samples/peru_epoch_1.json") - 46  # in the directory at the end
    assert content[entry : entry + 4] == b"PK\x01\x02"
    content[entry + 16] ^= 1
    damaged = tmp_path / CAPITALS.name
    damaged.write_bytes(content)
    with pytest.raises(ImportFailed, match=r"samples/peru_epoch_1.json: the archive is damaged here: checksum"):
        read_log(damaged)


def test_without_a_reader_of_zstandard_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("zstandard", "compression.zstd", "compression"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportFailed, match="pip install zstandard"):
        InspectImporter().read(CAPITALS)
    assert InspectImporter().read(STOPPED)


def test_another_archive_is_no_log(tmp_path: Path) -> None:
    other = write_archive(tmp_path / "other.eval", {"readme.json": {}})
    assert not InspectImporter().recognises(other, other.read_bytes())
    with pytest.raises(ImportFailed, match="no log of Inspect"):
        InspectImporter().read(other)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="cannot be read"):
        InspectImporter().read(tmp_path / "missing.eval")


def test_the_ending_of_the_file_does_not_matter(tmp_path: Path) -> None:
    copy = tmp_path / "log.bin"
    shutil.copy(CAPITALS, copy)
    assert read_log(copy).run_id == read_log(CAPITALS).run_id


def test_the_journal_alone_without_samples_is_refused(tmp_path: Path) -> None:
    content = {"_journal/start.json": members(CAPITALS)["_journal/start.json"]}
    with pytest.raises(ImportFailed, match="the file holds no evaluation"):
        read_log(write_archive(tmp_path / "begun.eval", content))
