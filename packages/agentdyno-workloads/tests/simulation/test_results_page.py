"""The results page: every figure from a stored run, and every run named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentdyno import RunError, RunResult, load_run, run_spec
from agentdyno_workloads.simulation.results.figures import (
    FigureEstimate,
    FigureSource,
    duration,
    median_of,
    number,
    percent,
)
from agentdyno_workloads.simulation.results.page import SECTIONS, find_runs, main, write_page

PACKAGE = Path(__file__).parents[2]
ROOT = PACKAGE.parents[1]
TINY: dict[str, tuple[str, dict[str, object], int]] = {
    "memory_db_baseline": (
        "memory_db",
        {"mode": ["disk", "memory", "memory_persist"], "agents": [5, 8], "steps": 2},
        12,
    ),
    "observation_baseline": ("observation_flow", {"agents": 20, "radius": 3, "steps": 2}, 2),
    "spatial_performance_analyzer_baseline": ("spatial_performance_analyzer", {"sizes": [50, 100, 200]}, 6),
    "pragma_profile_baseline": (
        "pragma_profile",
        {"profile": ["balanced", "memory"], "workload": "read", "rows": 50},
        6,
    ),
    "redis_memory_baseline": ("redis_memory", {"agents": 4, "entries": 3, "searches": 5}, 6),
    "system_profiler_baseline": ("system_profiler", {"agents": [10, 20, 40], "steps": 2, "log": False}, 2),
}


def run_tiny(name: str, folder: Path) -> RunResult:
    experiment, params, measured = TINY[name]
    spec = {
        "name": name,
        "experiment": experiment,
        "params": params,
        "iterations": {"warmup": 0, "measured": measured},
        "isolation": "inline",
    }
    return run_spec(spec, store=f"sqlite:///{folder / 'dyno.db'}", output_dir=str(folder / "runs"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, RunResult]]:
    """A store with a small run of every section."""
    folder = tmp_path_factory.mktemp("results")
    return f"sqlite:///{folder / 'dyno.db'}", {name: run_tiny(name, folder) for name in TINY}


@pytest.fixture(scope="module")
def page(stored: tuple[str, dict[str, RunResult]]) -> str:
    store, _ = stored
    return write_page(find_runs([], store), store)


def test_every_section_names_the_run_that_its_figures_are_from(
    page: str, stored: tuple[str, dict[str, RunResult]]
) -> None:
    assert list(SECTIONS) == list(TINY)
    parts = page.split("\n## ")[1:]
    for part, (name, (title, _)) in zip(parts, SECTIONS.items(), strict=True):
        assert part.startswith(title + "\n")
        assert part.rstrip().endswith(f"Run `{stored[1][name].run_id}`, spec `workload:simulation/{name}`.")
    environment = stored[1]["memory_db_baseline"].environment
    assert environment.cpu_model in page.split("\n## ")[0]
    assert page.splitlines()[0].startswith("# ")


def test_medians_and_intervals_are_those_of_the_run(page: str, stored: tuple[str, dict[str, RunResult]]) -> None:
    for arm in stored[1]["memory_db_baseline"].arms:
        took = arm.metrics["duration_s"]
        assert took.ci is not None
        assert took.median is not None
        shown = f"{duration(took.median)} [{duration(took.ci[0])}, {duration(took.ci[1])}]"
        assert f"| `{arm.params['mode']}` | {shown} |" in page


def test_what_is_saved_has_the_interval_of_the_comparison_turned_round(
    page: str, stored: tuple[str, dict[str, RunResult]]
) -> None:
    store, runs = stored
    source = FigureSource(runs["memory_db_baseline"], store)
    found = source.ratio(source.arm(mode="disk", agents=8), source.arm(mode="memory_persist", agents=8), "duration_s")
    assert found is not None
    assert found[0].interval is not None
    low, high = found[0].interval
    saved = f"{percent(1 - found[0].value)} [{percent(1 - high)}, {percent(1 - low)}]"
    joined = " ".join(page.split())
    assert f"{saved} at 8 agents × 2 steps ({found[1]})" in joined


def test_an_interval_without_an_end_is_left_out(page: str, stored: tuple[str, dict[str, RunResult]]) -> None:
    store, runs = stored
    source = FigureSource(runs["pragma_profile_baseline"], store)
    found = source.ratio(source.arm(profile="balanced"), source.arm(profile="memory"), "result.ops_per_s")
    assert found is not None
    assert found[0].interval is None
    assert "inf" not in re.findall(r"\w+", page)


def test_ratios_of_indexes_are_medians_of_ratios_within_an_iteration(
    page: str, stored: tuple[str, dict[str, RunResult]]
) -> None:
    (arm,) = stored[1]["spatial_performance_analyzer_baseline"].arms
    summary = arm.metrics["result.grid_over_scipy_100"]
    line = next(line for line in page.splitlines() if line.startswith("| `hash_grid`"))
    assert f"{summary.median:.2f}×" in line.split("|")[3]


def test_published_figures_stand_beside_ours_as_those_of_other_hardware(page: str) -> None:
    line = next(line for line in page.splitlines() if line.startswith("| 20 | 3 |"))
    assert "| 1,889 |" in line
    assert "other hardware" in page
    assert "9 channels" in " ".join(page.split())


def test_settings_are_as_observed_and_power_loss_is_labelled_untested(page: str) -> None:
    assert "| `memory` | wal | NORMAL | -1024 | FILE | 0 | normal | ok |" in page
    assert "**not tested**" in page


def test_without_all_runs_there_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_tiny("system_profiler_baseline", tmp_path)
    output = tmp_path / "page.md"
    assert main(["--store", f"sqlite:///{tmp_path / 'dyno.db'}", "--output", str(output)]) == 2
    told = capsys.readouterr().err
    assert "memory_db_baseline" in told
    assert "simulation_results.sh" in told
    assert not output.exists()


def test_runs_can_be_chosen_and_the_page_is_written_anew(
    stored: tuple[str, dict[str, RunResult]], tmp_path: Path
) -> None:
    store, runs = stored
    output = tmp_path / "deep" / "page.md"
    given = ["--store", store, "--run", runs["system_profiler_baseline"].run_id, "--output", str(output)]
    assert main(given) == 0
    first = output.read_text()
    assert first.count("\n## ") == 1
    assert main(given) == 0
    assert output.read_text() == first


def test_a_run_that_the_page_has_no_section_for_is_refused(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'dyno.db'}"
    spec = {"experiment": "busy", "iterations": {"warmup": 0, "measured": 1}, "isolation": "inline"}
    run = run_spec(spec, store=store, output_dir=str(tmp_path / "runs"))
    with pytest.raises(RunError, match="nothing on runs of"):
        find_runs([run.run_id], store)


def test_a_run_with_other_arms_is_refused_with_a_remedy(stored: tuple[str, dict[str, RunResult]]) -> None:
    store, runs = stored
    source = FigureSource(load_run(runs["memory_db_baseline"].run_id, store=store), store)
    with pytest.raises(RunError, match="0 arms with mode=tape") as caught:
        source.arm(mode="tape")
    assert "simulation_results.sh" in (caught.value.remedy or "")


def test_the_interval_of_a_median_lies_between_ordered_values() -> None:
    # The chance that all of n values lie on one side is 2 ** -n: 1/32 for five, 1/64 for six, of which 2.5 % may be.
    assert median_of([3.0, 1.0, 2.0, 5.0, 4.0]) == FigureEstimate(3.0)
    assert median_of([6.0, 3.0, 1.0, 2.0, 5.0, 4.0]) == FigureEstimate(3.5, (1.0, 6.0))
    # Of ten, one may lie beyond each end: (1 + 10) / 1024 is below 2.5 %, (1 + 10 + 45) / 1024 is not.
    assert median_of([float(value) for value in range(1, 11)]) == FigureEstimate(5.5, (2.0, 9.0))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (1234567.8, "1,234,568"), (123.4, "123"), (12.34, "12.3"), (1.234, "1.23"), (0.01234, "0.0123")],
)
def test_numbers_have_three_digits_or_all_before_the_point(value: float, shown: str) -> None:
    assert number(value) == shown


def test_durations_have_the_unit_that_suits() -> None:
    assert [duration(value) for value in (2.5, 0.0123, 4.56e-6)] == ["2.50 s", "12.3 ms", "4.56 µs"]


def test_the_shipped_page_ties_every_section_to_a_run() -> None:
    text = (ROOT / "docs" / "results" / "simulation.md").read_text()
    runs = re.findall(r"^Run `([0-9a-f-]{36})`, spec `workload:simulation/(\w+)`\.$", text, re.MULTILINE)
    assert [name for _, name in runs] == list(SECTIONS)
    for run_id, name in runs:
        assert f"| `{name}` | `{run_id}` |" in text


def test_the_script_runs_every_spec_that_the_page_is_made_from() -> None:
    script = (PACKAGE / "scripts" / "simulation_results.sh").read_text()
    (named,) = re.findall(r"^for spec in (.+); do$", script, re.MULTILINE)
    assert [f"{name}_baseline" for name in named.split()] == list(SECTIONS)
    assert "agentdyno_workloads.simulation.recommend last" in script
