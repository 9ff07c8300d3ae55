"""What a reader of a result should know before believing it: typed warnings, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from agentdyno.findings.figures.values import metric_values, per_process
from agentdyno.model import ArmResult, RunWarning, Side, Status
from agentdyno.model.identity import canonical_json
from agentdyno.model.metric import format_value
from agentdyno.stats import theil_sen, warmup_end

NOISY_MAD = 0.05
GROWTH = 0.05
WARMING_UP = 0.02


def cautions(arms: Sequence[ArmResult], overhead_s: float | None) -> tuple[RunWarning, ...]:
    """Warnings about arms with their samples and metrics filled in."""
    found = [warning for arm in arms for warning in _arm_cautions(arm, overhead_s)]
    return (*found, *_identical_arms(arms), *_revision_not_loaded(arms))


def _arm_cautions(arm: ArmResult, overhead_s: float | None) -> Iterator[RunWarning]:
    bad = sum(count for status, count in arm.statuses.items() if status not in (Status.OK, Status.FAILED))
    if bad:
        yield RunWarning(
            "failures",
            f"{bad} of {sum(arm.statuses.values())} samples failed",
            f"`dyno show last` lists them ({_first_failure(arm)}).",
            arm.arm_id,
        )
    duration = arm.metrics.get("duration_s")
    if duration is None or duration.median is None:
        return
    if duration.ci is None:
        yield RunWarning(
            "few-samples",
            f"{duration.n} samples are too few for an interval",
            "Measure at least 6: `iterations: {measured: 10}` or --iterations 10.",
            arm.arm_id,
        )
    elif duration.mad is not None and duration.median > 0 and duration.mad / duration.median > NOISY_MAD:
        yield RunWarning(
            "noisy",
            f"typical deviation is {duration.mad / duration.median:.0%} of the median",
            "`dyno doctor` says what disturbs this machine; more iterations narrow the interval.",
            arm.arm_id,
        )
    values = metric_values(arm.samples)
    yield from _over_time(arm, values)
    loops = max((sample.inner_loops for sample in arm.samples if sample.usable), default=1)
    if overhead_s and loops == 1 and duration.median > 0 and overhead_s > 0.01 * duration.median:
        yield RunWarning(
            "overhead",
            f"the clock's own {format_value(overhead_s, 's')} are more than 1 % of a call",
            "`inner_loops: auto` times such calls in batches.",
            arm.arm_id,
        )
    disturbed = values.get("pressure.disturbed", [])
    if disturbed and sum(disturbed) > 0.1 * len(disturbed):
        yield RunWarning(
            "disturbed",
            f"the machine was disturbed during {sum(disturbed) / len(disturbed):.0%} of the samples",
            "Stop other work, or compare only what ran interleaved.",
            arm.arm_id,
        )


def _over_time(arm: ArmResult, values: Mapping[str, list[float]]) -> Iterator[RunWarning]:
    durations = values.get("duration_s", [])
    steady = warmup_end(durations) if len(durations) >= 10 else 0
    # A difference that is certain and too small to matter is no reason to measure differently.
    if steady > 0 and abs(median(durations[:steady]) / median(durations[steady:]) - 1) > WARMING_UP:
        yield RunWarning(
            "still-warming-up",
            f"the first measured samples ({steady} of {len(durations)}) differ from the rest as a warm-up does",
            f"Raise iterations.warmup by {steady}.",
            arm.arm_id,
        )
    # Each process starts small again, so that memory can grow within one process only.
    resident = max(per_process(arm.samples, "rss_bytes").values(), key=len, default=[])
    trend = theil_sen(resident) if len(resident) >= 10 else None
    if trend is not None and trend.is_growing:
        growth = trend.slope * (len(resident) - 1)
        if growth > max(GROWTH * resident[0], 2**20):
            yield RunWarning(
                "memory-grows",
                f"resident memory grows by {format_value(trend.slope, 'bytes')} a sample",
                "Look for a leak with `instrumentation: [tracemalloc]`.",
                arm.arm_id,
            )


def _revision_not_loaded(arms: Sequence[ArmResult]) -> Iterator[RunWarning]:
    """A baseline at another revision of which nothing was loaded: whatever ran, it was not that revision."""
    for arm in arms:
        if arm.side is Side.BASELINE and arm.observed.get("loaded_code") == "nothing":
            yield RunWarning(
                "revision-not-loaded",
                "no file of the other revision was loaded: both sides ran the code that is installed here",
                "Run the experiment from a file of the repository, so that its imports come from there too.",
                arm.arm_id,
            )


def _identical_arms(arms: Sequence[ArmResult]) -> Iterator[RunWarning]:
    """Arms that were asked to differ and were observed not to.

    A parameter that an experiment observes under its own name must be observed differently where it was asked to
    differ; the two sides of one configuration must have run different code where the code was fingerprinted.
    """
    seen: dict[str, ArmResult] = {}
    for arm in arms:
        asked = {name: arm.params[name] for name in arm.params if name in arm.observed}
        if arm.side is not None and "loaded_code" in arm.observed:
            asked["loaded_code"] = arm.side.value
        for name, value in asked.items():
            others = {key: item for key, item in arm.params.items() if key != name}
            before = seen.setdefault(canonical_json([arm.experiment, name, others, arm.observed[name]]), arm)
            same_request = before is arm or (name != "loaded_code" and before.params[name] == value)
            if not same_request:
                yield RunWarning(
                    "identical-arms",
                    f"{before.name} and {arm.name} were observed to be the same thing ({name}: {arm.observed[name]})",
                    "Their difference is noise. Check that the parameter or the revision really takes effect.",
                )


def _first_failure(arm: ArmResult) -> str:
    failure = next((sample.failure for sample in arm.samples if sample.failure is not None), None)
    lines = failure.message.strip().splitlines() if failure is not None else []
    return lines[0][:120] if lines else "no message"
