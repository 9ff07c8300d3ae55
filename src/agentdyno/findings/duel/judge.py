"""Who is better in what, who wins, or why nobody does: two agents, or all against all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.judge_cautions import suite_text
from agentdyno.findings.duel.judge_meeting import Meeting, conclude, meet
from agentdyno.findings.duel.model import AllAgainstAll, CaseScores, Duel
from agentdyno.findings.engine.judge import ALPHA, judge_family
from agentdyno.model import RunWarning
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord


def duel(baseline: AgentRecord, candidate: AgentRecord, *, seed: int = 0, alpha: float = ALPHA) -> Duel:
    """Both agents on the cases they share.

    Verdicts are after Holm's correction over the six rows, those per benchmark over all of theirs. A winner is
    significantly better overall, else better in something and worse in nothing. Raises ``NotComparable`` where no
    case is common.
    """
    meeting = meet(baseline, candidate, seed=seed)
    return conclude(meeting, judge_family(meeting.rows, alpha), judge_family(meeting.benchmark_rows, alpha))


def all_against_all(records: Sequence[AgentRecord], *, seed: int = 0, alpha: float = ALPHA) -> AllAgainstAll:
    """Every pair of agents, the earlier one as the baseline; Holm's correction over all pairs and rows together.

    A pair without a common case is left out with a warning. Raises ``NotComparable`` for fewer than two agents, for
    two records of one agent, and where no pair has a common case.
    """
    agents = tuple(record.agent for record in records)
    twice = [agent for agent, times in Counter(agents).items() if times > 1]
    if twice:
        raise NotComparable(f"{twice[0]} is named twice", remedy="Name each version once.")
    if len(agents) < 2:
        raise NotComparable("one agent alone cannot be compared", remedy="Name at least two: `dyno compare A B`.")
    meetings: list[Meeting] = []
    apart: list[RunWarning] = []
    for first, second in combinations(records, 2):
        try:
            meetings.append(meet(first, second, seed=seed))
        except NotComparable as error:
            text = f"{first.agent} and {second.agent}: {error.message}"
            apart.append(RunWarning("not-comparable", text, error.remedy or ""))
    if not meetings:
        raise NotComparable(f"no two of {', '.join(agents)} have a case in common", remedy=apart[0].remedy)
    duels = _judged(meetings, alpha)
    wins = {agent: sum(item.winner == agent for item in duels) for agent in agents}
    winner, why = _winner(agents, duels, wins)
    warnings = dict.fromkeys([*apart, *(warning for item in duels for warning in item.warnings)])
    return AllAgainstAll(
        agents=agents,
        suite=suite_text(records[0]),
        duels=duels,
        wins=wins,
        winner=winner,
        why=why,
        cases=case_scores(records),
        warnings=tuple(warnings),
    )


def case_scores(records: Sequence[AgentRecord]) -> tuple[CaseScores, ...]:
    """Every case under every agent, those on which they disagree first and of these the most divided.

    A case that an agent was asked in another form, or that was judged by another rubric, has no score there.
    """
    asked: dict[CaseKey, tuple[str, str, float]] = {}
    found: dict[CaseKey, dict[str, float | None]] = {}
    for record in records:
        rubrics = {item.benchmark_id: item for item in record.benchmarks}
        for case in record.cases:
            of = rubrics[case.benchmark]
            form = asked.setdefault(case.key, (case.digest, of.rubric, of.pass_threshold))
            same = form[:2] == (case.digest, of.rubric)
            found.setdefault(case.key, {})[record.agent] = case.score if same else None
    made = []
    for key, scores in found.items():
        known = [score for score in scores.values() if score is not None]
        passes = {score >= asked[key][2] for score in known}
        row = CaseScores(key, {record.agent: scores.get(record.agent) for record in records}, len(passes) > 1)
        made.append((not row.disagree, min(known) - max(known) if known else 0.0, key.benchmark, key.case_id, row))
    return tuple(item[-1] for item in sorted(made, key=lambda item: item[:-1]))


def _judged(meetings: Sequence[Meeting], alpha: float) -> tuple[Duel, ...]:
    """All rows of all pairs are one family, those per benchmark another."""
    rows = judge_family([row for meeting in meetings for row in meeting.rows], alpha)
    parts = judge_family([row for meeting in meetings for row in meeting.benchmark_rows], alpha)
    duels = []
    for meeting in meetings:
        own, rows = rows[: len(meeting.rows)], rows[len(meeting.rows) :]
        part, parts = parts[: len(meeting.benchmark_rows)], parts[len(meeting.benchmark_rows) :]
        duels.append(conclude(meeting, own, part))
    return tuple(duels)


def _winner(agents: Sequence[str], duels: Sequence[Duel], wins: dict[str, int]) -> tuple[str | None, str]:
    beaten = {_loser(item) for item in duels if item.winner is not None}
    best = [agent for agent in agents if wins[agent] and agent not in beaten]
    if len(best) == 1:
        others = [_loser(item) for item in duels if item.winner == best[0]]
        rest = len(agents) - 1 - len(others)
        text = f"beats {', '.join(others)}"
        return best[0], text if not rest else f"{text}; not told apart from the other {rest}"
    if best:
        return None, f"no winner: {' and '.join(best)} are not beaten and not told apart"
    if beaten:
        return None, "no winner: everyone who beats another is beaten too"
    undecided = duels[0].why.removeprefix("no winner: ")
    return None, f"no winner: no pair is decided ({duels[0].baseline} → {duels[0].candidate}: {undecided})"


def _loser(item: Duel) -> str:
    return item.baseline if item.winner == item.candidate else item.candidate
