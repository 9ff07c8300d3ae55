"""The losses: gradients against finite differences, and what the papers say must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentdyno import SpecError
from agentdyno_workloads.rl.advantages import generalised, whitened, within_groups
from agentdyno_workloads.rl.catalogue import ALGORITHMS, algorithm_named
from agentdyno_workloads.rl.dpo import Dpo, implicit_rewards, preferred
from agentdyno_workloads.rl.grpo import Grpo
from agentdyno_workloads.rl.gspo import Gspo
from agentdyno_workloads.rl.loss import AlgorithmSettings, Batch, LossGradient, clipped
from agentdyno_workloads.rl.numpy_policy import NumpyPolicy
from agentdyno_workloads.rl.policy import TokenView
from agentdyno_workloads.rl.ppo import Ppo
from agentdyno_workloads.rl.rollout import Rollout, roll_out
from agentdyno_workloads.rl.tooldesk import ToolDesk

SETTINGS = AlgorithmSettings(clip=0.2, beta=0.1)


def small_policy(seed: int, task: ToolDesk, hidden: int = 5) -> NumpyPolicy:
    return NumpyPolicy(task.length, np.random.default_rng(seed), hidden)


def played(task: ToolDesk, policy: NumpyPolicy, seed: int = 3) -> Rollout:
    rollout = roll_out(policy, task, task.prompts(held_out=False)[:3], 4, np.random.default_rng(seed))
    # A policy with random weights earns almost nothing; rewards are given, so that advantages differ.
    return replace(rollout, rewards=np.random.default_rng(seed).random(len(rollout.rewards)))


def batch_of(name: str, task: ToolDesk, old: NumpyPolicy, reference: NumpyPolicy) -> Batch:
    rollout = played(task, old)
    return algorithm_named(name).prepare(rollout, old.view(rollout.tokens), reference.view(rollout.tokens), SETTINGS)


def loss_at(name: str, batch: Batch, policy: NumpyPolicy) -> LossGradient:
    return algorithm_named(name).loss(batch, policy.view(batch.rollout.tokens), SETTINGS)


@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_the_gradient_is_that_of_finite_differences(name: str, turns: int) -> None:
    task = ToolDesk(turns)
    old, reference, policy = (small_policy(seed, task) for seed in (1, 2, 1))
    batch = batch_of(name, task, old, reference)
    rng = np.random.default_rng(7)
    for weight in policy.weights.values():  # some ratios are clipped, others are not
        weight += 0.05 * rng.normal(size=weight.shape)
    found = loss_at(name, batch, policy)
    gradients = policy.gradient(batch.rollout.tokens, found.dlogp, found.dvalue)
    step, worst = 1e-6, 0.0
    for key, gradient in gradients.items():
        flat, weights = gradient.ravel(), policy.weights[key].reshape(-1)
        for place in rng.choice(flat.size, min(25, flat.size), replace=False):
            kept = weights[place]
            weights[place] = kept + step
            above = loss_at(name, batch, policy).loss
            weights[place] = kept - step
            below = loss_at(name, batch, policy).loss
            weights[place] = kept
            worst = max(worst, abs((above - below) / (2 * step) - flat[place]))
    assert worst < 1e-6
    assert any(np.abs(gradient).max() > 1e-4 for gradient in gradients.values())


def test_grpo_and_gspo_are_one_where_answers_have_one_token() -> None:
    task = ToolDesk(1)
    old, policy = small_policy(1, task), small_policy(4, task)
    rollout = played(task, old)
    first = np.zeros_like(rollout.mask)
    first[:, 4] = 1.0
    rollout = replace(rollout, mask=first, logp=rollout.logp * first)
    plain = AlgorithmSettings(clip=0.2, beta=0.0)
    nothing = TokenView(np.zeros_like(first), np.zeros_like(first))
    losses = []
    for algorithm in (Grpo(), Gspo()):
        batch = algorithm.prepare(rollout, nothing, nothing, plain)
        losses.append(algorithm.loss(batch, policy.view(rollout.tokens), plain))
    assert losses[0].loss == pytest.approx(losses[1].loss, abs=1e-12)
    np.testing.assert_allclose(losses[0].dlogp, losses[1].dlogp, atol=1e-12)


def test_grpo_and_gspo_take_the_same_first_step_on_answers_of_any_length() -> None:
    """Before the first step every ratio is 1, and both loss gradients are -A/(N |y|)."""
    task = ToolDesk(2)
    policy = small_policy(1, task)
    rollout = played(task, policy)
    view, plain = policy.view(rollout.tokens), AlgorithmSettings()
    steps = [a.loss(a.prepare(rollout, view, view, plain), view, plain).dlogp for a in (Grpo(), Gspo())]
    np.testing.assert_allclose(steps[0], steps[1], atol=1e-12)


def test_clipping_stops_what_has_gone_far_enough_and_lets_come_back_what_went_astray() -> None:
    ratio, advantage = np.array([1.5, 1.5, 0.5, 0.5, 1.1]), np.array([1.0, -1.0, 1.0, -1.0, 2.0])
    found = clipped(ratio, advantage, 0.2)
    assert found.objective.tolist() == pytest.approx([1.2, -1.5, 0.5, -0.8, 2.2])
    assert found.slope.tolist() == [0.0, -1.0, 1.0, 0.0, 2.0]


def test_ppo_has_no_gradient_by_tokens_that_are_clipped() -> None:
    task = ToolDesk(2)
    policy = small_policy(1, task)
    rollout = played(task, policy)
    view = policy.view(rollout.tokens)
    batch = Ppo().prepare(rollout, view, view, SETTINGS)
    far = TokenView(view.logp + np.log(1.5) * np.sign(batch.advantages), view.value)
    assert not Ppo().loss(batch, far, SETTINGS).dlogp.any()
    assert Ppo().loss(batch, view, SETTINGS).dlogp.any()


def test_dpo_orders_preferred_answers_once_it_has_learned() -> None:
    task = ToolDesk(2)
    policy = small_policy(1, task, hidden=32)
    reference = policy.copy()
    rollout = played(task, policy)
    batch = Dpo().prepare(rollout, policy.view(rollout.tokens), reference.view(rollout.tokens), SETTINGS)
    better, worse = preferred(rollout.rewards, rollout.group)
    assert not implicit_rewards(batch, policy.view(rollout.tokens), 0.1).any()
    from agentdyno_workloads.rl.policy import OptimiserSettings

    for _ in range(30):
        found = Dpo().loss(batch, policy.view(rollout.tokens), SETTINGS)
        policy.step(rollout.tokens, found.dlogp, found.dvalue, OptimiserSettings(learning_rate=1e-2))
    implicit = implicit_rewards(batch, policy.view(rollout.tokens), 0.1)
    assert (implicit[better] > implicit[worse]).all()
    assert found.loss < np.log(2)


def test_no_pair_is_made_of_answers_that_earned_the_same() -> None:
    better, worse = preferred(np.array([0.5, 0.5, 0.25, 1.0]), np.array([0, 0, 1, 1]))
    assert (better.tolist(), worse.tolist()) == ([3], [2])


def test_advantages_within_a_group_have_mean_0_and_deviation_1() -> None:
    found = within_groups(np.array([0.0, 1.0, 0.5, 0.5]), np.array([0, 0, 1, 1]))
    assert found.tolist() == [-1.0, 1.0, 0.0, 0.0]


def test_generalised_advantages_pass_over_tokens_of_the_environment() -> None:
    """Three slots, the middle one the environment's: by hand with lambda 0.5 and gamma 1."""
    values, mask = np.array([[0.2, 9.0, 0.6]]), np.array([[1.0, 0.0, 1.0]])
    advantages, returns = generalised(np.array([1.0]), values * mask, mask, 0.5)
    last = 1.0 - 0.6
    first = (0.6 - 0.2) + 0.5 * last
    assert advantages.tolist() == [pytest.approx([first, 0.0, last])]
    assert returns.tolist() == [pytest.approx([first + 0.2, 0.0, 1.0])]
    assert whitened(advantages, mask)[0, [0, 2]].tolist() == pytest.approx([1.0, -1.0], abs=1e-6)


def test_tokens_that_the_policy_did_not_write_have_no_gradient() -> None:
    task = ToolDesk(2)
    old, reference, policy = (small_policy(seed, task) for seed in (1, 2, 3))
    for name in ALGORITHMS:
        batch = batch_of(name, task, old, reference)
        found = loss_at(name, batch, policy)
        assert not found.dlogp[batch.rollout.mask == 0].any(), name
        assert not found.dvalue[batch.rollout.mask == 0].any(), name


def test_an_unknown_algorithm_is_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="no algorithm is called 'grpoo'") as caught:
        algorithm_named("grpoo")
    assert caught.value.remedy == "Did you mean grpo?"
