"""What a report says before its tables: the headline, the facts, the warnings. One wording for all formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentdyno.contracts import Report
from agentdyno.findings.catalogue import conclusion_warnings, sections
from agentdyno.findings.run.tables import arm_name, has_usable, planned, statuses
from agentdyno.findings.standing.tables_labels import agent_labels, judged_pairs_of, standing_in
from agentdyno.model import Comparison, RunStatus, RunWarning, Status, Verdict
from agentdyno.model.form import NOT_CREDIBLE, WHOLE
from agentdyno.registry.installed import has_windows
from agentdyno.show.table import Tone
from agentdyno.show.wording import count, label, one_line, percent, show, took, verdict_text, verdict_tone, when

if TYPE_CHECKING:
    from agentdyno.findings.standing.model import HeadToHead, SuiteStanding
    from agentdyno.model import RunResult

SHARED_BY = 3
"""Arms with the same warning from which it is said once for all of them."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The one sentence to read. ``label`` is a short verdict or status, with a sign."""

    label: str
    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning with its remedy and, where it concerns arms, their name."""

    message: str
    remedy: str
    arm: str = ""


def title(report: Report) -> str:
    """The names of the runs, or of what was concluded."""
    concluded = sections(report.findings)
    if concluded and not report.results:
        return concluded[0].title
    names = list(dict.fromkeys(one_line(result.name) for result in report.results))
    if not names:
        return "agentdyno report"
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def headlines(report: Report) -> tuple[Headline, ...]:
    """One per comparison, else one per run."""
    concluded = tuple(Headline(part.lead.label, part.lead.text, part.lead.tone) for part in sections(report.findings))
    if concluded:
        return concluded
    if report.findings.comparisons:
        return tuple(compared(comparison) for comparison in report.findings.comparisons)
    pairs = judged_pairs_of(report)
    return tuple(ran(result, standing_in(report, result), pairs) for result in report.results)


def compared(value: Comparison) -> Headline:
    from agentdyno.findings.comparison.tables import comparison_title, tally
    from agentdyno.findings.comparison.tables_arms import arms_told, is_of_one_run

    verdict = value.verdict
    if is_of_one_run(value):
        return Headline(verdict_text(verdict), arms_told(value), verdict_tone(verdict))
    ground = "paired" if value.paired else "unpaired"
    text = f"{comparison_title(value)}: {tally(value)} ({ground})."
    return Headline(verdict_text(verdict), text + _worst(value), verdict_tone(verdict))


def _worst(value: Comparison) -> str:
    worse = [
        (abs((row.ratio or 1.0) - 1), row.ratio, row.metric.name, one_line(arm.name))
        for arm in value.arms
        for row in arm.metrics
        if row.verdict is Verdict.WORSE and row.ratio is not None
    ]
    if not worse:
        return ""
    _, ratio, metric, arm = max(worse, key=lambda item: item[0])
    size = percent(abs((ratio or 1.0) - 1))
    return f" Furthest: {label(metric)} of {arm} is {size} {'higher' if (ratio or 1.0) > 1 else 'lower'}."


def ran(result: RunResult, standing: SuiteStanding | None = None, pairs: Sequence[HeadToHead] = ()) -> Headline:
    """How a run ended; of a suite, with what it says of its agents."""
    if standing is not None:
        return suite_ran(result, standing, pairs)
    wanted = sum(planned(arm) for arm in result.arms)
    fine = sum(statuses(arm).get(Status.OK, 0) for arm in result.arms)
    text = f"{count(len(result.arms), 'arm')}, {fine:,} of {count(wanted, 'planned sample')} ok."
    empty = sum(not has_usable(arm) for arm in result.arms)
    if empty and result.arms:
        text += f" {count(empty, 'arm')} without any usable sample."
    if result.stopped_because:
        text += f" Stopped early: {one_line(result.stopped_because).rstrip('.')}."
    if result.status is RunStatus.FAILED or (result.arms and empty == len(result.arms)):
        return Headline("✗ failed", text, Tone.BAD)
    if result.status is RunStatus.COMPLETE and fine == wanted and not empty:
        return Headline("✓ complete", text, Tone.GOOD)
    sign = "…" if result.status is RunStatus.RUNNING else "!"
    return Headline(f"{sign} {result.status.value}", text, Tone.WARN)


def suite_ran(result: RunResult, standing: SuiteStanding, pairs: Sequence[HeadToHead]) -> Headline:
    """A wrong answer is a result: only what is missing, or never answered, spoils a run."""
    from agentdyno.findings.standing.words import verdict_sentence  # a run of an experiment does without it

    wanted = sum(planned(arm) for arm in result.arms)
    done = sum(number for arm in result.arms for name, number in statuses(arm).items() if name != Status.CANCELLED)
    text = verdict_sentence(standing, agent_labels(standing), pairs)
    if done < wanted:
        text += f" {done:,} of {count(wanted, 'planned execution')} done."
    text += form_text(result)
    unanswered = sum(not has_usable(arm) for arm in result.arms)
    if unanswered:
        text += f" {count(unanswered, 'arm')} without any answer."
    if result.stopped_because:
        text += f" Stopped early: {one_line(result.stopped_because).rstrip('.')}."
    if result.status is RunStatus.FAILED or (result.arms and unanswered == len(result.arms)):
        return Headline("✗ failed", text, Tone.BAD)
    if result.status is RunStatus.COMPLETE and not unanswered:
        return Headline("✓ complete", text, Tone.GOOD)
    sign = "…" if result.status is RunStatus.RUNNING else "!"
    return Headline(f"{sign} {result.status.value}", text, Tone.WARN)


def _order(result: RunResult) -> str:
    """A load has no order of its own: its scenarios say when what is asked."""
    if has_windows(result.kind):
        return result.kind
    return f"{result.spec.order.value}, {result.spec.isolation.value}"


def form_text(result: RunResult) -> str:
    """What a run was where it was no whole run of its suite: such runs are on no board unless asked for."""
    from agentdyno.model.result import form_of

    form = form_of(result)
    if form in WHOLE:
        return ""
    asked = result.form
    cases = epochs = ""
    if asked is not None and asked.cases < asked.suite_cases:
        cases = f", {asked.cases:,} of {count(asked.suite_cases, 'case')}"
    if asked is not None and asked.epochs < asked.suite_epochs:
        epochs = f", {asked.epochs} of {count(asked.suite_epochs, 'epoch')}"
    return f" A {form.value} run{cases}{epochs}: not on boards, in histories or a baseline unless asked for."


def facts(result: RunResult) -> tuple[tuple[str, str], ...]:
    """Label and value of what identifies the run."""
    machine = result.environment
    rows = [
        ("run", result.run_id),
        ("started", f"{when(result.started_at)} UTC"),
        ("took", took(result.started_at, result.finished_at, result.paused_ms)),
        (
            "machine",
            f"{one_line(machine.cpu_model)}, {machine.cpu_count} CPUs, {show(machine.memory_bytes, 'bytes')}",
        ),
        ("python", f"{one_line(machine.implementation)} {one_line(machine.python)}, {one_line(machine.os)}"),
        ("seed", str(result.seed)),
        ("order", _order(result)),
    ]
    if result.origin:
        rows.append(("imported from", origin_text(result)))
    if result.suite is not None:
        version = f" {one_line(result.suite.version)}" if result.suite.version else ""
        rows.append(("suite", f"{one_line(result.suite.name)}{version}, content {result.suite.digest[:10]}"))
    if result.vcs is not None:
        where = f" on {one_line(result.vcs.branch)}" if result.vcs.branch else ""
        rows.append(("commit", f"{result.vcs.commit[:12]}{where}{', with changes' if result.vcs.dirty else ''}"))
    if result.tags:
        rows.append(("tags", one_line(", ".join(result.tags))))
    if result.notes:
        rows.append(("notes", one_line(result.notes)))
    return tuple(rows)


def origin_text(result: RunResult) -> str:
    """``pyperf 2.9.0, bench.json``."""
    tool = " ".join(part for part in (result.origin.get("tool", ""), result.origin.get("version", "")) if part)
    return one_line(", ".join(part for part in (tool, result.origin.get("file", "")) if part))


def notices(report: Report) -> tuple[Notice, ...]:
    """Every warning once, in the order run, findings, comparisons.

    What three or more arms are warned of is said once, with the first of them as the example; but for values that
    cannot be, each of which is another.
    """
    names = {arm.arm_id: arm_name(arm) for result in report.results for arm in result.arms}
    warnings: list[RunWarning] = [warning for result in report.results for warning in result.warnings]
    warnings += report.findings.warnings
    warnings += [warning for comparison in report.findings.comparisons for warning in comparison.warnings]
    warnings += conclusion_warnings(report.findings)
    once = dict.fromkeys(warnings)
    arms = Counter(warning.code for warning in once if warning.arm_id is not None)
    found, said = [], set()
    for warning in once:
        shared = warning.arm_id is not None and arms[warning.code] >= SHARED_BY and warning.code != NOT_CREDIBLE
        if shared and warning.code in said:
            continue
        said.add(warning.code)
        arm = names.get(warning.arm_id or "", "")
        if shared:
            arm = f"{arm} and {arms[warning.code] - 1} other arms" if arm else f"{arms[warning.code]} arms"
        found.append(Notice(one_line(warning.message), one_line(warning.remedy), arm))
    return tuple(found)
