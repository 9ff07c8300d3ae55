"""Which reference a subject's times are normalised by: learned from its own repeated runs on this host.

The usual one is kept once it has proved itself. Another one, or none at all, may be what a quiet day shows: it is
looked at again after every run, since all ways are noted of all runs, and gives way to what the runs show by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.figures.normalised import NORMALISED, variant
from agentdyno.model import Arm, RunResult
from agentdyno.runs.host_state import keep_ways, read_state
from agentdyno.runs.normalising import WAYS

if TYPE_CHECKING:
    from agentdyno.findings.record.judge_spread import RunFigure
    from agentdyno.store import Store
    from agentdyno.store.rows import RepeatRow


def known_ways(arms: Iterable[Arm]) -> dict[str, str]:
    """What was learned of each arm's subject, by arm id; ``"raw"`` where no reference steadies it."""
    ways = read_state().ways
    if not ways:
        return {}
    found = {arm.arm_id: ways.get(_subject(arm.agent, arm.experiment, arm.params)) for arm in arms}
    return {arm_id: way for arm_id, way in found.items() if way is not None}


def learn_ways(store: Store, result: RunResult) -> None:
    """Looks at the subjects of a finished run of which nothing, or nothing usual, was learned, and keeps what can be
    told by now."""
    known = read_state().ways
    normalised = [arm for arm in result.arms if {NORMALISED, variant(WAYS[0])} & arm.metrics.keys()]
    subjects = {_subject(arm.agent, arm.experiment, arm.params) for arm in normalised}
    subjects -= {subject for subject, way in known.items() if way == WAYS[0]}
    if not subjects:
        return
    from agentdyno.findings.record.judge_spread import steadiest_way

    figures = figures_of(store.runs.repeated(result.environment.host_id))
    found = {
        subject: steadiest_way([figure for figure in figures if figure.subject == subject], WAYS)
        for subject in sorted(subjects)
    }
    learned = {subject: way for subject, way in found.items() if way is not None and way != known.get(subject)}
    if learned:
        keep_ways(learned)


def figures_of(rows: Sequence[RepeatRow]) -> list[RunFigure]:
    """Stored arms as figures of their subjects. Runs of another size, or in which another side took turns, are not
    repeats of the same thing."""
    from agentdyno.findings.record.judge_spread import RunFigure

    return [
        RunFigure(
            _subject(row.agent, row.experiment, row.params),
            f"{row.suite} {row.benchmark} {row.planned} {row.side}",
            row.agent or f"{row.commit} {row.python}",
            row.run_id,
            row.medians,
        )
        for row in rows
    ]


def _subject(agent: str | None, experiment: str, params: Mapping[str, object]) -> str:
    from agentdyno.findings.record.judge_spread import subject_of  # nothing is learned of most runs

    if agent:
        return subject_of("agent", agent.rpartition("@")[0] or agent, {})
    return subject_of("experiment", experiment, params)
