"""Commands under the stopwatch: batches, interrupts, and when enough has been measured."""

from __future__ import annotations

import signal
from pathlib import Path
from statistics import fmean, median

import pytest

from agentdyno.model import AutoStop, Phase, Plan, Sample, Status, Trial
from agentdyno.runner.executors.commands import CommandExecutor, CommandJob, added_time
from agentdyno.runner.rules.stopping import TimeGiven


def trial(arm_id: str, iteration: int = 0) -> Trial:
    return Trial(arm_id, Phase.MEASURED, iteration)


def test_short_commands_are_run_many_at_a_time_and_told_one_by_one() -> None:
    executor = CommandExecutor({"a": CommandJob("a", "true", ("true",)), "b": CommandJob("b", "true", ("true",))})
    executor.open()
    try:
        order = [trial(arm, iteration) for iteration in range(5) for arm in "ba"]
        for item in order:
            executor.submit(item)
        samples = [executor.wait().sample for _ in order]
    finally:
        executor.close()
    assert [sample.key for sample in samples if sample is not None] == [item.key for item in order]
    assert {sample.status for sample in samples if sample is not None} == {Status.OK}
    assert executor.window >= 1


def test_an_interrupted_run_ends_the_command_and_cleans_up(tmp_path: Path) -> None:
    mark = tmp_path / "cleaned"
    job = CommandJob("a", "sleep 600", ("sleep", "600"), cleanup=("sh", "-c", f"echo done > {mark}"))
    executor = CommandExecutor({"a": job})
    executor.open()

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        executor.submit(trial("a"))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            executor.wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        executor.close()
    assert mark.read_text() == "done\n"


def test_commands_that_take_turns_have_each_their_own_input_and_output(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("given\n", encoding="utf-8")
    jobs = {
        "a": CommandJob("a", "cat", ("cat",), input=str(tmp_path / "in"), output=str(tmp_path / "a")),
        "b": CommandJob("b", "echo", ("echo", "said"), output=str(tmp_path / "b")),
        "c": CommandJob("c", "cat", ("cat",)),
    }
    executor = CommandExecutor(jobs)
    executor.open()
    try:
        for arm in "abcabc":
            executor.submit(trial(arm))
        samples = [executor.wait().sample for _ in range(6)]
    finally:
        executor.close()
    assert {sample.status for sample in samples if sample is not None} == {Status.OK}
    assert (tmp_path / "a").read_text(encoding="utf-8") == "given\n"
    assert (tmp_path / "b").read_text(encoding="utf-8") == "said\n"


def test_a_command_with_a_zero_byte_is_not_started_without_it() -> None:
    executor = CommandExecutor({"a": CommandJob("a", "echo", ("echo", "a\0b"), warmup=0)})
    executor.open()
    try:
        executor.submit(trial("a"))
        told = executor.wait().sample
    finally:
        executor.close()
    assert told is not None
    assert told.failure is not None
    assert "cannot be started: Invalid argument" in told.failure.message


def test_a_command_has_the_signals_and_the_environment_that_it_had_before_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKED_FOR", "yes")
    line = 'echo "$ASKED_FOR ${#AGENTDYNO_ENVIRONMENT_OFFSET}" >> told; grep SigIgn /proc/self/status > ignored'
    executor = CommandExecutor({"a": CommandJob("a", "sh", ("sh", "-c", f"cd {tmp_path}; {line}"), warmup=0)})
    executor.open()
    try:
        for iteration in range(8):
            executor.submit(trial("a", iteration))
        for _ in range(8):
            executor.wait()
    finally:
        executor.close()
    words = [line.split() for line in (tmp_path / "told").read_text(encoding="utf-8").splitlines()]
    assert {first for first, _ in words} == {"yes"}
    assert len({length for _, length in words}) > 1
    ignored = int((tmp_path / "ignored").read_text(encoding="utf-8").split()[1], 16)
    assert not ignored & (1 << signal.SIGPIPE - 1)


def sample(arm_id: str, iteration: int, seconds: float) -> Sample:
    return Sample(arm_id, Phase.MEASURED, iteration, Status.OK, 0, {"duration_s": seconds})


def test_arms_that_take_turns_stop_together_when_they_have_had_their_time() -> None:
    auto = AutoStop(minimum=3, maximum=100)
    rule = TimeGiven({"a": auto, "b": auto}, each_s=1.0)
    for iteration in range(3):
        for arm, seconds in (("a", 0.1), ("b", 0.5)):
            rule.observe(sample(arm, iteration, seconds))
    assert not rule.skip(trial("a", 3))  # 1.8 of 2 seconds
    rule.observe(sample("a", 3, 0.2))
    assert rule.skip(trial("a", 4))
    assert rule.skip(trial("b", 3))
    assert rule.stop(Plan((), ())) is None


def test_arms_one_after_the_other_are_looked_at_alone() -> None:
    auto = AutoStop(minimum=2, maximum=100)
    rule = TimeGiven({"a": auto, "b": auto}, each_s=1.0, together=False)
    for iteration in range(2):
        rule.observe(sample("a", iteration, 0.6))
    assert rule.skip(trial("a", 2))
    assert not rule.skip(trial("b", 0))


def test_what_a_shell_adds_to_a_median_is_nearer_to_its_mean_than_to_its_median() -> None:
    starts = [500.0, 510.0, 520.0, 530.0, 550.0, 600.0, 700.0]
    sums = [one + two for place, one in enumerate(starts) for two in starts[place + 1 :]]
    assert abs(added_time(starts) - fmean(starts)) < fmean(starts) - median(starts)
    assert median(total - added_time(starts) for total in sums) == pytest.approx(median(starts))
    assert added_time([*starts, 1e6]) == pytest.approx(added_time(starts), rel=0.2), "one that was held up"


def test_what_a_shell_adds_is_taken_off_and_told() -> None:
    shell = ("sh", "-c", "")
    executor = CommandExecutor({"a": CommandJob("a", "sleep 0.05", ("sh", "-c", "sleep 0.05"), shell=shell)})
    executor.open()
    try:
        executor.submit(trial("a"))
        sample = executor.wait().sample
    finally:
        executor.close()
    assert sample is not None
    added_s = executor.facts.observed["a"]["shell_s"]
    assert isinstance(added_s, float)
    assert added_s > 0
    assert sample.readings["duration_s"] >= 0.05 - added_s
