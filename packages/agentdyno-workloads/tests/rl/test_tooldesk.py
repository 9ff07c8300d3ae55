"""The task: who writes what, what is rewarded, what is held out."""

from __future__ import annotations

import numpy as np
import pytest

from agentdyno_workloads.rl.numpy_policy import NumpyPolicy
from agentdyno_workloads.rl.rollout import roll_out
from agentdyno_workloads.rl.tooldesk import END, ERROR, FIRST_DIGIT, PAD, WORDS, ToolDesk

PROMPTS = np.array([[0, 4, 2], [3, 0, 7]])


@pytest.mark.parametrize("turns", [1, 2])
def test_the_solution_earns_everything_and_each_mistake_costs_its_part(turns: int) -> None:
    task = ToolDesk(turns)
    right = task.solution(PROMPTS)
    assert task.rewards(right, PROMPTS).tolist() == [1.0, 1.0]
    answer = task.length - 2
    for slot, lost in ((4, "tool"), (5, "arguments"), (answer, "answer")):
        wrong = right.copy()
        wrong[:, slot] = right[:, slot] + 1 - 2 * (right[:, slot] % 2)  # its neighbour, of the same kind
        parts = dict(zip(("tool", "arguments", "form", "answer"), task.reward_parts(wrong, PROMPTS)[0], strict=True))
        assert parts == {"tool": 1, "arguments": 1, "form": 1, "answer": 1} | {lost: 0}
    formless = right.copy()
    formless[:, -1] = PAD
    assert task.reward_parts(formless, PROMPTS)[:, 2].tolist() == [0, 0]


def test_the_status_is_revealed_to_right_calls_only() -> None:
    task = ToolDesk(2)
    tokens = task.solution(PROMPTS)
    tokens[1, 5] = FIRST_DIGIT + 9
    task.reveal(tokens, PROMPTS)
    assert tokens[0, 8] == FIRST_DIGIT + task.statuses[0, 4, 2]
    assert tokens[1, 8] == ERROR


def test_only_what_the_policy_wrote_is_trained_on() -> None:
    task = ToolDesk(2)
    tokens = task.solution(PROMPTS)
    assert task.mask_of(tokens)[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1]
    tokens[0, 5] = END
    assert task.mask_of(tokens)[0].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1]
    spelled = [WORDS[token] for token in task.solution(PROMPTS)[0]]
    assert spelled[:8] == ["refund?", "4", "2", "?", "refund(", "4", "2", "."]


def test_held_out_prompts_are_never_trained_on() -> None:
    task = ToolDesk(2)
    trained, held_out = ({tuple(row) for row in task.prompts(held_out=apart)} for apart in (False, True))
    assert (len(trained), len(held_out)) == (480, 120)
    assert not trained & held_out


def test_a_rollout_tells_the_probability_that_its_policy_gave_each_token() -> None:
    task = ToolDesk(2)
    policy = NumpyPolicy(task.length, np.random.default_rng(1), 8)
    rollout = roll_out(policy, task, task.prompts(held_out=False)[:5], 8, np.random.default_rng(2))
    np.testing.assert_allclose(policy.view(rollout.tokens).logp * rollout.mask, rollout.logp, atol=1e-12)
    assert rollout.group.tolist() == sorted(list(range(5)) * 8)
