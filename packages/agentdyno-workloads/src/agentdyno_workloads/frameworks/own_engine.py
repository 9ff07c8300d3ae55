"""What the bench itself takes for 1,000 samples: scoring them, concluding from them, and working out rewards."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from agentdyno import Case, RunError, compare_agents, evaluate
from agentdyno_workloads.rl.tooldesk import ToolDesk

SAMPLES = 1000
OWN = "agentdyno"
"""The name under which the bench takes part beside the frameworks."""


def right(text: str) -> str:
    return text.rpartition(" ")[2]


def mostly_right(text: str) -> str:
    number = text.rpartition(" ")[2]
    return "0" if number.endswith("7") else number


class OwnEngine:
    """Keeps a store in a folder of its own with two agents on 1,000 cases, which is made when it is first needed."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dyno-engine-")
        self._cases = [Case(str(number), f"say {number}", target=str(number)) for number in range(SAMPLES)]
        self._known = ""
        task = ToolDesk(2)
        prompts = task.prompts(held_out=False)
        self._task = task
        self._prompts = prompts[np.arange(SAMPLES) % len(prompts)]
        self._tokens = task.solution(self._prompts)

    def close(self) -> None:
        self._folder.cleanup()

    def evaluation(self) -> dict[str, float]:
        """1,000 cases put to a function that answers at once, scored and stored: the bench's part is all of it."""
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        store = self._store(f"evaluation-{time.monotonic_ns()}")
        evaluate(self._cases, right, scorer="exact", store=store)
        return {
            "evaluation_1000_s": time.perf_counter() - wall_s,
            "evaluation_1000_cpu_s": time.process_time() - cpu_s,
        }

    def engine(self) -> dict[str, float]:
        """A head-to-head of two agents with 1,000 cases each, from the store to the judgement."""
        if not self._known:
            self._known = self._store("known")
            evaluate(self._cases, [right, mostly_right], scorer="exact", store=self._known)
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        compare_agents("right", "mostly_right", store=self._known)
        return {"engine_1000_s": time.perf_counter() - wall_s, "engine_1000_cpu_s": time.process_time() - cpu_s}

    def reward(self) -> dict[str, float]:
        """Rewards of 1,000 episodes of ToolDesk, all solved."""
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        rewards = self._task.rewards(self._tokens, self._prompts)
        spent = {"reward_1000_s": time.perf_counter() - wall_s, "reward_1000_cpu_s": time.process_time() - cpu_s}
        if float(rewards.min()) != 1.0:
            raise RunError("a solved episode of ToolDesk has a reward below 1")
        return spent

    def _store(self, name: str) -> str:
        return f"sqlite:///{Path(self._folder.name) / name}.db"


OWN_MEASURES: dict[str, Callable[[OwnEngine], dict[str, float]]] = {
    "evaluation": OwnEngine.evaluation,
    "reward": OwnEngine.reward,
    "engine": OwnEngine.engine,
}
