"""Normalised times while samples pass by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentdyno.findings.figures.summarise import summarise
from agentdyno.model import ArmResult, Phase, Provenance, Sample, Status
from agentdyno.runs.host_state import HostState, ReferenceStandard
from agentdyno.runs.normalising import Normaliser, interpreter_key

from ..findings.builders import ENVIRONMENT
from ..given_results import Factory

KEY = interpreter_key()
KNOWN = HostState({KEY: ReferenceStandard({"interpreted": 1e-4, "memory": 2e-4}, "calibrated", 1)})


class KeptState:
    """The host's standards in memory."""

    def __init__(self, state: HostState) -> None:
        self.state = state
        self.standards: dict[str, ReferenceStandard] = {}

    def normaliser(self, references: Mapping[str, str] | None = None) -> Normaliser:
        return Normaliser(references, {}, lambda: self.state, self.keep)

    def keep(self, key: str, standard: ReferenceStandard) -> ReferenceStandard:
        return self.standards.setdefault(key, standard)


def sample(**readings: float) -> Sample:
    told = {name.replace("reference_", "reference."): value for name, value in readings.items()}
    return Sample("a", Phase.MEASURED, 0, Status.OK, 0, {"duration_s": 0.010, "cpu_s": 0.004, **told})


READ = {
    "reference_interpreted": 2e-4,
    "reference_memory": 2e-4,
    "reference_queued_s": 0.003,
    "reference_spent_s": 0.01,
    "reference_process": 7.0,
}


def test_a_sample_is_stored_with_its_normalised_times_and_without_the_references() -> None:
    taken = KeptState(KNOWN).normaliser().take(sample(**READ))
    assert taken.readings == {
        "duration_s": 0.010,
        "cpu_s": 0.004,
        "duration_norm_s": pytest.approx(0.005),
        "cpu_norm_s": pytest.approx(0.002),
    }


@pytest.mark.parametrize(("way", "expected"), [("none", 0.007), ("memory", 0.007), ("interpreted", 0.005)])
def test_the_reference_of_a_subject_is_the_one_it_was_given(way: str, expected: float) -> None:
    taken = KeptState(KNOWN).normaliser({"a": way}).take(sample(**READ))
    assert taken.readings["duration_norm_s"] == pytest.approx(expected)


@pytest.mark.parametrize(
    "readings",
    [
        {**READ, "cpu_s": 0.020},  # several threads
        {name: value for name, value in READ.items() if name != "reference_queued_s"},  # nobody counts waiting
        {name: value for name, value in READ.items() if name != "reference_interpreted"},
    ],
)
def test_what_cannot_be_known_is_left_out(readings: dict[str, float]) -> None:
    taken = KeptState(KNOWN).normaliser().take(sample(**readings))
    assert "duration_norm_s" not in taken.readings
    assert not any(name.startswith("reference.") for name in taken.readings)


def test_cpu_time_is_normalised_where_the_time_cannot_be() -> None:
    threads = KeptState(KNOWN).normaliser().take(sample(**{**READ, "cpu_s": 0.020}))
    assert threads.readings["cpu_norm_s"] == pytest.approx(0.010)
    uncounted = {name: value for name, value in READ.items() if name != "reference_queued_s"}
    assert KeptState(KNOWN).normaliser().take(sample(**uncounted)).readings["cpu_norm_s"] == pytest.approx(0.002)


def test_the_share_of_a_model_server_is_not_the_agents_cpu_time() -> None:
    read = {**READ, "cpu_s": 5.004, "server.cpu_s": 5.0}
    assert KeptState(KNOWN).normaliser().take(sample(**read)).readings["duration_norm_s"] == pytest.approx(0.005)


def test_a_sample_without_references_is_stored_as_it_is() -> None:
    plain = sample()
    assert KeptState(KNOWN).normaliser().take(plain) is plain


def test_nobody_but_the_bench_sets_a_normalised_time() -> None:
    forged = sample(**READ, duration_norm_s=1e-9)
    assert KeptState(KNOWN).normaliser().take(forged).readings["duration_norm_s"] == pytest.approx(0.005)
    assert KeptState(KNOWN).normaliser().take(sample(**READ, cpu_norm_s=1e-9)).readings[
        "cpu_norm_s"
    ] == pytest.approx(0.002)


def test_the_first_run_sets_the_standard_of_the_host() -> None:
    kept = KeptState(HostState())
    normaliser = kept.normaliser()
    assert normaliser.take(sample(**READ)).readings["duration_norm_s"] == pytest.approx(0.007)
    slower = {**READ, "reference_interpreted": 4e-4}
    assert normaliser.take(sample(**slower)).readings["duration_norm_s"] == pytest.approx(0.005)
    assert kept.standards[KEY].seconds == {"interpreted": 2e-4, "memory": 2e-4}
    assert kept.standards[KEY].source == "first run"


@pytest.mark.parametrize(("queued_s", "warned"), [(0.003, True), (0.0005, False)])
def test_a_run_from_which_others_took_the_cpu_says_so(make: Factory, queued_s: float, warned: bool) -> None:
    normaliser = KeptState(KNOWN).normaliser()
    for _ in range(50):
        normaliser.take(sample(**{**READ, "reference_queued_s": queued_s}))
    closed = normaliser.added_to(make.result(arms=(ArmResult("a", "a", "a"),)), whole=True)
    assert [(item.code, item.arm_id) for item in closed.warnings] == ([("disturbed", "a")] if warned else [])
    if warned:
        assert "30%" in closed.warnings[0].message
        assert normaliser.added_to(closed, whole=True).warnings == closed.warnings


@pytest.mark.parametrize("queued_s", [60.0, -60.0, float("nan")])
def test_nobody_waits_longer_than_it_took_whatever_a_process_says(make: Factory, queued_s: float) -> None:
    normaliser = KeptState(KNOWN).normaliser()
    for _ in range(50):
        normaliser.take(sample(**{**READ, "reference_queued_s": queued_s}))
    arm = normaliser.added_to(make.result(arms=(ArmResult("a", "a", "a"),)), whole=True).arms[0]
    share = arm.metrics["reference.queue_share"].median
    assert share is not None
    assert 0.0 <= share <= 1.0


def test_a_closed_arm_says_what_the_references_showed_and_cost(make: Factory) -> None:
    normaliser = KeptState(KNOWN).normaliser()
    for spent_s in (0.01, 0.02):
        normaliser.take(sample(**{**READ, "reference_spent_s": spent_s}))
    normaliser.take(sample(**{**READ, "reference_spent_s": 0.005, "reference_process": 8.0}))
    result = make.result(arms=(ArmResult("a", "a", "a"), ArmResult("b", "b", "b")), environment=ENVIRONMENT)
    first, second = normaliser.added_to(result, whole=True).arms
    assert not second.metrics
    medians = {name: metric.median for name, metric in first.metrics.items()}
    assert medians == {
        "reference.interpreted_s": 2e-4,
        "reference.memory_s": 2e-4,
        "reference.spent_s": pytest.approx(0.025),
        "reference.interpreted_standard_s": 1e-4,
        "reference.memory_standard_s": 2e-4,
        "reference.queue_share": pytest.approx(0.3),
        "normalised.none_s": pytest.approx(0.007),
        "normalised.interpreted_s": pytest.approx(0.005),
        "normalised.memory_s": pytest.approx(0.007),
        "normalised.none_cpu_s": pytest.approx(0.004),
        "normalised.interpreted_cpu_s": pytest.approx(0.002),
        "normalised.memory_cpu_s": pytest.approx(0.004),
    }
    assert first.metrics["normalised.none_s"].provenance is Provenance.DERIVED
    part = normaliser.added_to(result, whole=False).arms[0].metrics
    assert not any(name.startswith("normalised.") for name in part)


def test_the_normalised_time_of_an_arm_is_that_of_its_least_disturbed_tries(make: Factory) -> None:
    """Of every case the lower quartile of its tries, which is the least of three; of the cases the median."""
    normaliser = KeptState(KNOWN).normaliser()
    tries = {"one": [0.004, 0.009, 0.005], "two": [0.008, 0.006, 0.020], "three": [0.002, 0.002, 0.090]}
    taken = []
    for case_id, times in tries.items():
        for cpu_s in times:
            given = sample(**{**READ, "cpu_s": cpu_s, "duration_s": cpu_s, "reference_queued_s": 0.0})
            taken.append(normaliser.take(replace(given, case_id=case_id)))
    arm = ArmResult("a", "a", "a", metrics=summarise(taken))
    closed = normaliser.added_to(make.result(arms=(arm,)), whole=True).arms[0].metrics
    for name in ("duration_norm_s", "normalised.interpreted_s", "cpu_norm_s", "normalised.interpreted_cpu_s"):
        assert closed[name].median == pytest.approx(0.004 / 2)
    assert closed["normalised.none_s"].median == pytest.approx(0.004)
    assert closed["duration_norm_s"].provenance is Provenance.DERIVED
