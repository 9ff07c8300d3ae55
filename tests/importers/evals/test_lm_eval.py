"""Values are those of lm-eval's own ``results``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.evals.lm_eval import LmEvalImporter
from agentdyno.model import ArmResult, Provenance, RunResult, Status

from ..evaluations import DUMMY, TABLE, TASK_TOTALS, changed, only_arm, plain, read_log, sample_of

PRIMARY = {"everyday": "acc,none", "sums": "exact_match,strict"}


def arm_of(result: RunResult, task: str) -> ArmResult:
    return next(arm for arm in result.arms if arm.benchmark == task)


def beside(path: Path, task: str) -> Path:
    return next(path.parent.glob(f"samples_{task}_*.jsonl"))


@pytest.mark.parametrize("path", [TABLE, TASK_TOTALS, DUMMY])
def test_accuracy_and_its_error_are_those_of_lm_eval(path: Path) -> None:
    result, stated = read_log(path), plain(path)
    assert [arm.benchmark for arm in result.arms] == list(stated["configs"])
    for task, figures in stated["results"].items():
        arm = arm_of(result, task)
        name, _, kind = PRIMARY[task].partition(",")
        assert arm.scores["accuracy"] == pytest.approx(figures[PRIMARY[task]])
        assert arm.case_figures is not None
        assert arm.case_figures.cases == arm.case_figures.scored == stated["n-samples"][task]["effective"]
        assert arm.case_figures.variance is not None
        error = (arm.case_figures.variance / arm.case_figures.scored) ** 0.5
        assert error == pytest.approx(figures[f"{name}_stderr,{kind}"])
        assert arm.observed["reported"] == {key: value for key, value in figures.items() if "," in key}


@pytest.mark.parametrize("path", [TABLE, TASK_TOTALS])
def test_further_metrics_and_filters_are_named_scores(path: Path) -> None:
    result, stated = read_log(path), plain(path)["results"]
    everyday, sums = arm_of(result, "everyday"), arm_of(result, "sums")
    assert everyday.metrics["acc_norm"].mean == pytest.approx(stated["everyday"]["acc_norm,none"])
    assert sums.metrics["exact_match,last-number"].mean == pytest.approx(stated["sums"]["exact_match,last-number"])


def test_samples_beside_the_results_are_cases() -> None:
    result = read_log(TABLE)
    assert result.suite is not None
    everyday, sums = result.suite.benchmarks
    assert [len(everyday.cases), len(sums.cases)] == [8, 5]
    case = everyday.cases[2]
    assert (case.id, case.target) == ("2", "2")
    assert case.input == "Question: Which month follows May?\nAnswer:"
    assert case.metadata == {
        "question": "Which month follows May?",
        "choices": ["April", "July", "June"],
        "gold": 2,
    }
    wrong = sample_of(arm_of(result, "sums"), "1")
    assert (wrong.status, wrong.output) == (Status.FAILED, "The answer is 7.")
    assert wrong.scores == {"score": 0.0, "exact_match,last-number": 1.0}
    assert wrong.details == {"imported": True, "model": "acme/table-2"}


def test_the_samples_belong_to_the_identity_of_the_run(tmp_path: Path) -> None:
    alone = tmp_path / TABLE.name
    shutil.copy(TABLE, alone)
    without = read_log(alone)
    assert without.run_id != read_log(TABLE).run_id
    assert all(not arm.samples for arm in without.arms)


def test_results_without_samples_have_totals_and_say_so() -> None:
    result = read_log(TASK_TOTALS)
    assert [warning.code for warning in result.warnings] == ["aggregates-only"]
    everyday = arm_of(result, "everyday")
    assert (everyday.samples, everyday.planned) == ((), 0)
    assert everyday.case_figures is not None
    assert everyday.case_figures.mean == 0.375
    assert everyday.case_figures.variance == pytest.approx(15 / 56)  # of 3 right and 5 wrong
    assert everyday.score_errors["accuracy"] == plain(TASK_TOTALS)["results"]["everyday"]["acc_stderr,none"]
    summary = everyday.metrics["score"]
    assert (summary.median, summary.p95, summary.minimum, summary.maximum) == (None,) * 4


def test_the_agent_has_the_name_in_its_arguments() -> None:
    result = read_log(TABLE)
    assert result.suite is not None
    (use,) = result.suite.agents
    assert (use.name, use.uses) == ("acme/table-2", "imported:lm-eval")
    assert use.config == {"edition": 2, "pretrained": "acme/table-2", "model": "table"}
    assert result.started_at == round(plain(TABLE)["date"] * 1000)
    assert result.origin["version"] == "0.4.13"


def test_the_random_model_is_simulated_and_has_no_made_up_name(tmp_path: Path) -> None:
    arm = only_arm(read_log(DUMMY))
    assert (arm.agent or "").startswith("dummy@")
    assert all(sample.details["simulated"] for sample in arm.samples)
    alone = tmp_path / DUMMY.name
    shutil.copy(DUMMY, alone)
    totals = read_log(alone)
    assert {metric.provenance for metric in only_arm(totals).metrics.values()} == {Provenance.SIMULATED}
    assert "simulated" in {warning.code for warning in totals.warnings}


def test_arguments_may_be_the_text_of_a_command_line(tmp_path: Path) -> None:
    def older(log: Any) -> None:
        log["config"]["model_args"] = "pretrained=acme/table-2,dtype=float16,token=hf_1"

    result = read_log(changed(TABLE, tmp_path, older))
    assert result.arms[0].params == {"pretrained": "acme/table-2", "dtype": "float16", "model": "table"}
    assert (result.arms[0].agent or "").startswith("acme/table-2@")


def test_the_revision_of_a_model_is_its_version(tmp_path: Path) -> None:
    def revised(log: Any) -> None:
        log["config"]["model_sha"] = "0123456789abcdef0123"

    assert read_log(changed(TABLE, tmp_path, revised)).arms[0].agent == "acme/table-2@0123456789"


def test_a_metric_that_is_no_share_of_right_answers_is_no_accuracy(tmp_path: Path) -> None:
    def perplexity(log: Any) -> None:
        log["results"]["everyday"]["acc,none"] = 17.5
        log["configs"]["sums"]["metric_list"][0]["higher_is_better"] = False

    copy = changed(TASK_TOTALS, tmp_path, perplexity)
    result = read_log(copy)
    assert [arm.scores["accuracy"] for arm in result.arms] == [None, None]
    assert [arm.case_figures for arm in result.arms] == [None, None]
    (doubt,) = [warning for warning in result.warnings if warning.code == "no-accuracy"]
    assert "everyday, sums" in doubt.message


def test_an_unknown_standard_error_stays_unknown(tmp_path: Path) -> None:
    def unknown(log: Any) -> None:
        log["results"]["everyday"]["acc_stderr,none"] = "N/A"

    arm = arm_of(read_log(changed(TASK_TOTALS, tmp_path, unknown)), "everyday")
    assert arm.case_figures is not None
    assert arm.case_figures.variance is None
    assert arm.score_errors == {}


def test_groups_name_the_suite_and_are_no_benchmarks(tmp_path: Path) -> None:
    def grouped(log: Any) -> None:
        log["group_subtasks"] = {"school": ["everyday", "sums"]}
        log["results"]["school"] = {"acc,none": 0.4, "alias": "school"}

    result = read_log(changed(TABLE, tmp_path, grouped))
    assert result.suite is not None
    assert (result.name, result.suite.suite_id) == ("school", "lm-eval-school")
    assert [item.name for item in result.suite.benchmarks] == ["everyday", "sums"]


def test_many_tasks_are_named_by_the_first(tmp_path: Path) -> None:
    def many(log: Any) -> None:
        for name in ("c d", "c-d", "e"):
            for part in ("results", "configs", "n-samples"):
                log[part][name] = log[part]["everyday"]

    result = read_log(changed(TASK_TOTALS, tmp_path, many))
    assert result.name.startswith("everyday, sums, c d and 2 more ")
    assert len({arm.arm_id for arm in result.arms}) == 5  # "c d" and "c-d" make the same id


def test_older_rows_of_samples_are_read(tmp_path: Path) -> None:
    copy = changed(TABLE, tmp_path, lambda log: log)
    samples = beside(copy, "everyday")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    for row in rows:
        del row["filter"]
        row["arguments"] = [list(arguments.values()) for arguments in row["arguments"].values()]
    samples.write_text("\n".join(json.dumps(row) for row in rows))
    assert read_log(copy).suite == read_log(TABLE).suite


@pytest.mark.parametrize(
    ("keys", "value", "problem"),
    [
        (
            ("results", "everyday", "acc,none"),
            0.5,
            r'results.everyday."acc,none": says 0.5, and the samples in samples_',
        ),
        (("results", "sums"), None, r"results: has no figures of 'sums', which 'configs' has"),
        (("results", "sums"), {"alias": "sums"}, r"results.sums: expected at least one metric, such as 'acc,none'"),
        (("n-samples", "sums", "effective"), 6, r"samples_sums_\S+: holds 5 samples, and the results are of 6"),
        (("config", "model"), None, r"config.model: expected a text, found null"),
        (("date",), "today", r"date: expected a finite number of at least 0"),
        (("date",), 1e15, r"date: expected a date in seconds since 1970"),
        (("configs",), {}, r"the file holds no evaluation"),
    ],
)
def test_a_mangled_file_is_refused_by_place(
    keys: tuple[Any, ...], value: object, problem: str, tmp_path: Path
) -> None:
    def mangle(log: Any) -> None:
        for key in keys[:-1]:
            log = log[key]
        log[keys[-1]] = value

    with pytest.raises(ImportFailed, match=problem):
        read_log(changed(TABLE, tmp_path, mangle))


def test_samples_that_are_cut_off_are_refused(tmp_path: Path) -> None:
    copy = changed(TABLE, tmp_path, lambda log: log)
    samples = beside(copy, "everyday")
    content = samples.read_bytes()
    samples.write_bytes(content[:-40])
    with pytest.raises(ImportFailed, match=r"samples_everyday_\S+: line 8: the file is cut off"):
        read_log(copy)
    samples.write_bytes(b"\n".join(content.splitlines()[:-1]))
    with pytest.raises(ImportFailed, match="holds 7 samples, and the results are of 8"):
        read_log(copy)
    samples.write_bytes(b"\n".join([*content.splitlines(), content.splitlines()[0]]))
    with pytest.raises(ImportFailed, match="line 9: has document 0 a second time"):
        read_log(copy)
    samples.write_bytes(b"")
    with pytest.raises(ImportFailed, match="the file is empty"):
        read_log(copy)


def test_samples_with_another_answer_do_not_belong_to_the_results(tmp_path: Path) -> None:
    copy = changed(TABLE, tmp_path, lambda log: log)
    samples = beside(copy, "everyday")
    samples.write_text(samples.read_text().replace('"acc": 1.0', '"acc": 0.0', 1))
    with pytest.raises(ImportFailed, match=r"says 0.375, and the samples in samples_\S+ give 0.25"):
        read_log(copy)


def test_a_task_cannot_reach_out_of_the_folder(tmp_path: Path) -> None:
    def reach(log: Any) -> None:
        for part in ("results", "configs", "n-samples"):
            log[part]["../everyday"] = log[part].pop("everyday")

    copy = changed(TABLE, tmp_path / "inner", reach)
    shutil.copy(beside(TABLE, "everyday"), tmp_path)
    assert not read_log(copy).arms[-1].samples


def test_figures_that_fill_the_beginning_of_the_file_are_enough_to_know_it(tmp_path: Path) -> None:
    log = plain(TASK_TOTALS)
    log["results"] = {f"task {number}": log["results"]["everyday"] for number in range(900)}
    long = tmp_path / "results.json"
    long.write_text(json.dumps(log))
    assert LmEvalImporter().recognises(long, long.read_bytes()[: 64 * 1024])
