"""The stub: a language model of one hidden layer in plain numpy, with gradients by hand. It learns for real.

Slot ``t`` sees the tokens of all slots before it. With one row ``A[s, token]`` per slot and token,

    h_t = tanh(p_t + sum over s < t of A[s, x_s]),   logits_t = W h_t + b,   value_t = v . h_t + c
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agentdyno_workloads.rl.policy import OptimiserSettings, TokenView, log_softmax
from agentdyno_workloads.rl.tooldesk import PROMPT_SLOTS, VOCABULARY, Floats, Ints

HIDDEN_UNITS = 128


class NumpyPolicy:
    """64-bit numbers throughout, so that repeats are identical bit by bit."""

    def __init__(self, length: int, rng: np.random.Generator, hidden: int = HIDDEN_UNITS) -> None:
        self.length = length
        scale = 1.0 / np.sqrt(hidden)
        self.weights: dict[str, Floats] = {
            "A": rng.normal(0.0, 0.3, (length, VOCABULARY, hidden)),
            "p": rng.normal(0.0, 0.3, (length, hidden)),
            "W": rng.normal(0.0, scale, (hidden, VOCABULARY)),
            "b": np.zeros(VOCABULARY),
            "v": np.zeros(hidden),
            "c": np.zeros(1),
        }
        self.moments: dict[str, tuple[Floats, Floats]] = {
            name: (np.zeros_like(value), np.zeros_like(value)) for name, value in self.weights.items()
        }
        self.steps = 0

    @property
    def parameters(self) -> int:
        return sum(value.size for value in self.weights.values())

    def next_logits(self, tokens: Ints, slot: int) -> Floats:
        weights = self.weights
        seen = weights["A"][np.arange(slot), tokens[:, :slot]].sum(axis=1)
        return np.asarray(np.tanh(weights["p"][slot] + seen) @ weights["W"] + weights["b"])

    def view(self, tokens: Ints) -> TokenView:
        hidden, logp = self._forward(tokens)
        taken = np.take_along_axis(logp, tokens[:, PROMPT_SLOTS:, None], axis=2)[:, :, 0]
        prompt = np.zeros((len(tokens), PROMPT_SLOTS))
        value = hidden @ self.weights["v"] + self.weights["c"][0]
        return TokenView(np.concatenate([prompt, taken], axis=1), np.concatenate([prompt, value], axis=1))

    def step(self, tokens: Ints, dlogp: Floats, dvalue: Floats, settings: OptimiserSettings) -> float:
        gradients = self.gradient(tokens, dlogp, dvalue)
        norm = float(np.sqrt(sum(float((g * g).sum()) for g in gradients.values())))
        scale = min(1.0, settings.max_norm / norm) if norm > 0 else 1.0
        self.steps += 1
        correction1, correction2 = 1 - settings.beta1**self.steps, 1 - settings.beta2**self.steps
        for name, gradient in gradients.items():
            first, second = self.moments[name]
            gradient *= scale
            first += (1 - settings.beta1) * (gradient - first)
            second += (1 - settings.beta2) * (gradient * gradient - second)
            change = (first / correction1) / (np.sqrt(second / correction2) + settings.epsilon)
            self.weights[name] -= settings.learning_rate * change
        return norm

    def gradient(self, tokens: Ints, dlogp: Floats, dvalue: Floats) -> dict[str, Floats]:
        """From the gradient of a loss by log-probabilities and values to that by the weights."""
        weights = self.weights
        hidden, logp = self._forward(tokens)
        dlogp, dvalue, written = dlogp[:, PROMPT_SLOTS:], dvalue[:, PROMPT_SLOTS:], tokens[:, PROMPT_SLOTS:]
        dlogits = -np.exp(logp) * dlogp[:, :, None]
        rows, slots = np.indices(written.shape)
        dlogits[rows, slots, written] += dlogp
        dhidden = dlogits @ weights["W"].T + dvalue[:, :, None] * weights["v"]
        dsum = np.zeros((*tokens.shape, hidden.shape[-1]))
        dsum[:, PROMPT_SLOTS:] = dhidden * (1 - hidden * hidden)
        flat = hidden.reshape(-1, hidden.shape[-1])
        # Slot s is seen by every slot after it.
        later = np.cumsum(dsum[:, ::-1], axis=1)[:, ::-1] - dsum
        one_hot = np.eye(VOCABULARY)[tokens]
        return {
            "A": np.matmul(one_hot.transpose(1, 2, 0), later.transpose(1, 0, 2)),
            "p": dsum.sum(axis=0),
            "W": flat.T @ dlogits.reshape(-1, VOCABULARY),
            "b": dlogits.sum(axis=(0, 1)),
            "v": flat.T @ dvalue.reshape(-1),
            "c": np.array([dvalue.sum()]),
        }

    def state(self) -> Mapping[str, np.ndarray]:
        kept = {f"weight.{name}": value for name, value in self.weights.items()}
        for name, (first, second) in self.moments.items():
            kept |= {f"first.{name}": first, f"second.{name}": second}
        return kept | {"steps": np.array(self.steps)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        for name in self.weights:
            self.weights[name] = np.array(state[f"weight.{name}"])
            self.moments[name] = (np.array(state[f"first.{name}"]), np.array(state[f"second.{name}"]))
        self.steps = int(state["steps"])

    def copy(self) -> NumpyPolicy:
        twin = NumpyPolicy(self.length, np.random.default_rng(0), len(self.weights["v"]))
        twin.restore({name: np.array(value) for name, value in self.state().items()})
        return twin

    def _forward(self, tokens: Ints) -> tuple[Floats, Floats]:
        """Hidden states and log-probabilities of the slots behind the prompt: nobody asks for those within it."""
        weights = self.weights
        own = weights["A"][np.arange(self.length), tokens]
        before = (np.cumsum(own, axis=1) - own)[:, PROMPT_SLOTS:]
        hidden = np.tanh(weights["p"][PROMPT_SLOTS:] + before)
        return hidden, log_softmax(hidden @ weights["W"] + weights["b"])
