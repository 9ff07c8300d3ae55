"""Running and resuming through the workbench: what is kept when something goes wrong between trials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.errors import RunError, StoreError
from agentdyno.model import Progress, RunResult, RunStatus, Spec
from agentdyno.runs import pipeline
from agentdyno.runs.kind import Tools
from agentdyno.runs.place import run_folder
from agentdyno.runs.recording import UNSAVED
from agentdyno.specs import parse_spec, spec_changes
from agentdyno.store import Store

from ..experiments import go_on, measure
from ..full_disk import failing_after

CODE = """
from agentdyno import Experiment

class Steps(Experiment):
    def __init__(self, n: int = 10):
        super().__init__({"n": n})
    def execute_once(self, context):
        return {"total": sum(range(self.params["n"]))}
    def teardown(self, context):
        raise RuntimeError("cannot tidy up")
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "dyno.db") as opened:
        yield opened


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    (tmp_path / "steps.py").write_text(CODE)
    document = {"experiment": "steps.py@Steps", "sweep": {"n": [10, 20]}, "iterations": {"measured": 4, "warmup": 0}}
    return parse_spec(document, source="spec.yaml", base_dir=tmp_path, overrides=spec_changes())


def test_progress_counts_every_sample_and_ends_at_the_plan(store: Store, spec: Spec, tmp_path: Path) -> None:
    seen: list[Progress] = []
    result = measure(store, tmp_path / "runs", spec, seen.append)
    assert [progress.done for progress in seen] == list(range(9))
    assert {progress.planned for progress in seen} == {8}
    assert seen[-1].run_id == result.run_id


def test_a_teardown_that_fails_is_a_warning_and_the_samples_stand(store: Store, spec: Spec, tmp_path: Path) -> None:
    result = measure(store, tmp_path / "runs", spec)
    assert result.status is RunStatus.COMPLETE
    failed = [warning for warning in result.warnings if warning.code == "teardown-failed"]
    assert {warning.arm_id for warning in failed} == {arm.arm_id for arm in result.arms}
    assert "cannot tidy up" in failed[0].message


def test_a_sample_that_cannot_be_saved_is_kept_and_saved_on_resume(store: Store, spec: Spec, tmp_path: Path) -> None:
    failing = failing_after(3, store)
    with pytest.raises(StoreError, match="the run stops here") as caught:
        measure(failing, tmp_path / "runs", spec)
    run_id = store.runs.find("last")
    assert f"dyno resume {run_id}" in str(caught.value)
    assert len(store.runs.recorded(run_id)) == 3
    folder = tmp_path / "runs" / run_id
    assert len((folder / UNSAVED).read_text().splitlines()) == 1

    result = go_on(store, tmp_path / "runs")
    assert result.status is RunStatus.COMPLETE
    assert len(store.runs.recorded(run_id)) == 8
    assert not (folder / UNSAVED).exists()


def test_a_store_that_is_deleted_while_a_resume_prepares_itself_is_kept_whole(
    store: Store, spec: Spec, tmp_path: Path
) -> None:
    with pytest.raises(StoreError):
        measure(failing_after(3, store), tmp_path / "runs", spec)
    run_id = store.runs.find("last")

    def deleted(header: RunResult) -> RunResult:
        """Asked for what has moved, before the resume has written anything."""
        (tmp_path / "dyno.db").unlink(missing_ok=True)
        return header

    with pytest.raises(StoreError, match="everything in the store is kept in") as caught:
        pipeline.resume("last", Tools(store=store), moved=deleted)
    (copy,) = (tmp_path / "runs" / run_id).glob("store-*.db")
    assert f"--store {copy}" in str(caught.value)
    with Store.open(copy) as found:
        assert len(found.runs.recorded(run_id)) == 4


def test_an_unwritable_output_folder_fails_before_anything_is_measured(
    store: Store, spec: Spec, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="cannot write there") as caught:
        measure(store, tmp_path / "file" / "runs", spec)
    assert "output_dir" in str(caught.value)
    assert store.runs.newest() == []


def test_a_complete_run_has_nothing_to_resume(store: Store, spec: Spec, tmp_path: Path) -> None:
    measure(store, tmp_path / "runs", spec)
    with pytest.raises(RunError, match="nothing to resume"):
        go_on(store, tmp_path / "runs")


def test_a_run_whose_experiment_has_changed_its_parameters_is_not_resumed(
    store: Store, spec: Spec, tmp_path: Path
) -> None:
    failing = failing_after(2, store)
    with pytest.raises(StoreError):
        measure(failing, tmp_path / "runs", spec)
    (tmp_path / "steps.py").write_text(CODE.replace("n: int = 10", "n: int = 10, more: int = 3"))
    with pytest.raises(RunError, match="have changed"):
        go_on(store, tmp_path / "runs")


def test_failed_samples_are_repeated_on_request_only(store: Store, spec: Spec, tmp_path: Path) -> None:
    broken = CODE.replace("return {", "if self.params['n'] == 20: raise ValueError('broken')\n        return {")
    (tmp_path / "steps.py").write_text(broken)
    first = measure(store, tmp_path / "runs", spec)
    assert first.status is RunStatus.PARTIAL
    (tmp_path / "steps.py").write_text(CODE)
    mended = go_on(store, tmp_path / "runs", retry_errors=True)
    assert mended.status is RunStatus.COMPLETE
    assert [arm.statuses for arm in mended.arms] == [{"ok": 4}, {"ok": 4}]


def test_the_result_file_is_what_the_store_holds(store: Store, spec: Spec, tmp_path: Path) -> None:
    from agentdyno.findings.comparison.ask_result import read_result

    result = measure(store, tmp_path / "runs", spec)
    assert read_result(run_folder(result.spec, result.run_id)) == store.runs.load(result.run_id) == result
