"""Writes docs/results/rl.md from stored runs; every figure in it belongs to a run that is named.

``python -m agentdyno_workloads.rl.results.page [--store URL ...] [--output FILE]``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from agentdyno import DynoError, RunError, RunResult, StoreError, load_run
from agentdyno_workloads.rl.results import algorithms, charts, frameworks, rankings
from agentdyno_workloads.rl.results.figures import compare_times, trained_arms

PAGE = Path("docs") / "results" / "rl.md"
IMAGES = Path("..") / "images"
TUNING, ALGORITHMS, FRAMEWORKS, GPU = "tuning", "algorithms", "frameworks", "gpu"
ORDER = (ALGORITHMS, GPU, TUNING, FRAMEWORKS)


def newest_runs(stores: Sequence[str]) -> list[RunResult]:
    """Of each spec, and of each model where several were trained, the newest complete run of the stores."""
    found: dict[tuple[str, str], RunResult] = {}
    for store in stores:
        for run in _runs(store):
            if run.name in ORDER and run.status == "complete":
                model = str(run.arms[0].observed.get("model", ""))
                known = found.get((run.name, model))
                if known is None or run.started_at > known.started_at:
                    found[run.name, model] = run
    missing = {TUNING, ALGORITHMS, FRAMEWORKS} - {name for name, _ in found}
    if missing:
        raise RunError(
            f"the stores hold no complete run of {', '.join(sorted(missing))}",
            where=", ".join(stores),
            remedy="Make them: packages/agentdyno-workloads/scripts/rl_results.sh runs all of them.",
        )
    return sorted(found.values(), key=lambda run: (ORDER.index(run.name), run.started_at))


def _runs(store: str) -> Iterator[RunResult]:
    back = 0
    while True:
        try:
            yield load_run(f"last~{back}" if back else "last", store=store)
        except StoreError:
            return
        back += 1


def write_page(runs: Sequence[RunResult], images: Path) -> str:
    """The page in Markdown; its pictures go into the folder ``images``."""
    lines = ["# Reinforcement learning, measured", "", *_introduction(runs)]
    drawing: dict[str, Callable[[RunResult, Path], Iterator[str]]] = {
        ALGORITHMS: _algorithms,
        GPU: _algorithms,
        TUNING: _tuning,
        FRAMEWORKS: _frameworks,
    }
    for run in runs:
        lines += ["", *drawing[run.name](run, images), "", f"Run `{run.run_id}`, spec `workload:rl/{run.name}`."]
    return "\n".join(lines) + "\n"


def _introduction(runs: Sequence[RunResult]) -> Iterator[str]:
    on_gpu = any(run.name == GPU for run in runs)
    yield "What trainings of `workload:rl` found. This page is written by"
    yield "`packages/agentdyno-workloads/scripts/rl_results.sh` from the runs named here; nothing in it is typed by"
    yield "hand. What the words mean and how to make such runs is in the [guide](../guides/rl.md)."
    yield "The run `gpu` was made on another machine, with a GPU." if on_gpu else "Nothing here was run on a GPU."
    yield ""
    for here in {run.environment.machine_id: run.environment for run in runs}.values():
        memory = f"{here.memory_bytes / 2**30:.0f} GiB"
        yield f"Machine: {here.cpu_model}, {here.cpu_count} CPUs, {memory}, {here.implementation} {here.python}."
    if any(_load(run) > run.environment.cpu_count for run in runs):
        yield ""
        yield "Other work ran on the machine meanwhile (the load before a run was above the number of CPUs): wall"
        yield "times and rates per second here are too slow; CPU times suffer less, rewards and episodes not at all."
    yield ""
    yield "| spec | run | started (UTC) | samples | load before | warnings |"
    yield "|---|---|---|---|---|---|"
    for run in runs:
        when = datetime.fromtimestamp(run.started_at / 1000, UTC)
        samples = sum(len(arm.samples) for arm in run.arms)
        codes = ", ".join(dict.fromkeys(warning.code for warning in run.warnings)) or "none"
        yield f"| `{run.name}` | `{run.run_id}` | {when:%Y-%m-%d %H:%M} | {samples} | {_load(run):g} | {codes} |"


def _load(run: RunResult) -> float:
    """The load of the machine before the run began; 0 where nobody knows."""
    found = run.environment.details.get("load_1min")
    return float(found) if isinstance(found, (int, float)) else 0.0


def _algorithms(run: RunResult, images: Path) -> Iterator[str]:
    arms = trained_arms(run)
    model = str(arms[0].observed.get("model", "unknown"))
    seeds = max(len(arm.seeds) for arm in arms)
    name = f"rl_curves_{GPU if run.name == GPU else 'stub' if model.startswith('stub') else 'torch'}.png"
    charts.learning_curves([arm for arm in arms if arm.seeds], "episodes", images / name)
    yield f"## Algorithms: {model}"
    yield ""
    params = arms[0].params
    yield f"{seeds} seeds, {params.get('episodes')} episodes of 8 samples, {params.get('turns')} turns."
    if run.name == GPU:
        observed = arms[0].observed
        on = observed.get("device_name", observed.get("device"))
        yield f"Trained on a GPU ({on}): {observed.get('parameters'):,} weights."
    if not model.startswith("stub"):
        yield "Learning rate, clip and beta were not tuned for this model."
    yield ""
    yield from algorithms.table(arms)
    yield ""
    told = [pair for pair in compare_times(arms) if pair.adjusted_p is not None]
    apart = [pair for pair in told if pair.verdict == "different"]
    yield f"Episodes to the target differ in {len(apart)} of {len(told)} pairs (log-rank, Holm at 5 %)."
    for pair in told:
        if pair not in apart:
            yield f"{pair.first} and {pair.second} are not told apart (p = {pair.adjusted_p:.3f})."
    yield ""
    yield f"![Learning curves]({(IMAGES / name).as_posix()})"


def _tuning(run: RunResult, images: Path) -> Iterator[str]:
    arms = trained_arms(run)
    yield "## Who leads depends on the settings"
    yield ""
    seeds = max(len(arm.seeds) for arm in arms)
    yield f"Final rewards after {arms[0].params.get('episodes')} episodes, {seeds} seeds each, best first."
    yield "What was chosen from these for the other runs is in `rl/tuned.json`."
    yield ""
    yield from rankings.lines(arms)[2:]
    grid = rankings.grid_of(arms)
    if grid is not None:
        charts.ranking_map(grid, images / "rl_ranking.png")
        yield f"![Ranking over clip and learning rate]({(IMAGES / 'rl_ranking.png').as_posix()})"


def _frameworks(run: RunResult, images: Path) -> Iterator[str]:  # noqa: ARG001
    arms = frameworks.framework_arms(run)
    yield "## Frameworks"
    yield ""
    params = run.arms[0].params
    yield f"ToolDesk in one turn, {params.get('samples')} samples; warm start and learning rate are the same; a small"
    yield "GPT in ours and in TRL, a"
    yield "network of two layers in RLlib, of one by hand. The reward comes from one evaluator outside of them all."
    yield "The learning rate was not tuned for each, and RLlib trains with PPO, ours and TRL with GRPO: the"
    yield "rewards compare these integrations as they are, not what a framework can reach."
    yield ""
    yield from frameworks.table(arms)
    yield ""
    yield "A feature is a `yes` when a test of it ran and passed in that framework's process:"
    yield ""
    yield from frameworks.feature_table(arms)
    yield ""
    for arm in arms:
        yield from (f"- {arm.name}, {name.replace('_', ' ')}: {text}" for name, text in arm.details.items() if text)
    yield ""
    yield "What follows, on this task and machine:"
    yield ""
    yield from frameworks.advice(arms)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and says where; 2 for a mistake of the user's."""
    parser = argparse.ArgumentParser(prog="python -m agentdyno_workloads.rl.results.page")
    parser.add_argument("--store", action="append", required=True, help="a store that holds runs; may be repeated")
    parser.add_argument("--output", type=Path, default=PAGE, help=f"the file to write ({PAGE})")
    given = parser.parse_args(arguments)
    images = given.output.parent / IMAGES
    try:
        runs = newest_runs(given.store)
        images.mkdir(parents=True, exist_ok=True)
        text = write_page(runs, images)
    except DynoError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    click.echo(f"{given.output}: {len(runs)} runs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
