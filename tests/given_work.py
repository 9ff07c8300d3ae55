"""Work of agents that takes a given time: what several agents gain is then known, and no machine decides it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno_workloads.llm.serving import Serving
from agentdyno_workloads.llm.workflow import ModelAnswer, Worked

ALONE_S = 2.0
TTFT_S = 0.1
STAGES = ("analysis", "report")


@dataclass
class GivenWork:
    """Stands for ``work``. Agents that are at the same ``place`` at the same moment share its time evenly."""

    place: Callable[[Serving], Hashable]
    _busy: list[Hashable] = field(default_factory=list)

    async def __call__(self, name: str, serving: Serving, folder: Path) -> Worked:
        place = self.place(serving)
        self._busy.append(place)
        await self._meet()
        sharing = self._busy.count(place)
        await self._meet()
        self._busy.remove(place)
        took_s = ALONE_S * sharing
        calls = tuple(ModelAnswer(stage, took_s / 2, TTFT_S * sharing, 10 / took_s, 10) for stage in STAGES)
        return Worked(name, 0.0, took_s, calls, model="given", simulated=True)

    @staticmethod
    async def _meet() -> None:
        """Whoever works at the same time has arrived, or has counted, when this is over."""
        for _ in range(10):
            await asyncio.sleep(0)
