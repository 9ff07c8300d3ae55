"""What running several agents at once brings, against the same agents one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentdyno_workloads.llm.workflow import Worked


@dataclass(frozen=True, slots=True)
class ContentionLimits:
    """An agent contends when the first token of one of its calls takes longer than ``ttft_s`` among the others, or
    all of its work longer than ``slowdown`` times what it took alone. Equality is none."""

    ttft_s: float = 3.0
    slowdown: float = 1.2


@dataclass(frozen=True, slots=True)
class Contention:
    """An agent that was held up by the others: its slowest first token, where known, and how much slower it was."""

    agent: str
    ttft_s: float | None
    slowdown: float


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Both turns of the same agents, side by side; the sequential one is measured, never assumed."""

    sequential: tuple[Worked, ...]
    concurrent: tuple[Worked, ...]
    limits: ContentionLimits = ContentionLimits()

    @property
    def sequential_s(self) -> float:
        """Sum of the agents' own times, each alone."""
        return sum(item.took_s for item in self.sequential)

    @property
    def concurrent_s(self) -> float:
        """From the first start to the last end."""
        return max(item.ended_at for item in self.concurrent) - min(item.started_at for item in self.concurrent)

    @property
    def speedup(self) -> float:
        return self.sequential_s / self.concurrent_s

    @property
    def efficiency(self) -> float:
        """Speed-up over the number of agents, which is the most that it could be."""
        return self.speedup / len(self.concurrent)

    @property
    def balance(self) -> float:
        """Mean over longest time of the agents: 1 when all end together. Says nothing about speed."""
        times = [item.took_s for item in self.concurrent]
        return sum(times) / len(times) / max(times)

    @property
    def slowdowns(self) -> tuple[float, ...]:
        """Each agent's time among the others over its time alone."""
        pairs = zip(self.concurrent, self.sequential, strict=True)
        return tuple(together.took_s / alone.took_s for together, alone in pairs)

    @property
    def fairness(self) -> float:
        """Jain's index of the shares that the agents kept of their own speed: 1 when all are slowed alike."""
        return jain([1.0 / slowdown for slowdown in self.slowdowns])

    @property
    def contentions(self) -> tuple[Contention, ...]:
        """The agents that were held up, in their order."""
        found = []
        for together, slowdown in zip(self.concurrent, self.slowdowns, strict=True):
            known = [call.ttft_s for call in together.calls if call.ttft_s is not None]
            slowest = max(known, default=None)
            if slowdown > self.limits.slowdown or (slowest is not None and slowest > self.limits.ttft_s):
                found.append(Contention(together.agent, slowest, slowdown))
        return tuple(found)

    @property
    def contention_rate(self) -> float:
        """The share of the agents that were held up."""
        return len(self.contentions) / len(self.concurrent)

    def figures(self) -> dict[str, float]:
        """The numbers of one iteration, unknown ones left out."""
        figures: dict[str, float | None] = {
            "sequential_s": self.sequential_s,
            "concurrent_s": self.concurrent_s,
            "speedup": self.speedup,
            "efficiency": self.efficiency,
            "balance": self.balance,
            "slowdown_mean": sum(self.slowdowns) / len(self.slowdowns),
            "slowdown_max": max(self.slowdowns),
            "fairness": self.fairness,
            "ttft_delta_s": spread([item.ttft_s for item in self.concurrent]),
            "throughput_delta_per_s": spread([item.tokens_per_s for item in self.concurrent]),
            "ttft_s": _mean([item.ttft_s for item in self.concurrent]),
            "ttft_alone_s": _mean([item.ttft_s for item in self.sequential]),
            "tokens_per_s": total_rate(self.concurrent, self.concurrent_s),
            "contention_events": float(len(self.contentions)),
            "contention_rate": self.contention_rate,
        }
        return {name: value for name, value in figures.items() if value is not None}


def jain(shares: Sequence[float]) -> float:
    """(sum x)² / (n · sum x²): 1 when all shares are equal, 1/n when one has everything."""
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))


def spread(values: Sequence[float | None]) -> float | None:
    """Largest less smallest; ``None`` where one is unknown."""
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known and len(known) == len(values) else None


def total_rate(worked: Sequence[Worked], took_s: float) -> float | None:
    """Tokens a second of all agents together."""
    tokens = sum(item.output_tokens for item in worked)
    return tokens / took_s if tokens and took_s > 0 else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
