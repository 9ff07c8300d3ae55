"""Contention is read from the kernel's counters; what is missing stays missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentdyno.instruments.cgroup import Throttling, cpu_quota, throttling
from agentdyno.instruments.pressure import Pressure, PressureWatch, is_disturbed
from agentdyno.registry.adapt import adapt


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def counters(cpu_us: int, throttled: int, steal: int) -> dict[str, str]:
    line = "some avg10=0.00 avg60=1.50 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    return {
        "proc/loadavg": "0.75 0.50 0.25 1/100 4321\n",
        "proc/pressure/cpu": line.format(cpu_us),
        "proc/pressure/io": line.format(5_000_000),
        "proc/self/cgroup": "0::/job\n",
        "sys/fs/cgroup/job/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/job/cpu.stat": (
            f"usage_usec 9\nnr_periods 90\nnr_throttled {throttled}\nthrottled_usec {throttled * 40_000}\n"
        ),
        "proc/stat": f"cpu  100 0 50 1000 5 0 1 {steal} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
    }


def watch(root: Path, before: dict[str, str], after: dict[str, str], seconds: float, switches: int) -> dict[str, Any]:
    readings: dict[str, Any] = {}
    ticks = iter((100.0, 100.0 + seconds))
    counts = iter((40, 40 + switches))
    write(root, before)
    with PressureWatch(readings, root, lambda: next(ticks), lambda: next(counts)):
        write(root, after)
    return readings


def test_counters_are_compared_over_the_watched_interval(tmp_path: Path) -> None:
    readings = watch(tmp_path, counters(1_000_000, 3, 100), counters(1_500_000, 5, 150), 2.0, 12)
    assert readings == {
        "load_1min": 0.75,
        "cpu_some_percent": pytest.approx(25.0),
        "io_some_percent": 0.0,
        "throttled_periods": 2,
        "throttled_s": pytest.approx(0.08),
        "steal_s": pytest.approx(0.5),
        "involuntary_switches": 12,
        "disturbed": 1,
    }


def test_a_quiet_interval_is_not_disturbed(tmp_path: Path) -> None:
    readings = watch(tmp_path, counters(1, 3, 100), counters(100_000, 3, 101), 2.0, 1)
    assert readings["disturbed"] == 0
    assert readings["throttled_periods"] == 0


def test_what_the_machine_does_not_tell_is_absent_and_never_zero(tmp_path: Path) -> None:
    assert watch(tmp_path, {}, {}, 1.0, 0) == {"involuntary_switches": 0, "disturbed": 0}


@pytest.mark.parametrize(
    ("found", "disturbed"),
    [
        ({"throttled_periods": 1.0}, True),
        ({"cpu_some_percent": 10.0}, False),
        ({"cpu_some_percent": 10.1}, True),
        ({"memory_some_percent": 5.1}, True),
        ({"io_some_percent": 100.0}, False),
        ({"steal_s": 0.01}, False),
        ({"steal_s": 0.02}, True),
        ({"involuntary_switches": 4.0}, False),
        ({"involuntary_switches": 50.0}, False),
        ({"involuntary_switches": 51.0}, True),
    ],
)
def test_the_rule_for_disturbed_over_one_second(found: dict[str, float], disturbed: bool) -> None:
    assert is_disturbed(found, 1.0) is disturbed


def test_a_short_block_is_not_disturbed_by_one_switch_or_one_tick() -> None:
    assert not is_disturbed({"involuntary_switches": 1.0, "steal_s": 0.01}, 0.0001)


def test_limits_of_version_1_groups_are_found_under_their_controllers_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n2:memory:/\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.stat": "nr_periods 9\nnr_throttled 4\nthrottled_time 500000000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert cpu_quota(tmp_path) == 0.5
    assert throttling(tmp_path) == Throttling(9, 4, 0.5)


def test_the_tightest_limit_of_all_groups_above_counts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/outer/inner\n",
            "sys/fs/cgroup/outer/inner/cpu.max": "max 100000\n",
            "sys/fs/cgroup/outer/cpu.max": "200000 100000\n",
            "sys/fs/cgroup/outer/inner/cpu.stat": "nr_periods 5\nnr_throttled 1\nthrottled_usec 1000000\n",
            "sys/fs/cgroup/outer/cpu.stat": "nr_periods 5\nnr_throttled 2\nthrottled_usec 2000000\n",
            "sys/fs/cgroup/cpu.stat": "usage_usec 77\n",
        },
    )
    assert cpu_quota(tmp_path) == 2.0
    assert throttling(tmp_path) == Throttling(10, 3, 3.0)


def test_a_group_path_of_the_host_falls_back_to_the_mounted_group(tmp_path: Path) -> None:
    write(tmp_path, {"proc/self/cgroup": "0::/../../host/pod\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"})
    assert cpu_quota(tmp_path) == 1.0


def test_on_this_machine_it_reads_what_there_is_and_does_not_perturb(tmp_path: Path) -> None:
    instrument = adapt(Pressure, "pressure", {})
    readings: dict[str, Any] = {}
    with instrument.watch(readings, tmp_path):
        sum(range(1000))
    assert not instrument.perturbs
    assert {"involuntary_switches", "disturbed"} <= readings.keys()
    assert all(isinstance(value, (int, float)) for value in readings.values())
