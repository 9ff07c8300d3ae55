"""Judges asked one by one, and what their votes come to."""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentdyno.contracts import Agent, CaseFailed
from agentdyno.model.case import Case, Response, Usage
from agentdyno.pricing import PriceBook
from agentdyno.scorers.answer import as_text, shortened

Voting: TypeAlias = Literal["majority", "mean"]
Grades: TypeAlias = Mapping[str, float | None]
Order: TypeAlias = Literal["reference first", "answer first"]
_PAUSE_S = 1.0
"""Before the judge is asked again, where it does not say how long."""


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """What one judge said once. ``order`` is what it read first; ``problem`` is why it gave no grade."""

    judge: str
    order: Order
    values: Grades
    reply: str = ""
    model: str = ""
    problem: Mapping[str, object] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        """For the details of a score."""
        kept: dict[str, object] = {"judge": self.judge, "order": self.order, "values": dict(self.values)}
        kept["reply"] = shortened(self.reply, 500)
        if self.model:
            kept["model"] = self.model
        if self.problem:
            kept["problem"] = dict(self.problem)
        return kept


async def ask_judge(
    judge: Agent, question: Case, order: Order, read: Callable[[str], Grades], attempts: int, bill: JudgeBill
) -> JudgeVote:
    """One vote: the judge is asked until its reply has every grade, at most ``attempts`` times."""
    name = f"{judge.name}@{judge.version}"
    vote = JudgeVote(name, order, {})
    for attempt in range(attempts):
        try:
            answer = await judge.run(question)
        except CaseFailed as failure:
            bill.add(failure.response)
            message = f"the judge did not answer: {failure.message}"
            problem = {"code": "judge_failed", "message": message, "fatal": failure.fatal}
            vote = JudgeVote(name, order, vote.values, vote.reply, vote.model, problem)
            if failure.fatal or not failure.retryable:
                return vote
            if attempt + 1 < attempts:
                await asyncio.sleep(_PAUSE_S if failure.retry_after_s is None else failure.retry_after_s)
            continue
        except Exception as error:  # noqa: BLE001  (the judge's own mistake, and none of the answer)
            message = f"the judge did not answer: {type(error).__name__}: {shortened(str(error), 500)}"
            problem = {"code": "judge_failed", "message": message}
            return JudgeVote(name, order, vote.values, vote.reply, vote.model, problem)
        bill.add(answer)
        reply, model = as_text(answer.output), answer.model or ""
        values = read(reply)
        if None not in values.values():
            return JudgeVote(name, order, values, reply, model)
        message = f"no grade in the judge's reply {shortened(reply)!r}"
        vote = JudgeVote(name, order, values, reply, model, {"code": "judge_unclear", "message": message})
    return vote


def tally(votes: Sequence[JudgeVote], names: Sequence[str], voting: Voting) -> dict[str, float | None]:
    """The grade of each name: the middle of the votes, or their mean. Unknown where half of the votes or more are
    missing, and where a majority is asked for and there is none."""
    return {name: _decided([vote.values.get(name) for vote in votes], voting) for name in names}


def _decided(given: Sequence[float | None], voting: Voting) -> float | None:
    known = [value for value in given if value is not None]
    if 2 * len(known) <= len(given):
        return None
    if voting == "mean":
        return math.fsum(known) / len(known)
    low, high = statistics.median_low(known), statistics.median_high(known)
    return low if low == high else None


class JudgeBill:
    """What the judges' calls used in all; the cost is unknown where that of one call is."""

    def __init__(self, prices: PriceBook | None) -> None:
        self._prices = prices
        self._costs: list[float | None] = []
        self.usage: Usage | None = None
        self.simulated = False

    def add(self, response: Response | None) -> None:
        if response is None:
            return
        self.simulated = self.simulated or response.simulated
        if response.usage is not None:
            self.usage = response.usage if self.usage is None else self.usage + response.usage
        self._costs.append(self._charged(response))

    def _charged(self, response: Response) -> float | None:
        """What a judge says it cost is believed where nobody knows better: it ranks nobody."""
        if self._prices is None:
            return response.cost
        cost = self._prices.cost(response)
        return cost.reported_usd if cost.usd is None else cost.usd

    @property
    def cost(self) -> float | None:
        known = [cost for cost in self._costs if cost is not None]
        return math.fsum(known) if known and len(known) == len(self._costs) else None
