"""Times that went on while the bench stood still are kept beside the sample and out of its figures."""

from __future__ import annotations

from agentdyno.findings.figures.claims import Claims
from agentdyno.findings.figures.summarise import summarise
from agentdyno.findings.run.judge_cautions import cautions
from agentdyno.findings.run.judge_disturbed import disturbed_windows
from agentdyno.model import ArmResult, Phase, Sample, Status
from agentdyno.model.sample import DISTURBED, HOST, disturbance_of, stopped_alone_s
from agentdyno.runs.disturbance import disturbed
from agentdyno.workers.pauses import PauseWatch


class Stopped(PauseWatch):
    """From second 100 to second 120 of the day."""

    def seconds_between(self, began_s: float, ended_s: float) -> float:
        return max(0.0, min(ended_s, 120.0) - max(began_s, 100.0))


def sample(at_s: float, duration_s: float, **details: object) -> Sample:
    readings = {
        "duration_s": duration_s,
        "reported.duration_s": 0.1,
        "ttft_s": 0.2,
        "cpu_s": 0.001,
        "input_tokens": 7.0,
        "reference.queued_s": 0.01,
    }
    return Sample("a", Phase.MEASURED, 0, Status.OK, round(at_s * 1000), readings, "c1", details=details)


def test_a_call_in_which_the_bench_stood_still_has_no_times() -> None:
    made = disturbed(sample(99.0, 21.0), Stopped())
    assert made.readings == {"cpu_s": 0.001, "input_tokens": 7.0, "reference.queued_s": 0.01}
    assert disturbance_of(made) == (20.0, {"duration_s": 21.0, "ttft_s": 0.2})
    assert made.status is Status.OK


def test_other_calls_are_left_alone() -> None:
    before, after, elsewhere = sample(90.0, 5.0), sample(121.0, 5.0), sample(99.0, 21.0, **{HOST: "another"})
    assert disturbed(before, Stopped()) is before
    assert disturbed(after, Stopped()) is after
    assert disturbed(elsewhere, Stopped()) is elsewhere


def test_a_command_no_longer_than_its_shell_is_not_taken_for_a_disturbed_one() -> None:
    short = sample(90.0, 0.0)
    assert disturbed(short, Stopped()) is short


def test_they_are_counted_for_the_warning() -> None:
    claims = Claims.of([sample(1.0, 1.0), disturbed(sample(99.0, 21.0), Stopped())])
    seen = claims.disturbed
    assert (seen.executions, seen.of, seen.share, seen.paused_s) == (1, 2, 0.5, 20.0)
    assert (seen.cases, seen.durations_s) == (["c1"], [21.0])
    assert list(claims.differing) == ["duration_s"]  # of the one whose clock could be compared
    assert claims.differing["duration_s"].times == 1


class SubjectStopped(PauseWatch):
    """A process of the subject, from second 100 to second 120 of the day; the bench went on."""

    def stopped_between(self, began_s: float, ended_s: float) -> float:
        return max(0.0, min(ended_s, 120.0) - max(began_s, 100.0))


def test_a_subject_that_was_stopped_alone_is_marked_and_its_times_count() -> None:
    slow = disturbed(sample(99.0, 21.0), SubjectStopped())
    assert slow.readings == sample(99.0, 21.0).readings
    assert slow.details == {DISTURBED: {"stopped_s": 20.0}}
    assert (disturbance_of(slow), stopped_alone_s(slow)) == (None, 20.0)
    seen = Claims.of([sample(1.0, 1.0), slow]).disturbed
    assert (seen.share, seen.alone.executions, seen.alone.durations_s) == (0.0, 1, [21.0])
    assert disturbed(sample(121.0, 5.0), SubjectStopped()).details == {}


def test_the_warning_says_what_the_mean_would_be_without_it() -> None:
    samples = (sample(1.0, 1.0), disturbed(sample(99.0, 21.0), SubjectStopped()))
    arm = ArmResult("a", "one", "one", samples=samples, metrics=summarise(samples))
    told = [item.message for item in cautions([arm], None) if item.code == DISTURBED]
    assert told == [
        "a process of the subject was stopped for 20.0 s while the bench went on, in 1 of 2 executions (case c1):"
        " these count, as those of a slow one do; the mean of duration_s is 11 s, 1 s without them"
    ]


def test_a_window_of_a_load_in_which_the_bench_stood_still_is_marked_and_keeps_its_figures() -> None:
    def window(at_s: float) -> Sample:
        details = {"window": {"duration_s": 10.0}}
        return Sample("a", Phase.MEASURED, 0, Status.OK, round(at_s * 1000), {"rate": 5.0}, details=details)

    marked, other = (disturbed(window(at_s), Stopped()) for at_s in (95.0, 130.0))
    assert (marked.readings, marked.details[DISTURBED]) == ({"rate": 5.0}, {"paused_s": 5.0})
    assert DISTURBED not in other.details
    (warning,) = disturbed_windows(ArmResult("a", "steady", "steady", samples=(marked, other)))
    assert "stood still for 5.0 s, in 1 of 2 windows" in warning.message
