"""One step of a load run as a whole: its windows added up, and whether it met the objectives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from agentdyno.findings.figures.histograms import mean, merged, quantile
from agentdyno.findings.stress.judge_client import client_limited
from agentdyno.model.load import Histogram, Objective, Outcome, SelfCheck, Window

ERROR_LIMIT = 0.01
SHORTFALL_LIMIT = 0.05
LATENCY_GROWTH = 5.0
SHORTFALL = "shortfall"
STEADY_ANSWERS = 25.0
"""How many typical answers' times the counted windows last, at least: what was under way is at most 4 % then."""
_FEWEST_WINDOWS = 3


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What came of one step. Counts are of requests, ``duration_s`` of the windows together.

    ``waited`` requests were sent late because every connection was busy. ``level`` is what the step stood for on the
    axis of its scenario (requests a second, requests in flight, words, bytes); ``None`` where it had none.
    """

    step: str
    duration_s: float
    asked: int
    sent: int
    late: int
    unsent: int
    waited: int
    completed: int
    outcomes: Mapping[str, int]
    slo_met: int | None
    latency: Histogram
    service: Histogram
    ttft: Histogram
    windows: tuple[Window, ...] = ()
    note: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def ok(self) -> int:
        return self.outcomes.get(Outcome.OK, 0)

    @property
    def rate_limited(self) -> int:
        return self.outcomes.get(Outcome.RATE_LIMITED, 0)

    @property
    def error_rate(self) -> float | None:
        """The share of what was asked that failed or was never sent; ``None`` where nothing was asked."""
        return 1.0 - self.ok / self.asked if self.asked else None

    @property
    def level(self) -> float | None:
        level = self.note.get("level")
        return float(level) if isinstance(level, (int, float)) else None

    @property
    def role(self) -> str:
        """What the step was for: ``normal``, ``search``, ``soak``, ``spike``, ``fault``, ``recovery``…"""
        return str(self.note.get("role", ""))

    @property
    def throughput_per_s(self) -> float:
        """Answers a second, counted in the windows after the start-up (see ``steady``)."""
        inside = steady(self.windows)
        seconds = sum(window.duration_s for window in inside)
        return sum(window.completed for window in inside) / seconds if seconds > 0.0 else self.per_s(self.completed)

    @property
    def goodput_per_s(self) -> float | None:
        """The part of the throughput that met every objective, as of all successes; ``None`` without objectives. What
        was due in the step and ended after it is in no throughput, and so in no goodput."""
        if self.slo_met is None:
            return None
        return self.throughput_per_s * self.slo_met / self.ok if self.ok else 0.0

    def per_s(self, count: float) -> float:
        return count / self.duration_s if self.duration_s > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class StepJudgement:
    """``met`` is ``None`` where the step says nothing about the target: nothing was asked, or the client was the
    limit (``client``: why). ``missed`` names the objectives that were missed, the most telling one first; ``values``
    has what was seen and the limit of each objective."""

    met: bool | None
    missed: tuple[str, ...] = ()
    values: Mapping[str, tuple[float | None, float]] = field(default_factory=dict)
    client: str = ""


def merge_windows(windows: Sequence[Window]) -> StepOutcome:
    """The windows of one step (or of a part of it) added up."""
    outcomes: dict[str, int] = {}
    for window in windows:
        for name, count in window.outcomes.items():
            outcomes[str(name)] = outcomes.get(str(name), 0) + count
    met = [window.slo_met for window in windows if window.slo_met is not None]
    sent = sum(window.sent for window in windows)
    on_their_own = sum(window.lag.count for window in windows)
    return StepOutcome(
        windows[0].step if windows else "",
        sum(window.duration_s for window in windows),
        sum(window.asked for window in windows),
        sent,
        sum(window.late for window in windows),
        sum(window.unsent for window in windows),
        max(sent - on_their_own, 0),
        sum(window.completed for window in windows),
        outcomes,
        sum(met) if met else None,
        merged(window.latency for window in windows),
        merged(window.service for window in windows),
        merged(window.ttft for window in windows),
        tuple(windows),
        dict(windows[0].note) if windows else {},
    )


def steady(windows: Sequence[Window]) -> tuple[Window, ...]:
    """The windows in which answers are counted: those after the start-up, which lasts until the first answers come.

    What a target had in its hands at the end of the start-up comes out afterwards, for at most one typical answer's
    time: where that is not small beside the rest, nothing is left out. Then the figure is too low by what the
    start-up took, and never too high. Answers that come after the last window are counted nowhere.
    """
    whole = tuple(windows)
    began = next((number for number, window in enumerate(whole) if window.completed), len(whole))
    rest = whole[began + 1 :]
    typical = quantile(merged(window.service for window in whole[: began + 1]), 0.5) or 0.0
    long_enough = sum(window.duration_s for window in rest) >= STEADY_ANSWERS * typical
    changes = len({window.stage for window in whole}) > 1  # a load of several stages has no one rate
    return rest if len(rest) >= _FEWEST_WINDOWS and long_enough and not changes else whole


def split_steps(windows: Iterable[Window]) -> tuple[StepOutcome, ...]:
    """One outcome per step, in the order in which the steps were done."""
    return tuple(merge_windows(tuple(group)) for _, group in groupby(windows, key=lambda window: window.step))


def measure(outcome: StepOutcome, objective: Objective) -> float | None:
    """What was seen of an objective's metric: seconds, or a share of 1; ``None`` where nothing tells."""
    if objective.metric == "error_rate":
        return outcome.error_rate
    if objective.metric in ("latency", "service", "ttft"):
        histogram: Histogram = getattr(outcome, objective.metric)
    else:
        histogram = merged(getattr(window, objective.metric) for window in outcome.windows)
    return mean(histogram) if objective.quantile is None else quantile(histogram, objective.quantile)


def limits(objectives: Sequence[Objective], base: StepOutcome | None) -> tuple[Objective, ...]:
    """The objectives that a level is held to: the user's, with the error rate added where they say none. Without any,
    the error rate, and a latency p99 below five times that of ``base``, the lowest level."""
    found = list(objectives)
    if not any(objective.metric == "error_rate" for objective in found):
        found.insert(0, Objective("error_rate", ERROR_LIMIT))
    typical = None if objectives or base is None else quantile(base.latency, 0.99)
    if typical is not None:
        found.append(Objective("latency", LATENCY_GROWTH * typical, 0.99))
    return tuple(found)


def shortfall(outcome: StepOutcome, base: StepOutcome | None = None) -> float | None:
    """The share of the asked rate that the target did not keep pace with; ``None`` where nothing was asked.

    Requests that were due in T seconds and took T seconds and a backlog b to be served were served at T / (T + b) of
    the asked rate. The backlog is how much longer answers took at the end of the step than unloaded (``base``), or
    than at its start, whichever is less: a latency that is higher but steady is no backlog.
    """
    if not outcome.asked or outcome.duration_s <= 0.0:
        return None
    behind = max(_backlog(outcome, base), 0.0)
    return 1.0 - outcome.ok / outcome.asked * outcome.duration_s / (outcome.duration_s + behind)


def _backlog(outcome: StepOutcome, base: StepOutcome | None) -> float:
    """Seconds by which the target was behind at the end of the step, as if it had fallen behind evenly."""
    filled = [window for window in outcome.windows if window.latency.count]
    if not filled:
        return 0.0
    total, last = outcome.duration_s, filled[-1]
    at_end = quantile(last.latency, 0.5) or 0.0
    found = []
    unloaded = None if base is None else quantile(base.latency, 0.5)
    if unloaded is not None:
        found.append((at_end - unloaded) * total / (total - last.duration_s / 2.0))
    between = (last.starts_s + last.duration_s / 2.0) - (filled[0].starts_s + filled[0].duration_s / 2.0)
    if len(filled) >= _FEWEST_WINDOWS and between > 0.0:
        found.append((at_end - (quantile(filled[0].latency, 0.5) or 0.0)) * total / between)
    return min(found, default=0.0)


def judge(
    outcome: StepOutcome,
    objectives: Sequence[Objective],
    base: StepOutcome | None = None,
    *,
    self_check: SelfCheck | None = None,
    open_loop: bool = True,
) -> StepJudgement:
    """Whether a step met the objectives (see ``limits``) and, in open loop, whether the target kept pace with 95 % of
    the asked rate. ``base`` is the step at the lowest level. ``objectives`` are taken as they are where a closed loop
    or a size is judged and ``base`` is ``None``."""
    if not outcome.asked:
        return StepJudgement(None)
    held_to = limits(objectives, base)
    error_limit = next(one.limit for one in held_to if one.metric == "error_rate")
    reason = client_limited(outcome.windows, self_check, objectives, closed=not open_loop, error_limit=error_limit)
    values: dict[str, tuple[float | None, float]] = {}
    missed = []
    for objective in held_to:
        seen = measure(outcome, objective)
        values[objective.name] = (seen, objective.limit)
        # An objective on time that no request succeeded to tell about is missed by the errors themselves.
        if seen is not None and seen >= objective.limit:
            missed.append(objective.name)
    if open_loop:
        behind = shortfall(outcome, base)
        values[SHORTFALL] = (behind, SHORTFALL_LIMIT)
        if behind is not None and behind > SHORTFALL_LIMIT:
            missed.append(SHORTFALL)
    return StepJudgement(None if reason else not missed, tuple(missed), values, reason)
