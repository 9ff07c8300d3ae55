"""TRL: its GRPOTrainer around a GPT-2 of the tiny size, with a tokenizer of the task's words."""

from __future__ import annotations

from common import TrainingChannel, answer_rows, warm_start

channel = TrainingChannel()
job = channel.job

import numpy as np  # noqa: E402
import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402
from tooldesk import WORDS, ToolDesk  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, TrainerCallback  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

torch.set_num_threads(1)


def make_tokenizer() -> PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="!"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="_", eos_token=".", unk_token="!")


def make_model() -> GPT2LMHeadModel:
    torch.manual_seed(job.seed)
    size = {"n_positions": 16, "n_embd": 64, "n_layer": 2, "n_head": 4}
    drop = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    ids = {"bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), **size, **drop, **ids))


def scores(model: GPT2LMHeadModel, rows: np.ndarray) -> torch.Tensor:
    return model(torch.as_tensor(rows[:, :-1])).logits[:, 3:]


def prompt_rows() -> list[dict[str, object]]:
    task, rng = ToolDesk(1), np.random.default_rng([job.seed, 0, 0])
    every = task.prompts(held_out=False)
    chosen = every[rng.integers(0, len(every), job.updates * job.prompts_per_update)]
    texts = [" ".join(WORDS[token] for token in row[:4]) for row in task.begin(chosen)]
    return [{"prompt": text, "wanted": row.tolist()} for text, row in zip(texts, chosen, strict=True)]


def reward(completion_ids: list[list[int]], wanted: list[list[int]], **_: object) -> list[float]:
    prompts, task = np.array(wanted), ToolDesk(1)
    return task.rewards(answer_rows(prompts, completion_ids, task), prompts).tolist()


class UpdatesCallback(TrainerCallback):
    def on_step_end(self, _args: object, state: object, *_: object, **__: object) -> None:
        if state.global_step % (2 * job.epochs) == 0:
            channel.say("update", samples=state.global_step // (2 * job.epochs) * job.per_update)


def trainer_of(model: GPT2LMHeadModel, updates: int, told: bool = True, **more: object) -> GRPOTrainer:
    settings = GRPOConfig(
        output_dir=f"{job.folder}/trl",
        per_device_train_batch_size=job.per_update // 2,
        steps_per_generation=2,
        num_generations=job.samples_per_prompt,
        num_iterations=job.epochs,
        max_completion_length=5,
        max_steps=updates * 2 * job.epochs,
        learning_rate=job.learning_rate,
        lr_scheduler_type="constant",
        beta=0.0,
        epsilon=0.2,
        max_grad_norm=1.0,
        seed=job.seed % 2**31,
        use_cpu=True,
        bf16=False,
        report_to="none",
        disable_tqdm=True,
        logging_strategy="no",
        **{"save_strategy": "no", **more},
    )
    return GRPOTrainer(
        model,
        reward,
        args=settings,
        train_dataset=Dataset.from_list(prompt_rows()),
        processing_class=make_tokenizer(),
        callbacks=[UpdatesCallback()] if told else [],
    )


def warmed() -> GPT2LMHeadModel:
    model = make_model()
    warm_start(job, lambda rows: scores(model, rows), model.parameters())
    return model


def next_logits(rows: np.ndarray, slot: int) -> np.ndarray:
    with torch.no_grad():
        return model(torch.as_tensor(rows[:, :slot])).logits[:, -1].numpy()


model = warmed()
trainer = trainer_of(model, job.updates)
channel.say("ready", parameters=sum(weight.numel() for weight in model.parameters()))
trainer.train()
model.eval()
channel.say("trained", samples=job.updates * job.per_update)


# Features, tried on request; not counted as lines of the integration.


def same(one: GPT2LMHeadModel, other: GPT2LMHeadModel) -> bool:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return all(torch.equal(first, second) for first, second in pairs)


def deterministic_seed() -> bool:
    found = []
    for _ in range(2):
        found.append(warmed())
        trainer_of(found[-1], 2, told=False).train()
    return same(*found)


def resume() -> bool:
    whole, first, second = warmed(), warmed(), warmed()
    trainer_of(whole, 2, told=False).train()
    trainer_of(first, 1, told=False, save_strategy="steps", save_steps=4).train()
    trainer_of(second, 2, told=False).train(resume_from_checkpoint=f"{job.folder}/trl/checkpoint-4")
    return same(whole, second)


features = {"custom_reward": lambda: True, "deterministic_seed": deterministic_seed, "resume": resume}
channel.serve(next_logits, features)
