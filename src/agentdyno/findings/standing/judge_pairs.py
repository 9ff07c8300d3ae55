"""Of three or more agents, the first against every other one: which of these differences are real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.errors import NotComparable
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.standing.model import HeadToHead, SuiteStanding
from agentdyno.model import RunResult, Verdict
from agentdyno.model.policy import GatePolicy
from agentdyno.settings.judging import LEVEL
from agentdyno.stats import holm

MOST_AGENTS = 12
"""More agents than these are for a board: every pair costs a judgement, and all of them are corrected together."""
_DECIDED = (Verdict.BETTER, Verdict.WORSE)


def judged_pairs(
    result: RunResult, figures: Mapping[str, ArmFigures], standing: SuiteStanding, policy: GatePolicy
) -> tuple[HeadToHead, ...]:
    """Each other agent as the baseline, the first as the candidate; verdicts are corrected over all of them.

    Empty for two agents, which have their head-to-head already.
    """
    from agentdyno.findings.engine.judgement import judgement
    from agentdyno.findings.record.judge import record_of

    agents = [item.agent for item in standing.agents]
    if not 2 < len(agents) <= MOST_AGENTS:
        return ()
    try:
        best, *others = (record_of(result, figures, agent) for agent in agents)
    except NotComparable:
        return ()
    return _corrected([judgement(other, best, policy).flips for other in others])


def corrected_standing(standing: SuiteStanding, pairs: Sequence[HeadToHead]) -> SuiteStanding:
    """The standing with what ``pairs`` say of its head-to-head, whichever of the two is the baseline there: a pair
    has one verdict, wherever it is told."""
    own = standing.head_to_head
    if own is None:
        return standing
    pair = next((item for item in pairs if {item.baseline, item.candidate} == {own.baseline, own.candidate}), None)
    if pair is None:
        return standing
    lost = own.verdict in _DECIDED and pair.verdict not in _DECIDED
    verdict = Verdict.INCONCLUSIVE if lost else own.verdict
    own = replace(own, adjusted_p=pair.adjusted_p, family=pair.family, verdict=verdict)
    return replace(standing, head_to_head=own)


def _corrected(pairs: list[HeadToHead]) -> tuple[HeadToHead, ...]:
    """Holm over what the judgement of each pair left, so that one of many is no winner by chance."""
    tested = [place for place, pair in enumerate(pairs) if pair.adjusted_p is not None]
    adjusted = holm([pairs[place].adjusted_p or 0.0 for place in tested])
    for place, p_value in zip(tested, adjusted, strict=True):
        pair = pairs[place]
        lost = pair.verdict in _DECIDED and p_value >= LEVEL
        pairs[place] = replace(
            pair, adjusted_p=p_value, verdict=Verdict.INCONCLUSIVE if lost else pair.verdict, family=len(pairs)
        )
    return tuple(pairs)
