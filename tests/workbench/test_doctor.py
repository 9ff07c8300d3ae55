"""What the doctor sees on machines that are quiet, busy, limited, or tell nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.model.findings import Calibration, Check, Level
from agentdyno.runs.environment import machine_id
from agentdyno.workbench.doctor import Interpreter, disk_check, examine

DAY_MS = 24 * 3600 * 1000
NOW_MS = 1_700_000_000_000
PYTHON = Interpreter(
    version="3.12.4",
    final=True,
    debug_build=False,
    optimize=0,
    dev_mode=False,
    traced=False,
    clock_resolution_s=1e-9,
    clock_monotonic=True,
)
CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
PRESSURE = "some avg10=0.00 avg60={} avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
QUIET = {
    "proc/cpuinfo": "processor : 0\nmodel name : Fast\nflags : fpu tsc\n",
    "proc/loadavg": "0.10 0.10 0.10 1/100 99\n",
    "proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\nSwapTotal: 1048576 kB\nSwapFree: 1048576 kB\n",
    "proc/pressure/cpu": PRESSURE.format("0.50"),
    "proc/pressure/memory": PRESSURE.format("0.00"),
    "proc/pressure/io": PRESSURE.format("0.00"),
    "proc/stat": "cpu  5000 0 1000 90000 0 0 0 0 0 0\n",
    "proc/sys/kernel/randomize_va_space": "0\n",
    "proc/self/cgroup": "0::/\n",
    f"{CPU}/online": "0-7\n",
    f"{CPU}/smt/active": "0\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "0\n",
    f"{CLOCK}/current_clocksource": "tsc\n",
    f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm\n",
    "sys/class/power_supply/AC/type": "Mains\n",
    "sys/class/power_supply/AC/online": "1\n",
    "sys/class/power_supply/BAT0/type": "Battery\n",
    "sys/class/power_supply/BAT0/status": "Charging\n",
}


def tree(root: Path, changes: dict[str, str] | None = None) -> Path:
    for name, text in {**QUIET, **(changes or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def calibration(root: Path, noise_floor: float = 0.02, false_alarms: int = 0, age_days: int = 1) -> Calibration:
    return Calibration(machine_id(root), NOW_MS - age_days * DAY_MS, 20, 30, noise_floor, false_alarms)


def look(root: Path, python: Interpreter = PYTHON, known: Calibration | None = None) -> dict[str, Check]:
    checks = examine(None, known or calibration(root), root=root, interpreter=python, now_ms=NOW_MS)
    named = {check.name: check for check in checks}
    assert len(named) == len(checks)
    return named


def test_a_quiet_machine_has_nothing_to_put_right(tmp_path: Path) -> None:
    checks = look(tree(tmp_path))
    assert {check.level for check in checks.values()} == {Level.OK}
    assert {
        "cpu governor",
        "turbo",
        "smt",
        "load",
        "steal",
        "memory",
        "swap",
        "clock source",
        "power",
    } <= checks.keys()
    assert checks["cpu governor"].seen == "performance"
    assert checks["load"].seen == "0.10 on 8 CPUs"


CASES: list[tuple[str, dict[str, str], Level, str, str]] = [
    (
        "cpu governor",
        {f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave"},
        Level.WARN,
        "powersave",
        "echo performance",
    ),
    ("turbo", {f"{CPU}/intel_pstate/no_turbo": "0"}, Level.WARN, "on", "echo 1 | sudo tee"),
    ("smt", {f"{CPU}/smt/active": "1"}, Level.NOTE, "share a core", "smt/control"),
    ("cpus", {f"{CPU}/online": "0"}, Level.WARN, "1 CPU", "parallelism: 1"),
    ("cpus", {f"{CPU}/online": "0-1"}, Level.NOTE, "2 CPUs", "parallelism: 1"),
    ("load", {"proc/loadavg": "6.00 1 1 1/1 1"}, Level.WARN, "6.00 on 8 CPUs", "ps aux"),
    ("cpu pressure", {"proc/pressure/cpu": PRESSURE.format("22.0")}, Level.WARN, "22.0 %", "ps aux"),
    ("memory pressure", {"proc/pressure/memory": PRESSURE.format("3.0")}, Level.WARN, "3.0 %", "ps aux"),
    ("io pressure", {"proc/pressure/io": PRESSURE.format("40.0")}, Level.WARN, "40.0 %", "iotop"),
    ("steal", {"proc/stat": "cpu  4000 0 1000 90000 0 0 0 5000 0 0"}, Level.WARN, "5.0%", "--against"),
    ("memory", {"proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 409600 kB"}, Level.WARN, "400 MiB", "ps aux"),
    (
        "swap",
        {"proc/meminfo": "SwapTotal: 1048576 kB\nSwapFree: 524288 kB"},
        Level.WARN,
        "512 MiB of 1 GiB",
        "swapoff",
    ),
    ("address layout", {"proc/sys/kernel/randomize_va_space": "2"}, Level.NOTE, "random", "setarch"),
    ("cpu quota", {"sys/fs/cgroup/cpu.max": "150000 100000"}, Level.WARN, "1.5 CPUs", "--cpuset-cpus"),
    (
        "cpu throttling",
        {"sys/fs/cgroup/cpu.stat": "nr_periods 100\nnr_throttled 7\nthrottled_usec 350000"},
        Level.WARN,
        "7 of 100 periods, 350 ms",
        "docker update",
    ),
    ("clock source", {f"{CLOCK}/current_clocksource": "hpet"}, Level.WARN, "hpet", "echo tsc"),
    (
        "clock source",
        {f"{CLOCK}/current_clocksource": "acpi_pm", f"{CLOCK}/available_clocksource": "acpi_pm"},
        Level.WARN,
        "acpi_pm",
        "inner_loops",
    ),
    ("temperature", {f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "12"}, Level.WARN, "12 times", "grep"),
    (
        "power",
        {"sys/class/power_supply/AC/online": "0", "sys/class/power_supply/BAT0/status": "Discharging"},
        Level.WARN,
        "on battery",
        "Plug in",
    ),
    (
        "virtual machine",
        {"proc/cpuinfo": "processor : 0\nmodel name : Fast\nflags : hypervisor"},
        Level.NOTE,
        "",
        "dyno",
    ),
]


@pytest.mark.parametrize(("name", "changes", "level", "seen", "remedy"), CASES, ids=[case[0] for case in CASES])
def test_each_trouble_is_seen_with_its_remedy_and_alone(
    tmp_path: Path, name: str, changes: dict[str, str], level: Level, seen: str, remedy: str
) -> None:
    checks = look(tree(tmp_path, changes))
    assert checks[name].level is level
    assert seen in checks[name].seen
    assert remedy in checks[name].remedy
    assert {other.name for other in checks.values() if other.level is not Level.OK} == {name}


def test_turbo_of_other_processors_is_switched_off_by_their_own_file(tmp_path: Path) -> None:
    root = tree(tmp_path, {f"{CPU}/cpufreq/boost": "1"})
    (root / CPU / "intel_pstate" / "no_turbo").unlink()
    assert look(root)["turbo"].remedy == "`echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost`"


@pytest.mark.parametrize(
    ("python", "name", "level"),
    [
        (replace(PYTHON, debug_build=True), "debug build", Level.WARN),
        (replace(PYTHON, optimize=2), "optimisation", Level.NOTE),
        (replace(PYTHON, dev_mode=True), "development mode", Level.WARN),
        (replace(PYTHON, traced=True), "tracing", Level.WARN),
        (replace(PYTHON, final=False), "python", Level.WARN),
        (replace(PYTHON, clock_resolution_s=0.015), "clock resolution", Level.WARN),
        (replace(PYTHON, clock_monotonic=False), "clock resolution", Level.WARN),
    ],
)
def test_an_interpreter_that_distorts_is_named(tmp_path: Path, python: Interpreter, name: str, level: Level) -> None:
    checks = look(tree(tmp_path), python)
    assert checks[name].level is level
    assert "`" in checks[name].remedy
    assert {other.name for other in checks.values() if other.level is not Level.OK} == {name}


def test_a_machine_that_tells_nothing_still_gets_the_checks_of_the_interpreter(tmp_path: Path) -> None:
    assert look(tmp_path).keys() == {"python", "tracing", "clock resolution", "load decoder", "calibration"}


def test_loads_that_read_answers_in_python_are_told_what_reads_them_faster(tmp_path: Path) -> None:
    assert look(tmp_path)["load decoder"].seen == "compiled: how loads read streamed answers"
    found = look(tmp_path, replace(PYTHON, load_decoder="python"))["load decoder"]
    assert (found.level, found.seen) == (Level.NOTE, "python: how loads read streamed answers")
    assert "install a C compiler" in found.remedy


def test_the_store_is_writable_before_it_exists(tmp_path: Path) -> None:
    found = {check.name: check for check in examine(tmp_path / "a" / "b" / "dyno.db", root=tree(tmp_path / "root"))}
    assert found["store"].level is Level.OK
    assert "disk" in found
    assert not (tmp_path / "a").exists()


def test_a_store_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("")
    found = {check.name: check for check in examine(tmp_path / "notes" / "dyno.db", root=tmp_path)}
    assert found["store"].level is Level.WARN
    assert "DYNO_STORE=PATH" in found["store"].remedy


def test_a_store_without_permission_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "dyno.db"
    store.write_text("")
    # Permissions do not bind the superuser, under whom containers run their tests.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != store)
    found = {check.name: check for check in examine(store, root=tmp_path)}
    assert found["store"].level is Level.WARN
    assert f"chmod u+w {store}" in found["store"].remedy


def test_a_nearly_full_disk_is_told(tmp_path: Path) -> None:
    assert disk_check(tmp_path, 2 * 1024**3) == Check("disk", Level.OK, "2 GiB free for results")
    full = disk_check(tmp_path, 100 * 1024**2)
    assert full.level is Level.WARN
    assert full.seen == "100 MiB free for results"


def test_a_machine_without_calibration_is_asked_for_one(tmp_path: Path) -> None:
    last = examine(root=tree(tmp_path), interpreter=PYTHON, now_ms=NOW_MS)[-1]
    assert (last.name, last.level, last.remedy) == ("calibration", Level.WARN, "`dyno doctor --calibrate`")


def test_a_calibration_is_judged_by_machine_noise_and_age(tmp_path: Path) -> None:
    root = tree(tmp_path)

    def judged(known: Calibration) -> Check:
        return look(root, known=known)["calibration"]

    assert judged(calibration(root)).seen == "changes below 2.0% are noise here; 0 false alarms in 20 comparisons"
    assert judged(replace(calibration(root), machine_id="0" * 16)).level is Level.WARN
    assert judged(calibration(root, noise_floor=0.2)).level is Level.WARN
    assert judged(calibration(root, false_alarms=5)).level is Level.WARN
    old = judged(calibration(root, age_days=45))
    assert old.level is Level.NOTE
    assert "45 days ago" in old.seen


def test_on_this_machine_every_warning_comes_with_a_remedy(tmp_path: Path) -> None:
    checks = examine(tmp_path / "dyno.db")
    assert checks
    assert all(check.remedy for check in checks if check.level is Level.WARN)
    assert all(check.seen for check in checks)
