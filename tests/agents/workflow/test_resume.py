"""A second start skips exactly what files and checksums prove to be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.agents.workflow.faults import FaultKind, StepFault
from agentdyno.agents.workflow.journal import Journal
from agentdyno.errors import RunError, SpecError

from .work import SORTING, change, execute, interrupt, plan_of, ran, states, text_of

DONE = "1\n2\n3\n"


def test_a_plan_is_executed_and_its_files_are_there(tmp_path: Path) -> None:
    execution = execute(SORTING, tmp_path)
    assert execution.succeeded
    assert text_of(tmp_path, "all.txt") == "a\nb\n" + DONE
    outcome = execution.outcomes["unique"]
    assert (outcome.status, outcome.read, outcome.written) == (0, ("sorted.txt",), ("unique.txt",))
    assert outcome.peak_rss_bytes > 0
    assert execution.critical_path_s <= execution.wall_s


def test_nothing_runs_again_when_everything_is_done(tmp_path: Path) -> None:
    execute(SORTING, tmp_path)
    assert set(states(execute(SORTING, tmp_path)).values()) == {"skipped"}


def test_a_changed_input_runs_what_read_it_and_what_follows(tmp_path: Path) -> None:
    execute(SORTING, tmp_path)
    change(tmp_path, "names.txt", "d\nc\n")
    assert ran(execute(SORTING, tmp_path)) == {"names", "both"}
    assert text_of(tmp_path, "all.txt") == "c\nd\n" + DONE


def test_what_follows_is_skipped_where_the_same_came_out_again(tmp_path: Path) -> None:
    execute(SORTING, tmp_path)
    change(tmp_path, "numbers.txt", "1\n1\n3\n2\n")  # sorted, it is the same
    assert ran(execute(SORTING, tmp_path)) == {"numbers"}


@pytest.mark.parametrize(("name", "expected"), [("sorted.txt", {"numbers"}), ("all.txt", {"both"})])
def test_a_step_whose_file_is_gone_runs_again(tmp_path: Path, name: str, expected: set[str]) -> None:
    execute(SORTING, tmp_path)
    (tmp_path / "work" / name).unlink()
    assert ran(execute(SORTING, tmp_path)) == expected
    assert text_of(tmp_path, "all.txt") == "a\nb\n" + DONE


def test_a_file_that_somebody_changed_is_made_again(tmp_path: Path) -> None:
    execute(SORTING, tmp_path)
    change(tmp_path, "unique.txt", "nonsense\n")
    assert ran(execute(SORTING, tmp_path)) == {"unique"}
    assert text_of(tmp_path, "unique.txt") == DONE


def test_a_step_with_another_command_runs_again(tmp_path: Path) -> None:
    execute(SORTING, tmp_path)
    other = plan_of(
        numbers="sort -rn numbers.txt > sorted.txt",
        names="sort names.txt > ordered.txt",
        unique=("uniq sorted.txt > unique.txt", "numbers"),
        both=("cat ordered.txt unique.txt > all.txt", "names unique"),
    )
    assert ran(execute(other, tmp_path)) == {"numbers", "unique", "both"}
    assert text_of(tmp_path, "unique.txt") == "3\n2\n1\n"


def test_a_step_that_reads_a_folder_sees_new_files_and_not_what_others_make(tmp_path: Path) -> None:
    plan = plan_of(list="ls *.txt > list.out", other="sort names.txt > made.txt")
    execute(plan, tmp_path)
    assert ran(execute(plan, tmp_path)) == set()
    change(tmp_path, "new.txt", "x\n")
    assert ran(execute(plan, tmp_path)) == {"list"}
    assert "new.txt" in text_of(tmp_path, "list.out")


def test_a_step_that_writes_over_its_input_is_skipped_when_done_and_begun_anew_when_not(tmp_path: Path) -> None:
    plan = plan_of(grow="sed -i p names.txt", use=("wc -l < names.txt > n.out", "grow"))
    execute(plan, tmp_path)
    assert ran(execute(plan, tmp_path)) == set()
    (tmp_path / "work" / "n.out").unlink()
    assert ran(execute(plan, tmp_path)) == {"use"}
    change(tmp_path, "names.txt", "damaged\n")
    again = execute(plan, tmp_path)
    assert again.restarted
    assert ran(again) == {"grow", "use"}
    assert text_of(tmp_path, "n.out").strip() == "4"


def test_after_a_step_that_fails_none_is_begun_and_the_next_start_goes_on(tmp_path: Path) -> None:
    broken = plan_of(
        first="sort names.txt > a.out", second=("test -e flag > b.out", "first"), last=("ls > c.out", "second")
    )
    first = execute(broken, tmp_path)
    assert states(first) == {"first": "done", "second": "failed", "last": "not run"}
    assert first.outcomes["second"].why == "exit status 1"
    assert not (tmp_path / "work" / "b.out").exists()  # what a failed step left has not appeared
    change(tmp_path, "flag", "")
    assert states(execute(broken, tmp_path)) == {"first": "skipped", "second": "done", "last": "done"}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo a > other.out; true > missing", "promised, which it was to make, is not there"),
        ("echo oops >&2; exit 3", "exit status 3: oops"),
        ("kill -9 $$", "killed by SIGKILL"),
    ],
)
def test_a_step_that_does_not_end_well_says_why(tmp_path: Path, command: str, why: str) -> None:
    from agentdyno.agents.workflow.plan import read_plan

    plan = read_plan({"steps": [{"id": "only", "command": command, "needs": [], "outputs": ["promised"]}]})
    outcome = execute(plan, tmp_path).outcomes["only"]
    assert outcome.state.value == "failed"
    assert outcome.why.startswith(why)


def test_a_line_that_a_kill_cut_off_has_not_been_written(tmp_path: Path) -> None:
    execute(SORTING, tmp_path)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"end": {"step": "bo')
    assert ran(execute(SORTING, tmp_path)) == set()


def test_two_executors_do_not_share_a_folder(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(RunError, match="another process is executing"):
        Journal(tmp_path)


@pytest.mark.parametrize("kind", list(FaultKind))
@pytest.mark.parametrize("step", [0.5, "both"])
def test_after_a_fault_exactly_what_is_still_valid_is_skipped(
    tmp_path: Path, kind: FaultKind, step: str | int | float
) -> None:
    found = interrupt(SORTING, tmp_path / "case", StepFault(kind, step))
    figures = found.figures
    assert not found.first.succeeded
    assert found.last.succeeded
    assert text_of(tmp_path / "case", "all.txt") == "a\nb\n" + DONE
    assert figures.wrongly_skipped == 0
    assert figures.precision in (None, 1.0)
    assert figures.recall in (None, 1.0)
    if kind is not FaultKind.CHANGED_INPUT:
        assert figures.skipped == figures.completed


def test_a_fault_is_read_from_a_configuration_with_the_nearest_word() -> None:
    assert StepFault.read({"kind": "disk_full", "step": 2}, "x") == StepFault(FaultKind.DISK_FULL, 2)
    with pytest.raises(SpecError) as wrong:
        StepFault.read("disk_ful", "config of x")
    assert "Did you mean disk_full?" in (wrong.value.remedy or "")
