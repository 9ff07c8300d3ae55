"""Models in torch: a GPT of any size from random weights, or real weights with the task's words as their vocabulary.

Only this module and ``device`` know torch. The algorithms hand in the gradient by log-probabilities and values;
autograd carries it on to the weights, and Adam takes the same step as in the numpy stub.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agentdyno import PluginError, SpecError
from agentdyno_workloads.rl.policy import OptimiserSettings, TokenView
from agentdyno_workloads.rl.tooldesk import VOCABULARY, WORDS, Floats, Ints, ToolDesk


@dataclass(frozen=True, slots=True)
class GptSize:
    """Layers, heads and width of a GPT."""

    layers: int
    heads: int
    width: int


SIZES = {
    "tiny-gpt": GptSize(2, 4, 64),
    "gpt2": GptSize(12, 12, 768),
    "gpt2-small": GptSize(12, 12, 768),
    "gpt2-medium": GptSize(24, 16, 1024),
}


class Gpt(nn.Module):
    """The architecture of GPT-2 (pre-norm blocks, learned positions, tied embeddings) over the task's tokens."""

    def __init__(self, size: GptSize, length: int) -> None:
        super().__init__()
        self.width = size.width
        self.tokens = nn.Embedding(VOCABULARY, size.width)
        self.positions = nn.Embedding(length, size.width)
        block = {"dim_feedforward": 4 * size.width, "dropout": 0.0, "activation": "gelu", "batch_first": True}
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(size.width, size.heads, norm_first=True, **block) for _ in range(size.layers)
        )
        self.norm = nn.LayerNorm(size.width)
        for weight in (self.tokens.weight, self.positions.weight):
            nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        length = tokens.shape[1]
        hidden = self.tokens(tokens) + self.positions(torch.arange(length, device=tokens.device))
        future = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        for block in self.blocks:
            hidden = block(hidden, src_mask=future, is_causal=True)
        hidden = self.norm(hidden)
        return hidden @ self.tokens.weight.T, hidden


class Pretrained(nn.Module):
    """Weights of a file, as transformers loads them; of its vocabulary only the task's words are used."""

    def __init__(self, path: str) -> None:
        super().__init__()
        model, tokenizer = load_weights(path)
        self.model = model
        self.width = int(model.config.hidden_size)
        words = word_ids(tokenizer)
        self.register_buffer("words", torch.tensor(words))

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        out = self.model(input_ids=self.words[tokens], output_hidden_states=True)
        return out.logits[:, :, self.words].float(), out.hidden_states[-1].float()


def load_weights(path: str) -> tuple[Any, Any]:
    """Model and tokenizer of a folder that transformers wrote, or of a GGUF file."""
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise PluginError(
            "weights of a file need transformers, which is not installed",
            where="params.model",
            remedy='Run `pip install "agentdyno-workloads[weights]"`.',
        ) from None
    file = Path(path)
    where = {"gguf_file": file.name} if file.suffix == ".gguf" else {}
    folder = str(file.parent if file.suffix == ".gguf" else file)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, **where)
        model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32, **where)
    except (OSError, ValueError, ImportError) as error:
        raise SpecError(
            f"transformers cannot load it: {str(error).splitlines()[0]}",
            where=f"params.model: {path}",
            remedy="Name a folder with config.json and weights, or a .gguf file (which needs the packages gguf and "
            'accelerate: `pip install "agentdyno-workloads[weights]"`).',
        ) from error
    return model, tokenizer


def word_ids(tokenizer: Any) -> list[int]:
    """For each word of the task the first token that the tokenizer makes of it and of no other word."""
    found: list[int] = []
    for word in WORDS:
        ids = tokenizer(word, add_special_tokens=False)["input_ids"]
        free = [number for number in ids if number not in found]
        if not free:  # a tool and its intent begin alike: any other spelling will do
            free = [number for number in range(len(tokenizer)) if number not in found]
        found.append(free[0])
    return found


class TorchPolicy:
    """A policy around a body; the value head is a layer on its hidden state."""

    def __init__(self, body: nn.Module, width: int, device: str) -> None:
        self.device = torch.device(device)
        self.body = body.to(self.device)
        self.head = nn.Linear(width, 1).to(self.device)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self._optimiser = torch.optim.Adam(self._trained())

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self._trained())

    def next_logits(self, tokens: Ints, slot: int) -> Floats:
        with torch.no_grad():
            logits, _ = self.body(self._on_device(tokens[:, :slot]))
        return np.asarray(logits[:, -1].double().cpu().numpy())

    def view(self, tokens: Ints) -> TokenView:
        with torch.no_grad():
            logp, value = self._view(tokens)
        return TokenView(logp.double().cpu().numpy(), value.double().cpu().numpy())

    def step(self, tokens: Ints, dlogp: Floats, dvalue: Floats, settings: OptimiserSettings) -> float:
        for group in self._optimiser.param_groups:
            group |= {
                "lr": settings.learning_rate,
                "betas": (settings.beta1, settings.beta2),
                "eps": settings.epsilon,
            }
        self._optimiser.zero_grad()
        logp, value = self._view(tokens)
        along = (logp * self._numbers(dlogp)).sum() + (value * self._numbers(dvalue)).sum()
        along.backward()
        norm = nn.utils.clip_grad_norm_(self._trained(), settings.max_norm)
        self._optimiser.step()
        return float(norm)

    def state(self) -> Mapping[str, np.ndarray]:
        kept: dict[str, np.ndarray] = {}
        for number, weight in enumerate(self._trained()):
            kept[f"weight.{number}"] = weight.detach().cpu().numpy().copy()
            memory = self._optimiser.state.get(weight)
            if memory:
                for name in ("exp_avg", "exp_avg_sq", "step"):
                    kept[f"{name}.{number}"] = memory[name].detach().cpu().numpy().copy()
        return kept

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        for number, weight in enumerate(self._trained()):
            with torch.no_grad():
                weight.copy_(torch.as_tensor(state[f"weight.{number}"]))
            if f"step.{number}" in state:
                memory = {name: torch.as_tensor(state[f"{name}.{number}"]) for name in ("exp_avg", "exp_avg_sq")}
                self._optimiser.state[weight] = {
                    "step": torch.as_tensor(state[f"step.{number}"]),
                    **{name: value.to(self.device) for name, value in memory.items()},
                }

    def copy(self) -> TorchPolicy:
        twin = TorchPolicy(copy.deepcopy(self.body), self.head.in_features, str(self.device))
        twin.restore({name: value for name, value in self.state().items() if name.startswith("weight.")})
        return twin

    def _trained(self) -> list[nn.Parameter]:
        return [*self.body.parameters(), *self.head.parameters()]

    def _view(self, tokens: Ints) -> tuple[Tensor, Tensor]:
        """Slot ``t`` is foretold by what the body says at ``t - 1``; slot 0 is never written by the policy."""
        rows = self._on_device(tokens)
        logits, hidden = self.body(rows[:, :-1])
        logp = torch.log_softmax(logits, dim=-1).gather(2, rows[:, 1:, None])[:, :, 0]
        value = self.head(hidden)[:, :, 0]
        first = torch.zeros((len(tokens), 1), device=self.device)
        return torch.cat([first, logp], dim=1), torch.cat([first, value], dim=1)

    def _on_device(self, tokens: Ints) -> Tensor:
        return torch.as_tensor(tokens, device=self.device)

    def _numbers(self, values: Floats) -> Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self.device)


def make_torch_policy(name: str, task: ToolDesk, seed: int, device: str) -> TorchPolicy:
    """A model by the name of its architecture, or by the path of its weights."""
    torch.set_num_threads(1)
    torch.manual_seed(seed % 2**31)
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise SpecError("torch sees no GPU here", where="params.device", remedy="Write device: cpu.")
    body: Gpt | Pretrained = Gpt(SIZES[name], task.length) if name in SIZES else Pretrained(name)
    return TorchPolicy(body, body.width, device)
