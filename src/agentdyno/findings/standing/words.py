"""Sentences about the agents of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentdyno.model.metric import Verdict

if TYPE_CHECKING:  # a board takes one sentence from here, and none of these
    from agentdyno.findings.standing.model import AgentStanding, HeadToHead, SuiteStanding

_ROUNDING = 1e-9
_MOST_NAMED = 3
_DECIDED = (Verdict.BETTER, Verdict.WORSE)


def verdict_sentence(standing: SuiteStanding, labels: Mapping[str, str], pairs: Sequence[HeadToHead] = ()) -> str:
    """What a run says in one sentence: of one agent what it passed, of two the verdict, of more who stands first.

    ``pairs`` are those of the first of three or more agents with every other one.
    """
    agents = standing.agents
    if not agents:
        return "no agent has answered."
    if len(agents) == 1:
        return _alone(agents[0], labels[agents[0].agent])
    found = standing.head_to_head
    if len(agents) == 2 and found is not None and found.cases and found.difference is not None:
        return pair_sentence(found, labels)
    return _first(agents, labels, pairs)


def pair_sentence(found: HeadToHead, labels: Mapping[str, str]) -> str:
    """Which of two agents is more accurate, or that it is not decided, and what would decide it.

    Where accuracy does not decide and the error rate does, the error rate is the verdict: what an agent did not
    answer is no part of its accuracy.
    """
    first, second = (labels.get(agent, agent) for agent in (found.baseline, found.candidate))
    failing = found.error_verdict in _DECIDED
    verdict = found.error_verdict if failing and found.verdict not in _DECIDED else found.verdict
    told = {
        Verdict.BETTER: f"{second} is better than {first}",
        Verdict.WORSE: f"{second} is worse than {first}",
        Verdict.SAME: f"{first} and {second} are equally accurate",
    }.get(verdict or found.verdict, f"not decided between {first} and {second}")
    accuracy = f"accuracy {_hundred(found.baseline_mean)} → {_hundred(found.candidate_mean)} on "
    accuracy += f"{found.cases:,} of " if found.unpaired else ""
    accuracy += "1 case" if found.cases + found.unpaired == 1 else f"{found.cases + found.unpaired:,} cases"
    told_first = [accuracy]
    if failing and found.error_rates is not None:
        before, now = found.error_rates
        told_first.append(f"{100 * before:.0f} → {100 * now:.0f} % of executions ended in an error")
    text = f"{told}: {'; '.join(told_first[:: 1 if found.verdict in _DECIDED else -1])}"
    if verdict is Verdict.INCONCLUSIVE and found.more_cases is not None:
        text += f"; about {found.more_cases:,} more would decide"
    return f"{text}."


def _alone(agent: AgentStanding, label: str) -> str:
    accuracy = agent.scores["accuracy"]
    text = f"{label} passed {agent.passed:,} of {agent.samples:,}"
    if accuracy.value is not None:
        text += f", accuracy {100 * accuracy.value:.0f}"
        if accuracy.interval is not None:
            text += f" ({100 * accuracy.interval[0]:.0f}–{100 * accuracy.interval[1]:.0f})"
        text += " of 100"
        if agent.unanswered:
            text += f" in the {agent.scored:,} of {agent.cases:,} cases that it answered"
    return f"{text}."


def _first(agents: Sequence[AgentStanding], labels: Mapping[str, str], pairs: Sequence[HeadToHead]) -> str:
    """By the overall score where all of it is known, else by accuracy; who has as many points shares the place.

    Points are of the cases that were answered: who left more of them unanswered does not share the place, and who
    left any is said. The one who is first says from whom its accuracy was not told apart.
    """
    whole = not any(agent.missing or agent.not_measured for agent in agents)
    name = "overall" if whole else "accuracy"
    values = {agent.agent: value for agent in agents if (value := agent.scores[name].value) is not None}
    if not values:
        return f"nothing is known of the accuracy of {len(agents)} agents."
    most = max(round(100 * value) for value in values.values())
    alike = [agent for agent in agents if round(100 * values.get(agent.agent, -1.0)) == most]
    fewest = min(agent.unanswered for agent in alike)
    leaders = [agent.agent for agent in alike if agent.unanswered == fewest]
    best = [labels[agent] for agent in leaders]
    what = f"{'overall' if whole else 'accuracy'} {most} of 100"
    left = [agent for agent in alike if agent.unanswered]
    answered = "".join(
        f"; {labels[agent.agent]} answered {agent.cases - agent.unanswered:,} of {agent.cases:,} cases"
        for agent in (left if len(left) <= _MOST_NAMED else ())
    )
    if len(best) == 1:
        undecided = [labels[pair.baseline] for pair in pairs if pair.candidate == leaders[0] and _undecided(pair)]
        return f"{best[0]} is first of {len(agents)} agents, {what}{not_told_apart(undecided)}{answered}."
    if len(best) > _MOST_NAMED:
        return f"{len(best)} of {len(agents)} agents share the first place, {what}{answered}."
    return f"{' and '.join(best)} share the first place of {len(agents)} agents, {what}{answered}."


def _undecided(pair: HeadToHead) -> bool:
    return pair.cases > 0 and pair.verdict not in _DECIDED


def not_told_apart(names: Sequence[str]) -> str:
    """``, not told apart from a, b and c``: who may be as good as the one just named; "" for nobody."""
    if not names:
        return ""
    if len(names) > _MOST_NAMED:
        return f", not told apart from {len(names):,} others"
    return f", not told apart from {' and '.join(part for part in (', '.join(names[:-1]), names[-1]) if part)}"


def _hundred(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.0f}"


def too_small(agent: AgentStanding, least: float) -> str:
    """What is wrong with an agent whose accuracy is below ``least`` (``fail_under``), or not known; "" for others.

    What is asked for is asked of every case: one that the agent did not answer is not right.
    """
    accuracy = agent.scores["accuracy"].value if agent.accuracy_of_all is None else agent.accuracy_of_all
    if accuracy is not None and accuracy >= least - _ROUNDING:
        return ""
    found = "not known" if accuracy is None else f"{accuracy:.3f}"
    if agent.unanswered:
        found += f" where the {agent.unanswered:,} of {agent.cases:,} cases that ended in an error count as wrong"
    return f"The accuracy of {agent.agent} is {found}, at least {least:g} is asked for (fail_under)."


def all_too_small(agents: Sequence[AgentStanding], least: float | None) -> list[str]:
    """A sentence for each agent that is not as accurate as is asked for."""
    return [] if least is None else [text for agent in agents if (text := too_small(agent, least))]
