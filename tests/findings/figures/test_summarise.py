"""Samples to figures."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import stdev

import numpy as np
import pytest

from agentdyno.findings.figures.summarise import (
    declared_metrics,
    metric_named,
    metric_values,
    per_process,
    status_counts,
    summarise,
)
from agentdyno.model import (
    DeclaredMetric,
    Direction,
    Entry,
    ExperimentInfo,
    Metric,
    Phase,
    Provenance,
    Sample,
    Spec,
    Status,
)

from ..builders import noisy, samples


def test_the_figures_of_a_metric_are_exact() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 100.0]
    found = summarise(samples({"duration_s": values}))["duration_s"]
    assert (found.unit, found.direction, found.provenance) == ("s", Direction.LOWER, Provenance.MEASURED)
    assert (found.n, found.mean, found.median, found.minimum, found.maximum) == (10, 14.5, 5.5, 1.0, 100.0)
    assert found.mad == 2.5
    assert found.std == pytest.approx(stdev(values))
    assert found.cv == pytest.approx(stdev(values) / 14.5)
    assert found.p95 == pytest.approx(59.05)
    assert found.p99 == pytest.approx(91.81)
    assert found.ci == (2.0, 9.0)
    assert (found.outliers, found.mean_without_outliers) == (1, 5.0)


def test_durations_come_first_and_throughput_is_derived_from_them() -> None:
    found = summarise(samples({"result.b": [1] * 6, "cpu_s": [2] * 6, "a": [3] * 6, "duration_s": [0.5, 0.25] * 3}))
    assert list(found) == ["duration_s", "cpu_s", "a", "result.b", "throughput_per_s"]
    throughput = found["throughput_per_s"]
    assert (throughput.unit, throughput.direction, throughput.provenance) == (
        "/s",
        Direction.HIGHER,
        Provenance.DERIVED,
    )
    assert (throughput.median, throughput.mean) == (3.0, 3.0)


def test_a_duration_of_zero_has_no_throughput() -> None:
    assert set(summarise(samples({"duration_s": [0.0, 1.0]}))) == {"duration_s"}


def test_too_few_values_have_no_interval_and_one_value_has_figures() -> None:
    (found,) = summarise(samples({"result.x": [3.0]})).values()
    assert (found.n, found.mean, found.std, found.ci, found.outliers) == (1, 3.0, 0.0, None, 0)
    assert summarise(samples({"x": [1.0, 2, 3, 4, 5]}))["x"].ci is None
    assert summarise(samples({"x": [1.0, 2, 3, 4, 5, 6]}))["x"].ci == (1.0, 6.0)


def test_several_processes_widen_the_interval_by_what_lies_between_them() -> None:
    rng = np.random.default_rng(4)
    values = noisy(rng, 1.0, n=60, spread=0.005, processes=6, own=0.05)
    alone = summarise(samples({"duration_s": values}))
    spread = summarise(samples({"duration_s": values}, processes=6))
    for name in ("duration_s", "throughput_per_s"):
        narrow, wide = alone[name].ci, spread[name].ci
        assert narrow is not None
        assert wide is not None
        middle = spread[name].median
        assert middle is not None
        assert wide[0] <= middle <= wide[1]
        assert wide[1] - wide[0] > 1.2 * (narrow[1] - narrow[0])
        assert alone[name].median == spread[name].median
    assert summarise(samples({"duration_s": values}, processes=6)) == spread


def test_the_readings_of_an_instruments_own_pass_stand_beside_those_of_the_timed_work() -> None:
    timed = samples({"duration_s": [1.0] * 6, "result.rows": [10.0] * 6})
    watched = Sample(
        "a", Phase.INSTRUMENTED, 0, Status.OK, 0, {"cprofile.calls": 7.0, "result.rows": 99.0}, instrument="cprofile"
    )
    found = summarise([*timed, watched])
    assert (found["cprofile.calls"].n, found["cprofile.calls"].mean) == (1, 7.0)
    assert (found["result.rows"].n, found["result.rows"].mean) == (6, 10.0)
    failed = replace(watched, status=Status.ERROR)
    assert "cprofile.calls" not in summarise([*timed, failed])


@pytest.mark.parametrize("status", [Status.ERROR, Status.TIMEOUT, Status.LIMIT, Status.CANCELLED])
def test_what_did_not_finish_gives_no_figures(status: Status) -> None:
    assert summarise(samples({"duration_s": [1.0] * 6}, status=status)) == {}


def test_a_wrong_answer_took_its_time_all_the_same() -> None:
    assert summarise(samples({"duration_s": [1.0] * 6}, status=Status.FAILED))["duration_s"].n == 6


def test_warm_up_samples_never_count() -> None:
    own = [replace(item, phase=Phase.WARMUP) for item in samples({"duration_s": [1.0] * 6})]
    assert summarise(own) == {}
    assert status_counts(own) == {}


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_left_out(odd: float) -> None:
    own = samples({"duration_s": [1.0] * 6, "result.x": [1.0, 2.0, odd, 3.0, odd, odd]})
    assert metric_values(own)["result.x"] == [1.0, 2.0, 3.0]
    assert per_process(own, "result.x") == {0: [1.0, 2.0, 3.0]}
    assert summarise(own)["result.x"].median == 2.0
    assert "result.x" not in summarise(samples({"result.x": [odd]}))


def test_statuses_are_counted_and_never_merged() -> None:
    own = [
        replace(item, status=status)
        for item, status in zip(
            samples({"x": [1.0] * 4}), (Status.OK, Status.ERROR, Status.OK, Status.TIMEOUT), strict=True
        )
    ]
    assert status_counts(own) == {"error": 1, "ok": 2, "timeout": 1}


def test_declared_metrics_bring_unit_and_direction() -> None:
    spec = Spec(
        "s",
        (Entry("e"),),
        metrics={
            "rows": DeclaredMetric("rows", "higher"),
            "tracemalloc.peak_bytes": DeclaredMetric("bytes", "lower"),
        },
    )
    info = ExperimentInfo(
        "e", metrics=(Metric("score", "", Direction.HIGHER, machine_dependent=False), Metric("rows", "n"))
    )
    declared = declared_metrics(spec, [info])
    assert declared == {
        "result.score": Metric("result.score", "", Direction.HIGHER, machine_dependent=False),
        "result.rows": Metric("result.rows", "rows", Direction.HIGHER),
        "tracemalloc.peak_bytes": Metric("tracemalloc.peak_bytes", "bytes", Direction.LOWER),
    }
    found = summarise(samples({"result.score": [0.5] * 6, "result.other_s": [1.0] * 6}), declared)
    assert (found["result.score"].direction, found["result.score"].machine_dependent) == (Direction.HIGHER, False)
    assert (found["result.other_s"].unit, found["result.other_s"].direction) == ("s", Direction.UNKNOWN)
    assert metric_named("duration_s", declared).direction is Direction.LOWER
