"""Reading the scenarios that look for a level: of rate, concurrency, size, memory, and of a rate limit."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.findings.figures.histograms import mean, merged
from agentdyno.findings.stress.judge_course import (
    Course,
    Reading,
    at_level,
    blame,
    client_reading,
    position,
    search_reading,
    served,
    weighted,
)
from agentdyno.findings.stress.judge_levels import CONCURRENCY, RATE_LIMIT, Bracket, axis_of, breaking_point, verdicts
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.model import FittedLaw, LimitedBy
from agentdyno.findings.stress.words import level_words, missed_words, share_words
from agentdyno.stats.usl import fit_usl


def read_high_load(course: Course) -> Reading:
    """Score: half what succeeded at the high rate, half how much of it was held."""
    high = next(iter(course.role("high")), None)
    if high is None:
        return Reading(False, LimitedBy.NOTHING, "Nothing was measured.", None, next(iter(course.steps), None))
    judgement = course.judge(high)
    if judgement.client:
        return client_reading(high, judgement.client)
    asked = high.level or 1.0
    if judgement.met is not False:
        evidence = f"{level_words('rate', asked)} held for {high.duration_s:g} s."
        return Reading(False, LimitedBy.NOTHING, evidence, weighted([(0.5, served(high)), (0.5, 1.0)]), high)

    def score(between: Bracket) -> float | None:
        return weighted([(0.5, served(high)), (0.5, (between.held or 0.0) / asked)])

    found = search_reading(course, score)
    limited = blame(course, high, judgement)
    evidence = f"At {level_words('rate', asked)} {missed_words(judgement)}. {found.evidence}"
    if found.point is not None and found.point.broke == high.level:
        evidence = found.evidence
    if not found.broke:
        # The search met the limit of the client on its way: the high load broke the target all the same.
        return Reading(True, limited, evidence, None, high, client_reason=found.client_reason)
    return replace(found, limited_by=limited, evidence=evidence, main=high)


def read_limit(course: Course) -> Reading:
    """The search by itself has no score: how much is enough is not known. In closed loop the law is fitted."""
    found = search_reading(course, lambda _: None)
    law = scaling_law(course) if found.main is not None and axis_of(found.main) == CONCURRENCY else None
    return replace(found, law=law)


def read_concurrency(course: Course) -> Reading:
    start, ceiling = course.number("start_concurrency") or 1.0, course.number("max_concurrency")
    found = search_reading(course, lambda between: 100.0 * position(between.held, start, ceiling or start))
    law = scaling_law(course)
    figures: dict[str, float | None] = {}
    points = [(step.level, flow(step)) for step in course.steps if step.level is not None]
    best = max(((level, rate) for level, rate in points if rate is not None), key=lambda one: one[1], default=None)
    if best is not None:
        figures = {"peak_throughput_per_s": best[1], "peak_concurrency": best[0]}
    if law is not None:
        figures["contention"], figures["coherency"] = law.contention, law.coherency
    return replace(found, law=law, figures={**found.figures, **figures})


def flow(step: StepOutcome) -> float | None:
    """Successes a second in closed loop, counted; ``None`` without any."""
    return step.throughput_per_s if step.asked and step.completed else None


def little(step: StepOutcome) -> float | None:
    """Successes a second by Little's law: so many in flight, each for so long. What was due in the first window is
    left out, as it met a target that had nothing to do yet."""
    rest = step.windows[1:]
    typical = mean(merged(window.latency for window in rest))
    asked = sum(window.asked for window in rest)
    if step.level is None or not typical or not asked:
        return flow(step)
    return step.level / typical * sum(window.ok for window in rest) / asked


def scaling_law(course: Course) -> FittedLaw | None:
    """The universal scalability law through the levels of concurrency; ``None`` under three of them."""
    points = [
        (step.level, rate)
        for step in course.steps
        if step.level is not None and axis_of(step) == CONCURRENCY and (rate := little(step)) and step.level >= 1.0
    ]
    if not points:
        return None
    fit = fit_usl([level for level, _ in points], [rate for _, rate in points])
    if fit is None:
        return None
    spans = [
        None if one is None else (one.low, one.high) for one in (fit.contention_interval, fit.coherency_interval)
    ]
    return FittedLaw(
        "usl", fit.single, fit.contention, spans[0], fit.coherency, spans[1], fit.peak, fit.r_squared, tuple(points)
    )


def read_size(course: Course) -> Reading:
    start, ceiling = course.number("start_words") or 1.0, course.number("max_words")
    found = search_reading(course, lambda between: 100.0 * position(between.held, start, ceiling or start))
    longest = max((step.level for step in course.steps if step.level is not None and step.ok), default=None)
    return replace(found, figures={"longest_answered_words": longest})


def read_rate_limit(course: Course) -> Reading:
    """A rate limit is no break: the target protects itself. Score: 0.4 for refusing cleanly (no other errors), 0.3
    for still serving its limit when asked for twice that, 0.3 for a Retry-After that can be relied on."""
    found = search_reading(course, lambda _: None)
    between = course.bracket()
    if found.limited_by is not LimitedBy.RATE_LIMIT or between.broke is None:
        told = found.evidence.rstrip(".")
        return replace(found, evidence=f"No rate limit was met. {told}.", score=None)
    over = next(iter(course.role("over")), None)
    honoured = next(iter(course.role("honoured")), None)
    figures: dict[str, float | None] = {"limit_per_s": between.held}
    clean = kept = effective = None
    if over is not None and over.asked:
        clean = (over.ok + over.rate_limited) / over.asked
        effective = over.throughput_per_s
        figures |= {
            "effective_per_s": effective,
            "refused_share": over.rate_limited / over.asked,
            "clean_share": clean,
        }
    if over is not None and honoured is not None and honoured.sent and over.rate_limited:
        refused = honoured.rate_limited / honoured.sent
        kept = max(1.0 - refused / (over.rate_limited / over.sent), 0.0)
        figures |= {"retry_after_kept_rate": kept, "honoured_refused_share": refused}
        figures["honoured_effective_per_s"] = honoured.throughput_per_s
    limit = between.held or between.broke
    score = weighted([(0.4, clean), (0.3, None if effective is None else effective / limit), (0.3, kept)])
    dirty = clean is not None and clean < 0.99
    evidence = f"It refuses above {level_words(RATE_LIMIT, limit)}"
    if effective is not None:
        evidence += f"; asked for more, it serves {effective:.4g} a second"
    if kept is not None:
        evidence += f"; waiting as told avoids {share_words(kept)} of the refusals"
    if dirty and clean is not None:
        evidence += f"; {share_words(1.0 - clean)} fail otherwise than by being refused"
    return replace(found, broke=dirty, evidence=evidence + ".", score=score, figures=figures)


def read_memory(course: Course) -> Reading:
    """Score: 0.8 for the share of the limits that held, 0.2 for being well again once the limit is gone."""
    limits = [step for step in course.steps if step.level is not None]
    if not limits:
        evidence = "Nothing here could limit its memory: it was asked without a limit, and nothing is said about it."
        return Reading(False, LimitedBy.NOTHING, evidence, None, next(iter(course.steps), None))
    means = next((str(step.note["means"]) for step in limits if step.note.get("means")), "")
    found = verdicts(limits, course.judge)
    broke = next((one for one in reversed(found) if one.met is False), None)
    held = min((one.level for one in found if one.met and (broke is None or one.level > broke.level)), default=None)
    # What was enough is enough for a step with more, whatever its client was doing.
    known = [one for one in found if one.met is not None or held is None or one.level < held]
    client = next((one.decisive.client for one in known if one.decisive.client), "")
    used = next((step.note["in_use"] for step in limits if isinstance(step.note.get("in_use"), (int, float))), None)
    figures: dict[str, float | None] = {
        "memory_in_use_bytes": float(used) if isinstance(used, (int, float)) else None
    }
    if client and broke is None:
        return client_reading(course.base, client, **figures)
    planned = course.params.get("shares")
    # Lower limits than those that were tried could not be enforced, or were not needed any more.
    count = len(planned) if isinstance(planned, (list, tuple)) and planned and broke is not None else len(found)
    enough = sum(one.met is True or one not in known for one in found)
    after = next(iter(course.role("recovery")), None)
    well = 1.0 if broke is None else float(after is not None and course.judge(after).met is True)
    figures["recovered"] = well if broke is not None else None
    score = weighted([(0.8, enough / count), (0.2, well)])
    if broke is None:
        how = f" by {means}" if means else ""
        evidence = f"{level_words('memory', held or 0.0)} were enough, the least that could be enforced{how}."
        return Reading(False, LimitedBy.NOTHING, evidence, score, at_level(course, held), None, figures)
    between = Bracket(held, broke.level, None, broke.decisive)
    least = f"{level_words('memory', held)} were enough" if held is not None else "no limit that was tried was enough"
    evidence = f"With {level_words('memory', broke.level)} {missed_words(broke.decisive)}; {least}."
    evidence += f" Limited by {means}." if means else ""
    point = breaking_point("memory", between)
    return Reading(True, LimitedBy.MEMORY, evidence, score, at_level(course, broke.level), point, figures)
