"""What every integration shares: the job, the messages, the warm start. Runs in the framework's own environment.

Messages are JSON lines on the stdout of then; what a framework prints goes to stderr. After training the process
answers questions about its policy, which is all that the evaluator on the other side ever sees of it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tooldesk import FIRST_DIGIT, PAD, VOCABULARY, ToolDesk

DEMONSTRATIONS, NOISE, WARM_STEPS, WARM_ROWS, WARM_RATE = 300, 0.3, 120, 100, 3e-3
"""As the warm start of the algorithms."""


@dataclass(frozen=True)
class TrainingJob:
    """What is to be trained. ``samples`` are answers that the policy may write in all."""

    samples: int
    seed: int
    learning_rate: float
    folder: str
    stub: bool = False
    prompts_per_update: int = 8
    samples_per_prompt: int = 8
    epochs: int = 2

    @property
    def task(self) -> ToolDesk:
        return ToolDesk(1)

    @property
    def per_update(self) -> int:
        return self.prompts_per_update * self.samples_per_prompt

    @property
    def updates(self) -> int:
        return max(1, round(self.samples / self.per_update))


class TrainingChannel:
    """The connection to the bench; made before the framework is imported, because frameworks print."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)
        self.job = TrainingJob(**json.loads(sys.argv[1]))

    def say(self, event: str, **more: object) -> None:
        self._out.write(json.dumps({"event": event, **more}) + "\n")

    def serve(
        self, next_logits: Callable[[np.ndarray, int], np.ndarray], features: dict[str, Callable[[], bool]]
    ) -> None:
        """Answers until the bench closes its end: scores for a slot, or whether a feature works."""
        for line in sys.stdin:
            question = json.loads(line)
            if question["ask"] == "logits":
                logits = next_logits(np.array(question["rows"], dtype=np.int64), int(question["slot"]))
                self.say("logits", logits=np.round(np.asarray(logits, dtype=float), 6).tolist())
            else:
                self.say("feature", **_tried(features.get(question["name"])))


def _tried(check: Callable[[], bool] | None) -> dict[str, object]:
    if check is None:
        return {"works": None, "detail": "not tried"}
    try:
        return {"works": bool(check()), "detail": "tried"}
    except Exception as error:  # noqa: BLE001  (whatever it is: the feature does not work here)
        return {"works": False, "detail": f"{type(error).__name__}: {error}"[:300]}


def demonstrations(job: TrainingJob) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Noisy solutions and their mask, the same for every framework with the same seed."""
    task = job.task
    rng = np.random.default_rng([job.seed, 3, 0])
    prompts = task.prompts(held_out=False)
    tokens = task.solution(prompts[rng.integers(0, len(prompts), DEMONSTRATIONS)])
    mask = task.mask_of(tokens)
    wrong = (rng.random(tokens.shape) < NOISE) & (mask > 0)
    return np.where(wrong, rng.integers(FIRST_DIGIT, VOCABULARY, tokens.shape), tokens), mask, rng


def warm_start(job: TrainingJob, logits_of: Callable[[np.ndarray], object], parameters: object) -> None:
    """Supervised steps in torch. ``logits_of`` gives scores for every slot behind the prompt."""
    import torch

    tokens, mask, rng = demonstrations(job)
    optimiser = torch.optim.Adam(parameters, lr=WARM_RATE)  # type: ignore[arg-type]
    for _ in range(WARM_STEPS):
        rows = rng.choice(len(tokens), WARM_ROWS, replace=False)
        scores = torch.log_softmax(logits_of(tokens[rows]), dim=-1)  # type: ignore[arg-type]
        taken = scores.gather(2, torch.as_tensor(tokens[rows][:, 4:, None]))[:, :, 0]
        weight = torch.as_tensor(mask[rows][:, 4:], dtype=torch.float32)
        optimiser.zero_grad()
        (-(taken * weight).sum() / weight.sum()).backward()
        optimiser.step()


def answer_rows(prompts: np.ndarray, answers: list[list[int]], task: ToolDesk) -> np.ndarray:
    """Token rows of prompts with what was answered to them."""
    rows = task.begin(prompts)
    for row, answer in zip(rows, answers, strict=True):
        written = answer[: task.length - 4]
        row[4:] = PAD
        row[4 : 4 + len(written)] = written
    return rows
