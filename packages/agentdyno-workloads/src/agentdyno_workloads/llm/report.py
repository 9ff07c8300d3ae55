"""``metrics.json`` and ``comparison_report.md``: the raw figures, and the configurations side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno import Interval, Report, RunResult, ScalingFit, fit_amdahl, fit_usl

EXPERIMENTS = ("llm_single_agent", "llm_multi_agent")
_SINGLE = ("tokens_per_s", "ttft_s", "prompt_eval_s", "eval_s", "load_s", "server_rss_bytes")
_MULTI = ("speedup", "efficiency", "balance", "slowdown_mean", "fairness", "contention_rate", "ttft_delta_s")
_PREFIX = "result."


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one configuration. ``interval`` is the 95 % interval of the mean by Student's t; ``outliers``
    counts Tukey's classes: beyond 1.5 (mild) and 3 (severe) times the spread of the middle half."""

    values: tuple[float, ...]
    mean: float
    median: float
    std: float | None
    cv: float | None
    interval: tuple[float, float] | None
    outliers: Mapping[str, int]

    def plain(self) -> dict[str, object]:
        return {
            "n": len(self.values),
            "mean": self.mean,
            "median": self.median,
            "std": self.std,
            "cv": self.cv,
            "mean_ci95": list(self.interval) if self.interval is not None else None,
            "outliers": dict(self.outliers),
            "values": list(self.values),
        }


def figure(values: Sequence[float]) -> Figure:
    """What there is to say about some values; one value has no spread."""
    import numpy as np

    data = np.asarray(values, dtype=float)
    n, mean = len(data), float(data.mean())
    std = float(data.std(ddof=1)) if n > 1 else None
    interval = None
    if std is not None:
        from scipy import stats

        half = float(stats.t.ppf(0.975, n - 1)) * std / math.sqrt(n)
        interval = (mean - half, mean + half)
    return Figure(
        tuple(float(value) for value in values),
        mean,
        float(np.median(data)),
        std,
        std / abs(mean) if std is not None and mean else None,
        interval,
        outlier_classes(values),
    )


def outlier_classes(values: Sequence[float]) -> dict[str, int]:
    """``low_severe``, ``low_mild``, ``high_mild``, ``high_severe``; none where fewer than four values tell."""
    import numpy as np

    counts = {"low_severe": 0, "low_mild": 0, "high_mild": 0, "high_severe": 0}
    if len(values) < 4:
        return counts
    low, high = (float(item) for item in np.percentile(np.asarray(values, dtype=float), [25, 75]))
    spread = high - low
    for value in values:
        if value < low - 3 * spread:
            counts["low_severe"] += 1
        elif value < low - 1.5 * spread:
            counts["low_mild"] += 1
        elif value > high + 3 * spread:
            counts["high_severe"] += 1
        elif value > high + 1.5 * spread:
            counts["high_mild"] += 1
    return counts


@dataclass(frozen=True, slots=True)
class Configuration:
    """One arm: what it was asked to be, what it was observed to be, its figures; ``phase`` is its entry's name."""

    name: str
    experiment: str
    params: Mapping[str, object]
    observed: Mapping[str, object]
    figures: Mapping[str, Figure]
    phase: str = ""

    @property
    def simulated(self) -> bool:
        return self.observed.get("simulated") is True


def configurations(result: RunResult) -> list[Configuration]:
    """The arms of a run with what their samples returned."""
    found = []
    for arm in result.arms:
        values: dict[str, list[float]] = {}
        for sample in arm.samples:
            if sample.usable:
                for name, value in sample.readings.items():
                    if name.startswith(_PREFIX):
                        values.setdefault(name.removeprefix(_PREFIX), []).append(value)
        figures = {name: figure(items) for name, items in values.items()}
        found.append(Configuration(arm.name, arm.experiment, arm.params, arm.observed, figures, arm.entry))
    return found


@dataclass(frozen=True, slots=True)
class Scaling:
    """How the rate of finished workflows grows with the agents of one scenario."""

    scenario: str
    points: tuple[tuple[int, float], ...]
    amdahl: ScalingFit | None
    usl: ScalingFit | None


def scalings(found: Sequence[Configuration]) -> list[Scaling]:
    """One per scenario that was run with two or more numbers of agents."""
    groups: dict[str, dict[int, list[float]]] = {}
    varying = _varying(found)
    for item in found:
        agents, took = item.params.get("agents"), item.figures.get("concurrent_s")
        if not isinstance(agents, int) or took is None:
            continue
        label = ", ".join(f"{name}={item.params.get(name)}" for name in varying)
        groups.setdefault(label, {}).setdefault(agents, []).append(agents / took.median)
    laws = []
    for label, rates in groups.items():
        if len(rates) < 2:
            continue
        points = tuple((agents, sum(values) / len(values)) for agents, values in sorted(rates.items()))
        counts, speeds = [float(agents) for agents, _ in points], [rate for _, rate in points]
        laws.append(Scaling(label, points, fit_amdahl(counts, speeds), fit_usl(counts, speeds)))
    return laws


def _varying(found: Sequence[Configuration]) -> list[str]:
    """What tells the groups apart, the number of agents aside; the scenario in any case."""
    names = sorted({name for item in found for name in item.params} - {"agents", "scenario"})
    return ["scenario", *(name for name in names if len({repr(item.params.get(name)) for item in found}) > 1)]


class LlmReporter:
    """Writes both files for runs of the LLM workload."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]:
        written = []
        for result in report.results:
            found = configurations(result)
            metrics = output_dir / "metrics.json"
            metrics.write_text(
                json.dumps(_metrics(result, found), indent=2, allow_nan=False) + "\n", encoding="utf-8"
            )
            comparison = output_dir / "comparison_report.md"
            comparison.write_text(comparison_text(result, found), encoding="utf-8")
            written += [metrics, comparison]
            laws = scalings(found)
            if laws:
                written.append(_picture(laws, output_dir / "speedup.png"))
        return written


def _picture(laws: Sequence[Scaling], path: Path) -> Path:
    """Speed-up against the number of agents, with the ideal and the fitted law of each scenario."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    most = max(agents for law in laws for agents, _ in law.points)
    grid = [1 + (most - 1) * step / 100 for step in range(101)]
    axes.plot(grid, grid, color="0.5", linestyle=":", label="ideal")
    for law in laws:
        fit = law.usl or law.amdahl
        single = fit.single if fit is not None else law.points[0][1] / law.points[0][0]
        line = axes.plot(
            [n for n, _ in law.points], [rate / single for _, rate in law.points], "o", label=law.scenario
        )
        if fit is not None:
            axes.plot(grid, [fit.throughput(n) / single for n in grid], color=line[0].get_color(), alpha=0.7)
    axes.set_xlabel("agents")
    axes.set_ylabel("speed-up")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=120)
    return path


def _metrics(result: RunResult, found: Sequence[Configuration]) -> dict[str, object]:
    return {
        "run_id": result.run_id,
        "name": result.name,
        "machine_id": result.environment.machine_id,
        "simulated": any(item.simulated for item in found),
        "configurations": [
            {
                "name": item.name,
                "phase": item.phase or None,
                "experiment": item.experiment,
                "params": dict(item.params),
                "observed": dict(item.observed),
                "metrics": {name: one.plain() for name, one in sorted(item.figures.items())},
            }
            for item in found
        ],
        "scaling": [
            {
                "scenario": item.scenario,
                "points": [list(point) for point in item.points],
                "amdahl": _law(item.amdahl),
                "usl": _law(item.usl),
            }
            for item in scalings(found)
        ],
    }


def comparison_text(result: RunResult, found: Sequence[Configuration]) -> str:
    """The configurations side by side in Markdown; the first is what the others are held against."""
    lines = [f"# {result.name}", "", f"Run {result.run_id}, {len(found)} configurations.", ""]
    if any(item.simulated for item in found):
        lines += ["**Simulated:** a simulated model answered; nothing here is a measurement of a model.", ""]
    names = _MULTI if any("speedup" in item.figures for item in found) else _SINGLE
    shown = [name for name in names if any(name in item.figures for item in found)]
    lines += [f"| configuration | runs | {' | '.join(shown)} |", f"|---|---|{'---|' * len(shown)}"]
    for item in found:
        runs = max((len(one.values) for one in item.figures.values()), default=0)
        cells = [_cell(item.figures.get(name)) for name in shown]
        lines.append(f"| {item.name} | {runs} | {' | '.join(cells)} |")
    lines += ["", "Means with 95 % intervals (Student's t); CV is the standard deviation over the mean.", ""]
    lines += _against_first(found, shown)
    for law in scalings(found):
        lines += ["", *_scaling_lines(law)]
    return "\n".join(lines).rstrip() + "\n"


def _against_first(found: Sequence[Configuration], shown: Sequence[str]) -> list[str]:
    if len(found) < 2:
        return []
    first, rest = found[0], found[1:]
    lines = [f"## Against {first.name}", "", "| configuration | metric | ratio of medians | CV | outliers |"]
    lines.append("|---|---|---|---|---|")
    for item in rest:
        for name in shown:
            before, after = first.figures.get(name), item.figures.get(name)
            if before is None or after is None or not before.median:
                continue
            odd = sum(after.outliers.values())
            cv = "-" if after.cv is None else f"{after.cv:.1%}"
            lines.append(f"| {item.name} | {name} | {after.median / before.median:.3f} | {cv} | {odd} |")
    return lines


def _scaling_lines(item: Scaling) -> list[str]:
    lines = [f"## Scaling: {item.scenario}", "", "| agents | workflows a second |", "|---|---|"]
    lines += [f"| {agents} | {rate:.4g} |" for agents, rate in item.points]
    for name, law in (("Amdahl", item.amdahl), ("USL", item.usl)):
        if law is not None:
            share = _with_interval(law.contention, _ends(law.contention_interval))
            lines += [
                "",
                f"{name}: serial share {share}" + (f", coherency {law.coherency:.3g}" if name == "USL" else ""),
            ]
    return lines


def _law(law: ScalingFit | None) -> dict[str, object] | None:
    if law is None:
        return None
    return {
        "single": law.single,
        "contention": law.contention,
        "contention_interval": _ends(law.contention_interval),
        "coherency": law.coherency,
        "coherency_interval": _ends(law.coherency_interval),
    }


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval is not None else None


def _cell(one: Figure | None) -> str:
    if one is None:
        return "-"
    cv = "" if one.cv is None else f", CV {one.cv:.1%}"
    return _with_interval(one.mean, one.interval) + cv


def _with_interval(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:.4g}" if interval is None else f"{value:.4g} [{interval[0]:.4g}, {interval[1]:.4g}]"
