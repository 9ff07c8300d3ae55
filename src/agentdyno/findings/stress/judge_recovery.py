"""How a target gets over a spike or a fault: times in seconds since it was over, told to the length of a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.findings.figures.histograms import quantile
from agentdyno.findings.stress.judge_course import Course, Reading, blame, client_reading, served, weighted
from agentdyno.findings.stress.judge_steps import ERROR_LIMIT, StepOutcome, merge_windows
from agentdyno.findings.stress.model import BreakingPoint, LimitedBy
from agentdyno.findings.stress.words import share_words
from agentdyno.model.load import Window
from agentdyno.model.metric import format_value

BAND = 1.25
SLACK_S = 0.005
"""A latency is back within a quarter, or 5 ms, above that of the worst window of before."""


def half_life(windows: Sequence[Window], since_s: float, usual_s: float | None, q: float) -> float | None:
    """Seconds until the ``q`` quantile of a window's latency is half-way back from its peak to ``usual_s``.

    ``windows`` are those of the disturbance and after; ``None`` where it never is, or nothing tells.
    """
    seen = [(window, quantile(window.latency, q)) for window in windows if window.latency.count]
    values = [value for _, value in seen if value is not None]
    if usual_s is None or not values:
        return None
    halfway = usual_s + (max(values) - usual_s) / 2.0
    peaked = False
    for window, value in seen:
        if value is None:
            continue
        peaked = peaked or value >= max(values)
        if peaked and value <= halfway:
            return max(window.starts_s - since_s, 0.0)
    return 0.0 if max(values) <= usual_s * BAND else None


def time_to_recover(windows: Sequence[Window], since_s: float, before: Sequence[Window]) -> float | None:
    """Seconds from ``since_s`` to the first of two windows in a row (or the last one) in which errors and latency
    are as before; ``None`` where that never comes."""
    filled = [window for window in windows if window.asked]
    errors = max(ERROR_LIMIT, (merge_windows(before).error_rate or 0.0) * BAND)
    worst = {
        q: max((quantile(one.latency, q) or 0.0 for one in before if one.latency.count), default=0.0)
        for q in (0.5, 0.99)
    }
    back = [_is_back(window, errors, worst) for window in filled]
    for place, window in enumerate(filled):
        if back[place] and (place + 1 == len(filled) or back[place + 1]):
            return max(window.starts_s - since_s, 0.0)
    return None


def _is_back(window: Window, errors: float, worst: Mapping[float, float]) -> bool:
    """Whether fewer than ``errors`` of the window failed, and its latency is near the ``worst`` of before."""
    if 1.0 - window.ok / window.asked >= errors:
        return False
    for q, usual in worst.items():
        seen = quantile(window.latency, q)
        if seen is None or (usual > 0.0 and seen > max(usual * BAND, usual + SLACK_S)):
            return False
    return True


def read_spike(course: Course) -> Reading:
    """One step of three stages: before, the spike, after."""
    step = next(iter(course.steps), None)
    if step is None or not step.asked:
        return Reading(False, LimitedBy.NOTHING, "Nothing was measured.", None, step)
    before = [window for window in step.windows if window.stage == "steady"]
    spike = [window for window in step.windows if window.stage == "spike"]
    after = [window for window in step.windows if window.stage == "recovery"]
    judgement = course.judge(step)
    figures: dict[str, float | None] = {}
    if not (before and spike and after):
        return Reading(False, LimitedBy.NOTHING, "It was broken off before the target could recover.", None, step)
    over_s = spike[-1].starts_s + spike[-1].duration_s
    usual = merge_windows(before)
    for name, q in (("p50", 0.5), ("p99", 0.99)):
        base = quantile(usual.latency, q)
        figures[f"usual_latency_{name}_s"] = base
        figures[f"peak_latency_{name}_s"] = max(
            (quantile(window.latency, q) or 0.0 for window in [*spike, *after] if window.latency.count), default=None
        )
        life = "recovery_half_life_s" if q == 0.5 else "recovery_half_life_p99_s"
        figures[life] = half_life([*spike, *after], over_s, base, q)
    took = time_to_recover(after, over_s, before)
    figures["recovery_time_s"] = took
    figures["spike_error_rate"] = merge_windows(spike).error_rate
    if judgement.client:
        return client_reading(step, judgement.client, **figures)
    return _spike_reading(course, step, took, sum(window.duration_s for window in after), figures)


def _spike_reading(
    course: Course, step: StepOutcome, took: float | None, had_s: float, figures: dict[str, float | None]
) -> Reading:
    errors = course.judge(step)
    too_many = "error_rate" in errors.missed
    broke = took is None or too_many
    normal, high = step.note.get("normal_rate"), step.level
    point = None
    if broke and high is not None:
        low = float(normal) if isinstance(normal, (int, float)) else None
        missed = "error_rate" if too_many else "recovery"
        span = None if low is None else (low, high)
        point = BreakingPoint("rate", high, low, high, span, "requests/s", missed)
    back = f"back to usual {format_value(took, 's')} after it" if took is not None else f"not back within {had_s:g} s"
    evidence = (
        f"The spike raised latency p50 from {format_value(figures['usual_latency_p50_s'], 's')} to "
        f"{format_value(figures['peak_latency_p50_s'], 's')}; {back}; "
        f"{share_words(figures['spike_error_rate'])} failed in it."
    )
    score = weighted([(0.5, served(step)), (0.5, 0.0 if took is None else 1.0 - took / had_s)])
    limited = LimitedBy.NOTHING
    if broke:
        limited = blame(course, step, errors)
        limited = LimitedBy.LATENCY if limited is LimitedBy.NOTHING else limited
    return Reading(broke, limited, evidence, score, step, point, figures)


def read_faults(course: Course) -> Reading:
    """A step before, then a pair of steps for each fault: while it is on, and after."""
    before = course.role("normal")
    after = course.role("recovery")
    if not before or not before[0].asked or not after:
        return Reading(False, LimitedBy.NOTHING, "Nothing was measured.", None, next(iter(course.steps), None))
    figures: dict[str, float | None] = {}
    parts: list[float] = []
    lost: list[str] = []
    struck = {str(step.note.get("fault")): int(step.note["struck"]) for step in after if "struck" in step.note}
    for step in after:
        fault = str(step.note.get("fault", step.step))
        if struck.get(fault) == 0:  # it was well all the time
            continue
        took = time_to_recover(step.windows, step.windows[0].starts_s, before[0].windows) if step.windows else None
        figures[f"recovery_{fault}_s"] = took
        parts.append(0.0 if took is None or step.duration_s <= 0.0 else max(1.0 - took / step.duration_s, 0.0))
        if took is None:
            lost.append(fault)
    figures |= {f"struck_{fault}": float(count) for fault, count in struck.items()}
    for step in course.role("fault"):
        figures[f"fault_{step.note.get('fault', step.step)}_error_rate"] = step.error_rate
    known = [value for name, value in figures.items() if name.startswith("recovery_") and value is not None]
    figures["recovery_time_s"] = max(known) if known and not lost else None
    # Times are told to the length of a window: a lag of milliseconds in one step of many does not change them.
    reason = course.judge(before[0]).client
    limited_steps = [found for step in after if (found := course.judge(step).client)]
    if not reason and 2 * len(limited_steps) >= len(after):
        reason = limited_steps[0]
    if reason:
        return client_reading(before[0], reason, **figures)
    worst = f"the slowest took {format_value(figures['recovery_time_s'], 's')}" if not lost else ""
    evidence = "" if lost or parts else "No fault reached it."
    evidence = evidence or (
        f"It did not recover from {', '.join(lost)} in the time it had."
        if lost
        else f"It recovered from all {len(parts)} faults; {worst}."
    )
    limited = LimitedBy.ERRORS if lost else LimitedBy.NOTHING
    score = 100.0 * sum(parts) / len(parts) if parts else None
    return Reading(bool(lost), limited, evidence + _struck_words(struck), score, before[0], None, figures)


def _struck_words(struck: Mapping[str, int]) -> str:
    """How often each fault was seen to act, and which never did."""
    acted = ", ".join(f"{fault} {count} ×" for fault, count in struck.items() if count)
    idle = ", ".join(fault for fault, count in struck.items() if count == 0)
    return (f" Struck: {acted}." if acted else "") + (f" Never struck, and not scored: {idle}." if idle else "")
