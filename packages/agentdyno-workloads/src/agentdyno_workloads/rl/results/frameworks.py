"""Frameworks side by side: what was measured, which features worked when tried, and what follows for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentdyno import RunResult
from agentdyno_workloads.rl.frameworks.experiment import FEATURES
from agentdyno_workloads.rl.results.figures import SeedEstimate, over_seeds

EXPERIMENT = "rl_framework"
_PREFIX = "result."
_MIB = 2**20
COLUMNS: tuple[tuple[str, str, Callable[[SeedEstimate], str]], ...] = (
    ("reward", "held-out reward", lambda item: item.show()),
    ("samples_per_s", "samples/s", lambda item: item.show()),
    ("samples_per_cpu_s", "samples per CPU second", lambda item: item.show()),
    ("all_processes_bytes", "memory, all processes (MiB)", lambda item: f"{item.mean / _MIB:,.0f}"),
    ("first_update_s", "nothing to first update (s)", lambda item: item.show()),
    ("integration_lines", "integration lines", lambda item: f"{item.mean:.0f}"),
)
WORDS = {True: "yes", False: "no", None: "not tried"}


@dataclass(frozen=True, slots=True)
class FrameworkArm:
    """One framework: its figures over seeds, and each feature as it turned out in every training that tried it."""

    name: str
    observed: Mapping[str, object]
    figures: Mapping[str, SeedEstimate | None]
    features: Mapping[str, bool | None]
    details: Mapping[str, str]
    problems: tuple[str, ...] = ()

    @property
    def working(self) -> int:
        """Features that worked: the score, which is nothing but their number."""
        return sum(works is True for works in self.features.values())

    def mean(self, name: str) -> float | None:
        item = self.figures.get(name)
        return None if item is None else item.mean


def framework_arms(result: RunResult) -> list[FrameworkArm]:
    """The frameworks of a run, in its order."""
    found = []
    for arm in result.arms:
        if arm.experiment != EXPERIMENT:
            continue
        usable = [sample for sample in arm.samples if sample.usable]
        figures = {
            name: over_seeds([sample.readings.get(_PREFIX + name) for sample in usable]) for name, _, _ in COLUMNS
        }
        tried = [_features(sample.output) for sample in usable]
        features = {name: _together([row[name][0] for row in tried if name in row]) for name in FEATURES}
        details = {
            name: next((row[name][1] for row in tried if name in row and row[name][0] is False), "")
            for name in FEATURES
        }
        problems = tuple(
            f"{sample.status}: {sample.failure.message}" for sample in arm.samples if sample.failure is not None
        )
        name = str(arm.params.get("framework", arm.name))
        found.append(FrameworkArm(name, arm.observed, figures, features, details, problems))
    return found


def _features(output: object) -> dict[str, tuple[bool | None, str]]:
    table = output.get("features") if isinstance(output, Mapping) else None
    rows = table.items() if isinstance(table, Mapping) else ()
    return {
        str(name): (row.get("works"), str(row.get("detail", ""))) for name, row in rows if isinstance(row, Mapping)
    }


def _together(tries: Sequence[bool | None]) -> bool | None:
    """Yes where it worked every time, no where it failed once, nothing where nobody tried."""
    known = [item for item in tries if item is not None]
    return all(known) if known else None


def advice(arms: Sequence[FrameworkArm]) -> list[str]:
    """What the measured rows say to somebody who has to choose; nothing that was not measured."""
    lines = []
    for wanted, name, best in (
        ("the highest held-out reward after the same number of samples", "reward", max),
        ("the most samples per CPU second", "samples_per_cpu_s", max),
        ("the least memory", "all_processes_bytes", min),
        ("the shortest way to a first update", "first_update_s", min),
        ("the fewest lines to write", "integration_lines", min),
    ):
        known = {arm.name: value for arm in arms if (value := arm.figures.get(name)) is not None}
        if len(known) > 1:
            first = best(known, key=lambda item: known[item].mean)
            close = [other for other in known if other != first and _overlap(known[first], known[other])]
            beside = f" (its interval overlaps with that of {', '.join(close)})" if close else ""
            lines.append(f"- For {wanted}: {first}{beside}.")
    for feature in FEATURES:
        able = [arm.name for arm in arms if arm.features.get(feature) is True]
        if able and len(able) < len(arms):
            lines.append(f"- Where {feature.replace('_', ' ')} is needed: {', '.join(able)} (it worked when tried).")
    return lines


def _overlap(one: SeedEstimate, other: SeedEstimate) -> bool:
    """Whether two intervals meet; a single seed has none, and nothing is said of it."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high


def document(result: RunResult) -> dict[str, object]:
    """Everything as JSON."""
    arms = framework_arms(result)
    return {
        "run_id": result.run_id,
        "name": result.name,
        "status": str(result.status),
        "machine_id": result.environment.machine_id,
        "task": "ToolDesk, one turn",
        "frameworks": [
            {
                "name": arm.name,
                "observed": dict(arm.observed),
                "figures": {name: item.plain() for name, item in arm.figures.items() if item is not None},
                "features": {name: WORDS[works] for name, works in arm.features.items()},
                "features_score": arm.working,
                "ease_score_lines": arm.mean("integration_lines"),
                "problems": list(arm.problems),
            }
            for arm in arms
        ],
        "advice": advice(arms),
    }


def page(result: RunResult) -> str:
    """The same in words and tables."""
    arms = framework_arms(result)
    lines = [f"# {result.name}", "", f"Run {result.run_id}. Task: ToolDesk in one turn.", "", *table(arms), ""]
    lines += [
        "Means over seeds with 95 % intervals (Student's t). The reward comes from one evaluator, outside of",
        "",
    ]
    lines[-2] += " every framework. Memory is the highest sum over all processes that the framework started."
    lines += ["## Features that worked when they were tried", "", *feature_table(arms), ""]
    for arm in arms:
        lines += [f"- {arm.name}, {name}: {text}" for name, text in arm.details.items() if text]
        lines += [f"- {arm.name} failed: {text.splitlines()[0][:300]}" for text in arm.problems]
    lines += ["", "## Which to choose, on this task", "", *advice(arms)]
    return "\n".join(lines).rstrip() + "\n"


def table(arms: Sequence[FrameworkArm]) -> list[str]:
    titles = ["framework", "what", "parameters", *(title for _, title, _ in COLUMNS)]
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for arm in arms:
        cells = [write(item) if (item := arm.figures.get(name)) is not None else "-" for name, _, write in COLUMNS]
        about = (arm.name, str(arm.observed.get("what", "-")), str(arm.observed.get("parameters", "-")))
        lines.append(f"| {' | '.join([*about, *cells])} |")
    return lines


def feature_table(arms: Sequence[FrameworkArm]) -> list[str]:
    lines = [f"| feature | {' | '.join(arm.name for arm in arms)} |", f"|---|{'---|' * len(arms)}"]
    for feature in FEATURES:
        cells = [WORDS[arm.features.get(feature)] for arm in arms]
        lines.append(f"| {feature.replace('_', ' ')} | {' | '.join(cells)} |")
    lines.append(f"| **worked** | {' | '.join(str(arm.working) for arm in arms)} |")
    return lines
