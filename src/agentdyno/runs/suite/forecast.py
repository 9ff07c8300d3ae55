"""Before a suite spends anything: how many calls, how many dollars, how small a drop it can see; and what an answer
costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentdyno.agents.references import scheme_of
from agentdyno.errors import SpecError
from agentdyno.model import Arm, Benchmark, Case, Plan, Response, Suite
from agentdyno.model.codec import to_plain
from agentdyno.pricing import PriceBook
from agentdyno.runner.cases.call import Priced
from agentdyno.runs.kind import Choices
from agentdyno.runs.lineup import Entrant

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English; only the estimate before a run rests on it."""
OUTPUT_TOKENS = 256
"""What an answer is taken to have where nothing limits it."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Dollars per call by arm, where they can be told, and agents that cost money nobody can tell."""

    usd_per_call: Mapping[str, float]
    unpriced: tuple[str, ...] = ()

    def usd_of(self, plan: Plan) -> float | None:
        """What the plan is expected to cost; ``None`` where the price of an agent that costs money is unknown."""
        if self.unpriced:
            return None
        measured = sum(self.usd_per_call[trial.arm_id] for trial in plan.trials)
        return measured + sum(self.usd_per_call[arm_id] * count for arm_id, count in plan.warmups.items())


def has_price(entrant: Entrant, prices: PriceBook) -> bool:
    """Whether the user gave a price for the model of an agent that is asked at an address of one's own."""
    model, hint = _model(entrant), entrant.use.config.get("base_url")
    if model is None or not isinstance(hint, str):
        return False
    return bool(prices.estimate(model, 1, 1, provider_hint=hint).usd)


def expect(
    arms: Mapping[str, tuple[Arm, Benchmark, Entrant]], paid: Mapping[str, bool], prices: PriceBook
) -> Expected:
    """From the length of the inputs, the limit of the output and the list of prices."""
    dollars: dict[str, float] = {}
    unpriced: dict[str, None] = {}
    for arm_id, (_, benchmark, entrant) in arms.items():
        if not paid.get(entrant.label):
            dollars[arm_id] = 0.0
            continue
        model = _model(entrant)
        hint = entrant.use.config.get("base_url")
        cost = None
        if model is not None:
            tokens = _input_tokens(benchmark, entrant)
            cost = prices.estimate(
                model, tokens, _output_tokens(entrant), provider_hint=hint if isinstance(hint, str) else None
            ).usd
        if cost is None:
            unpriced[entrant.label] = None
        else:
            dollars[arm_id] = cost
    return Expected(dollars, tuple(unpriced))


def _model(entrant: Entrant) -> str | None:
    """The model that is asked for, where the configuration tells."""
    named = entrant.use.config.get("model")
    if not named and scheme_of(entrant.use.uses) in ("openai", "ollama"):
        named = entrant.use.uses.partition(":")[2]
    return named if isinstance(named, str) and named else None


def _input_tokens(benchmark: Benchmark, entrant: Entrant) -> int:
    around = sum(len(str(entrant.use.config.get(key, ""))) for key in ("system", "prompt", "few_shot"))
    lengths = [_length(case) + around * max(1, len(case.turns)) for case in benchmark.cases]
    return sum(lengths) // max(1, len(lengths)) // CHARACTERS_PER_TOKEN + 1


def _length(case: Case) -> int:
    if case.turns:  # each turn sends the ones before it again
        lengths = [len(turn) for turn in case.turns]
        return sum(sum(lengths[: index + 1]) for index in range(len(lengths)))
    return len(case.input) if isinstance(case.input, str) else len(json.dumps(to_plain(case.input)))


def _output_tokens(entrant: Entrant) -> int:
    options = entrant.use.config.get("options")
    given = options if isinstance(options, Mapping) else entrant.use.config
    for key in ("max_tokens", "max_completion_tokens", "num_predict"):
        value = given.get(key)
        if isinstance(value, int) and value > 0:
            return value
    return OUTPUT_TOKENS


def check_limit(suite: Suite, choices: Choices, expected: Expected) -> None:
    """Dollars can only be limited where the price of every call is known."""
    limited = choices.max_cost_usd is not None or suite.constraints.cost_limit_usd is not None
    if limited and expected.unpriced:
        from agentdyno.extras import where_missing

        raise SpecError(
            f"the price of {', '.join(expected.unpriced)} is unknown, so a limit of dollars cannot be kept",
            where="--max-cost" if choices.max_cost_usd is not None else "constraints.cost_limit_usd",
            remedy="Give it under `prices:` in dyno.yaml, or run without the limit"
            + where_missing("prices", ", or install the public list")
            + ".",
        )


def pricing_of(prices: PriceBook, entrant: Entrant, *, metered: bool) -> Callable[[Response, float | None], Priced]:
    """CPU time is a price only where all of the work was done here."""
    hint = entrant.use.config.get("base_url")
    provider = str(hint) if isinstance(hint, str) else None

    def price(response: Response, cpu_s: float | None) -> Priced:
        cost = prices.cost(response, provider_hint=provider, cpu_s=cpu_s if metered else None)
        return Priced(cost.usd, cost.source, cost.reported_usd)

    return price
