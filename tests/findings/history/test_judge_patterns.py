from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from agentdyno.findings.history.judge import history, history_regressions
from agentdyno.findings.history.judge_patterns import drift, error_creep, history_patterns, rising_variance
from agentdyno.findings.history.model import History, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Severity
from agentdyno.stats.samples import Array

METRICS = {"duration_s": ("s", False), "accuracy": ("ratio", True), "failure_rate": ("ratio", False)}


def of(values: Sequence[float] | Array, metric: str = "duration_s", suites: Sequence[str] = ()) -> History:
    unit, higher = METRICS[metric]
    made = [
        HistoryPoint(1_000 * place, float(value), suite=suites[place] if suites else "")
        for place, value in enumerate(values)
    ]
    return history("helper", metric, made, unit=unit, higher_is_better=higher)


def noise(seed: int, n: int, kind: str = "normal") -> Array:
    """Of about unit spread."""
    random = np.random.default_rng(seed)
    if kind == "heavy":
        return random.standard_t(3, n)
    if kind == "correlated":
        found = random.standard_normal(n)
        for place in range(1, n):
            found[place] = 0.6 * found[place - 1] + 0.8 * found[place]
        return found
    if kind == "spiky":
        found = random.standard_normal(n)
        found[random.random(n) < 0.03] += 8.0
        return found
    return random.standard_normal(n)


def test_a_slow_slope_without_a_step_is_a_drift() -> None:
    n = 100
    found = drift(of((1 + 0.3 * np.arange(n) / (n - 1)) * (1 + 0.02 * noise(1, n))))
    assert found is not None
    assert (found.detector, found.kind, found.since) == (Detector.PATTERN, "drift", 0)
    assert found.amount == pytest.approx(0.3, abs=0.03)
    assert [found.baseline, found.current] == pytest.approx([1.0, 1.3], abs=0.02)
    assert found.p_value is not None
    assert found.p_value < 1e-6


def test_an_exact_line_is_a_drift_of_exactly_its_length() -> None:
    values = [1 + 0.01 * place for place in range(31)]
    found = drift(of(values))
    assert found is not None
    assert [found.baseline, found.current] == pytest.approx([1.0, 1.3])
    assert found.amount == pytest.approx(0.3)


def test_a_drift_for_the_better_is_an_improvement() -> None:
    n = 100
    worse, better = history_patterns([of((1.3 - 0.3 * np.arange(n) / (n - 1)) * (1 + 0.02 * noise(1, n)))])
    assert worse == []
    assert [item.kind for item in better] == ["drift"]
    assert better[0].amount < -0.2


def test_direction_decides_whether_a_slope_is_for_the_worse() -> None:
    n = 100
    values = 0.5 + 0.3 * np.arange(n) / (n - 1) + 0.01 * noise(2, n)
    assert [item.kind for item in history_patterns([of(values, "accuracy")])[1]] == ["drift"]
    assert [item.kind for item in history_patterns([of(values)])[0]] == ["drift"]


def test_a_drift_below_the_threshold_is_none() -> None:
    n = 200
    values = (1 + 0.05 * np.arange(n) / (n - 1)) * (1 + 0.01 * noise(3, n))
    assert drift(of(values)) is None
    assert drift(of(values), threshold=0.03) is not None


def test_a_step_is_no_drift() -> None:
    for seed in range(20):
        values = np.repeat([1.0, 1.3], 40) * (1 + 0.03 * noise(seed, 80))
        assert drift(of(values)) is None


def test_a_slope_that_the_detector_took_for_a_step_is_told_as_a_drift() -> None:
    n, seen = 100, 0
    for seed in range(20):
        found = of((1 + 0.25 * np.arange(n) / (n - 1)) * (1 + 0.05 * noise(seed, n)))
        seen += bool(history_regressions([found])[0])
        assert drift(found) is not None
    assert seen > 0, "no series tries what this test is about"


def test_a_drift_is_sought_since_the_last_step() -> None:
    n = 60
    values = np.concatenate([np.ones(40), 4 + 0.8 * np.arange(n) / (n - 1)]) * (1 + 0.04 * noise(11, 40 + n))
    found = of(values)
    assert [change.index for change in found.changes] == [40, 50, 70], "the slope is taken for steps too"
    line = drift(found)
    assert line is not None
    assert line.since == 40_000
    assert line.amount == pytest.approx(0.2, abs=0.05)


def test_a_drift_is_sought_after_the_suite_changed() -> None:
    n = 60
    values = np.concatenate([np.full(30, 3.0), 1 + 0.3 * np.arange(n) / (n - 1)]) * (1 + 0.01 * noise(4, 30 + n))
    found = drift(of(values, suites=["a"] * 30 + ["b"] * n))
    assert found is not None
    assert found.since == 30_000
    assert found.amount == pytest.approx(0.3, abs=0.03)


def test_scatter_that_grows_is_rising_variance_of_medium_severity_at_most() -> None:
    values = 1 + 0.04 * noise(5, 150) * np.repeat([1.0, 6.0], [100, 50])
    found = rising_variance(of(values))
    assert found is not None
    assert (found.kind, found.since) == ("rising-variance", 100_000)
    assert found.baseline == pytest.approx(0.04, rel=0.3)
    assert found.amount == pytest.approx(5.0, rel=0.4)
    assert found.severity is Severity.MEDIUM


def test_scatter_that_falls_or_stays_small_is_none() -> None:
    factors = np.repeat([1.0, 5.0], [100, 50])
    assert rising_variance(of(1 + 0.04 * noise(5, 150) * factors[::-1])) is None
    assert rising_variance(of(1 + 0.002 * noise(5, 150) * factors)) is None


def test_a_late_step_or_a_late_spike_is_no_variance() -> None:
    step = np.repeat([1.0, 2.0], [100, 50]) * (1 + 0.05 * noise(6, 150))
    assert rising_variance(of(step)) is None
    spiky = 1 + 0.05 * noise(6, 150)
    spiky[[120, 135]] = 5.0
    assert rising_variance(of(spiky)) is None


def test_scatter_out_of_none_is_told_plainly() -> None:
    values = np.concatenate([np.ones(60), 1 + 0.2 * noise(7, 30)])
    found = rising_variance(of(values))
    assert found is not None
    assert (found.baseline, found.relative, found.severity) == (0.0, False, Severity.LOW)


def test_failures_that_creep_in_are_found_below_the_threshold_of_a_step() -> None:
    random = np.random.default_rng(8)
    values = random.binomial(40, np.linspace(0.0, 0.06, 120)) / 40
    (found,), better = history_patterns([of(values, "failure_rate")])
    assert better == []
    assert (found.kind, found.relative, found.severity) == ("error-creep", False, Severity.LOW)
    assert found.amount == pytest.approx(0.06, abs=0.02)


def test_failures_that_become_fewer_are_no_creep() -> None:
    random = np.random.default_rng(8)
    values = random.binomial(40, np.linspace(0.06, 0.0, 120)) / 40
    assert error_creep(of(values, "failure_rate")) is None


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 15, [1.0] * 100, [0.0] * 100])
def test_too_little_and_constant_series_have_no_pattern(values: list[float]) -> None:
    for metric in METRICS:
        assert history_patterns([of(values, metric)]) == ([], [])


def test_a_metric_without_a_direction_is_never_judged() -> None:
    made = [HistoryPoint(place, 1.0 + place) for place in range(50)]
    assert history_patterns([history("a", "x", made, unit="", higher_is_better=None)]) == ([], [])


def test_pure_noise_gives_few_alarms() -> None:
    """500 series of 20 to 200 points with a spread of 10 %: 2 of them give an alarm; up to 5 (1 %) pass."""
    kinds = ("normal", "heavy", "correlated", "spiky")
    alarms = 0
    for seed in range(500):
        n = (20, 50, 100, 200)[seed // 4 % 4]
        worse, better = history_patterns([of(1 + 0.1 * noise(seed, n, kinds[seed % 4]))])
        alarms += bool(worse or better)
    assert alarms <= 5


def test_steady_failures_give_few_alarms() -> None:
    """200 series of 20 to 200 runs that fail one time in twenty: none gives an alarm; up to 2 (1 %) pass."""
    random = np.random.default_rng(9)
    lengths = [(20, 50, 100, 200)[number % 4] for number in range(200)]
    alarms = sum(error_creep(of(random.binomial(30, 0.05, n) / 30, "failure_rate")) is not None for n in lengths)
    assert alarms <= 2


def test_growth_by_a_twentieth_a_run_is_a_drift_from_eight_runs_on() -> None:
    for n in (8, 14, 20, 40):
        for seed in range(20):
            found = drift(of(1.05 ** np.arange(n) * (1 + 0.01 * noise(100 * n + seed, n))))
            assert found is not None
            assert found.amount == pytest.approx(1.05 ** (n - 1) - 1, rel=0.15)


def test_growth_in_noise_of_a_twentieth_is_found_over_twenty_runs() -> None:
    found = [drift(of(1.05 ** np.arange(20) * (1 + 0.05 * noise(seed, 20)))) for seed in range(100)]
    assert sum(item is not None for item in found) >= 95


def test_one_bad_night_hides_no_drift() -> None:
    values = 1.05 ** np.arange(20) * (1 + 0.01 * noise(3, 20))
    values[7] *= 3.0
    found = drift(of(values))
    assert found is not None
    assert found.amount == pytest.approx(1.05**19 - 1, rel=0.1)


def test_a_rate_of_failing_that_rises_in_a_few_runs_is_a_drift() -> None:
    worse, _ = history_patterns([of([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3], "failure_rate")])
    assert [(item.kind, item.relative) for item in worse] == [("drift", False)]
    assert worse[0].amount == pytest.approx(0.3)


def test_short_noise_gives_few_alarms() -> None:
    """1,200 series of 8 to 29 points: steps and patterns together in up to 1 %, and 5 % of the correlated ones."""
    alarms = dict.fromkeys(("normal", "heavy", "spiky", "correlated"), 0)
    for kind in alarms:
        for seed in range(300):
            n = (8, 10, 14, 20, 29)[seed % 5]
            found = of(1 + 0.1 * noise(10_000 + seed, n, kind))
            worse, better = history_patterns([found])
            alarms[kind] += bool(found.changes or worse or better)
    assert max(alarms["normal"], alarms["heavy"], alarms["spiky"]) <= 3
    assert alarms["correlated"] <= 15
