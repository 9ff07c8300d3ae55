"""Models by name: the numpy stub, architectures in torch, weights in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agentdyno import PluginError
from agentdyno_workloads.rl.catalogue import unknown_name
from agentdyno_workloads.rl.numpy_policy import NumpyPolicy
from agentdyno_workloads.rl.policy import Policy
from agentdyno_workloads.rl.tooldesk import ToolDesk

STUB, TINY = "numpy", "tiny-gpt"
ARCHITECTURES = (TINY, "gpt2", "gpt2-small", "gpt2-medium")
INSTALL = 'pip install torch==2.13.0 "agentdyno-workloads[torch]"'


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What is trained. ``label`` says what it is and, as important, what it is not."""

    name: str
    label: str

    @property
    def is_stub(self) -> bool:
        return self.name == STUB


def choose_model(name: str, *, stub: bool) -> ModelChoice:
    """Checks the name; raises ``SpecError`` with the nearest where it is neither a model nor a file."""
    if stub or name == STUB:
        return ModelChoice(STUB, "stub: one hidden layer in numpy, real gradients, random weights")
    if name == TINY:
        return ModelChoice(name, "tiny GPT in torch, random weights")
    if name in ARCHITECTURES:
        return ModelChoice(name, f"architecture of {name} with the task's vocabulary, random weights")
    if Path(name).exists():
        return ModelChoice(name, f"weights of {Path(name).name}, its vocabulary limited to the task's words")
    raise unknown_name("model", name, (STUB, *ARCHITECTURES))


def make_policy(choice: ModelChoice, task: ToolDesk, seed: int, device: str) -> Policy:
    """Random weights are drawn from ``seed``. Raises ``PluginError`` with the command where torch is missing."""
    if choice.is_stub:
        return NumpyPolicy(task.length, np.random.default_rng([seed, 99]))
    try:
        import torch  # noqa: F401
    except ImportError:
        raise PluginError(
            f"the model {choice.name} needs torch, which is not installed",
            where="params.model",
            remedy=f"Run `{INSTALL}`, or train the numpy stub: --stub.",
        ) from None
    from agentdyno_workloads.rl.torch_policy import make_torch_policy

    return make_torch_policy(choice.name, task, seed, device)
